//! Beginnings and ends matched by key, first in first out, under a limit.
//!
//! Instructions pair by (engine, pc), DMA packets by (engine, queue)
//! (ntff.md §7.3).

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// Beginnings without an end so far.
#[derive(Debug)]
pub struct Pairs<K, T> {
    open: HashMap<K, VecDeque<T>>,
    count: usize,
    limit: usize,
}

impl<K: Eq + Hash, T> Pairs<K, T> {
    /// Holds at most `limit` open beginnings.
    pub fn new(limit: usize) -> Self {
        Self { open: HashMap::new(), count: 0, limit }
    }

    /// A beginning; given back when the limit is reached.
    ///
    /// # Errors
    ///
    /// The beginning itself.
    pub fn begin(&mut self, key: K, value: T) -> Result<(), T> {
        if self.count >= self.limit {
            return Err(value);
        }
        self.count += 1;
        self.open.entry(key).or_default().push_back(value);
        Ok(())
    }

    /// The beginning of an end; `None` for an orphan.
    pub fn end(&mut self, key: &K) -> Option<T> {
        let queue = self.open.get_mut(key)?;
        let value = queue.pop_front()?;
        self.count -= 1;
        if queue.is_empty() {
            self.open.remove(key);
        }
        Some(value)
    }

    /// How many are open.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether none is open.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Those without an end, in no order of keys.
    pub fn into_open(self) -> impl Iterator<Item = (K, VecDeque<T>)> {
        self.open.into_iter()
    }
}
