//! `ntff info`: what was captured.

use std::io::Write;

use anyhow::Result;
use neuron_core::model::printable;
use neuron_core::ntff::layout;
use neuron_core::ntff::messages::{NtffInfo, VersionInfo};
use neuron_core::ntff::notification::Engine;
use neuron_core::ntff::summary::Core;
use neuron_core::ntff::{Section, SectionKind, Summary};
use serde_json::{Map, Value, json};

use super::input::{self, Input};
use crate::output::{self, Exit, Format};
use neuron_core::text::hex;

pub(super) fn run(input: Input, format: Format, out: &mut dyn Write) -> Result<Exit> {
    let (name, mut reader, trouble) = input.reader()?;
    let sections = reader.sections().to_vec();
    let mut summary = Summary::new(reader.info(), &sections, reader.header().blobs_start());
    input::stream(&name, &mut reader, |index, bytes| {
        summary.count(index, bytes);
        Ok(())
    })?;
    let mut findings = reader.findings().clone();
    trouble.report(&mut findings);
    summary.report(reader.info(), &mut findings);
    let file = Shown {
        name: &name,
        form: reader.header().form,
        message: reader.header().message_size,
        size: reader.position(),
        info: reader.info(),
        sections: &sections,
        summary: &summary,
    };
    match format {
        Format::Text => {
            file.text(out)?;
            input::findings_text(out, &findings)?;
        }
        Format::Json => {
            let mut value = file.json()?;
            value.insert("findings".into(), input::findings_json(&findings));
            output::json(out, &Value::Object(value))?;
        }
    }
    Ok(input::exit(&findings))
}

struct Shown<'a> {
    name: &'a str,
    form: u8,
    message: u64,
    size: u64,
    info: &'a NtffInfo,
    sections: &'a [Section],
    summary: &'a Summary,
}

/// `2.30.51 (faafe)`, as the vendor's viewer writes it.
fn version(version: Option<&VersionInfo>) -> Option<String> {
    let v = version?;
    let hash: String = v.git_hash.chars().take(5).collect();
    Some(format!("{}.{}.{} ({hash})", v.major, v.minor, v.patch))
}

/// The generation as the driver numbers it, and the name of the chip, of the
/// `arch` of the message, which counts from one (ntff.md §3.1).
fn generation(arch: u64) -> Option<(u32, &'static str)> {
    match arch {
        1 => Some((2, "trn1")),
        2 => Some((3, "trn2")),
        _ => None,
    }
}

