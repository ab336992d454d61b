//! Rust source as the checks need it: without comments, texts and tests.
//!
//! Not a parser: it keeps the position of everything and puts blanks where a
//! word would mean nothing.

/// The source with every comment, text and character literal blanked.
pub(super) fn code_only(source: &str) -> String {
    let chars: Vec<char> = source.chars().collect();
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let end = literal_or_comment(&chars, at);
        if end > at {
            out.extend(chars[at..end].iter().map(|&c| if c == '\n' { c } else { ' ' }));
            at = end;
        } else if is_word(c) {
            // A whole word, so that its last letter is not taken for a prefix.
            let word = chars[at..].iter().take_while(|&&c| is_word(c)).count();
            out.extend(&chars[at..at + word]);
            at += word;
        } else {
            out.push(c);
            at += 1;
        }
    }
    out
}

/// Where the literal or comment that starts at `at` ends; `at` if none does.
fn literal_or_comment(chars: &[char], at: usize) -> usize {
    let next = |i: usize| chars.get(at + i).copied().unwrap_or('\0');
    match (next(0), next(1)) {
        ('/', '/') => at + chars[at..].iter().take_while(|&&c| c != '\n').count(),
        ('/', '*') => block_comment_end(chars, at),
        ('"', _) => quoted_end(chars, at, '"'),
        ('\'', '\\') => quoted_end(chars, at, '\''),
        // Otherwise the quote of a lifetime.
        ('\'', _) if next(2) == '\'' => at + 3,
        ('r', '"' | '#') => raw_end(chars, at, 1),
        ('b' | 'c', 'r') => raw_end(chars, at, 2),
        _ => at,
    }
}

fn block_comment_end(chars: &[char], start: usize) -> usize {
    let (mut depth, mut at) = (0, start);
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    at
}

fn quoted_end(chars: &[char], start: usize, quote: char) -> usize {
    let mut at = start + 1;
    while let Some(&c) = chars.get(at) {
        at += if c == '\\' { 2 } else { 1 };
        if c == quote {
            break;
        }
    }
    at.min(chars.len())
}

/// `r"..."` or `r##"..."##`; `start` itself if it is a raw identifier or a word.
fn raw_end(chars: &[char], start: usize, prefix: usize) -> usize {
    let open = start + prefix;
    let hashes = chars[open.min(chars.len())..].iter().take_while(|&&c| c == '#').count();
    if chars.get(open + hashes) != Some(&'"') {
        return start;
    }
    let mut at = open + hashes + 1;
    while at < chars.len() {
        let closed = chars[at + 1..].iter().take(hashes).filter(|&&c| c == '#').count() == hashes;
        if chars[at] == '"' && closed {
            return at + 1 + hashes;
        }
        at += 1;
    }
    at
}

/// Code (from [`code_only`]) with every item under `#[cfg(test)]` blanked.
pub(super) fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut out = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(start) = rest.find(MARK) {
        let end = start + MARK.len() + item_end(&rest[start + MARK.len()..]);
        out += &rest[..start];
        out.extend(rest[start..end].chars().map(|c| if c == '\n' { c } else { ' ' }));
        rest = &rest[end..];
    }
    out + rest
}

/// The end of the item at the start of `code`: its `;` or its last brace.
fn item_end(code: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in code.char_indices() {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && matches!(c, '}' | ';') {
            return at + 1;
        }
    }
    code.len()
}

pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The lines (from 1) on which `word` stands as a word of its own.
pub(super) fn lines_with(code: &str, word: &str) -> Vec<usize> {
    code.match_indices(word)
        .filter(|(at, _)| {
            let before = code[..*at].chars().next_back();
            let after = code[at + word.len()..].chars().next();
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        })
        .map(|(at, _)| line_of(code, at))
        .collect()
}

/// Every `root::name` of the code with its line, also out of `root::{a, b::c}`.
pub(super) fn names_under(code: &str, root: &str) -> Vec<(usize, String)> {
    let mut names = Vec::new();
    let path = format!("{root}::");
    for (at, _) in code.match_indices(&path) {
        if code[..at].chars().next_back().is_some_and(is_word) {
            continue;
        }
        let line = line_of(code, at);
        let rest = &code[at + path.len()..];
        let Some(group) = rest.strip_prefix('{') else {
            names.push((line, first_word(rest)));
            continue;
        };
        let (mut depth, mut item) = (1, 0);
        for (at, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 || (depth == 1 && c == ',') {
                names.push((line, first_word(&group[item..at])));
                item = at + 1;
            }
            if depth == 0 {
                break;
            }
        }
    }
    names.retain(|(_, name)| !name.is_empty());
    names
}

fn first_word(code: &str) -> String {
    code.trim_start().chars().take_while(|&c| is_word(c)).collect()
}

fn line_of(code: &str, at: usize) -> usize {
    1 + code[..at].matches('\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_texts_are_blanked() {
        let blanked = |source: &str| code_only(source).split_whitespace().collect::<String>();
        assert_eq!(blanked("a // b\nc"), "ac");
        assert_eq!(blanked("a /* b /* c */ d */ e"), "ae");
        assert_eq!(blanked(r#"a("b \" c", 'd', '\'', b"e")"#), "a(,,,b)");
        assert_eq!(blanked(r###"a r"b" c r#"d"e"# f br##"g"#h"## i"###), "acfi");
        assert_eq!(blanked("fn a<'b>(c: &'b str) -> r#type"), "fna<'b>(c:&'bstr)->r#type");
        assert_eq!(blanked("for\"x\" 'y' var\"z\""), "forvar");
        let source = "a\n/* b\n\n*/ \"c\nd\"\ne";
        assert_eq!(code_only(source).matches('\n').count(), source.matches('\n').count());
    }

    #[test]
    fn an_open_end_is_no_panic() {
        for source in ["\"", "'", "'\\", "r#\"", "r\"", "/*", "/", "br", "b", "\"\\", "r#"] {
            let _ = code_only(source);
        }
    }

    #[test]
    fn tests_are_blanked_whatever_their_form() {
        let code = "a;\n#[cfg(test)]\nmod tests { fn b() { c } }\nd;\n#[cfg(test)] mod e;\nf\n\
                    #[cfg(test)]\nfn g(h: [u8; 2]) -> u8 { h }\ni";
        let words: Vec<_> = without_tests(code).split_whitespace().map(str::to_owned).collect();
        assert_eq!(words, ["a;", "d;", "f", "i"]);
    }

    #[test]
    fn words_stand_alone() {
        assert_eq!(lines_with("unsafe_code\nunsafe {\nmy_unsafe", "unsafe"), [2]);
    }

    #[test]
    fn grouped_imports_are_taken_apart() {
        let names = names_under("use x::{a, b::{c, d},\n e};\nx::f::g(); axx::h; x::{i}", "x");
        let names: Vec<_> = names.iter().map(|(line, name)| (*line, name.as_str())).collect();
        assert_eq!(names, [(1, "a"), (1, "b"), (1, "e"), (3, "f"), (3, "i")]);
    }
}
