//! Every timing number of neuroncore.md §5.5 and §5.6 that a program can show,
//! beside what the clock gives for it.

mod array;
mod dma;
mod engines;
mod newer;

use neuron_core::instance::Arch;
use neuron_core::isa::{Engine, Instruction};
use npu::time::Parameters;

use crate::support::lab::{V2, interval, on};

/// A published number and ours.
pub(crate) struct Row {
    pub(crate) what: String,
    /// Where it is published.
    pub(crate) source: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) published: f64,
    pub(crate) simulated: f64,
    /// Largest difference, as a part.
    pub(crate) tolerance: f64,
}

const TRN1: &str = "trainium_inferentia2_arch";
const TRN2: &str = "trainium2_arch";
const TRN3: &str = "trainium3_arch";
const ISA: &str = "nki.isa docstrings";
const SHARED: &str = "nki.api.shared";
const OVERVIEW: &str = "nki-dma-overview";
const BANDWIDTH: &str = "nki-dma-bandwidth-guide";

/// Rounding to a picosecond.
const EXACT: f64 = 2e-4;

fn row(
    what: impl Into<String>,
    source: &'static str,
    unit: &'static str,
    published: f64,
    simulated: f64,
) -> Row {
    Row { what: what.into(), source, unit, published, simulated, tolerance: EXACT }
}

/// Picoseconds in cycles of a clock.
fn cycles(ps: f64, ghz: f64) -> f64 {
    ps * ghz / 1000.0
}

const PE: (Engine, f64) = (Engine::Pe, 2.8);
const ACT: (Engine, f64) = (Engine::Act, 1.4);
const DVE: (Engine, f64) = (Engine::Dve, 1.12);
const POOL: (Engine, f64) = (Engine::Pool, 1.4);

/// Cycles of v2 between the begins of like instructions that do not depend on
/// each other.
fn back_to_back((engine, ghz): (Engine, f64), one: Instruction) -> f64 {
    cycles(interval(&on(V2, engine, vec![one; 6])), ghz)
}

pub(crate) fn rows() -> Vec<Row> {
    let mut rows = clocks();
    rows.extend(array::array());
    rows.extend(engines::engines());
    rows.extend(newer::newer());
    rows.extend(newer::widths());
    rows.extend(dma::dma());
    rows
}

fn clocks() -> Vec<Row> {
    let published = [
        (Arch::V2, "v2", TRN1, [2.8, 1.4, 1.4, 1.12]),
        (Arch::V3, "v3", TRN2, [2.4, 1.2, 1.2, 0.96]),
        (Arch::V4, "v4", TRN3, [2.4, 1.2, 1.2, 1.2]),
    ];
    let mut rows = Vec::new();
    for (arch, name, source, clocks) in published {
        let parameters = Parameters::of(arch);
        for (engine, ghz) in Engine::ALL.into_iter().zip(clocks) {
            let simulated = 1e9 / parameters.cycles(engine, 1_000_000) as f64;
            rows.push(row(
                format!("clock of {}, {name}", engine.key().to_uppercase()),
                source,
                "GHz",
                ghz,
                simulated,
            ));
        }
    }
    rows
}

/// The page of the docs.
pub(crate) fn page(rows: &[Row]) -> String {
    use std::fmt::Write as _;
    let mut page = String::from("| what | source | published | simulated |\n|---|---|---|---|\n");
    for Row { what, source, unit, published, simulated, .. } in rows {
        let digits = if *published < 10.0 { 2 } else { 1 };
        let numbers = format!("{published:.digits$} {unit} | {simulated:.digits$} {unit}");
        writeln!(page, "| {what} | {source} | {numbers} |").unwrap();
    }
    page
}
