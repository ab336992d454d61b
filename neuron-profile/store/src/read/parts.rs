//! The parts of an answer, several at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, available_parallelism};

use crate::error::Error;
use crate::stop;

/// Threads that help others, of all answers together: there is no use for more
/// than the machine runs at the same time, however many answers are asked for.
static HELPERS: AtomicUsize = AtomicUsize::new(0);

/// One of [`HELPERS`].
struct Helper;

impl Helper {
    /// `None` if there are as many as processors.
    fn new() -> Option<Self> {
        let most = available_parallelism().map_or(1, std::num::NonZero::get);
        // Given back at once where it is one too many.
        let (one, before) = (Self, HELPERS.fetch_add(1, Ordering::Relaxed));
        (before < most).then_some(one)
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        HELPERS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Does `work` for each part, with the help of other threads where processors are
/// free for them, and returns what came of them in their order. Who gives the
/// whole up gives all parts up.
///
/// # Errors
///
/// That of the first part that failed.
pub(crate) fn each<P: Sync, T: Send>(
    parts: &[P],
    work: impl Fn(&P) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    let (next, told) = (AtomicUsize::new(0), stop::told());
    let some = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(part) = parts.get(at) else { return done };
            done.push((at, work(part)));
        }
    };
    let mut all = std::thread::scope(|scope| {
        let some = &some;
        let helper = |_| {
            let (told, one) = (told.clone(), Helper::new()?);
            let work = move || {
                let _one = one;
                match told {
                    Some(told) => stop::while_wanted(&told, some),
                    None => some(),
                }
            };
            // Without a thread more the work is done by those that are there.
            Builder::new().spawn_scoped(scope, work).ok()
        };
        let helpers: Vec<_> = (1..parts.len()).map_while(helper).collect();
        let mut all = some();
        for helper in helpers {
            match helper.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_unstable_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, done)| done).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn parts_are_in_order_and_the_first_failure_is_told() {
        for count in [0, 1, 2, 100] {
            let parts: Vec<usize> = (0..count).collect();
            let squares: Vec<usize> = parts.iter().map(|part| part * part).collect();
            assert_eq!(each(&parts, |part| Ok(part * part)).unwrap(), squares);
        }
        let late = |part: &usize| {
            if *part < 7 { Ok(()) } else { Err(Error::Query(format!("part {part}"))) }
        };
        let failed = each(&(0..20).collect::<Vec<_>>(), late).unwrap_err();
        assert!(failed.to_string().contains("part 7"), "{failed}");
    }

    #[test]
    fn helpers_are_given_back() {
        let most = available_parallelism().map_or(1, std::num::NonZero::get);
        for _ in 0..3 * most {
            each(&[0; 9], |_| Ok(())).unwrap();
        }
        let all: Vec<_> = (0..3 * most).map_while(|_| Helper::new()).collect();
        assert!(all.len() <= most);
        drop(all);
        // Other tests may have some at the moment, but not for long.
        while Helper::new().is_none() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn who_gives_up_gives_all_parts_up() {
        let stop = Arc::new(AtomicBool::new(true));
        let told = each(&[0; 50], |_| Ok(stop::wanted().is_err()));
        assert!(told.unwrap().iter().all(|told| !told));
        let told = stop::while_wanted(&stop, || each(&[0; 50], |_| Ok(stop::wanted().is_err())));
        assert!(told.unwrap().iter().all(|told| *told));
    }
}
