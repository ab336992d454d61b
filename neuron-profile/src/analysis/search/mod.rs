//! Searches: a query in words, the rows that meet it, sums of them.
//!
//! A table is read once, only the columns that the query names, and only row
//! groups whose statistics allow a match. Texts are looked at once for each that
//! occurs in a batch, not for each row.

mod expression;
mod parse;
mod scan;

pub use expression::{Condition, Expression, Test};
pub use parse::{QueryError, parse};
pub use scan::{Found, Hit, Statistics, Where, find, scan};
