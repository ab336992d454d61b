//! One line of text for a record.

use std::fmt::{Display, Formatter, Result};

use neuron_core::ntff::notification::{Direction, DmaStep, ErrorReport, ExplicitBody};
use neuron_core::ntff::{DeviceTime, Notification, Record};

/// A record as `ps  what  details`.
pub(super) struct Line {
    pub(super) time: DeviceTime,
    pub(super) record: Record,
    pub(super) notification: Notification,
    pub(super) core: u32,
}

impl Display for Line {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} ", self.time.ps())?;
        match self.notification {
            Notification::Start(s) => write!(
                f,
                "{} start pc {:#x} hint {} reset {} waited {} cycles",
                s.engine, s.pc, s.hint, s.soft_reset, s.wait_cycles
            ),
            Notification::End(e) => write!(
                f,
                "{} end pc {:#x} hint {} crc {:#06x} {:#06x}",
                e.engine, e.pc, e.hint, e.crc_in, e.crc_out
            ),
            Notification::Explicit(e) => {
                write!(f, "{} explicit pc {:#x} hint {} ", e.engine, e.pc, e.hint)?;
                match e.body {
                    ExplicitBody::Plain { soft_reset, hint_extended } => {
                        write!(f, "reset {soft_reset} extended {hint_extended:#x}")
                    }
                    ExplicitBody::DescriptorsDone {
                        engines,
                        upper_engines,
                        packets_per_engine,
                        infer_pc,
                    } => {
                        write!(f, "descriptors for engines {engines:#06x}")?;
                        f.write_str(if upper_engines { " << 16" } else { "" })?;
                        write!(f, ", {packets_per_engine} packets each")?;
                        f.write_str(if infer_pc { ", pc of the latest start" } else { "" })
                    }
                }
            }
            Notification::Update(u) => {
                match u.engine {
                    Some(engine) => write!(f, "{engine} ")?,
                    None => f.write_str("bus ")?,
                }
                let what = if u.is_semaphore { "semaphore" } else { "event" };
                write!(f, "{what} {} = {} mode {:#04x}", u.id, u.value, u.mode)?;
                f.write_str(if u.double_set_or_clear { " double" } else { "" })
            }
            Notification::Fault(e) => {
                write!(f, "fault {}", e.error_id)?;
                write!(f, " {}", e.name().unwrap_or("unnamed"))?;
                write!(f, " metadata {:#06x} {:#010x}", e.metadata_lo, e.metadata_hi)
            }
            Notification::Error(ErrorReport::Interrupt { group, block_id, cause_bits }) => {
                write!(f, "interrupt group {group} block {block_id} causes {cause_bits:#010x}")
            }
            Notification::Error(ErrorReport::Warning {
                group,
                meta_a,
                block_id,
                meta_b,
                meta_c,
            }) => write!(
                f,
                "warning group {group} block {block_id} meta {meta_a:#x} {meta_b:#x} {meta_c:#x}"
            ),
            Notification::Throttle(t) => {
                write!(f, "throttle activity {} k {} n {}", t.activity, t.k, t.n)?;
                write!(f, " metadata {:#x}", t.metadata)
            }
            Notification::Dma(dma) => {
                write!(f, "dma engine {} ", dma.device_engine(self.core))?;
                step(f, dma.step)
            }
            Notification::Unknown { word } => write!(f, "unknown {word:#018x}"),
        }?;
        f.write_str(if self.record.software_loss() { " [earlier records lost]" } else { "" })?;
        f.write_str(if self.record.hardware_loss() { " [later records lost]" } else { "" })
    }
}

fn side(direction: Direction) -> &'static str {
    match direction {
        Direction::Read => "read",
        Direction::Write => "write",
    }
}

fn step(f: &mut Formatter<'_>, step: DmaStep) -> Result {
    match step {
        DmaStep::Start { direction, queue, metadata } => {
            write!(f, "queue {queue} {} start metadata {metadata:#x}", side(direction))
        }
        DmaStep::End { direction, queue, bytes, crc } => {
            write!(f, "queue {queue} {} end {bytes} bytes crc {crc:#06x}", side(direction))
        }
        DmaStep::Completion { direction, queue } => {
            write!(f, "queue {queue} {} completion", side(direction))
        }
        DmaStep::AxiRequest { code, id, address } => {
            write!(f, "axi request {code} id {id} address {address:#x}")
        }
        DmaStep::Apb { code, address } => write!(f, "apb {code} address {address:#x}"),
        DmaStep::Other { word } => write!(f, "other {word:#018x}"),
    }
}
