//! neuron-cli: lists, loads and runs models on a daemon (neuron-rtd.md §5).
//!
//! Commands and columns are those that users of runtime 1.x knew; `infer` and
//! `stat` are ours. Listing models goes through our extension service.

mod args;
mod infer;
mod list;
mod models;
mod npy;
mod remote;

use std::ffi::OsString;
use std::io::Write as _;

use neuron_core::cli::{self, Exit, Output, complain};

use args::Command;
pub use args::{Args, command};
use remote::Remote;

const NAME: &str = "neuron-cli";

/// Runs one command.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    let args: Args = match cli::parse(command(), arguments, Exit::Usage) {
        Ok(args) => args,
        Err(exit) => return exit,
    };
    let executor = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let done = match executor {
        Ok(executor) => executor.block_on(perform(&args)),
        Err(error) => Err(format!("cannot start: {error}")),
    };
    let written = done.and_then(|text| {
        let mut out = Output::stdout();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        written.map_err(|error| format!("cannot write to stdout: {error}"))
    });
    match written {
        Ok(()) => Exit::Done,
        Err(reason) => {
            complain(NAME, &reason);
            Exit::Error
        }
    }
}

/// Does what was asked for; gives what to print.
async fn perform(args: &Args) -> Result<String, String> {
    let mut remote = Remote::connect(&args.address).await?;
    match &args.command {
        Command::ListModel => list::models(&mut remote).await,
        Command::ListNcg => list::groups(&mut remote).await,
        Command::Stat => list::counters(&mut remote).await,
        Command::CreateNcg { count } => models::create_group(&mut remote, *count).await,
        Command::DestroyNcg { id } => models::destroy_group(&mut remote, *id).await,
        Command::Load(load) => models::load(&mut remote, load).await,
        Command::Start { id } => models::start(&mut remote, *id).await,
        Command::Stop { id } => models::stop(&mut remote, *id).await,
        Command::Unload { id } => models::unload(&mut remote, *id).await,
        Command::Reset => models::reset(&mut remote).await,
        Command::Infer(infer) => infer::infer(&mut remote, infer).await,
    }
}
