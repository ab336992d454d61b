//! What there is, as tables.

use std::fmt;

use neuron_core::model::printable;
use rtd_api::{Empty, InferStatus, ModelState};

use super::remote::{Remote, answer, check};

/// Rows below their columns' names.
struct Table(Vec<Vec<String>>);

impl Table {
    fn new(columns: &[&str]) -> Self {
        Self(vec![columns.iter().map(|name| (*name).to_owned()).collect()])
    }

    fn add(&mut self, row: impl IntoIterator<Item = impl ToString>) {
        self.0.push(row.into_iter().map(|cell| cell.to_string()).collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.0.first().map_or(0, Vec::len);
        let width = |at: usize| {
            let cells = self.0.iter().filter_map(|row| row.get(at));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let line: String = widths.iter().map(|width| format!("+{:-<1$}", "", width + 2)).collect();
        for (number, row) in self.0.iter().enumerate() {
            if number < 2 {
                writeln!(f, "{line}+")?;
            }
            for (cell, width) in row.iter().zip(&widths) {
                write!(f, "| {cell:<width$} ")?;
            }
            writeln!(f, "|")?;
        }
        writeln!(f, "{line}+")
    }
}

pub(super) async fn groups(remote: &mut Remote) -> Result<String, String> {
    let list = answer("list-ncg", remote.nmgr.list_egs(Empty {}).await)?;
    check("list-ncg", list.status)?;
    let mut text = format!("Device count {} NC count {}\n", list.mla_count, list.nc_count);
    if list.eg_info.is_empty() {
        text += "No NCG Found\n";
        return Ok(text);
    }
    text += &format!("Found {} NCG's\n", list.eg_info.len());
    let mut rows = Table::new(&["NCG ID", "NC COUNT", "DEVICE START INDEX", "NC START INDEX"]);
    for info in list.eg_info {
        let id = info.eg.unwrap_or_default().id;
        rows.add([id, info.nc_count, info.mla_start_index, info.nc_start_index]);
    }
    text += &rows.to_string();
    Ok(text)
}

pub(super) async fn models(remote: &mut Remote) -> Result<String, String> {
    let list = answer("list-model", remote.ext.list_models(Empty {}).await)?;
    check("list-model", list.status)?;
    let mut text = format!("Found {} models\n", list.models.len());
    if list.models.is_empty() {
        return Ok(text);
    }
    let mut rows = Table::new(&[
        "UUID",
        "MODEL ID",
        "MODEL STATUS",
        "NEURON DEVICE START INDEX",
        "NC INDEX",
        "NC COUNT",
        "NCG ID",
        "NAME",
    ]);
    for model in list.models {
        let uuid: String = model.uuid.iter().map(|byte| format!("{byte:02x}")).collect();
        // the words of the later tools (neuron-rtd.md §3.3)
        let status = match model.state() {
            ModelState::Started => "READY",
            ModelState::Loaded => "STANDBY",
            ModelState::Failed => "FAILED",
            ModelState::Unknown => "UNKNOWN",
        };
        rows.add([
            uuid,
            model.h_nn.unwrap_or_default().id.to_string(),
            status.to_owned(),
            model.mla_start.to_string(),
            model.nc_start.to_string(),
            model.nc_count.to_string(),
            model.h_eg.map_or_else(|| "-".to_owned(), |group| group.id.to_string()),
            printable(&model.name),
        ]);
    }
    text += &rows.to_string();
    Ok(text)
}

pub(super) async fn counters(remote: &mut Remote) -> Result<String, String> {
    let health = answer("stat", remote.ext.get_health(Empty {}).await)?;
    let counters = answer("stat", remote.nmgr.read_inference_counters(Empty {}).await)?;
    let counters = counters.nmgr_counters.unwrap_or_default();
    let mut rows = Table::new(&["COUNTER", "VALUE"]);
    for row in &counters.infer_status_counts {
        let name = match row.infer_status() {
            InferStatus::IstOk => "inferences completed",
            InferStatus::IstCompletedWithNumErr => "completed with numerical errors",
            InferStatus::IstCompletedWithErr => "completed with errors",
            InferStatus::IstBadInput => "with incorrect input",
            InferStatus::IstTimeout => "timed out",
            InferStatus::IstUnknown => "of unknown outcome",
        };
        rows.add([name.to_owned(), row.count.to_string()]);
    }
    for (name, value) in [
        ("refused by a full queue", counters.infer_queue_drop_count),
        ("in flight", health.in_flight),
        ("models loaded", counters.model_load_count),
        ("models unloaded", counters.model_unload_count),
        ("models now", health.models),
        ("sessions now", health.sessions),
    ] {
        rows.add([name.to_owned(), value.to_string()]);
    }
    let state = if health.serving { "serving" } else { "not serving" };
    Ok(format!("{state}: {}\n{rows}", printable(&health.text)))
}
