//! HTTP basic authentication (RFC 7617).

use std::path::Path;

use neuron_core::error::io_reason;

/// Who may read: the tokens that are accepted behind `Basic`.
#[derive(Clone, Default)]
pub(super) struct Users {
    tokens: Vec<String>,
}

/// Tokens are passwords: they are not for logs.
impl std::fmt::Debug for Users {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} users", self.tokens.len())
    }
}

impl Users {
    /// Reads a file with a line `USER:PASSWORD` for each user; lines that are
    /// empty or begin with `#` are passed over.
    ///
    /// # Errors
    ///
    /// One line: file and line, never what stands there.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("cannot read {shown}: {}", io_reason(&error)))?;
        let mut tokens = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim_end_matches('\r');
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match line.split_once(':') {
                Some((user, password)) if !user.is_empty() && !password.is_empty() => {
                    tokens.push(base64(line.as_bytes()));
                }
                _ => return Err(format!("{shown}: line {number} is not USER:PASSWORD")),
            }
        }
        if tokens.is_empty() {
            return Err(format!("{shown} names no user; write lines USER:PASSWORD"));
        }
        Ok(Self { tokens })
    }

    /// Whether a request with this `Authorization` header may read. The time
    /// that it takes tells nothing about the passwords.
    pub(super) fn admit(&self, header: Option<&[u8]>) -> bool {
        if self.tokens.is_empty() {
            return true;
        }
        let Some((scheme, token)) = header.and_then(|header| header.split_at_checked(6)) else {
            return false;
        };
        let token = token.trim_ascii();
        let matches = self.tokens.iter().fold(0, |sum, known| sum | equal(known.as_bytes(), token));
        scheme.eq_ignore_ascii_case(b"basic ") && matches == 1
    }
}

/// 1 when two texts are equal, 0 when not, without stopping at the first
/// difference.
fn equal(known: &[u8], given: &[u8]) -> u8 {
    let mut different = u8::from(known.len() != given.len());
    for (index, byte) in known.iter().enumerate() {
        different |= byte ^ given.get(index).copied().unwrap_or(0);
    }
    u8::from(std::hint::black_box(different) == 0)
}

/// RFC 4648 §4.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut word = 0_u32;
        for index in 0..3 {
            word = word << 8 | u32::from(chunk.get(index).copied().unwrap_or(0));
        }
        for digit in 0..4 {
            let value = usize::try_from(word >> (18 - 6 * digit) & 63).unwrap_or(0);
            let padding = digit > chunk.len();
            text.push(if padding { '=' } else { char::from(DIGITS[value]) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4648 §10.
    #[test]
    fn base64_vectors() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn users_of_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("users");
        std::fs::write(&path, "# who\n\nAladdin:open sesame\nb:c:d\n").unwrap();
        let users = Users::read(&path).unwrap();
        // RFC 7617 §2.
        assert!(users.admit(Some(b"Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")));
        assert!(users.admit(Some(format!("BASIC {}", base64(b"b:c:d")).as_bytes())));
        for refused in [
            &b""[..],
            b"Basic",
            b"Basic ",
            b"Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=",
            b"Bearer QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
        ] {
            assert!(!users.admit(Some(refused)), "{refused:?}");
        }
        assert!(!users.admit(None));
        assert!(Users::default().admit(None));
        assert!(!format!("{users:?}").contains("QWx"));
        for bad in ["", "# only\n", "nobody\n", ":x\n", "a:\n"] {
            std::fs::write(&path, bad).unwrap();
            let said = Users::read(&path).unwrap_err();
            assert!(said.contains("USER:PASSWORD") && !said.contains("nobody"), "{said}");
        }
    }
}
