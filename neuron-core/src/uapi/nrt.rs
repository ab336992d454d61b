//! The C API of libnrt as data: status numbers, enumerations, layouts
//! (neuron-rtd.md §4.1 to §4.3; names and layouts are those of the public
//! headers of the `aws-neuronx-runtime-lib` package, API 2.0).
//!
//! `sys::nrt` calls such a library, `neuron-rtd/libnrt` is one. What no public
//! text fixes is marked where it stands.

use std::ffi::{c_char, c_int, c_void};

macro_rules! statuses {
    ($($name:ident $number:literal $meaning:literal;)*) => {
        /// What a call of libnrt returns: a C `int`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct Status(pub c_int);

        impl Status {
            $(#[doc = $meaning] pub const $name: Self = Self($number);)*

            /// Every known status.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Its published name without `NRT_`; `None` for a number of no status.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 { $($number => Some(stringify!($name)),)* _ => None }
            }

            /// What it means, one line.
            pub const fn meaning(self) -> &'static str {
                match self.0 { $($number => $meaning,)* _ => "a status that is not published" }
            }
        }
    };
}

// §4.3; the names of 1200 to 1206 are those of the published header
statuses! {
    SUCCESS 0 "success";
    FAILURE 1 "an unspecific failure";
    INVALID 2 "a bad NEFF, a wrong argument, or a tensor of another name or size";
    INVALID_HANDLE 3 "a handle that does not exist";
    RESOURCE 4 "memory or another resource is missing";
    TIMEOUT 5 "it took too long";
    HW_ERROR 6 "a device failed";
    QUEUE_FULL 7 "the queue of the core is full";
    LOAD_NOT_ENOUGH_NC 9 "too few free NeuronCores for the NEFF";
    UNSUPPORTED_NEFF_VERSION 10 "a NEFF of an unsupported version";
    FAIL_HOST_MEM_ALLOC 11 "host memory is missing";
    UNINITIALIZED 13 "nrt_init was not called";
    CLOSED 14 "nrt_close was called";
    QUEUE_EMPTY 15 "the queue is empty";
    EXEC_UNIT_UNRECOVERABLE 101 "the core cannot go on before the process starts anew";
    EXEC_BAD_INPUT 1002 "an execution got a wrong input";
    EXEC_COMPLETED_WITH_NUM_ERR 1003 "done, with NaN in an output";
    EXEC_COMPLETED_WITH_ERR 1004 "the program stopped with an error";
    EXEC_NC_BUSY 1005 "the NeuronCore belongs to somebody else";
    EXEC_OOB 1006 "an indirect access was out of bounds";
    COLL_PENDING 1100 "a collective operation is not done";
    EXEC_HW_ERR_COLLECTIVES 1200 "a collective operation hangs";
    EXEC_HW_ERR_HBM_UE 1201 "device memory had an uncorrectable error";
    EXEC_HW_ERR_NC_UE 1202 "memory of the core had an uncorrectable error";
    EXEC_HW_ERR_DMA_ABORT 1203 "a DMA engine gave up";
    EXEC_SW_NQ_OVERFLOW 1204 "a queue of notifications ran over";
    EXEC_HW_ERR_REPAIRABLE_HBM_UE 1205 "device memory had an error that can be repaired";
    NETWORK_PROXY_FAILURE 1206 "the network between instances failed";
}

impl Status {
    /// Whether it is success.
    pub const fn is_success(self) -> bool {
        self.0 == 0
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.name() {
            Some(name) => write!(f, "NRT_{name} ({})", self.0),
            None => write!(f, "NRT status {}", self.0),
        }
    }
}

/// Major version of the API that is spoken here.
pub const API_MAJOR: u64 = 2;
/// Minor version.
pub const API_MINOR: u64 = 0;

/// Where libnrt is installed (§4.1).
pub const LIBRARY: &str = "/opt/aws/neuron/lib/libnrt.so.1";
/// Only our own library exports this symbol.
pub const MARKER: &str = "neuron_tools_libnrt";

/// `nrt_framework_type_t`.
pub mod framework {
    /// Not one of the others.
    pub const INVALID: u32 = 0;
    /// No framework.
    pub const NONE: u32 = 1;
    /// The last one that is known.
    pub const LAST: u32 = 5;
}

