//! The operator table: which operator ran how often and how long on which core,
//! as the original's files have it, or as a profile says it.
//!
//! Of a profile, a framework operator is the last part of the path of a layer
//! (where a program has no layers, of an HLO instruction whose name is a path), an
//! HLO operator the name of the HLO instruction; both without their number. Its time
//! is the sum of the lengths of its instructions without waits for semaphores;
//! occurrences are the layers, or the HLO instructions, that have the name.
//! What belongs to no operator is one row, so that the times add up.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Context as _;
use profile_store::kinds::NONE;
use profile_store::{LaneKind, Profile};
use serde::{Deserialize, Deserializer, Serialize};

use super::files;

/// The row of what belongs to no operator.
pub const NO_OPERATOR: &str = "(no operator)";

/// What the engine calls the layer of an instruction that has none.
const UNKNOWN: &str = "Unknown";

/// Rows at most: more than a person sorts through (our choice).
const MOST: usize = 200_000;

/// Members of a fused operator that are told at most.
const MEMBERS: usize = 256;

/// Which operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Of {
    /// Those of the framework.
    Framework,
    /// Those of the compiler's graph.
    Hlo,
}

impl Of {
    /// By its word.
    pub fn word(text: &str) -> Option<Self> {
        match text {
            "framework" => Some(Self::Framework),
            "hlo" => Some(Self::Hlo),
            _ => None,
        }
    }
}

/// An operator on a core.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Op {
    /// Name.
    #[serde(alias = "op_name", alias = "op", alias = "Op Name")]
    pub name: String,
    /// How often it is there.
    #[serde(default, alias = "count", alias = "Occurrences", deserialize_with = "whole")]
    pub occurrences: u64,
    /// Device.
    #[serde(default, alias = "device", alias = "Neuron Device", deserialize_with = "whole")]
    pub neuron_device: u64,
    /// Core of the device.
    #[serde(default, alias = "core", alias = "NeuronCore", deserialize_with = "whole")]
    pub neuron_core: u64,
    /// ns
    #[serde(default, alias = "time", alias = "Time (ns)", deserialize_with = "whole")]
    pub time_ns: u64,
    /// Paths of the operators in it, where it is a fused one.
    #[serde(
        default,
        alias = "operators",
        deserialize_with = "members",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub fused: Vec<String>,
}

/// A table of operators, and the schema of its file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ops {
    /// Version of the form.
    #[serde(default = "one")]
    pub schema: u32,
    /// Unit of times.
    #[serde(default = "ns")]
    pub unit: String,
    /// What shares are of, ns; the sum of the times where a file says nothing.
    #[serde(default, deserialize_with = "whole")]
    pub total_time: u64,
    /// Operators by name, device and core, each once.
    pub ops: Vec<Op>,
}

const fn one() -> u32 {
    1
}

fn ns() -> String {
    String::from("ns")
}

/// A whole number, also where it is written as a real one or as text.
fn whole<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Any {
        Whole(u64),
        Real(f64),
        Text(String),
    }
    let real =
        |real: f64| if real.is_finite() && real >= 0.0 { Some(real.round() as u64) } else { None };
    let number = match Any::deserialize(from)? {
        Any::Whole(number) => Some(number),
        Any::Real(number) => real(number),
        Any::Text(text) => text.trim().parse().ok().and_then(real),
    };
    number.ok_or_else(|| serde::de::Error::custom("a number that is not negative is expected"))
}

/// A list of paths, also as one text with commas and line breaks.
fn members<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Any {
        List(Vec<String>),
        Text(String),
    }
    let all = match Option::<Any>::deserialize(from)? {
        None => Vec::new(),
        Some(Any::List(list)) => list,
        Some(Any::Text(text)) => text.split([',', '\n']).map(|one| one.trim().to_owned()).collect(),
    };
    Ok(all.into_iter().filter(|one| !one.is_empty()).take(MEMBERS).collect())
}

impl Ops {
    /// Adds up what is there twice, and puts all in order of name, device, core.
    fn settled(mut self) -> Self {
        let mut known: BTreeMap<(String, u64, u64), Op> = BTreeMap::new();
        for op in std::mem::take(&mut self.ops) {
            let key = (op.name.clone(), op.neuron_device, op.neuron_core);
            match known.get_mut(&key) {
                None => {
                    known.insert(key, op);
                }
                Some(sum) => {
                    sum.occurrences = sum.occurrences.saturating_add(op.occurrences);
                    sum.time_ns = sum.time_ns.saturating_add(op.time_ns);
                    for member in op.fused {
                        if !sum.fused.contains(&member) && sum.fused.len() < MEMBERS {
                            sum.fused.push(member);
                        }
                    }
                }
            }
        }
        self.ops = known.into_values().collect();
        if self.total_time == 0 {
            self.total_time = self.ops.iter().map(|op| op.time_ns).fold(0, u64::saturating_add);
        }
        self
    }

