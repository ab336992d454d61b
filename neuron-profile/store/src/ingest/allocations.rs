//! `SbufAllocation`: which bytes of the state buffer hold what, from when to
//! when, for the memory viewer.

use std::collections::HashMap;

use neuron_core::engine::Engine;
use profile_engine::cores::Core;
use profile_engine::usage::Allocation;

use super::facts::Facts;
use crate::encode::{Cells, Dictionary, Stream, TableWriter, Values};
use crate::error::Error;

/// Rows of a row group.
const ROWS: usize = 1 << 18;

fn long(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Writes the lives of all cores.
pub(super) fn write(
    out: &mut TableWriter,
    cores: &[Core],
    lives: &[Vec<Allocation>],
) -> Result<(), Error> {
    for (core, (of, lives)) in cores.iter().zip(lives).enumerate() {
        for (at, part) in lives.chunks(ROWS).enumerate() {
            let texts = Texts::of(of, part);
            let column = |of: fn(&Allocation) -> u64| -> Vec<i64> {
                part.iter().map(|life| long(of(life))).collect()
            };
            let (start, end) = (column(|l| l.born / 1000), column(|l| l.dies / 1000));
            let first = column(|life| life.start.into());
            let last = column(|life| u64::from(life.end).saturating_sub(1));
            let partition = column(|life| life.partition.into());
            let [opcode, operands, hlo] = &texts.columns;
            let columns = [
                Values::Longs(&start),
                Values::Longs(&end),
                Values::Longs(&first),
                Values::Longs(&last),
                Values::Longs(&partition),
                Values::Text("Instruction"),
                Values::Indexed(opcode, &texts.stream),
                Values::Indexed(operands, &texts.stream),
                Values::Null,
                Values::Null,
                Values::Null,
                Values::Indexed(hlo, &texts.stream),
                Values::Long(long(core as u64)),
            ];
            out.group((core as u64, at as u64), part.len(), &columns)?;
        }
    }
    Ok(())
}

/// Opcode, operands and HLO name of the writers, each slot once.
struct Texts {
    columns: [Dictionary; 3],
    stream: Stream,
}

impl Texts {
    fn of(core: &Core, lives: &[Allocation]) -> Self {
        let mut known: HashMap<(Engine, u32), u32> = HashMap::new();
        let [mut opcodes, mut operands, mut names] = [const { Vec::new() }; 3];
        let slots = lives
            .iter()
            .map(|life| {
                *known.entry((life.engine, life.slot)).or_insert_with(|| {
                    let facts = Facts::new(core, core.slot(life.engine, life.slot));
                    opcodes.push(facts.text("opcode"));
                    operands.push(facts.text("operands"));
                    names.push(facts.text("hlo_name"));
                    opcodes.len() as u32 - 1
                })
            })
            .collect();
        let columns = [opcodes, operands, names].map(|list| Dictionary(Cells::Texts(list)));
        Self { columns, stream: Stream::new(slots) }
    }
}
