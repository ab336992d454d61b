//! `neff pack`: a folder's files as a NEFF whose bytes depend on them only.

use super::open::{findings, tell};
use crate::output::{Exit, Format, json, progress};
use anyhow::{Context, bail};
use clap::ValueEnum;
use neuron_core::model::printable;
use neuron_core::neff::{
    Builder, DigestForm, Header, Mode, Model, Neff, Options, Packing, Report, features, shown,
};
use neuron_core::sys::file_map::FileBytes;
use serde_json::json as value;
use std::fs::{self, Permissions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Make a NEFF of a folder's files
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The folder, as `neff unpack` makes it
    folder: PathBuf,

    /// The NEFF to write; - writes it to stdout
    file: PathBuf,

    /// Take the header fields of this NEFF; further flags change them
    #[arg(long, value_name = "NEFF")]
    like: Option<PathBuf>,

    /// Name of the model, at most 255 bytes
    #[arg(short, long, value_parser = field::<256>)]
    name: Option<String>,

    /// Label of the producer, at most 127 bytes
    #[arg(long, value_parser = field::<128>)]
    label: Option<String>,

    /// Id of the model, 32 hex digits; made from the content if not given
    #[arg(long, value_parser = uuid)]
    uuid: Option<[u8; 16]>,

    /// Format version, MAJOR.MINOR; 1.0 without features, else 2.0
    #[arg(short = 'k', long, value_parser = version)]
    neff_version: Option<(u64, u64)>,

    /// Packager version: 1 stores a SHA-256, 2 an MD5
    #[arg(short = 'r', long, value_parser = clap::value_parser!(u64).range(1..=2))]
    header_version: Option<u64>,

    /// NeuronCores for full speed
    #[arg(short = 't', long, value_parser = clap::value_parser!(u32).range(1..=64))]
    num_nc: Option<u32>,

    /// Physical cores of one logical core; the count of sgNN folders if not given
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=2))]
    lnc_size: Option<u32>,

    /// Set a feature, by the name that `neff info` shows; may be repeated
    #[arg(short, long = "enable-feature", value_name = "FEATURE", value_parser = feature)]
    enable_feature: Vec<u64>,

    /// Store the archive without compression
    #[arg(long)]
    bare: bool,

    /// Form of the MD5: as it is, or words byte-reversed as current compilers do
    #[arg(long, value_enum, default_value_t = Form::Swapped)]
    digest: Form,

    /// Replace the file if it exists
    #[arg(long)]
    force: bool,

    /// Form of the result
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Form {
    Plain,
    Swapped,
}

fn uuid(text: &str) -> Result<[u8; 16], String> {
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    let is_hex = digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let number = u128::from_str_radix(&digits, 16).ok().filter(|_| is_hex);
    number.map(u128::to_be_bytes).ok_or_else(|| String::from("give 32 hex digits"))
}

/// A text for a header field of `LENGTH` bytes that ends in a NUL.
fn field<const LENGTH: usize>(text: &str) -> Result<String, String> {
    let most = LENGTH - 1;
    if text.len() > most || text.contains('\0') {
        return Err(format!("give at most {most} bytes, it has {}", text.len()));
    }
    Ok(text.to_owned())
}

fn version(text: &str) -> Result<(u64, u64), String> {
    let parts = text.split_once('.').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    let parts = parts.filter(|(major, _)| *major <= 2);
    parts.ok_or_else(|| String::from("give MAJOR.MINOR, major 0 to 2"))
}

fn feature(text: &str) -> Result<u64, String> {
    features::parse(text).ok_or_else(|| format!("known are {}", features::known().join(", ")))
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    // A link counts as what it leads to.
    if fs::metadata(&args.file).is_ok_and(|about| !about.is_file()) {
        bail!("{}: it exists and is not a plain file, give another", args.file.display());
    }
    let mut files = Vec::new();
    collect(&args.folder, "", &mut files)?;
    if files.is_empty() {
        bail!("{}: there is no file to pack", args.folder.display());
    }
    let mut bodies = Vec::new();
    for (name, path) in &files {
        bodies.push((name, FileBytes::open(path)?));
    }
    let mut builder = Builder::with_header(header(args, &files)?);
    for (name, body) in &bodies {
        builder.add(name, &**body).with_context(|| args.folder.display().to_string())?;
    }
    if args.bare {
        builder.packing = Packing::Bare;
    }
    builder.form = match args.digest {
        Form::Plain => DigestForm::Plain,
        Form::Swapped => DigestForm::Swapped,
    };
    if args.file.as_os_str() == "-" {
        builder.write(out).context("cannot pack")?;
        out.flush()?;
        return Ok(Exit::Done);
    }
    let (header, report) = write(args, &builder)?;
    let size = header.header_size + header.data_size;
    match args.output {
        Format::Json => json(
            out,
            &value!({
                "file": args.file.display().to_string(),
                "members": files.len(),
                "size": size,
                "hash": header.hash_hex(),
                "uuid": header.uuid_hex(),
                "findings": findings(&report),
            }),
        )?,
        Format::Text => {
            let file = printable(&args.file.display().to_string());
            writeln!(out, "{file}: {} members, {size} bytes", files.len())?;
            out.flush()?;
        }
    }
    Ok(tell(&args.file.display().to_string(), &report))
}