    /// Joins the tables of several profiles of a run.
    pub fn joined(all: impl IntoIterator<Item = Self>) -> Self {
        let mut out = Self { schema: one(), unit: ns(), ..Self::default() };
        for table in all {
            out.ops.extend(table.ops);
        }
        out.settled()
    }

    /// Reads a file: an object with `ops`, or the list alone.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, is too large, or has another form; the error
    /// says where.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let name = || path.file_name().unwrap_or_default().display().to_string();
        let mut bytes = Vec::new();
        let mut reader = files::open(path, files::OPERATORS)?;
        std::io::Read::read_to_end(&mut reader, &mut bytes).with_context(name)?;
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        let table = if first == Some(&b'[') {
            let ops = serde_json::from_slice(&bytes).with_context(name)?;
            Self { schema: one(), unit: ns(), ops, total_time: 0 }
        } else {
            serde_json::from_slice(&bytes).with_context(name)?
        };
        anyhow::ensure!(
            table.ops.len() <= MOST,
            "{}: {} operators are too many; at most {MOST}",
            name(),
            table.ops.len()
        );
        Ok(table.settled())
    }

    /// The operators of a profile.
    ///
    /// # Errors
    ///
    /// A profile that cannot be read.
    pub fn of(profile: &Profile, of: Of) -> Result<Self, profile_store::Error> {
        let lanes: Vec<usize> = (0..profile.lanes().len())
            .filter(|lane| {
                profile.lanes().get(*lane).is_some_and(|lane| lane.kind == LaneKind::Engine)
            })
            .collect();
        let total = profile.manifest().total_ns;
        if lanes.is_empty() || total == 0 {
            return Ok(Self { schema: one(), unit: ns(), ..Self::default() });
        }
        let device = device(profile)?;
        let all = profile.kinds();
        let selected = profile.selection(0, total + 1, &lanes)?;
        let rows = selected.iter().flat_map(|lane| {
            let core = profile.lanes().get(lane.lane).map(|lane| lane.core);
            lane.names.iter().filter_map(move |sum| {
                let kind = all.kind(sum.name);
                if kind.is_some_and(|kind| kind.waits) {
                    return None;
                }
                let text = |place: Option<u32>| all.text(place.unwrap_or(NONE));
                let (layer, hlo) =
                    (text(kind.map(|kind| kind.layer)), text(kind.map(|kind| kind.operator)));
                Some(Ran { core: core?, layer, hlo, time: sum.time })
            })
        });
        Ok(Self::summed(rows, of, device))
    }

    /// The operators of instructions that ran on a device, waits left out.
    pub(super) fn summed<'t>(rows: impl Iterator<Item = Ran<'t>>, of: Of, device: u64) -> Self {
        let mut out = Self { schema: one(), unit: ns(), ..Self::default() };
        let mut sums: BTreeMap<(u32, &str), Sum<'_>> = BTreeMap::new();
        for Ran { core, layer, hlo, time } in rows {
            let path = path(layer, hlo);
            let (name, instance) = match of {
                Of::Framework => (framework(path).and_then(word), path),
                Of::Hlo => (hlo.and_then(word), hlo),
            };
            let row = sums.entry((core, name.unwrap_or(NO_OPERATOR))).or_default();
            row.time = row.time.saturating_add(time);
            row.instances.extend(instance.filter(|_| name.is_some()));
            if let (Of::Hlo, Some(hlo), Some(layer)) = (of, hlo, layer.filter(|l| *l != UNKNOWN)) {
                row.members.entry(hlo).or_default().insert(layer);
            }
        }
        out.ops = sums
            .into_iter()
            .map(|((core, name), sum)| Op {
                name: name.to_owned(),
                occurrences: u64::try_from(sum.instances.len()).unwrap_or(u64::MAX),
                neuron_device: device,
                neuron_core: core.into(),
                time_ns: sum.time,
                fused: sum.fused(),
            })
            .collect();
        out.settled()
    }
}

/// Instructions that ran on a core, with what they belong to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ran<'t> {
    pub(super) core: u32,
    pub(super) layer: Option<&'t str>,
    pub(super) hlo: Option<&'t str>,
    /// ns, all of them together.
    pub(super) time: u64,
}

/// Both tables of a profile.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Tables {
    /// Its name, for people.
    pub name: String,
    /// Operators of the framework.
    pub framework: Ops,
    /// Operators of the compiler's graph.
    pub hlo: Ops,
}

impl Tables {
    /// One of them.
    pub const fn of(&self, of: Of) -> &Ops {
        match of {
            Of::Framework => &self.framework,
            Of::Hlo => &self.hlo,
        }
    }
}

/// Sums of an operator.
#[derive(Debug, Default)]
struct Sum<'p> {
    time: u64,
    instances: BTreeSet<&'p str>,
    /// Layers of each HLO instruction.
    members: BTreeMap<&'p str, BTreeSet<&'p str>>,
}

