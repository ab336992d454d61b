//! Puts the built viewer (`web/dist/site`, by `cargo xtask web`) into the
//! program, as a table of compressed files. Without it the table is empty, and
//! the server shows plain pages.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    // The directory is always there; what is in it is not in the repository.
    println!("cargo::rerun-if-changed=web/dist");
    println!("cargo::rerun-if-changed=build.rs");
    let site = here.join("web/dist/site");
    let mut names = Vec::new();
    if site.join("index.html").is_file() {
        list(&site, &site, &mut names)?;
        names.sort();
    }
    let mut table = String::from("&[\n");
    for name in &names {
        let file = site.join(name);
        // Only files that were compressed are the viewer's.
        let [br, gz] = ["br", "gz"].map(|kind| PathBuf::from(format!("{}.{kind}", file.display())));
        if br.is_file() && gz.is_file() {
            let _ = writeln!(
                table,
                "    Asset {{ name: {name:?}, br: include_bytes!({br:?}), gz: include_bytes!({gz:?}) }},"
            );
        }
    }
    table.push_str("]\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("viewer.rs");
    fs::write(out, table)
}

/// Names of the files below a directory, with `/` between.
fn list(root: &Path, dir: &Path, names: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            list(root, &path, names)?;
        } else if let Some(name) = path.strip_prefix(root).ok().and_then(Path::to_str) {
            names.push(name.replace('\\', "/"));
        }
    }
    Ok(())
}