/// `nrt_tensor_placement_t`.
pub mod placement {
    /// Memory of the device.
    pub const DEVICE: u32 = 0;
    /// Pinned memory of the host, deprecated; at most [`HOST_MOST`] bytes.
    pub const HOST: u32 = 1;
    /// Memory of the process.
    pub const VIRTUAL: u32 = 2;
    /// Most bytes of a tensor in host memory.
    pub const HOST_MOST: usize = 4 << 20;
}

/// `nrt_tensor_usage_t`.
pub mod usage {
    /// Input.
    pub const INPUT: u32 = 0;
    /// Output.
    pub const OUTPUT: u32 = 1;
}

/// Execution units of the asynchronous calls, `nrta_xu_t`.
pub mod unit {
    /// Tensor to host.
    pub const TENSOR_READ: u32 = 0;
    /// Host to tensor.
    pub const TENSOR_WRITE: u32 = 1;
    /// Tensor to tensor.
    pub const TENSOR_OP: u32 = 2;
    /// Models.
    pub const COMPUTE: u32 = 3;
    /// Collectives.
    pub const COLLECTIVES: u32 = 4;
    /// How many there are.
    pub const COUNT: u32 = 5;
}

/// `nrt_version_t`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
#[allow(missing_docs, reason = "named by the header")]
pub struct Version {
    pub major: u64,
    pub minor: u64,
    pub patch: u64,
    pub maintenance: u64,
    pub detail: [u8; 128],
    pub git_hash: [u8; 64],
}

impl Default for Version {
    fn default() -> Self {
        let (detail, git_hash) = ([0; 128], [0; 64]);
        Self { major: 0, minor: 0, patch: 0, maintenance: 0, detail, git_hash }
    }
}

impl Version {
    /// The text of `detail`.
    pub fn detail_text(&self) -> String {
        text(&self.detail)
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}.{}", self.major, self.minor, self.patch, self.maintenance)
    }
}

/// `nrt_instance_info_t`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
#[allow(missing_docs, reason = "named by the header")]
pub struct InstanceInfo {
    pub family: u32,
    pub size: u32,
    pub arch_name: [u8; 16],
    pub device_revision: [u8; 8],
}

/// `nrt_vnc_memory_stats_t`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
#[allow(missing_docs, reason = "named by the header")]
pub struct MemoryStats {
    pub bytes_used: usize,
    pub bytes_limit: usize,
}

/// Bytes of a tensor's name with its zero.
pub const NAME_MAX: usize = 256;

/// `nrt_tensor_info_t`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
#[allow(missing_docs, reason = "named by the header")]
pub struct TensorInfo {
    pub name: [u8; NAME_MAX],
    pub usage: u32,
    pub size: usize,
    pub dtype: u32,
    pub shape: *mut u32,
    pub ndim: u32,
}

/// The head of `nrt_tensor_info_array_t`; the tensors follow it.
#[derive(Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "named by the header")]
pub struct TensorInfoArray {
    pub count: u64,
    pub tensors: [TensorInfo; 0],
}

/// `nrt_tensor_batch_op_t`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
#[allow(missing_docs, reason = "named by the header")]
pub struct BatchOp {
    pub offset: u64,
    pub size: u64,
    pub buffer: *mut c_void,
}

/// `nrt_tensor_batch_t`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
#[allow(missing_docs, reason = "named by the header")]
pub struct Batch {
    pub tensor: *const c_void,
    pub ops: *const BatchOp,
    pub num_ops: u32,
}

/// `nrta_error_t`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
#[allow(missing_docs, reason = "named by the header")]
pub struct AsyncError {
    pub sequence: u64,
    pub status: u64,
}

/// `NRT_ASYNC_EXEC_STATUS_CALLBACK`: parameters, model, core, job, status.
pub type StatusCallback = extern "C" fn(*mut c_void, u32, u32, u64, Status);