impl Sum<'_> {
    /// The layers of an instruction that several share: it was fused of them.
    fn fused(&self) -> Vec<String> {
        let several = self.members.values().filter(|layers| layers.len() > 1);
        let all: BTreeSet<&str> = several.flatten().copied().collect();
        all.into_iter().take(MEMBERS).map(str::to_owned).collect()
    }
}

/// The path of the framework's operator: that of the layer, else the name of the
/// HLO instruction where that is a path.
pub fn path<'t>(layer: Option<&'t str>, hlo: Option<&'t str>) -> Option<&'t str> {
    let known = layer.filter(|layer| *layer != UNKNOWN && !layer.trim_matches('/').is_empty());
    known.or_else(|| hlo.filter(|hlo| hlo.contains('/') && !hlo.contains([' ', '='])))
}

/// The operator at the end of a path.
pub fn framework(path: Option<&str>) -> Option<&str> {
    path?.trim_end_matches('/').rsplit('/').next().filter(|name| !name.is_empty())
}

/// The operator of an HLO instruction: `%dot.34` is a `dot`.
pub fn word(name: &str) -> Option<&str> {
    let name = name.trim_start_matches('%');
    let name = name.split([' ', '=']).next().unwrap_or(name);
    let short = match name.rsplit_once('.') {
        Some((short, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => short,
        _ => name,
    };
    Some(short).filter(|short| !short.is_empty())
}

/// The device that a profile is of: where its memory was in use, else 0.
fn device(profile: &Profile) -> Result<u64, profile_store::Error> {
    const TABLE: &str = "HbmUsageSummaryByType";
    if !profile.manifest().tables.contains_key(TABLE) {
        return Ok(0);
    }
    let row = profile.row(TABLE, 0)?;
    Ok(row.get("neuron_device_idx").and_then(serde_json::Value::as_u64).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Ops, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("neuron_hlo_op.json");
        std::fs::write(&path, text).unwrap();
        Ops::read(&path).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn a_file_is_read_and_added_up() {
        let table = read(
            r#"{"total_time": 1000, "later": [1], "ops": [
                {"name": "dot", "occurrences": 1, "neuron_device": 0, "neuron_core": 1, "time_ns": 200,
                 "fused": "a/b,\n c", "more": {}},
                {"op_name": "dot", "count": 1.0, "core": "1", "time": 79.0, "fused": ["c", "d"]},
                {"name": "add", "time_ns": 159}]}"#,
        )
        .unwrap();
        let rows: Vec<_> = table
            .ops
            .iter()
            .map(|op| (op.name.as_str(), op.occurrences, op.neuron_core, op.time_ns))
            .collect();
        assert_eq!(rows, [("add", 0, 0, 159), ("dot", 2, 1, 279)]);
        assert_eq!(table.ops[1].fused, ["a/b", "c", "d"]);
        assert_eq!(table.total_time, 1000);
        let list = read(r#" [{"name": "a", "time_ns": 3}, {"name": "b", "time_ns": 4}]"#).unwrap();
        assert_eq!((list.total_time, list.ops.len(), list.unit.as_str()), (7, 2, "ns"));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let told = read("{\"ops\": [{\"name\": \"a\", }]}").unwrap_err();
        assert!(
            told.starts_with("neuron_hlo_op.json: ") && told.contains("line 1 column"),
            "{told}"
        );
        assert!(read("{\"total_time\": 1}").unwrap_err().contains("missing field `ops`"));
        assert!(read("[{\"name\": \"a\", \"time_ns\": -1}]").is_err());
        assert!(read("[{\"name\": \"a\", \"time_ns\": \"x\"}]").is_err());
        assert!(read("").is_err());
        let deep = "[".repeat(100_000);
        assert!(read(&deep).is_err());
    }

    #[test]
    fn names_of_operators() {
        assert_eq!(framework(Some("Model[model]/Linear[layer1]/aten__addmm")), Some("aten__addmm"));
        assert_eq!(framework(None), None);
        assert_eq!(path(Some("Unknown"), Some("dot.1")), None);
        assert_eq!(path(Some("/"), None), None);
        assert_eq!(path(Some("Unknown"), Some("encoder/q/matmul")), Some("encoder/q/matmul"));
        assert_eq!(path(Some("m/a"), Some("x/y")), Some("m/a"));
        assert_eq!(path(None, Some("%add = add(%a, %b), path=x/y")), None);
        assert_eq!(word("xla___op_CallImpl_custom-call.1"), Some("xla___op_CallImpl_custom-call"));
        assert_eq!(word("%dot.34"), Some("dot"));
        assert_eq!(word("%add = add(%dot, %broadcast.1)"), Some("add"));
        assert_eq!(word("matmul.3"), Some("matmul"));
        assert_eq!(word("fusion.a.b"), Some("fusion.a.b"));
        assert_eq!(word("."), None);
    }
}
