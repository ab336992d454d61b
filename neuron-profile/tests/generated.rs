//! Man pages and completions are what the command line gives.
//!
//! `cargo xtask gen` writes them anew (it sets `NEURON_REGENERATE=1`).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use clap_complete::Shell;

const NAME: &str = "neuron-profile";

fn check(file: &str, wanted: &[u8]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets").join(file);
    if std::env::var_os("NEURON_REGENERATE").is_some() {
        std::fs::write(&path, wanted).unwrap();
    }
    let found = std::fs::read(&path).unwrap_or_default();
    assert!(found == wanted, "{} is stale: run cargo xtask gen", path.display());
}

/// A page for the command and each of those below it.
fn pages(page: &str, command: &clap::Command) {
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        pages(&format!("{page}-{}", sub.get_name()), sub);
    }
    let mut text = Vec::new();
    // The date must not be today's.
    let man = clap_mangen::Man::new(command.clone()).title(page).date("");
    man.render(&mut text).unwrap();
    check(&format!("{page}.1"), &text);
}

#[test]
fn pages_and_completions_are_current() {
    let command = neuron_profile::command();
    for (shell, file) in [
        (Shell::Bash, format!("{NAME}.bash")),
        (Shell::Zsh, format!("_{NAME}")),
        (Shell::Fish, format!("{NAME}.fish")),
    ] {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut command.clone(), NAME, &mut text);
        check(&file, &text);
    }
    let mut whole = command.disable_help_subcommand(true);
    whole.build();
    pages(NAME, &whole);
}
