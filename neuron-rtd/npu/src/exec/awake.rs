//! Threads of the rayon pool that stay awake from one product to the next: a
//! thread that sleeps is woken later than half a product takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use rayon::Yield;

/// How often a thread looks for work in vain before it may sleep: for a few
/// products' time, so that an end of the run is noticed soon.
const LOOKS: u32 = 400;

/// How long it rests between two looks.
const REST: usize = 32;

/// What the threads that stay awake share with who gives them work.
#[derive(Debug, Clone, Default)]
pub(super) struct Awake {
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    /// How many stay awake.
    threads: AtomicUsize,
    /// Looks in vain since there was work.
    looks: AtomicU32,
}

impl Awake {
    /// Keeps so many threads of the pool around the caller awake. They take what
    /// is spawned there, whatever it is.
    pub(super) fn keep(&self, threads: usize) {
        self.state.looks.store(0, Ordering::Relaxed);
        for _ in self.state.threads.load(Ordering::Relaxed)..threads {
            self.state.threads.fetch_add(1, Ordering::Relaxed);
            let state = Arc::clone(&self.state);
            rayon::spawn(move || state.stay());
        }
    }
}

impl State {
    fn stay(&self) {
        while self.looks.fetch_add(1, Ordering::Relaxed) < LOOKS {
            if rayon::yield_now() == Some(Yield::Executed) {
                self.looks.store(0, Ordering::Relaxed);
                continue;
            }
            for _ in 0..REST {
                std::hint::spin_loop();
            }
        }
        self.threads.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_work_and_sleep_again() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let awake = Awake::default();
        let done = AtomicUsize::new(0);
        for _ in 0..100 {
            pool.install(|| {
                awake.keep(2);
                rayon::in_place_scope(|scope| {
                    for _ in 0..5 {
                        scope.spawn(|_| _ = done.fetch_add(1, Ordering::Relaxed));
                    }
                });
            });
            assert!(awake.state.threads.load(Ordering::Relaxed) <= 2);
        }
        assert_eq!(done.into_inner(), 500);
        while awake.state.threads.load(Ordering::Relaxed) > 0 {
            std::thread::yield_now();
        }
    }
}
