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
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let kept = out.join("viewer");
    fs::create_dir_all(&kept)?;
    let mut table = String::from("&[\n");
    for (place, name) in names.iter().enumerate() {
        // Only files that were compressed are the viewer's. They are copied, so
        // that a build of the viewer does not take them away under a compiler.
        let file = site.join(name).into_os_string();
        let copied = ["br", "gz"].map(|kind| {
            let mut from = file.clone();
            from.push(format!(".{kind}"));
            fs::copy(from, kept.join(format!("{place}.{kind}"))).is_ok()
        });
        if copied == [true; 2] {
            let bytes = |kind: &str| {
                format!("include_bytes!(concat!(env!(\"OUT_DIR\"), \"/viewer/{place}.{kind}\"))")
            };
            let (br, gz) = (bytes("br"), bytes("gz"));
            let _ = writeln!(table, "    Asset {{ name: {name:?}, br: {br}, gz: {gz} }},");
        }
    }
    table.push_str("]\n");
    fs::write(out.join("viewer.rs"), table)?;
    fs::write(out.join("share.rs"), share(&here.join("web/dist/share"), &kept))
}

/// The viewer in one script and one style, for pages with a profile inside.
fn share(dir: &Path, kept: &Path) -> &'static str {
    let copied = ["viewer.js.gz", "viewer.css.gz"]
        .map(|name| fs::copy(dir.join(name), kept.join(name)).is_ok());
    if copied == [true; 2] {
        "Some((include_bytes!(concat!(env!(\"OUT_DIR\"), \"/viewer/viewer.js.gz\")), \
         include_bytes!(concat!(env!(\"OUT_DIR\"), \"/viewer/viewer.css.gz\"))))"
    } else {
        "None"
    }
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
