//! Times as people write them: `2s`, `500ms`, `1.5m`.

use std::time::Duration;

/// The accepted forms, for help texts.
pub const DURATION_HELP: &str = "a number with ms, s, m or h, such as 500ms, 2s or 1.5m";

/// Longest accepted time: one day.
const LONGEST_SECONDS: f64 = 86_400.0;

/// Reads a time above zero and up to a day.
///
/// # Errors
///
/// A sentence with the accepted forms. A number without a unit is refused: it
/// could mean seconds or milliseconds.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let scale = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("expected {DURATION_HELP}")),
    };
    let seconds = number.parse::<f64>().map_err(|_| format!("expected {DURATION_HELP}"))? * scale;
    if !(0.001..=LONGEST_SECONDS).contains(&seconds) {
        return Err(String::from("must be from 1ms to 24h"));
    }
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_forms_that_the_help_lists() {
        for (text, millis) in
            [("500ms", 500), ("2s", 2000), ("1.5m", 90_000), ("1h", 3_600_000), ("0.25s", 250)]
        {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_not_a_time() {
        for text in ["", "2", "s", "-1s", "0s", "0.1ms", "25h", "1d", "nans", "infs", "1 s", "1e3s"]
        {
            assert!(parse_duration(text).is_err(), "{text:?} was accepted");
        }
    }
}
