//! `neuron-profile tensorboard`: serves the runs of a log directory on a Unix
//! socket, for the plug-in of TensorBoard.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context as _;
use profile_store::Store;

use super::prepare::Board;
use crate::output::{self, Exit};
use crate::serve::socket::serve;

/// Serve the runs of a log directory to the plug-in of TensorBoard, which starts this itself
#[derive(Debug, clap::Args)]
#[command(after_help = output::codes())]
pub struct Args {
    /// The log directory of TensorBoard
    #[arg(long, value_name = "DIR")]
    logdir: PathBuf,

    /// The Unix socket to listen on; its directory should be the user's own
    #[arg(long, value_name = "PATH")]
    socket: PathBuf,

    /// Where profiles are kept that were made of the files of runs; they may be removed at any time
    /// [default: $XDG_CACHE_HOME/neuron-profile, else ~/.cache/neuron-profile]
    #[arg(long, value_name = "DIR", env = "NEURON_PROFILE_CACHE")]
    cache: Option<PathBuf>,

    /// End when stdin is closed, as it is when the program at its other end has ended
    #[arg(long)]
    until_stdin_closes: bool,
}

/// The place by the XDG rules.
fn usual() -> Option<PathBuf> {
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_CACHE_HOME")
        .or_else(|| Some(absolute("HOME")?.join(".cache")))
        .map(|cache| cache.join("neuron-profile"))
}

/// Runs the command.
///
/// # Errors
///
/// A socket that cannot be made.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let cache = args.cache.clone().or_else(usual);
    let cache = cache.context("$HOME is not defined; say where to keep profiles with --cache")?;
    let logdir = std::path::absolute(&args.logdir).context("cannot tell where --logdir is")?;
    let (board, work) = Board::new(logdir, Store::new(cache));
    serve(&board, work, &args.socket, args.until_stdin_closes, out)?;
    Ok(Exit::Done)
}
