//! Tables of a few rows, from what the files say and the sums.

use std::path::Path;

use neuron_core::engine::Engine;
use neuron_core::neff::features;
use profile_engine::capture::version_text;
use profile_engine::dram::TensorUse;
use profile_engine::usage::UsageRow;
use profile_engine::{Capture, ReadAt, Totals, Value as Metric, about};
use serde_json::{Map, Value, json};

use super::write::close;
use super::{Settings, dram, stacks};
use crate::encode::{Cells, TableWriter, Values};
use crate::error::Error;
use crate::manifest::Manifest;
use crate::schema::{self, Column, Kind, Table};

/// A table with its columns and how many rows they have.
pub(super) type Filled = (Table, Vec<Cells>, usize);

pub(super) type Row = Map<String, Value>;

/// The columns of rows that are objects; what a row lacks is null.
fn columns(table: &Table, rows: &[Row]) -> Vec<Cells> {
    let of = |column: &Column| {
        let list = || rows.iter().map(|row| row.get(&column.name));
        match column.kind {
            Kind::Long | Kind::Int => Cells::Longs(list().map(|v| v?.as_i64()).collect()),
            Kind::Single | Kind::Double => Cells::Reals(list().map(|v| v?.as_f64()).collect()),
            Kind::Text => Cells::Texts(list().map(|v| Some(v?.as_str()?.to_owned())).collect()),
            Kind::Flag => Cells::Flags(list().map(|v| v?.as_bool()).collect()),
        }
    };
    table.columns.iter().map(of).collect()
}

pub(super) fn object(value: Value) -> Row {
    match value {
        Value::Object(row) => row,
        _ => Row::new(),
    }
}

/// Writes a table of few rows; none for no rows.
pub(super) fn store(
    dir: &Path,
    table: &Table,
    rows: &[Row],
    manifest: &mut Manifest,
) -> Result<(), Error> {
    write(dir, table, &columns(table, rows), rows.len(), manifest)
}

/// Writes the columns of a table of few rows; none for no rows.
pub(super) fn write(
    dir: &Path,
    table: &Table,
    columns: &[Cells],
    rows: usize,
    manifest: &mut Manifest,
) -> Result<(), Error> {
    if rows == 0 {
        return Ok(());
    }
    let mut writer = TableWriter::create(dir, table)?;
    let values: Vec<Values<'_>> = columns.iter().map(Values::Cells).collect();
    writer.group((0, 0), rows, &values)?;
    close(writer, manifest).map(drop)
}

/// Writes the schema of tables, and of itself.
pub(super) fn describe(
    dir: &Path,
    mut tables: Vec<Table>,
    manifest: &mut Manifest,
) -> Result<(), Error> {
    let Some(own) = schema::table("SchemaFields") else { return Ok(()) };
    tables.push(own.clone());
    let (columns, rows) = fields(&tables);
    write(dir, own, &columns, rows, manifest)
}

