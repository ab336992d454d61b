//! The words of a query (HTTP.md, Search).

use regex::RegexBuilder;

use super::expression::{Condition, Expression, Test};

/// Bytes of a query at most.
const BYTES: usize = 4096;

/// Conditions at most.
const CONDITIONS: usize = 64;

/// Levels of brackets and NOT at most.
const LEVELS: usize = 16;

/// Bytes of a compiled regular expression at most.
const COMPILED: usize = 1 << 20;

/// Why a query cannot be understood, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("q at letter {at}: {reason}")]
pub struct QueryError {
    /// Letter, from 1.
    pub at: usize,
    /// What is wrong.
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Open,
    Close,
    And,
    Or,
    Not,
    Sign(&'static str),
    Word(String),
    Quoted(String),
    Regex(String),
}

/// Signs, longer ones first.
const SIGNS: [&str; 8] = ["!=", "!~", ">=", "<=", "=", "~", ">", "<"];

struct Letters<'q> {
    rest: &'q str,
    at: usize,
}

impl Letters<'_> {
    fn wrong(&self, reason: impl Into<String>) -> QueryError {
        QueryError { at: self.at + 1, reason: reason.into() }
    }

    fn skip(&mut self, bytes: usize) {
        let (passed, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.at += passed.chars().count();
        self.rest = rest;
    }

    fn token(&mut self) -> Result<Option<(usize, Token)>, QueryError> {
        self.skip(self.rest.len() - self.rest.trim_start().len());
        let at = self.at;
        let Some(first) = self.rest.chars().next() else { return Ok(None) };
        let token = match first {
            '(' | ')' => {
                self.skip(1);
                if first == '(' { Token::Open } else { Token::Close }
            }
            '"' => Token::Quoted(self.until('"')?),
            '/' => Token::Regex(self.until('/')?),
            _ => match SIGNS.into_iter().find(|sign| self.rest.starts_with(sign)) {
                Some(sign) => {
                    self.skip(sign.len());
                    Token::Sign(sign)
                }
                None => self.word(),
            },
        };
        if token == Token::Word(String::new()) {
            return Err(self.wrong(format!("put {first:?} in quotes")));
        }
        Ok(Some((at, token)))
    }

    fn word(&mut self) -> Token {
        let ends = |letter: char| letter.is_whitespace() || "()\"=<>!~/".contains(letter);
        let length = self.rest.find(ends).unwrap_or(self.rest.len());
        let word = self.rest.get(..length).unwrap_or_default().to_owned();
        self.skip(length);
        match word.as_str() {
            "AND" => Token::And,
            "OR" => Token::Or,
            "NOT" => Token::Not,
            _ => Token::Word(word),
        }
    }

    /// The text up to the closing mark; a backslash before the mark takes its
    /// meaning, and before itself in quotes.
    fn until(&mut self, mark: char) -> Result<String, QueryError> {
        let start = self.wrong(format!("the closing {mark} is missing"));
        self.skip(1);
        let mut out = String::new();
        let mut letters = self.rest.char_indices();
        while let Some((at, letter)) = letters.next() {
            if letter == mark {
                self.skip(at + 1);
                return Ok(out);
            }
            if letter != '\\' {
                out.push(letter);
                continue;
            }
            match letters.next() {
                Some((_, next)) if next == mark || mark == '"' && next == '\\' => out.push(next),
                Some((_, next)) => out.extend(['\\', next]),
                None => break,
            }
        }
        Err(start)
    }
}

struct Parser {
    tokens: std::iter::Peekable<std::vec::IntoIter<(usize, Token)>>,
    /// Letters of the query.
    end: usize,
    conditions: usize,
}

impl Parser {
    fn wrong(&mut self, reason: impl Into<String>) -> QueryError {
        let at = self.tokens.peek().map_or(self.end, |(at, _)| *at);
        QueryError { at: at + 1, reason: reason.into() }
    }

    fn takes(&mut self, token: &Token) -> bool {
        self.tokens.next_if(|(_, next)| next == token).is_some()
    }

    fn or(&mut self, level: usize) -> Result<Expression, QueryError> {
        let mut list = vec![self.and(level)?];
        while self.takes(&Token::Or) {
            list.push(self.and(level)?);
        }
        Ok(one_or(list, Expression::Or))
    }

