//! The plug-in in a real TensorBoard: the wheel in a clean environment, a log
//! directory of captured sample models, and a browser.

use std::path::PathBuf;

use anyhow::Result;

use crate::run::{say, target_dir};
use crate::{models, web, wheel};

/// The newest TensorBoard.
const NEWEST: &[&str] = &["tensorboard"];

/// The oldest one that starts on Python 3.11, with what it does not say that it
/// needs: 2.7 and older import what Python 3.10 removed.
const OLDEST: &[&str] = &["tensorboard==2.8.0", "six", "numpy<2", "protobuf<4", "setuptools<81"];

/// Which TensorBoards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    Newest,
    Oldest,
}

/// The program of a TensorBoard with the plug-in.
fn prepared(which: Which, made: &std::path::Path) -> Result<PathBuf> {
    let (name, packages) = match which {
        Which::Newest => ("newest", NEWEST),
        Which::Oldest => ("oldest", OLDEST),
    };
    let bin = wheel::environment(&target_dir()?.join("xtask/tensorboard").join(name))?;
    let path = made.to_string_lossy();
    wheel::install(&bin, &[packages, &[&*path]].concat())?;
    Ok(bin.join("tensorboard"))
}

/// Runs the tests, with the program that was built.
pub(crate) fn test(which: Which) -> Result<()> {
    let bin_dir = target_dir()?.join("debug");
    let work = target_dir()?.join("xtask/tensorboard");
    std::fs::create_dir_all(&work)?;
    let made = wheel::build(Some(&bin_dir.join("neuron-profile")), &work.join("wheel"))?;
    let tensorboard = prepared(which, &made)?;
    let samples = work.join("models");
    models::write_all(&samples)?;
    say(&format!("TensorBoard: {}", tensorboard.display()));
    web::npm(&["run", "e2e:tensorboard"])
        .env("NEURON_BIN_DIR", bin_dir)
        .env("NEURON_TENSORBOARD", tensorboard)
        .env("NEURON_MODELS", samples)
        .run()
}
