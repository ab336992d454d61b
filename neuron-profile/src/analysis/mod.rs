//! What a viewer shows of a stored profile beyond its rows: trees of operators,
//! metrics of a region, layers as bars, searches. Pure computing over
//! `profile-store`; nothing here knows of HTTP.

pub mod flows;
pub mod layers;
pub mod region;
pub mod search;
pub mod stacks;
pub mod system;
pub mod tree;