/// Writes to a temporary file beside the target, reads it again, renames it. The
/// report has what a loader would miss in it.
fn write(args: &Args, builder: &Builder<'_>) -> anyhow::Result<(Header, Report)> {
    let target = args.file.display();
    let parent = match args.file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let file = tempfile::Builder::new()
        .prefix(".neff-pack-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(parent)
        .with_context(|| format!("cannot make a file in {}", parent.display()))?;
    let bar = progress("pack", u64::try_from(builder.order().count())?, false);
    let mut out = BufWriter::new(file);
    let header = builder.write_seek(&mut out, |_| bar.inc(1));
    bar.finish_and_clear();
    let header = header.with_context(|| format!("cannot write {target}"))?;
    let file = out.into_inner().with_context(|| format!("cannot write {target}"))?;
    file.as_file().sync_all().with_context(|| format!("cannot write {target}"))?;
    let written = FileBytes::open(file.path())?;
    let refused = || format!("cannot write {target}");
    let neff = Neff::open(&written, &Options::strict()).with_context(refused)?;
    let mut report = Report::new(Mode::Lenient);
    Model::read(&neff, &mut report).with_context(refused)?;
    let saved =
        if args.force { file.persist(&args.file) } else { file.persist_noclobber(&args.file) };
    match saved {
        Ok(_) => Ok((header, report)),
        Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => {
            bail!("{target}: it exists, --force replaces it")
        }
        Err(error) => Err(error.error).with_context(|| format!("cannot write {target}")),
    }
}

fn header(args: &Args, files: &[(String, PathBuf)]) -> anyhow::Result<Header> {
    let subgraph = |name: &str| {
        let folder = name.split('/').next().filter(|_| name.contains('/'))?;
        folder.strip_prefix("sg")?.parse::<u32>().ok()
    };
    let most = files.iter().filter_map(|(name, _)| subgraph(name)).max().unwrap_or(0);
    let mut builder = Builder::new(most.saturating_add(1).min(2));
    if let Some(like) = &args.like {
        let bytes = FileBytes::open(like)?;
        if !Header::sniff(&bytes) {
            bail!("{}: it is no NEFF, its header cannot be taken", like.display());
        }
        builder.header = Header::of_file(&bytes).with_context(|| like.display().to_string())?;
    }
    let header = &mut builder.header;
    if let Some(name) = &args.name {
        header.set_name(name);
    } else if args.like.is_none() {
        let of = if args.file.as_os_str() == "-" { &args.folder } else { &args.file };
        let name = of.file_name().map(|name| name.to_string_lossy().into_owned());
        header.set_name(&name.unwrap_or_default());
    }
    if let Some(label) = &args.label {
        header.set_build_version(label);
    }
    header.uuid = args.uuid.unwrap_or(header.uuid);
    header.packager = args.header_version.unwrap_or(header.packager);
    header.lnc_size = args.lnc_size.unwrap_or(header.lnc_size);
    if let Some(cores) = args.num_nc {
        header.num_tpb = cores;
        header.requested_tpb = cores;
    }
    if !args.enable_feature.is_empty() {
        let bits = args.enable_feature.iter().fold(header.feature_bits, |bits, bit| bits | bit);
        builder.set_features(bits);
    }
    if let Some((major, minor)) = args.neff_version {
        if major < 2 && builder.header.feature_bits != 0 {
            bail!(
                "-k {major}.{minor}: features count from major version 2 on, leave one of both out"
            );
        }
        builder.header.major = major;
        builder.header.minor = minor;
    }
    Ok(builder.header)
}

/// The plain files below a folder; anything else but folders is refused.
fn collect(folder: &Path, prefix: &str, files: &mut Vec<(String, PathBuf)>) -> anyhow::Result<()> {
    let cannot = || format!("cannot list {}", folder.display());
    for entry in fs::read_dir(folder).with_context(cannot)? {
        let entry = entry.with_context(cannot)?;
        let path = entry.path();
        let Some(part) = entry.file_name().to_str().map(str::to_owned) else {
            bail!("{}: the name is not UTF-8", shown(&path.display().to_string()));
        };
        let name = format!("{prefix}{part}");
        let kind = entry.file_type().with_context(cannot)?;
        if kind.is_dir() {
            collect(&path, &format!("{name}/"), files)?;
        } else if kind.is_file() {
            files.push((name, path));
        } else {
            bail!("{}: it is neither file nor folder", path.display());
        }
    }
    Ok(())
}
