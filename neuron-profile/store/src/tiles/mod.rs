//! Zoom levels: for each lane, bins of 2^k ns for every k from one at which a
//! bin has some thirty events up to the length of the profile.
//!
//! A bin says how many events begin in it, how long at least one is under way
//! (exact, also for events that cross bins), and the name that covers most of
//! that. Time that is covered twice counts for the event that began first.
//! Empty bins are not stored, and a long event is one entry for all bins that
//! it fills alone.
//!
//! An entry, in varints: twice the bins since the one before, plus 1 for a run;
//! then events, busy ns and name, or for a run its bins and its name.

pub mod page;
pub mod write;
