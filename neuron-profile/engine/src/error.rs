//! Why a profile cannot be made.

use std::io;

/// What is wrong with the pair of files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The source of the trace fails.
    #[error("cannot read the trace at offset {offset}: {source}")]
    Read {
        /// Where.
        offset: u64,
        /// Why.
        source: io::Error,
    },
    /// The NTFF cannot be opened.
    #[error(transparent)]
    Ntff(#[from] neuron_core::ntff::Error),
    /// The NEFF cannot be opened.
    #[error(transparent)]
    Neff(#[from] neuron_core::neff::Problem),
    /// The trace is of another executable.
    #[error(
        "the trace is of executable {trace}, the NEFF is {neff}; give the NEFF that was running"
    )]
    OtherNeff {
        /// Id in the trace.
        trace: String,
        /// Id of the NEFF.
        neff: String,
    },
    /// A generation that no sheet describes.
    #[error("the trace is of hardware generation {0}, which is not known")]
    Generation(u64),
    /// No core was traced.
    #[error("the trace holds no core; nothing was executed while it was captured")]
    NoCore,
    /// Neither the message nor the records tell when the program ran.
    #[error("the trace does not tell when the program ran: no window and no NOTIFY instruction")]
    NoWindow,
    /// The execution asked for is not there.
    #[error("the trace has {have} executions, number {} was asked for", asked + 1)]
    NoExecution {
        /// Asked for, from 0.
        asked: usize,
        /// There are.
        have: usize,
    },
}