/// What of the trace is not shown, in words with counts.
pub(super) fn notes(totals: &Totals) -> Vec<String> {
    let unmatched = &totals.unmatched;
    let read = &unmatched.read;
    [
        (read.missing_bytes, "bytes of records are missing: the file ends before them"),
        (read.late, "records came too late to be put in order"),
        (read.loss_marks, "records have the mark that others of their ring are lost"),
        (unmatched.instruction_ends, "ends of instructions have no start"),
        (unmatched.packet_ends, "ends of DMA packets have no start"),
        (unmatched.overflow, "starts were given up: too many were under way"),
        (unmatched.packets_left_out, "packets of ring 14 are left out: one was under way before"),
        (unmatched.resident, "instructions are outside every captured program"),
        (unmatched.unknown_records, "records are of no known kind"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{count} {what}"))
    .collect()
}

/// The metrics: a table whose columns are what the engine knows.
pub(super) fn summary<S: ReadAt + ?Sized>(
    capture: &Capture<'_, S>,
    totals: &Totals,
    manifest: &Manifest,
) -> Filled {
    let rows: u64 = manifest.tables.values().map(|table| table.rows).sum();
    let mut table = Table {
        name: String::from("Summary"),
        description: String::from("Metrics of the execution; one row"),
        ours: false,
        columns: Vec::new(),
    };
    let mut cells = Vec::new();
    let mut push = |name: &str, group: &str, kind: Kind, cell: Cells| {
        let known = schema::metric(name);
        let unit = match name {
            _ if known.is_some() => known.map_or("", |metric| metric.unit),
            _ if name.ends_with("_percent") => "%",
            _ if name.ends_with("_time") => "s",
            _ if name.contains("bytes") || name.ends_with("_size") => "B",
            _ if name.ends_with("_flops") => "flop",
            _ => "",
        };
        table.columns.push(Column {
            name: name.to_owned(),
            kind,
            required: false,
            unit: unit.to_owned(),
            description: known
                .map_or_else(|| format!("Metric of {group}"), |m| m.description.to_owned()),
        });
        cells.push(cell);
    };
    let metrics = profile_engine::summary(capture, totals);
    for metric in &metrics {
        match &metric.value {
            Metric::Count(count) => {
                let count = i64::try_from(*count).ok();
                push(&metric.name, metric.group, Kind::Long, Cells::Longs(vec![count]));
            }
            Metric::Real(real) => {
                push(&metric.name, metric.group, Kind::Double, Cells::Reals(vec![Some(*real)]));
            }
            Metric::Text(text) => {
                push(
                    &metric.name,
                    metric.group,
                    Kind::Text,
                    Cells::Texts(vec![Some(text.clone())]),
                );
            }
        }
    }
    if !metrics.iter().any(|metric| metric.name == "total_row_count") {
        let rows = i64::try_from(rows).ok();
        push("total_row_count", "overall_stats", Kind::Long, Cells::Longs(vec![rows]));
    }
    (table, cells, 1)
}

/// All others.
pub(super) fn tables<S: ReadAt + ?Sized>(
    capture: &Capture<'_, S>,
    totals: &Totals,
    (usage, tensors): (&[Vec<UsageRow>], &[Vec<TensorUse>]),
    settings: &Settings,
    manifest: &Manifest,
) -> Vec<Filled> {
    let mut out = Vec::new();
    let mut add = |name: &str, rows: Vec<Row>| {
        if let Some(table) = schema::table(name) {
            out.push((table.clone(), columns(table, &rows), rows.len()));
        }
    };
    add("Metadata", vec![metadata(capture, settings)]);
    add("NeffHeader", vec![header(capture)]);
    let events = i64::try_from(manifest.events).unwrap_or(i64::MAX);
    add(
        "ExecutionInfo",
        vec![object(json!({
            "execution_index": settings.execution,
            "neff_name": capture.neff.name_text(),
            "execution_start_ts": 0,
            "execution_end_ts": capture.total_ps() / 1000,
            "num_subgraphs": capture.cores.len(),
            "row_count": events,
        }))],
    );
    let cores = || capture.cores.iter().enumerate();
    add(
        "ModelInfo",
        cores()
            .zip(&totals.cores)
            .map(|((at, core), sums)| {
                object(json!({
                    "pcore_idx": at,
                    "sg_name": core.name,
                    "nd_idx": core.device,
                    "nc_idx": core.number,
                    "trace_count":
                        sums.instructions.iter().sum::<u64>() + sums.packets + sums.updates,
                    "event_count": sums.updates,
                    "dma_queue_count": core.queues.len(),
                    "last_end_ts": sums.last_end / 1000,
                }))
            })
            .collect(),
    );
    add(
        "DmaQueuesInfo",
        cores()
            .flat_map(|(at, core)| {
                core.queues.values().map(move |queue| {
                    object(json!({
                        "name": queue.name,
                        "type": queue.type_name(),
                        "pcore_idx": at,
                        "idx": queue.queue,
                        "engine_idx": queue.engine,
                        "axi_port": queue.axi_port,
                        "dram_channel": queue.dram_channel,
                    }))
                })
            })
            .collect(),
    );
    add(
        "HbmUsageSummaryByType",
        capture
            .cores
            .iter()
            .flat_map(|core| {
                about::memory(core).into_iter().map(|(word, bytes)| {
                    object(json!({
                        "neuron_device_idx": core.device,
                        "neuroncore_idx": core.number,
                        "usage_type": word,
                        "usage_bytes": bytes,
                    }))
                })
            })
            .collect(),
    );
    let total = capture.total_ps().max(1) as f64;
    add(
        "OpcodeSummary",
        totals
            .opcodes()
            .map(|(engine, opcode, sums)| {
                object(json!({
                    "engine": engine.display_name(),
                    "opcode": opcode,
                    "instruction_count": sums.count(),
                    "instruction_time_ns": sums.time() / 1000,
                    "active_time_ns": sums.active() / 1000,
                    "active_time_percent": sums.active() as f64 / total,
                }))
            })
            .collect(),
    );
    add(
        "LayerSummary",
        totals
            .layers
            .iter()
            .flat_map(|node| {
                Engine::ALL.into_iter().map(move |engine| {
                    object(json!({
                        "pcore_idx": node.core,
                        "name": node.name,
                        "start_ts": node.start / 1000,
                        "end_ts": node.end / 1000,
                        "tensor_engine_flop_count": node.flops,
                        "tensor_engine_transpose_flop_count": node.transpose_flops,
                        "engine": engine.display_name(),
                        "instruction_count": node.count(engine),
                        "instruction_time_ns": node.time(engine) / 1000,
                        "active_time_ns": node.active(engine) / 1000,
                    }))
                })
            })
            .collect(),
    );
    add("TensorInfo", dram::tensors(capture, totals, tensors));
    add("ScratchpadTensor", dram::scratch(capture, totals, tensors));
    add("ScratchpadUsage", dram::usage(capture, tensors));
    add(
        "ThrottleSummary",
        totals
            .cores
            .iter()
            .enumerate()
            .flat_map(|(at, core)| {
                core.throttle.iter().map(move |(kind, (ns, _))| {
                    object(json!({
                        "nc_idx": at,
                        "throttle_type": format!("activity_{kind}"),
                        "throttle_active_time_ns": ns,
                        "throttle_active_time_percent": *ns as f64 * 1000.0 / total,
                    }))
                })
            })
            .collect(),
    );
    add(
        "Warning",
        about::warnings(capture, totals)
            .into_iter()
            .map(|warning| {
                object(json!({ "message": warning.message, "category": warning.category }))
            })
            .collect(),
    );
    let samples =
        || usage.iter().enumerate().flat_map(|(at, list)| list.iter().map(move |s| (at, s)));
    add("SbufUsage", samples().filter_map(|(at, sample)| sbuf(at, sample)).collect());
    add("PsumUsage", samples().filter_map(|(at, sample)| psum(at, sample)).collect());
    out.extend(stacks::tables(capture));
    out.push(summary(capture, totals, manifest));
    out
}

fn sbuf(core: usize, sample: &UsageRow) -> Option<Row> {
    let UsageRow::Sbuf { time, shares: [first, second, third, fourth], average } = sample else {
        return None;
    };
    Some(object(json!({
        "timestamp": time / 1000,
        "avg_util_percent": average,
        "partition_0_util_percent": first,
        "partition_32_util_percent": second,
        "partition_64_util_percent": third,
        "partition_96_util_percent": fourth,
        "pcore_idx": core,
    })))
}

fn psum(core: usize, sample: &UsageRow) -> Option<Row> {
    let UsageRow::Psum { time, banks } = sample else { return None };
    let full = banks.iter().filter(|bank| **bank).count();
    let mut row = object(json!({
        "timestamp": time / 1000,
        "avg_util_percent": full as f64 / 8.0,
        "pcore_idx": core,
    }));
    for (at, bank) in banks.iter().enumerate() {
        row.insert(format!("bank_{at}_util_percent"), json!(f64::from(u8::from(*bank))));
    }
    Some(row)
}

fn metadata<S: ReadAt + ?Sized>(capture: &Capture<'_, S>, settings: &Settings) -> Row {
    let chip = &capture.chip;
    let total = capture.total_ps() / 1000;
    let clock = chip.clock / 1e9;
    let core = capture.cores.first();
    object(json!({
        "profile_schema_version": schema::VERSION,
        "ntff_version": capture.form(),
        "num_physical_cores": capture.cores.len(),
        "vnc_enabled": capture.cores.len() > 1,
        "first_hw_timestamp": 0,
        "last_hw_timestamp": total,
        "first_ts": about::moment(0),
        "last_ts": about::moment(total),
        "dma_ddr_bandwidth": chip.dma_bandwidth,
        "hbm_ddr_bandwidth": chip.memory_bandwidth,
        "tensor_engine_num_rows": chip.rows,
        "tensor_engine_num_cols": chip.columns,
        "tensor_engine_clock_freq": chip.matrix_clock / 1e9,
        "vector_engine_clock_freq": clock,
        "scalar_engine_clock_freq": clock,
        "gpsimd_engine_clock_freq": clock,
        "neuroncore_clock_freq": clock,
        "ticks_per_nanosec": 1000,
        "instance_type": capture.info.instance_type,
        "runtime_version": version_text(capture.info.neuron_runtime_version.as_ref()),
        "compiler_version": capture.compiler_version,
        "explorer_version": env!("CARGO_PKG_VERSION"),
        "neuroncore_idx": core.map(|core| core.number),
        "neuron_device_idx": core.map(|core| core.device),
        "profile_name": settings.labels.display_name,
        "is_simulation": settings.simulated,
    }))
}

fn header<S: ReadAt + ?Sized>(capture: &Capture<'_, S>) -> Row {
    let header = &capture.neff;
    object(json!({
        "network_name": header.name_text(),
        "uuid": header.uuid_hex(),
        "hash": header.hash_hex(),
        "enabled_features": features::labels(header.feature_bits).join(", "),
        "header_size": header.header_size,
        "data_size": header.data_size,
        "major_version": header.major,
        "minor_version": header.minor,
        "package_version": header.packager.to_string(),
        "build_version": header.build_version_text(),
        "logical_neuroncore_count": header.num_tpb,
        "pcore_count_per_lnc": header.logical_core_size(),
    }))
}

/// The rows of `SchemaFields` about tables.
pub(super) fn fields(tables: &[Table]) -> (Vec<Cells>, usize) {
    let rows: Vec<Row> = tables
        .iter()
        .flat_map(|table| {
            table.columns.iter().map(|column| {
                object(json!({
                    "table_name": table.name,
                    "table_description": table.description,
                    "field_name": column.name,
                    "field_description": column.description,
                    "field_type": column.kind.name(),
                    "field_required": column.required,
                    "field_unit": Some(&column.unit).filter(|unit| !unit.is_empty()),
                }))
            })
        })
        .collect();
    let count = rows.len();
    let own = schema::table("SchemaFields");
    (own.map(|own| columns(own, &rows)).unwrap_or_default(), count)
}