impl Shown<'_> {
    fn versions(&self) -> [(&'static str, Option<String>); 3] {
        [
            ("runtime", version(self.info.neuron_runtime_version.as_ref())),
            ("driver", version(self.info.neuron_driver_version.as_ref())),
            ("collectives", version(self.info.neuron_collectives_version.as_ref())),
        ]
    }

    /// Uuid of the NEFF: whole in form 6, cut or with stray bytes before.
    fn uuid(&self) -> String {
        let whole = self.info.neff_nodes.iter().map(|node| &node.uid).find(|uid| !uid.is_empty());
        hex(whole.unwrap_or(&self.info.neff_uuid_text))
    }

    /// Slots of the captured programs of a core, inline or not.
    fn slots(&self, core: u32) -> [u64; 5] {
        let mut slots = [0; 5];
        let mut add = |engine: Option<Engine>, bytes: u64| {
            if let Some(count) = engine.and_then(|engine| slots.get_mut(engine.index())) {
                *count += bytes / layout::SLOT;
            }
        };
        for section in self.sections.iter().filter(|section| section.core == core) {
            if let SectionKind::Program { engine, .. } = section.kind {
                add(engine.ok(), section.size);
            }
        }
        for graph in layout::subgraphs(self.info).filter(|graph| graph.nc_idx == core) {
            for program in layout::programs(graph) {
                let size = u64::try_from(program.instructions.len()).unwrap_or(u64::MAX);
                add(Engine::from_number(program.nc_engine_type), size);
            }
        }
        slots
    }

    fn text(&self, out: &mut dyn Write) -> Result<()> {
        let info = self.info;
        writeln!(out, "{}: NTFF form {}, {} bytes", printable(self.name), self.form, self.size)?;
        writeln!(out, "neff         {} {}", printable(&info.neff_name), self.uuid())?;
        if !info.instance_type.is_empty() {
            let (kind, id) = (printable(&info.instance_type), printable(&info.instance_id));
            writeln!(out, "instance     {kind} {id}")?;
        }
        for (what, version) in self.versions() {
            if let Some(version) = version {
                writeln!(out, "{what:<12} {}", printable(&version))?;
            }
        }
        for window in &info.execution_timeline {
            let length = window.end.saturating_sub(window.start);
            writeln!(out, "execution    {} to {} ps, {length} ps", window.start, window.end)?;
        }
        for (number, core) in self.summary.cores() {
            let graph = layout::subgraphs(info).find(|graph| graph.nc_idx == *number);
            let name = graph.map_or("no sub-graph", |graph| graph.name.as_str());
            writeln!(out, "core {number} ({})", printable(name))?;
            writeln!(out, "  engine   slots   starts     ends explicit")?;
            let slots = self.slots(*number);
            let counts = slots.iter().zip(&core.starts).zip(&core.ends).zip(&core.explicits);
            for (engine, (((slots, starts), ends), explicits)) in Engine::ALL.iter().zip(counts) {
                writeln!(out, "  {engine:<6} {slots:>7} {starts:>8} {ends:>8} {explicits:>8}")?;
            }
            self.core_text(core, out)?;
            if let Some(graph) = graph.filter(|graph| graph.exec_duration > 0) {
                writeln!(out, "  duration {} ps", graph.exec_duration)?;
            }
        }
        Ok(())
    }

    fn core_text(&self, core: &Core, out: &mut dyn Write) -> Result<()> {
        writeln!(
            out,
            "  updates {} ({} over the bus, {} followed by a loss)",
            core.updates, core.bus_updates, core.lossy_updates
        )?;
        writeln!(
            out,
            "  dma packets {} begun, {} ended, {} completed, {} bytes",
            core.dma_starts, core.dma_ends, core.dma_completions, core.dma_bytes
        )?;
        for (what, count) in [
            ("other dma records", core.dma_others),
            ("throttle records", core.throttles),
            ("faults", core.faults),
            ("errors", core.errors),
            ("unknown records", core.unknown),
        ] {
            if count > 0 {
                writeln!(out, "  {what} {count}")?;
            }
        }
        if let (Some(first), Some(last)) = (core.first, core.last) {
            writeln!(out, "  records from {} to {} ps", first.ps(), last.ps())?;
        }
        Ok(())
    }

    fn json(&self) -> Result<Map<String, Value>> {
        let info = self.info;
        let mut cores = Vec::new();
        for (number, core) in self.summary.cores() {
            let graph = layout::subgraphs(info).find(|graph| graph.nc_idx == *number);
            let mut value = serde_json::to_value(core)?;
            if let Value::Object(object) = &mut value {
                object.insert("core".into(), (*number).into());
                object.insert("subgraph".into(), graph.map(|graph| graph.name.as_str()).into());
                object.insert("exec_duration_ps".into(), graph.map(|g| g.exec_duration).into());
                object.insert("program_slots".into(), self.slots(*number).to_vec().into());
            }
            cores.push(value);
        }
        let sections: Vec<Value> = self
            .sections
            .iter()
            .enumerate()
            .map(|(index, section)| {
                json!({
                    "name": section.to_string(),
                    "core": section.core,
                    "offset": section.offset,
                    "size": section.size,
                    "records": self.summary.records(index),
                })
            })
            .collect();
        let executions: Vec<Value> = info
            .execution_timeline
            .iter()
            .map(|window| {
                json!({
                    "neff_uuid": hex(&window.neff_uuid),
                    "start_ps": window.start,
                    "end_ps": window.end,
                })
            })
            .collect();
        let versions: Map<String, Value> = self
            .versions()
            .into_iter()
            .map(|(what, version)| (format!("{what}_version"), version.into()))
            .collect();
        let (generation, chip) = generation(info.arch).unzip();
        let mut value = json!({
            "file": self.name,
            "kind": "ntff",
            "form": self.form,
            "bytes": self.size,
            "message_bytes": self.message,
            "neff_name": info.neff_name,
            "neff_uuid": self.uuid(),
            "generation": generation,
            "chip": chip,
            "instance_type": info.instance_type,
            "instance_id": info.instance_id,
            "pid": info.pid,
            "engines": Engine::ALL.map(|engine| engine.to_string()),
            "executions": executions,
            "cores": cores,
            "sections": sections,
        });
        let mut object = match value.take() {
            Value::Object(object) => object,
            _ => Map::new(),
        };
        object.extend(versions);
        Ok(object)
    }
}
