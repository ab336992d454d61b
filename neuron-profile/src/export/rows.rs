//! Rows kept in memory, for exports that write table after table.

use std::convert::Infallible;

use profile_engine::row::{
    ActiveRow, Edge, InstructionRow, NoticeRow, PacketRow, PendingRow, Sink, ThrottleRow,
    ThroughputRow, UpdateRow,
};

/// All rows of a profile. An instruction takes about 100 bytes, others less.
#[derive(Debug, Default)]
pub struct Rows {
    /// Instructions, with what they depend on.
    pub instructions: Vec<(InstructionRow, Box<[Edge]>)>,
    /// DMA packets.
    pub packets: Vec<PacketRow>,
    /// Changes of semaphores and events.
    pub updates: Vec<UpdateRow>,
    /// Limits of the activity manager.
    pub throttles: Vec<ThrottleRow>,
    /// Busy times.
    pub actives: Vec<ActiveRow>,
    /// DMA traffic.
    pub throughputs: Vec<ThroughputRow>,
    /// DMA triggers.
    pub pendings: Vec<PendingRow>,
    /// Faults and explicit records.
    pub notices: Vec<NoticeRow>,
}

impl Sink for Rows {
    type Error = Infallible;

    fn instruction(&mut self, row: &InstructionRow, edges: &[Edge]) -> Result<(), Infallible> {
        self.instructions.push((*row, edges.into()));
        Ok(())
    }

    fn packet(&mut self, row: &PacketRow) -> Result<(), Infallible> {
        self.packets.push(*row);
        Ok(())
    }

    fn update(&mut self, row: &UpdateRow) -> Result<(), Infallible> {
        self.updates.push(*row);
        Ok(())
    }

    fn throttle(&mut self, row: &ThrottleRow) -> Result<(), Infallible> {
        self.throttles.push(*row);
        Ok(())
    }

    fn active(&mut self, row: &ActiveRow) -> Result<(), Infallible> {
        self.actives.push(*row);
        Ok(())
    }

    fn throughput(&mut self, row: &ThroughputRow) -> Result<(), Infallible> {
        self.throughputs.push(*row);
        Ok(())
    }

    fn pending(&mut self, row: &PendingRow) -> Result<(), Infallible> {
        self.pendings.push(*row);
        Ok(())
    }

    fn notice(&mut self, row: &NoticeRow) -> Result<(), Infallible> {
        self.notices.push(*row);
        Ok(())
    }
}