    fn and(&mut self, level: usize) -> Result<Expression, QueryError> {
        let mut list = vec![self.not(level)?];
        loop {
            let joined = self.takes(&Token::And);
            let more = self
                .tokens
                .peek()
                .is_some_and(|(_, next)| !matches!(next, Token::Or | Token::Close));
            if !joined && !more {
                return Ok(one_or(list, Expression::And));
            }
            list.push(self.not(level)?);
        }
    }

    fn not(&mut self, level: usize) -> Result<Expression, QueryError> {
        if level > LEVELS {
            return Err(self.wrong(format!("at most {LEVELS} levels of brackets and NOT")));
        }
        if self.takes(&Token::Not) {
            return Ok(Expression::Not(Box::new(self.not(level + 1)?)));
        }
        if self.takes(&Token::Open) {
            let inner = self.or(level + 1)?;
            if !self.takes(&Token::Close) {
                return Err(self.wrong("a closing bracket is missing"));
            }
            return Ok(inner);
        }
        self.condition()
    }

    fn condition(&mut self) -> Result<Expression, QueryError> {
        self.conditions += 1;
        if self.conditions > CONDITIONS {
            return Err(self.wrong(format!("at most {CONDITIONS} conditions")));
        }
        let missing = self.wrong("a condition is missing");
        let Some((at, first)) = self.tokens.next() else { return Err(missing) };
        let sign = match self.tokens.peek() {
            Some((_, Token::Sign(sign))) => Some(*sign),
            _ => None,
        };
        let Some(sign) = sign else {
            let test = match first {
                Token::Word(text) | Token::Quoted(text) => Test::Has(text),
                Token::Regex(pattern) => Test::Matches(regex(at, &pattern)?),
                _ => return Err(missing),
            };
            return Ok(Expression::One(Condition { column: None, test, not: false }));
        };
        let (Token::Word(column) | Token::Quoted(column)) = first else { return Err(missing) };
        self.tokens.next();
        let missing = self.wrong(format!("a value is missing after {column}{sign}"));
        let Some((at, value)) = self.tokens.next() else { return Err(missing) };
        let (text, pattern) = match value {
            Token::Word(text) | Token::Quoted(text) => (text, false),
            Token::Regex(text) => (text, true),
            _ => return Err(missing),
        };
        let number = || {
            let reason = || format!("{text:?} is no number");
            text.parse::<f64>().map_err(|_| QueryError { at: at + 1, reason: reason() })
        };
        let all = ((f64::NEG_INFINITY, true), (f64::INFINITY, true));
        let test = match sign {
            "=" | "!=" if pattern => Test::Matches(regex(at, &text)?),
            _ if pattern => {
                let reason = String::from("a regular expression stands after = or !=");
                return Err(QueryError { at: at + 1, reason });
            }
            "=" | "!=" => Test::Is(text),
            "~" | "!~" => Test::Has(text),
            ">" => Test::Between((number()?, false), all.1),
            ">=" => Test::Between((number()?, true), all.1),
            "<" => Test::Between(all.0, (number()?, false)),
            _ => Test::Between(all.0, (number()?, true)),
        };
        let not = sign.starts_with('!');
        Ok(Expression::One(Condition { column: Some(column), test, not }))
    }
}

/// A list of one is its member.
fn one_or(mut list: Vec<Expression>, of: fn(Vec<Expression>) -> Expression) -> Expression {
    match (list.len(), list.pop()) {
        (1, Some(one)) => one,
        (_, last) => {
            list.extend(last);
            of(list)
        }
    }
}

fn regex(at: usize, pattern: &str) -> Result<regex::Regex, QueryError> {
    let built = RegexBuilder::new(pattern)
        .size_limit(COMPILED)
        .dfa_size_limit(COMPILED)
        .nest_limit(50)
        .build();
    built.map_err(|error| {
        let text = error.to_string();
        // The first lines draw the pattern.
        let last = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
        QueryError { at: at + 1, reason: format!("the regular expression is wrong: {last}") }
    })
}

