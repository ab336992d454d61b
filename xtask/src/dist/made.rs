//! Files that are made for the packages: sample models, licences, the
//! copyright page of Debian.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::crates::Part;
use super::licences;
use crate::models;

/// Sample models that are shipped: small, and each shows something else.
const MODELS: &[&str] =
    &["null", "mlp", "cnn", "transformer", "cpu-node", "deadlock", "divide-by-zero"];

/// Debian's form of a copyright page.
const COPYRIGHT: &str = "\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: neuron-tools
Comment:
 The programs are linked with libraries of others; THIRD-PARTY-LICENSES.txt
 in /opt/aws/neuron lists each with its licence and its text.

Files: *
Copyright: 2026 The neuron-tools authors
License: Apache-2.0
 Licensed under the Apache License, Version 2.0. On Debian systems the text of
 the licence is in /usr/share/common-licenses/Apache-2.0.
";

/// Writes all of them into the folder.
pub(super) fn write(to: &Path, parts: &[Part]) -> Result<()> {
    let models = to.join("models");
    std::fs::create_dir_all(&models).with_context(|| format!("cannot make {}", to.display()))?;
    for name in MODELS {
        models::write_neff(&models, name)?;
    }
    std::fs::write(to.join("copyright"), COPYRIGHT)?;
    std::fs::write(to.join("THIRD-PARTY-LICENSES.txt"), licences::text(parts)?)?;
    Ok(())
}
