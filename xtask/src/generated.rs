//! Generated files: written by `cargo xtask gen`, compared by `cargo xtask check`.
//!
//! A file enters by one row of [`all`]. Its text depends on the workspace
//! alone, never on the time or the machine.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use clap::Command;
use clap_complete::Shell;

use crate::metric_page;
use crate::run::{EVERYTHING, Run, root, say};

/// A tool whose man pages and completions are made: its crate, and the
/// `command()` that the crate exports.
type Tool = (&'static str, fn() -> Command);

const TOOLS: &[Tool] = &[
    ("neuron-ls", neuron_ls::command),
    ("neuron-monitor", neuron_monitor::command),
    ("neuron-top", neuron_top::command),
];

/// One generated file: its path from the root of the workspace, and its text.
#[derive(Debug, PartialEq, Eq)]
struct Generated {
    path: String,
    text: String,
}

/// Every generated file.
fn all() -> Result<Vec<Generated>> {
    let mut files = vec![Generated {
        path: "neuron-core/METRICS.md".to_owned(),
        text: metric_page::page(neuron_core::catalog::METRICS),
    }];
    for (name, command) in TOOLS {
        files.extend(of_tool(name, command())?);
    }
    Ok(files)
}

/// Test programs that write and compare what they make: code from proto files,
/// the pages of tools that this program should not have to build.
const CODE: [&str; 2] = ["generated", "ntff_generated"];

/// Variables that make them write.
const WRITE: [&str; 2] = ["NEURON_REGENERATE", "NTFF_REGENERATE"];

/// `cargo xtask gen`.
pub(crate) fn write() -> Result<()> {
    write_below(root(), &all()?)?;
    WRITE.into_iter().fold(code(), |run, variable| run.env(variable, "1")).run()
}

/// Fails if code is not what the proto files give.
pub(crate) fn compare_code() -> Result<()> {
    code().run()
}

/// As the tests are built, so that nothing large is built for these alone.
fn code() -> Run {
    let run = Run::cargo("test").arg("--quiet").args(EVERYTHING);
    CODE.into_iter().fold(run, |run, test| run.arg("--test").arg(test))
}

/// Fails if a file is not what would be written.
pub(crate) fn compare() -> Result<()> {
    let files = all()?;
    let stale = stale(root(), &files);
    if !stale.is_empty() {
        bail!("not current: {}; run cargo xtask gen", stale.join(", "));
    }
    say(&format!("{} generated files are current", files.len()));
    Ok(())
}

fn write_below(root: &Path, files: &[Generated]) -> Result<()> {
    for file in files {
        let path = root.join(&file.path);
        if std::fs::read_to_string(&path).is_ok_and(|text| text == file.text) {
            continue;
        }
        let write = || {
            std::fs::create_dir_all(path.parent().unwrap_or(root))?;
            std::fs::write(&path, &file.text)
        };
        write().with_context(|| format!("cannot write {}", path.display()))?;
        say(&format!("wrote {}", file.path));
    }
    Ok(())
}

fn stale(root: &Path, files: &[Generated]) -> Vec<String> {
    let current = |file: &Generated| {
        std::fs::read_to_string(root.join(&file.path)).is_ok_and(|text| text == file.text)
    };
    files.iter().filter(|file| !current(file)).map(|file| file.path.clone()).collect()
}

/// Man pages of the tool and of its subcommands, and three completions.
fn of_tool(name: &str, mut command: Command) -> Result<Vec<Generated>> {
    let shells = [
        (Shell::Bash, format!("{name}.bash")),
        (Shell::Zsh, format!("_{name}")),
        (Shell::Fish, format!("{name}.fish")),
    ];
    let mut files = Vec::new();
    for (shell, file) in shells {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut command.clone(), name, &mut text);
        files.push(Generated {
            path: format!("{name}/assets/{file}"),
            text: String::from_utf8(text)?,
        });
    }
    command = command.disable_help_subcommand(true);
    command.build();
    man_pages(name, name, command, &mut files)?;
    Ok(files)
}

fn man_pages(tool: &str, page: &str, command: Command, files: &mut Vec<Generated>) -> Result<()> {
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        man_pages(tool, &format!("{page}-{}", sub.get_name()), sub.clone(), files)?;
    }
    let mut text = Vec::new();
    // The title is given, because the date must not be today's.
    clap_mangen::Man::new(command).title(page).date("").render(&mut text)?;
    files.push(Generated {
        path: format!("{tool}/assets/{page}.1"),
        text: String::from_utf8(text)?,
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool() -> Command {
        Command::new("tool")
            .version("1.2.3")
            .about("Does a thing")
            .arg(clap::Arg::new("size").long("size").env("TOOL_SIZE").help("How large"))
            .subcommand(Command::new("run").about("Runs it"))
    }

    #[test]
    fn a_tool_has_pages_and_completions() {
        let files = of_tool("tool", tool()).unwrap();
        let paths: Vec<_> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(
            paths,
            [
                "tool/assets/tool.bash",
                "tool/assets/_tool",
                "tool/assets/tool.fish",
                "tool/assets/tool-run.1",
                "tool/assets/tool.1",
            ]
        );
        for file in &files {
            let word = if file.path.ends_with("run.1") { "Runs it" } else { "size" };
            assert!(file.text.contains(word), "{}:\n{}", file.path, file.text);
        }
        assert!(files.last().is_some_and(|page| page.text.contains("TOOL_SIZE")));
        assert_eq!(files, of_tool("tool", tool()).unwrap());
    }

    #[test]
    fn a_changed_or_missing_file_is_named() {
        let dir = std::env::temp_dir().join(format!("xtask-generated-{}", std::process::id()));
        let files = of_tool("tool", tool()).unwrap();
        assert_eq!(stale(&dir, &files).len(), files.len());
        write_below(&dir, &files).unwrap();
        assert_eq!(stale(&dir, &files), Vec::<String>::new());
        std::fs::write(dir.join("tool/assets/_tool"), "other").unwrap();
        std::fs::remove_file(dir.join("tool/assets/tool.1")).unwrap();
        assert_eq!(stale(&dir, &files), ["tool/assets/_tool", "tool/assets/tool.1"]);
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