/// Understands a query.
///
/// # Errors
///
/// Where and why it cannot be understood.
pub fn parse(query: &str) -> Result<Expression, QueryError> {
    if query.len() > BYTES {
        let reason = format!("a query has at most {BYTES} bytes");
        return Err(QueryError { at: 1, reason });
    }
    let mut letters = Letters { rest: query, at: 0 };
    let mut tokens = Vec::new();
    while let Some(token) = letters.token()? {
        tokens.push(token);
    }
    let tokens = tokens.into_iter().peekable();
    let mut parser = Parser { tokens, end: letters.at, conditions: 0 };
    let out = parser.or(0)?;
    if parser.tokens.peek().is_some() {
        return Err(parser.wrong("this closing bracket has no opening one"));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An expression with all brackets.
    fn told(of: &Expression) -> String {
        let list = |list: &[Expression], word: &str| {
            format!("({})", list.iter().map(told).collect::<Vec<_>>().join(word))
        };
        match of {
            Expression::And(all) => list(all, " & "),
            Expression::Or(all) => list(all, " | "),
            Expression::Not(one) => format!("!{}", told(one)),
            Expression::One(one) => {
                let column = one.column.as_deref().unwrap_or("*");
                let not = if one.not { "!" } else { "" };
                match &one.test {
                    Test::Is(text) => format!("{column}{not}={text}"),
                    Test::Has(text) => format!("{column}{not}~{text}"),
                    Test::Matches(regex) => format!("{column}{not}=/{regex}/"),
                    Test::Between(low, high) => format!("{column}{low:?}{high:?}"),
                }
            }
        }
    }

    #[test]
    fn queries() {
        for (query, wanted) in [
            ("opcode=MATMUL", "opcode=MATMUL"),
            ("a b", "(*~a & *~b)"),
            ("a AND b OR c", "((*~a & *~b) | *~c)"),
            ("a AND (b OR c) NOT d", "(*~a & (*~b | *~c) & !*~d)"),
            ("NOT NOT a", "!!*~a"),
            ("opcode != \"X Y\"", "opcode!=X Y"),
            ("layer!~\"a \\\"b\\\\\"", "layer!~a \"b\\"),
            ("operands=/\\$S\\[4\\]\\/x/", "operands=/\\$S\\[4\\]/x/"),
            ("/^A/ b=/c/", "(*=/^A/ & b=/c/)"),
            ("n>1.5", "n(1.5, false)(inf, true)"),
            ("n<=2", "n(-inf, true)(2.0, true)"),
            ("n=1..2", "n=1..2"),
            ("\"AND\"", "*~AND"),
            ("ä=ö", "ä=ö"),
        ] {
            assert_eq!(told(&parse(query).unwrap()), wanted, "{query}");
        }
    }

    #[test]
    fn what_is_no_query() {
        let deep = "(".repeat(20) + "a" + &")".repeat(20);
        let many = "a ".repeat(65);
        for (query, at, part) in [
            ("", 1, "missing"),
            ("a AND", 6, "missing"),
            ("OR a", 1, "missing"),
            ("(a", 3, "bracket"),
            ("a)", 2, "bracket"),
            ("a=", 3, "value"),
            ("a=(", 3, "value"),
            ("n>x", 3, "no number"),
            ("ä ö>x", 5, "no number"),
            ("a=\"b", 3, "closing"),
            ("a=/(/", 3, "regular"),
            ("a>/x/", 3, "regular"),
            ("a!b", 2, "quotes"),
            ("/(?:a{1000}){1000}/", 1, "regular"),
            (&deep, 18, "levels"),
            (&many, 129, "conditions"),
            (&"x".repeat(5000), 1, "bytes"),
        ] {
            let error = parse(query).unwrap_err();
            assert!(error.reason.contains(part), "{query}: {error}");
            assert_eq!(error.at, at, "{query}: {error}");
            assert!(!error.to_string().contains('\n'));
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_wrong_has_a_place_in_any_text(query in "[ab=!~<>()/\"\\\\. ANDOR0-9ä]{0,60}") {
            if let Err(error) = parse(&query) {
                proptest::prop_assert!((1..=query.chars().count() + 1).contains(&error.at));
                proptest::prop_assert!(!error.reason.is_empty());
                proptest::prop_assert!(!error.to_string().contains('\n'));
            }
        }
    }
}
