//! The metrics that rules look at: those of `Summary`, and some that are
//! counted from other tables.

use datafusion::arrow::array::{Array, AsArray as _};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};
use datafusion::arrow::record_batch::RecordBatch;

use crate::error::Error;
use crate::rules::Metrics;
use crate::session::Session;

/// What is counted, a column for each metric. Engines are named in any case.
const COUNTED: [&str; 5] = [
    // Marks of lost records are rows too, and no faults.
    "SELECT coalesce(sum(CASE WHEN type = 'Errors' THEN 1 ELSE 0 END), 0) AS error_count, \
       coalesce(sum(CASE WHEN type = 'Warnings' THEN 1 ELSE 0 END), 0) AS loss_count FROM Error",
    "SELECT count(*) AS warning_count FROM Warning",
    // Packets that fetch instructions or only tell of an end are left out, as
    // the public calculator of bounds does (profiler.md §2.5).
    "SELECT CAST(avg(transfer_bytes) AS DOUBLE) AS dma_packet_average_bytes FROM DmaPacket \
     WHERE queue_type <> 'instruction' AND transfer_bytes > 4",
    // Waits of instructions behind each other are one wait, so their union
    // counts. What the runtime inserted waits for other things.
    "SELECT sum(CASE WHEN finish > before THEN finish - CASE WHEN begin > before THEN begin ELSE before END \
       ELSE 0 END) / 1e9 AS tensor_engine_semaphore_wait_time \
     FROM (SELECT begin, finish, coalesce(max(finish) OVER (PARTITION BY pcore_idx ORDER BY begin, finish \
         ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before \
       FROM (SELECT pcore_idx, start_ts - evt_wait_time_ns AS begin, start_ts AS finish FROM Instruction \
         WHERE lower(engine) = 'tensor' AND evt_wait_time_ns > 0 AND compiler_pc IS NOT NULL) AS waits) AS merged",
    "SELECT sum(CASE WHEN e = 'tensor' THEN kernels END) * 1.0 / sum(CASE WHEN e = 'tensor' THEN n END) \
         AS tensor_engine_kernel_instruction_percent, \
       sum(CASE WHEN e = 'vector' THEN kernels END) * 1.0 / sum(CASE WHEN e = 'vector' THEN n END) \
         AS vector_engine_kernel_instruction_percent, \
       sum(CASE WHEN e = 'scalar' THEN kernels END) * 1.0 / sum(CASE WHEN e = 'scalar' THEN n END) \
         AS scalar_engine_kernel_instruction_percent \
     FROM (SELECT lower(engine) AS e, count(*) AS n, count(nki_source_location) AS kernels \
         FROM Instruction WHERE compiler_pc IS NOT NULL GROUP BY lower(engine)) AS engines",
];

/// All metrics of the profile of a session.
///
/// # Errors
///
/// Tables that cannot be read.
pub(crate) fn facts(session: &Session) -> Result<Metrics, Error> {
    let mut metrics = Metrics::new();
    for sql in ["SELECT * FROM Summary"].iter().chain(&COUNTED) {
        for batch in session.all(sql)? {
            take(&batch, &mut metrics)?;
        }
    }
    Ok(metrics)
}

/// The numbers of the first row; what is null or a text is left out.
fn take(batch: &RecordBatch, metrics: &mut Metrics) -> Result<(), Error> {
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        if !field.data_type().is_numeric() || column.is_empty() {
            continue;
        }
        let column = cast(column, &DataType::Float64)
            .map_err(|error| Error::Read(format!("{}: {error}", field.name())))?;
        let column = column.as_primitive::<Float64Type>();
        if !column.is_null(0) {
            metrics.insert(field.name().clone(), column.value(0));
        }
    }
    Ok(())
}
