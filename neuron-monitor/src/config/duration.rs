//! Periods as the configuration writes them: `1s`, `1.0s`, `500ms`, `1m30s`.

use std::time::Duration;

/// The accepted forms, for messages.
const FORMS: &str = "\"5s\", \"1.5s\", \"500ms\" or \"1m30s\", from 10ms to 24h";

const SHORTEST: f64 = 0.01;
const LONGEST: f64 = 86_400.0;

/// Reads a period: numbers with a unit each, of which the sum counts, as Go
/// programs write them. The original passes over what it does not like and
/// takes 5 s; here it is an error.
///
/// # Errors
///
/// What is wrong with it, one sentence.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is no period; write one like {FORMS}");
    let mut rest = text.trim();
    let mut seconds = 0.0;
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
        let (number, tail) = rest.split_at(end);
        let end = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(end);
        let scale = match unit.trim() {
            "ns" => 1e-9,
            "us" | "µs" | "μs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return Err(wrong()),
        };
        seconds += number.parse::<f64>().map_err(|_| wrong())? * scale;
        rest = tail;
    }
    if !(SHORTEST..=LONGEST).contains(&seconds) {
        return Err(format!("{text:?} is out of range; periods are from 10ms to 24h"));
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sane_period() {
        for (text, millis) in [
            ("1s", 1000),
            ("1.0s", 1000),
            ("30s", 30_000),
            ("2m", 120_000),
            ("500ms", 500),
            ("0.1s", 100),
            (".5s", 500),
            ("1m30s", 90_000),
            ("1h0m0.5s", 3_600_500),
            ("10ms", 10),
            ("20000us", 20),
            ("24h", 86_400_000),
            (" 5s ", 5000),
            ("5 s", 5000),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_the_forms() {
        for text in [
            "", " ", "5", "s", "1.2.3s", "-1s", "+1s", "1d", "1ss", "1s2", "abc", "1e3s", "inf",
            ".",
        ] {
            let said = parse(text).unwrap_err();
            assert!(said.contains("500ms"), "{text:?}: {said}");
        }
        for text in ["0s", "9ms", "25h", "1ns", "99999999h"] {
            assert!(parse(text).unwrap_err().contains("out of range"), "{text}");
        }
    }
}
