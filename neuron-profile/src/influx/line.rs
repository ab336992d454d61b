//! The line protocol: `measurement,tag=value field=value time`.
//!
//! Escapes are those of InfluxDB's line protocol: comma, space and equals sign
//! in names and tags, quote and backslash in texts. Names and tags can hold no
//! line end and no backslash before what is escaped, so these are written in
//! percent form, as is the percent sign itself; an empty tag, which cannot be
//! written at all, is a single percent sign.

/// A value of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Field<'a> {
    /// A whole number.
    Long(i64),
    /// A finite real.
    Real(f64),
    /// Yes or no.
    Flag(bool),
    /// A text.
    Text(&'a str),
}

/// Appends a name or a value of a tag.
pub(super) fn name(out: &mut String, text: &str) {
    if text.is_empty() {
        out.push('%');
    }
    for c in text.chars() {
        match c {
            ',' | ' ' | '=' => {
                out.push('\\');
                out.push(c);
            }
            '%' | '\\' | '\n' | '\r' | '\t' => out.push_str(&format!("%{:02X}", u32::from(c))),
            c => out.push(c),
        }
    }
}

/// The text of a name or tag as it is read back, without its percent forms;
/// `None` if it is none of ours.
pub(super) fn read_name(text: &str) -> Option<String> {
    if text == "%" {
        return Some(String::new());
    }
    let mut out = String::new();
    let mut parts = text.split('%');
    out.push_str(parts.next()?);
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        out.push(char::from(u8::from_str_radix(digits, 16).ok()?));
        out.push_str(rest);
    }
    Some(out)
}

/// Appends a field, with a comma before it unless it is the first.
pub(super) fn field(out: &mut String, first: &mut bool, key: &str, value: Field<'_>) {
    if !std::mem::take(first) {
        out.push(',');
    }
    name(out, key);
    out.push('=');
    match value {
        Field::Long(number) => {
            out.push_str(&number.to_string());
            out.push('i');
        }
        // the shortest digits that give the same number again
        Field::Real(number) => out.push_str(&format!("{number:?}")),
        Field::Flag(flag) => out.push_str(if flag { "true" } else { "false" }),
        Field::Text(text) => {
            out.push('"');
            for c in text.chars() {
                if matches!(c, '"' | '\\') {
                    out.push('\\');
                }
                out.push(c);
            }
            out.push('"');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn named(text: &str) -> String {
        let mut out = String::new();
        name(&mut out, text);
        out
    }

    fn written(key: &str, value: Field<'_>) -> String {
        let mut out = String::new();
        field(&mut out, &mut true, key, value);
        out
    }

    #[test]
    fn escapes_are_those_of_the_protocol() {
        assert_eq!(named("S[5] (Tensor),a=b"), "S[5]\\ (Tensor)\\,a\\=b");
        assert_eq!(named("back\\slash\n%"), "back%5Cslash%0A%25");
        assert_eq!(named(""), "%");
        assert_eq!(written("a b", Field::Long(-5)), "a\\ b=-5i");
        assert_eq!(written("x", Field::Real(1.0)), "x=1.0");
        assert_eq!(written("x", Field::Real(1e300)), "x=1e300");
        assert_eq!(written("x", Field::Flag(true)), "x=true");
        assert_eq!(written("x", Field::Text("a \"b\\ \n, =")), "x=\"a \\\"b\\\\ \n, =\"");
        let (mut out, mut first) = (String::new(), true);
        field(&mut out, &mut first, "a", Field::Long(1));
        field(&mut out, &mut first, "b", Field::Flag(false));
        assert_eq!(out, "a=1i,b=false");
        assert_eq!(read_name("%zz"), None);
        assert_eq!(read_name("a%2"), None);
    }

    proptest! {
        /// What a server takes out of the escapes is what was put in.
        #[test]
        fn names_come_back(text in "\\PC*|[,= %\\\\\n\r\t\"a]*") {
            let line = named(&text);
            let mut plain = String::new();
            let mut chars = line.chars().peekable();
            while let Some(c) = chars.next() {
                prop_assert!(!matches!(c, ',' | ' ' | '=' | '\n' | '\r' | '\t'), "{line}");
                match chars.peek() {
                    Some(',' | ' ' | '=') if c == '\\' => plain.extend(chars.next()),
                    _ => plain.push(c),
                }
            }
            prop_assert_eq!(read_name(&plain), Some(text));
        }

        #[test]
        fn reals_come_back(bits: u64) {
            let number = f64::from_bits(bits);
            prop_assume!(number.is_finite());
            let line = written("x", Field::Real(number));
            let again: f64 = line.trim_start_matches("x=").parse().unwrap();
            prop_assert_eq!(again.to_bits(), number.to_bits());
        }
    }
}
