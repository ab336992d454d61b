//! Where clients come in: endpoints, listeners, connections.

mod authority;
mod connection;
mod endpoint;
mod listener;

pub(crate) use connection::Connection;
pub(crate) use endpoint::DEFAULT;
pub use endpoint::Endpoint;
pub(crate) use listener::Listener;
