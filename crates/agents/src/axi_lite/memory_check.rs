//! The reference memory behind AXI4-Lite.

use super::{AxiLiteEvents, AxiLiteMonitor, AxiResponse};
use crate::memory_check::MemoryCheck;
use cosim_harness::harness::Violation;
use verilated::Pins;

impl MemoryCheck {
    /// Observes the events of a cycle on the interface with this number. Call
    /// [`MemoryCheck::reset`] in reset.
    ///
    /// # Errors
    /// If a byte of a read has a value that no write explains.
    pub fn axi_lite<M: Pins, S: Pins>(
        &mut self,
        port: u32,
        monitor: &AxiLiteMonitor<M, S>,
        events: &AxiLiteEvents,
    ) -> Result<(), Violation> {
        let (port, bytes) = (u64::from(port), monitor.bytes());
        let first = |address: u64| address & !u64::from(bytes - 1);
        if let Some((address, _)) = events.read_start {
            self.start_read(port, first(address));
        }
        if let Some(write) = events.write_start {
            self.start_write(port, first(write.address), write.data, write.strobe);
        }
        if let Some(write) = events.write {
            self.finish_write(port, write.response == AxiResponse::Okay);
        }
        if let Some(read) = events.read {
            let bytes = if read.response == AxiResponse::Okay { bytes } else { 0 };
            self.finish_read(port, read.data, bytes)?;
        }
        Ok(())
    }
}
