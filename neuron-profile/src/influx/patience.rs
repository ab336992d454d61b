//! When to try again, and when to give up.

use std::time::Duration;

use super::client::Trouble;

/// First wait; each is twice the one before.
const FIRST: Duration = Duration::from_millis(250);

/// Longest wait that is our own choice.
const LONGEST: Duration = Duration::from_secs(30);

/// All waits for one batch together (our choice: a restart of the database
/// takes less).
const TOTAL: Duration = Duration::from_secs(300);

/// What has been borne for one batch.
#[derive(Debug, Default)]
pub(super) struct Patience {
    tries: u32,
    waited: Duration,
}

impl Patience {
    /// How long to wait after this trouble before the next try; `None` to give
    /// up. Points that came twice are one, so any write may be repeated.
    pub(super) fn after(&mut self, trouble: &Trouble) -> Option<Duration> {
        let own = FIRST.saturating_mul(1 << self.tries.min(16)).min(LONGEST);
        let wait = match trouble {
            Trouble::Unreachable { .. } => own,
            Trouble::Answer { status: 429 | 502..=504, retry_after, .. } => {
                // the database knows best
                retry_after.unwrap_or(own)
            }
            Trouble::Answer { status: 408 | 500, .. } => own,
            _ => return None,
        };
        self.tries += 1;
        self.waited = self.waited.saturating_add(wait);
        (self.waited <= TOTAL).then_some(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, seconds: Option<u64>) -> Trouble {
        let (message, retry_after) = (String::from("x"), seconds.map(Duration::from_secs));
        Trouble::Answer { what: "write", status, message, retry_after }
    }

    #[test]
    fn waits_grow_and_end() {
        let mut patience = Patience::default();
        let all: Vec<Duration> =
            std::iter::from_fn(|| patience.after(&answer(503, None))).take(1000).collect();
        assert_eq!(all.first(), Some(&FIRST));
        assert!(all.windows(2).all(|pair| pair[1] == (pair[0] * 2).min(LONGEST)), "{all:?}");
        assert!(all.iter().sum::<Duration>() <= TOTAL && all.len() > 10, "{all:?}");
    }

    #[test]
    fn the_database_says_when() {
        let mut patience = Patience::default();
        assert_eq!(patience.after(&answer(429, Some(0))), Some(Duration::ZERO));
        assert_eq!(patience.after(&answer(503, Some(7))), Some(Duration::from_secs(7)));
        assert_eq!(patience.after(&answer(429, Some(3600))), None);
    }

    #[test]
    fn what_will_not_change_is_not_repeated() {
        let gone = Trouble::Unreachable { url: String::new(), reason: String::new() };
        assert_eq!(Patience::default().after(&gone), Some(FIRST));
        for status in [400, 404, 413, 422] {
            assert_eq!(Patience::default().after(&answer(status, Some(0))), None, "{status}");
        }
        let token = Trouble::Token { status: 401, message: String::new() };
        assert_eq!(Patience::default().after(&token), None);
        let files = Trouble::Files { message: String::new() };
        assert_eq!(Patience::default().after(&files), None);
    }
}