/// Families of instances by number; 0 is unknown.
const FAMILIES: &[(u32, &str)] = &[
    (1, "inf1"),
    (2, "trn1"),
    (3, "trn1n"),
    (4, "inf2"),
    (5, "trn2"),
    (6, "trn2n"),
    (7, "inf2e"),
    (8, "trn2p"),
    (9, "trn2u"),
    (10, "trn2e"),
    (11, "trn2eu"),
    (12, "trn2ac"),
    (13, "trn2uac"),
    (14, "trn3"),
    (15, "trn3pd98"),
];

/// Sizes in the order of their numbers.
const SIZES: &[&str] = &[
    "xlarge", "2xlarge", "4xlarge", "6xlarge", "8xlarge", "24xlarge", "32xlarge", "48xlarge",
    "3xlarge",
];

/// Number of Inf1, whose tensors lie in memory of the process (§4.2).
pub const INF1: u32 = 1;

/// Family and size of an instance type, by its EC2 name; unknown ones have the
/// family 0 and the number after the last size.
pub fn instance_numbers(name: &str) -> (u32, u32) {
    let (family, size) = name.split_once('.').unwrap_or((name, ""));
    let family = FAMILIES.iter().find(|(_, known)| *known == family).map_or(0, |(n, _)| *n);
    let size = SIZES.iter().position(|known| *known == size).unwrap_or(SIZES.len());
    (family, u32::try_from(size).unwrap_or(u32::MAX))
}

/// EC2 name of a family and a size.
pub fn instance_name(family: u32, size: u32) -> Option<String> {
    let (_, family) = FAMILIES.iter().find(|(number, _)| *number == family)?;
    let size = SIZES.get(usize::try_from(size).ok()?)?;
    Some(format!("{family}.{size}"))
}

/// The text in a field that a zero may end.
pub fn text(field: &[u8]) -> String {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    String::from_utf8_lossy(field.get(..end).unwrap_or_default()).into_owned()
}

/// Text in a field, cut so that a zero ends it.
pub fn field<const N: usize>(text: &str) -> [u8; N] {
    let mut field = [0; N];
    let room = N.saturating_sub(1);
    for (to, from) in field.iter_mut().take(room).zip(text.bytes()) {
        *to = from;
    }
    field
}

// the layouts that C compilers give the published declarations
const _: () = {
    assert!(size_of::<Version>() == 224 && size_of::<InstanceInfo>() == 32);
    assert!(size_of::<MemoryStats>() == 16 && size_of::<AsyncError>() == 16);
    assert!(size_of::<TensorInfo>() == 296 && size_of::<TensorInfoArray>() == 8);
    assert!(size_of::<BatchOp>() == 24 && size_of::<Batch>() == 24);
    assert!(size_of::<Status>() == size_of::<c_int>() && size_of::<c_char>() == 1);
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::InstanceType;

    #[test]
    fn names_and_numbers_belong_together() {
        assert_eq!(instance_numbers("inf1.6xlarge"), (1, 3));
        assert_eq!(instance_numbers("trn2.3xlarge"), (5, 8));
        assert_eq!(instance_numbers("p4d.24xlarge"), (0, 5));
        assert_eq!(instance_name(2, 6).as_deref(), Some("trn1.32xlarge"));
        assert_eq!(instance_name(0, 6), None);
        assert_eq!(instance_name(2, 9), None);
        for name in ["inf1.xlarge", "inf2.24xlarge", "trn1n.32xlarge", "trn2u.48xlarge"] {
            let (family, size) = instance_numbers(name);
            assert!(InstanceType::find(&instance_name(family, size).unwrap()).is_some());
        }
    }

    #[test]
    fn statuses_have_their_published_numbers() {
        assert_eq!(Status::EXEC_BAD_INPUT.0, 1002);
        assert_eq!(Status::ALL.len(), 28);
        assert_eq!(Status(9).to_string(), "NRT_LOAD_NOT_ENOUGH_NC (9)");
        assert_eq!(Status(8).name(), None);
        assert_eq!(Status(8).to_string(), "NRT status 8");
    }

    #[test]
    fn fields_end_with_a_zero() {
        assert_eq!(field::<4>("abcdef"), *b"abc\0");
        assert_eq!(text(&field::<8>("abc")), "abc");
        assert_eq!(text(b"abc"), "abc");
    }
}
