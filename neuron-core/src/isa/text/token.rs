//! Splits a line into tokens.
//!
//! Tokens are separated by white space. `;` ends the record and `#` at the
//! start of a token a comment. Between double quotes nothing is special. A
//! name in parentheses after a semaphore, `S[5] (Tensor)>=4`, is dropped.

/// More than any record has, so that a hostile line costs no time.
const MOST_TOKENS: usize = 256;

/// The tokens of a line.
pub(crate) fn tokens(line: &str) -> Result<Vec<String>, String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut current = String::new();
    let mut chars = line.chars();
    while let Some(next) = chars.next() {
        if tokens.len() > MOST_TOKENS {
            return Err(format!("more than {MOST_TOKENS} words in one record"));
        }
        match next {
            ';' => {
                let rest = chars.as_str().trim_start();
                if !rest.is_empty() && !rest.starts_with('#') {
                    return Err(String::from("one record a line: text after ';'"));
                }
                break;
            }
            '#' if current.is_empty() => break,
            '"' => {
                current.push('"');
                if !chars.by_ref().any(|inside| {
                    current.push(inside);
                    inside == '"'
                }) {
                    return Err(String::from("a quote is not closed"));
                }
            }
            '(' if current.is_empty() => {
                if !chars.by_ref().any(|inside| inside == ')') {
                    return Err(String::from("a parenthesis is not closed"));
                }
                // what follows belongs to the semaphore before it
                current = tokens.pop().unwrap_or_default();
            }
            space if space.is_whitespace() => {
                if !current.is_empty() {
                    tokens.push(std::mem::take(&mut current));
                }
            }
            other => current.push(other),
        }
    }
    if !current.is_empty() {
        tokens.push(current);
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::tokens;

    #[test]
    fn names_comments_and_ends() {
        let line = "NOP S[27] (qGpSimdDynamic)>=16 cycle=0 ; # slot 3";
        assert_eq!(tokens(line).unwrap(), ["NOP", "S[27]>=16", "cycle=0"]);
        assert_eq!(tokens("  # nothing").unwrap(), Vec::<String>::new());
        assert_eq!(tokens("A \"x;#(\"").unwrap(), ["A", "\"x;#(\""]);
        assert!(tokens("NOP cycle=1; NOP cycle=2;").is_err());
        assert!(tokens("A \"x").is_err() && tokens("A (x").is_err());
    }
}
