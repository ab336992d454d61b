//! A job cut into packets for 16 DMA engines (neuroncore.md §5.5).
//!
//! An engine takes neighbouring runs of bytes, those of 8 partitions at least.
//! Descriptors that software makes gather runs into packets of up to 4 KiB;
//! those of the generators move one run each, and so do conversions (C).

use super::parameters::{DmaCost, Ps};
use crate::dma::{Change, Job, Side, Transfer};
use crate::hbm::Place;

/// DMA engines of a core.
pub(super) const ENGINES: usize = 16;

/// Most bytes of a descriptor (neuroncore.md §1.1).
const DESCRIPTOR_BYTES: u64 = 64 << 10;

/// Equal packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Packets {
    pub(super) count: u64,
    /// Bytes written by each.
    pub(super) bytes: u32,
    /// Time each takes its engine.
    pub(super) length: Ps,
    /// Bytes of HBM that each reads and writes.
    pub(super) hbm: u64,
}

/// What one engine does for a job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) packets: Vec<Packets>,
}

impl Share {
    pub(super) fn count(&self) -> u64 {
        self.packets.iter().map(|packets| packets.count).sum()
    }
}

/// Runs that lie side by side, as one.
fn runs(side: &Side) -> (u64, u64) {
    let (mut run, mut count) = (side.run as u64, 1u64);
    for (step, dimension) in side.steps.iter().zip(&side.counts) {
        if count == 1 && u64::try_from(*step) == Ok(run) && side.place != Place::Sbuf {
            run = run.saturating_mul(*dimension);
        } else {
            count = count.saturating_mul(*dimension);
        }
    }
    (run.max(1), count.max(1))
}

/// Bytes of HBM that the job reads and writes.
pub(super) fn hbm_bytes(job: &Job) -> (u64, u64) {
    let bytes = |side: &Side| match side.place {
        Place::Hbm { .. } => side.bytes().unwrap_or_default() as u64,
        Place::Sbuf => 0,
    };
    job.transfers.iter().fold((0, 0), |(read, written), transfer| {
        (read + bytes(&transfer.from), written + bytes(&transfer.to))
    })
}

/// The shares of a job; `gathers` when software made the descriptors.
pub(super) fn shares(cost: &DmaCost, job: &Job, gathers: bool) -> [Share; ENGINES] {
    let mut shares: [Share; ENGINES] = Default::default();
    for transfer in &job.transfers {
        split(cost, transfer, gathers, &mut shares);
    }
    shares
}

fn split(cost: &DmaCost, transfer: &Transfer, gathers: bool, shares: &mut [Share; ENGINES]) {
    let (Some(read), Some(written)) = (transfer.from.bytes(), transfer.to.bytes()) else {
        return;
    };
    let (read, written) = (read as u64, written as u64);
    let (_, from) = runs(&transfer.from);
    let (_, to) = runs(&transfer.to);
    let mut count = from.max(to);
    // whole areas of HBM go to all engines, and a descriptor has an end
    let inside = transfer.from.place != Place::Sbuf && transfer.to.place != Place::Sbuf;
    if inside && count < ENGINES as u64 {
        count *= (written / (512 * count)).clamp(1, ENGINES as u64);
    }
    count = count.max(written.div_ceil(DESCRIPTOR_BYTES));
    let run = (written / count).max(1);
    let each = count.div_ceil(ENGINES as u64).max(if inside { 1 } else { cost.partitions });
    let one = gathers && transfer.change == Change::None;
    let gather = if one { (cost.packet_bytes / run).clamp(1, each) } else { 1 };
    let from_sbuf = transfer.from.place == Place::Sbuf;
    let hbm_sides =
        u64::from(!from_sbuf) * read + u64::from(transfer.to.place != Place::Sbuf) * written;
    let mut left = count;
    for share in shares.iter_mut() {
        let mine = left.min(each);
        left -= mine;
        if mine == 0 {
            break;
        }
        for (packets, runs) in
            [(mine / gather, gather), (u64::from(mine % gather > 0), mine % gather)]
        {
            if packets == 0 {
                continue;
            }
            let wide = read.max(written) / count;
            let rate = if from_sbuf { cost.fs_per_byte } else { cost.fs_per_hbm_byte };
            let beats = (wide * rate / 1000).max(cost.run);
            let extra = if from_sbuf { cost.sbuf_read } else { 0 };
            let [from_hbm, inside] = cost.transpose;
            let percent = match transfer.change {
                Change::Transpose { .. } if from_sbuf => inside,
                Change::Transpose { .. } => from_hbm,
                Change::Add(..) => cost.sum,
                Change::None | Change::Convert(..) => 100,
            };
            let length = cost.descriptor + runs * (beats + extra);
            share.packets.push(Packets {
                count: packets,
                bytes: u32::try_from(run * runs).unwrap_or(u32::MAX),
                length: length * 100 / percent.max(1),
                hbm: hbm_sides * runs / count,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parameters::Parameters;
    use super::*;
    use neuron_core::instance::Arch;

    fn load(rows: u64, row: usize) -> Job {
        let place = Place::Hbm { buffer: 0, start: 0, size: rows * row as u64 };
        let from = Side { place, offset: 0, run: row, steps: vec![row as i64], counts: vec![rows] };
        let to = Side { place: Place::Sbuf, steps: vec![0x4_0000], ..from.clone() };
        Job {
            queue: String::new(),
            transfers: vec![Transfer { from, to, change: Change::None }],
            semaphore: None,
            increment: 16,
            event: None,
        }
    }

    #[test]
    fn engines_take_eight_partitions_each() {
        let cost = Parameters::of(Arch::V3).dma;
        let split = |rows, row, gathers| {
            let shares = shares(&cost, &load(rows, row), gathers);
            shares.map(|share| share.packets.iter().map(|p| (p.count, p.bytes)).collect::<Vec<_>>())
        };
        // as in the captures: 2048 bytes of 128 rows
        assert_eq!(split(128, 2048, true), [const { (4, 4096) }; 16].map(|p| vec![p]));
        assert_eq!(split(128, 256, true), [const { (1, 2048) }; 16].map(|p| vec![p]));
        assert_eq!(split(128, 512, false), [const { (8, 512) }; 16].map(|p| vec![p]));
        // a write of 4 partitions uses one engine
        let few = split(4, 8192, true);
        assert_eq!(few[0], [(4, 8192)]);
        assert!(few[1..].iter().all(Vec::is_empty));
    }
}
