//! What a status of libnrt means to a client of the daemon (neuron-rtd.md §4.3).

use neuron_core::uapi::nrt::Status;

use crate::failure::{Code, Subtype};

/// Which call a status is from; some mean another thing then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// `nrt_load`.
    Load,
    /// `nrt_execute`, and the copies around it.
    Execute,
    /// A call that asks whether something is done.
    Poll,
    /// Any other.
    Other,
}

/// Code, class, and whether the model cannot go on. A status that is not
/// published is [`Code::Fail`].
pub fn meaning(status: Status, at: At) -> (Code, Subtype, bool) {
    let fine = |code| (code, Subtype::None, false);
    match status {
        Status::SUCCESS => fine(Code::Ok),
        // the sheet: a name or size that does not fit
        Status::INVALID if at == At::Execute => fine(Code::BadInput),
        Status::INVALID => fine(Code::Invalid),
        Status::INVALID_HANDLE => fine(Code::InvalidHandle),
        Status::RESOURCE | Status::FAIL_HOST_MEM_ALLOC => fine(Code::Resource),
        Status::TIMEOUT => (Code::Timeout, Subtype::None, true),
        Status::HW_ERROR => (Code::HwError, Subtype::Hardware, true),
        Status::UNINITIALIZED | Status::CLOSED => (Code::HwError, Subtype::Runtime, true),
        Status::QUEUE_FULL => fine(Code::QueueFull),
        Status::LOAD_NOT_ENOUGH_NC => fine(Code::ResourceNc),
        Status::UNSUPPORTED_NEFF_VERSION => fine(Code::UnsupportedVersion),
        Status::QUEUE_EMPTY if at == At::Poll => fine(Code::Pending),
        Status::COLL_PENDING => fine(Code::Pending),
        // other models of the core get the same status at their next run
        Status::EXEC_UNIT_UNRECOVERABLE => (Code::FailedState, Subtype::Hardware, true),
        Status::EXEC_BAD_INPUT => fine(Code::BadInput),
        Status::EXEC_COMPLETED_WITH_NUM_ERR => (Code::NumErr, Subtype::Numerical, false),
        Status::EXEC_COMPLETED_WITH_ERR | Status::EXEC_OOB => {
            (Code::WithErr, Subtype::Model, false)
        }
        // at execute: our choice
        Status::EXEC_NC_BUSY if at == At::Execute => fine(Code::QueueFull),
        Status::EXEC_NC_BUSY => fine(Code::ResourceNc),
        Status::EXEC_HW_ERR_COLLECTIVES
        | Status::EXEC_HW_ERR_HBM_UE
        | Status::EXEC_HW_ERR_NC_UE
        | Status::EXEC_HW_ERR_DMA_ABORT
        | Status::EXEC_HW_ERR_REPAIRABLE_HBM_UE => (Code::HwError, Subtype::Hardware, true),
        Status::EXEC_SW_NQ_OVERFLOW | Status::NETWORK_PROXY_FAILURE => {
            (Code::WithErr, Subtype::Runtime, false)
        }
        _ => fine(Code::Fail),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of §4.3, row by row; where it says "6 + details" and the like.
    #[test]
    fn every_status_has_the_code_of_the_sheet() {
        let table: &[(i32, At, i32)] = &[
            (0, At::Other, 0),
            (1, At::Other, 1),
            (2, At::Load, 2),
            (2, At::Execute, 1002),
            (3, At::Other, 3),
            (4, At::Other, 4),
            (5, At::Execute, 5),
            (6, At::Execute, 6),
            (7, At::Execute, 7),
            (9, At::Load, 9),
            (10, At::Load, 10),
            (11, At::Load, 4),
            (13, At::Other, 6),
            (14, At::Other, 6),
            (15, At::Poll, 1000),
            (15, At::Other, 1),
            (101, At::Execute, 8),
            (1002, At::Execute, 1002),
            (1003, At::Execute, 1003),
            (1004, At::Execute, 1004),
            (1005, At::Load, 9),
            (1005, At::Execute, 7),
            (1006, At::Execute, 1004),
            (1100, At::Execute, 1000),
            (1200, At::Execute, 6),
            (1201, At::Execute, 6),
            (1202, At::Execute, 6),
            (1203, At::Execute, 6),
            (1204, At::Execute, 1004),
            (1205, At::Execute, 6),
            (1206, At::Execute, 1004),
            (77, At::Execute, 1),
        ];
        for (status, at, code) in table {
            assert_eq!(meaning(Status(*status), *at).0.number(), *code, "{status} at {at:?}");
        }
        for status in Status::ALL {
            assert!(table.iter().any(|(number, _, _)| *number == status.0), "{status}");
        }
        let class = |status| meaning(Status(status), At::Execute).1;
        assert_eq!((class(1201), class(1204)), (Subtype::Hardware, Subtype::Runtime));
        assert!(meaning(Status(101), At::Execute).2, "the model cannot go on");
    }
}
