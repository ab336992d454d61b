//! What the public datastore layout leaves to the runtime, as our runtime
//! writes it (our choice): a block in the unused bytes of an entry, on
//! simulated instances only. For any other process these facts are unknown.
//!
//! | Offset from [`START`] | Content |
//! | --- | --- |
//! | 0 | magic, 8 bytes |
//! | 8 | version of the block, u32 |
//! | 12 | length of the block in bytes, u32 |
//! | 64 | application tag, 256 bytes |
//! | 320 | 64 models, 368 bytes each |
//! | 23872 | 16 cores, two histograms each (total, device), 520 bytes each |
//! | 40512 | end |
//!
//! Models stand in the first slots; the first free slot ends them.
//!
//! A model: state u32 (0 free, 1 loaded, 2 running) at 0, id u32 at 4, node
//! u32 at 8, core u32 at 12, name 256 bytes at 16, uuid 16 bytes at 272, host
//! memory of code, tensors, constants, scratchpad, misc u64 each at 288,
//! device memory alike at 328. A histogram: 64 counts u64, then the sum of all
//! values in nanoseconds u64. Texts are UTF-8 and end at the first zero byte.
//! Numbers are little endian. As with the counters there is no lock.

#[cfg(test)]
mod tests;

use super::{Malformed, bytes_at, nds, u64_at};

/// Offset of the block in an entry.
pub const START: usize = nds::UNUSED_FROM;
/// Length of the block in bytes.
pub const LENGTH: usize = 40_512;
/// First bytes of the block.
pub const MAGIC: [u8; 8] = *b"ntools\0\x01";
/// Version of the block. A reader refuses any other.
pub const VERSION: u32 = 1;
/// Models that the block has room for.
pub const MAX_MODELS: usize = 64;
/// Longest text in bytes.
pub const MAX_TEXT: usize = 255;

const TAG: usize = 64;
const MODELS: usize = 320;
const MODEL: usize = 368;
/// Models that are read at once; the others only where these are in use.
const FIRST_MODELS: usize = 4;
const LATENCIES: usize = 23_872;
const HISTOGRAM: usize = 8 * (BUCKETS + 1);
/// Buckets of a histogram.
pub const BUCKETS: usize = 64;

const _: () = assert!(MODELS + MAX_MODELS * MODEL == LATENCIES);
const _: () = assert!(LATENCIES + nds::MAX_CORES as usize * 2 * HISTOGRAM == LENGTH);
const _: () = assert!(START.is_multiple_of(8) && START + LENGTH <= nds::SIZE);

/// How much of an entry is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The header and the device counters.
    Head,
    /// Everything that the cores of a device and our runtime's block can hold.
    Used {
        /// Physical cores of the device.
        cores: u32,
    },
    /// All bytes.
    Whole,
}

impl Extent {
    /// Reads an entry into `bytes`, which may hold another: nothing of that
    /// stays. `read` fills a buffer from an offset and says how much it got.
    /// What is not read is zero; of an entry that ends too soon only the
    /// beginning is given.
    ///
    /// # Errors
    ///
    /// Those of `read`; `bytes` are empty then.
    pub fn gather<E>(
        self,
        bytes: &mut Vec<u8>,
        mut read: impl FnMut(usize, &mut [u8]) -> Result<usize, E>,
    ) -> Result<(), E> {
        let length = match self {
            Self::Head => nds::HEAD,
            Self::Used { .. } => START + LENGTH,
            Self::Whole => nds::SIZE,
        };
        bytes.resize(length, 0);
        let got = match self {
            Self::Used { cores } => gather_used(cores, bytes, read),
            Self::Head | Self::Whole => read(0, bytes),
        };
        match got {
            Ok(got) => {
                bytes.truncate(got);
                Ok(())
            }
            Err(error) => {
                bytes.clear();
                Err(error)
            }
        }
    }
}

/// Fills in the parts that are used, and zeros between them. Returns how much
/// of `bytes` is good.
fn gather_used<E>(
    cores: u32,
    bytes: &mut [u8],
    mut read: impl FnMut(usize, &mut [u8]) -> Result<usize, E>,
) -> Result<usize, E> {
    let cores = usize::try_from(cores.min(nds::MAX_CORES)).unwrap_or(0);
    // The counters of the first four cores stand in two places, those of the
    // others in one (driver.md §5.3).
    let first_models = MODELS + MODEL * FIRST_MODELS;
    let parts = [
        (0, 256 + 248 * 4),
        (55_936, 512 * cores.min(4)),
        (57_984, 768 * cores.saturating_sub(4)),
        (START, first_models),
        (START + first_models, LATENCIES - first_models),
        (START + LATENCIES, 2 * HISTOGRAM * cores),
    ];
    let mut end = 0;
    for (offset, length) in parts {
        // A process has few models mostly, and the first free slot ends them.
        if offset == START + first_models && u32_at(bytes, offset - MODEL) == 0 {
            continue;
        }
        bytes.get_mut(end..offset).unwrap_or_default().fill(0);
        end = offset + length;
        let part = bytes.get_mut(offset..end).unwrap_or_default();
        let got = read(offset, part)?;
        if got < length {
            return Ok(if offset == 0 { got } else { nds::HEAD });
        }
        // Only our runtime writes the block.
        if offset == START && !part.starts_with(&MAGIC) {
            break;
        }
    }
    bytes.get_mut(end..).unwrap_or_default().fill(0);
    Ok(bytes.len())
}

/// Which latency a histogram counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Latency {
    /// From the request to the result, host wall time.
    Total,
    /// On the device.
    Device,
}

/// Memory of a model at one location, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ModelMemory {
    /// Code.
    pub code: u64,
    /// Tensors.
    pub tensors: u64,
    /// Constants.
    pub constants: u64,
    /// Scratchpad.
    pub scratchpad: u64,
    /// Everything else.
    pub misc: u64,
}

/// A loaded model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Model {
    /// Id of the model.
    pub id: u32,
    /// Id of the node within it.
    pub node: u32,
    /// Physical core within the device.
    pub core: u32,
    /// Whether it is running.
    pub running: bool,
    /// Name.
    pub name: String,
    /// UUID.
    pub uuid: [u8; 16],
    /// Host memory.
    pub host: ModelMemory,
    /// Device memory.
    pub device: ModelMemory,
}

/// Counts of latencies. Bucket 0 holds 0 and 1 ns, bucket `b` the values from
/// 2^b to below 2^(b+1) ns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram {
    /// Counts.
    pub buckets: [u64; BUCKETS],
    /// Sum of all values, ns; wraps.
    pub sum: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { buckets: [0; BUCKETS], sum: 0 }
    }
}

/// The bucket of a latency in ns, 0 to 63.
pub const fn bucket_of(nanos: u64) -> u32 {
    match nanos.checked_ilog2() {
        Some(bucket) => bucket,
        None => 0,
    }
}

impl Histogram {
    /// Counts a latency in ns.
    pub fn add(&mut self, nanos: u64) {
        if let Some(count) = self.buckets.get_mut(bucket_of(nanos) as usize) {
            *count = count.wrapping_add(1);
        }
        self.sum = self.sum.wrapping_add(nanos);
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.buckets.iter().fold(0, |sum, count| sum.wrapping_add(*count))
    }
}

/// Latencies of one core.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CoreLatency {
    /// From the request to the result.
    pub total: Histogram,
    /// On the device.
    pub device: Histogram,
}

/// The block.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Block {
    /// Application tag; empty for none.
    pub tag: String,
    /// Loaded models, at most [`MAX_MODELS`].
    pub models: Vec<Model>,
    /// Latencies by physical core, at most 16; cores that follow have none.
    pub cores: Vec<CoreLatency>,
}

/// Offset in the entry of a model's slot, for a writer that updates one.
pub const fn model_offset(slot: usize) -> Option<usize> {
    if slot < MAX_MODELS { Some(START + MODELS + MODEL * slot) } else { None }
}

/// Offset in the entry of a bucket's count, for a writer that updates one.
pub const fn bucket_offset(core: u32, latency: Latency, bucket: u32) -> Option<usize> {
    if bucket as usize >= BUCKETS {
        return None;
    }
    match histogram_offset(core, latency) {
        Some(offset) => Some(offset + 8 * bucket as usize),
        None => None,
    }
}

/// Offset in the entry of a histogram's sum.
pub const fn sum_offset(core: u32, latency: Latency) -> Option<usize> {
    match histogram_offset(core, latency) {
        Some(offset) => Some(offset + 8 * BUCKETS),
        None => None,
    }
}

const fn histogram_offset(core: u32, latency: Latency) -> Option<usize> {
    if core >= nds::MAX_CORES {
        return None;
    }
    let second = match latency {
        Latency::Total => 0,
        Latency::Device => 1,
    };
    Some(START + LATENCIES + HISTOGRAM * (2 * core as usize + second))
}

impl Block {
    /// Reads the block of an entry; `None` when it has none, as with a process
    /// of the vendor's runtime.
    ///
    /// # Errors
    ///
    /// When the entry is too short, or the block is of another version or
    /// length, or a model's state is unknown.
    pub fn decode(entry: &[u8]) -> Result<Option<Self>, Malformed> {
        Self::decode_cores(entry, nds::MAX_CORES)
    }

    /// As [`Self::decode`], with the latencies of so many cores only.
    ///
    /// # Errors
    ///
    /// As [`Self::decode`].
    pub fn decode_cores(entry: &[u8], cores: u32) -> Result<Option<Self>, Malformed> {
        const WHAT: &str = "datastore block";
        let bytes = entry.get(START..START + LENGTH).ok_or_else(|| {
            Malformed::new(WHAT, entry.len(), format!("{} bytes are too few", entry.len()))
        })?;
        if !bytes.starts_with(&MAGIC) {
            return Ok(None);
        }
        let version = u32_at(bytes, 8);
        if (version, u32_at(bytes, 12)) != (VERSION, 40_512) {
            let reason = format!("version {version} is unknown; the writer is newer than this");
            return Err(Malformed::new(WHAT, START + 8, reason));
        }
        let mut models = Vec::new();
        for slot in 0..MAX_MODELS {
            let at = MODELS + MODEL * slot;
            let running = match u32_at(bytes, at) {
                0 => break,
                1 => false,
                2 => true,
                state => {
                    let reason = format!("state {state} of model slot {slot} is unknown");
                    return Err(Malformed::new(WHAT, START + at, reason));
                }
            };
            models.push(Model {
                id: u32_at(bytes, at + 4),
                node: u32_at(bytes, at + 8),
                core: u32_at(bytes, at + 12),
                running,
                name: text_at(bytes, at + 16),
                uuid: bytes_at(bytes, at + 272).unwrap_or_default(),
                host: memory_at(bytes, at + 288),
                device: memory_at(bytes, at + 328),
            });
        }
        let histogram = |core, latency| {
            let at = histogram_offset(core, latency).unwrap_or(entry.len());
            let mut words = (at..).step_by(8).map(|at| u64_at(entry, at).unwrap_or(0));
            let buckets = std::array::from_fn(|_| words.next().unwrap_or(0));
            Histogram { buckets, sum: words.next().unwrap_or(0) }
        };
        let cores = (0..cores.min(nds::MAX_CORES))
            .map(|core| CoreLatency {
                total: histogram(core, Latency::Total),
                device: histogram(core, Latency::Device),
            })
            .collect();
        Ok(Some(Self { tag: text_at(bytes, TAG), models, cores }))
    }

    /// The bytes to put at [`START`]. Texts longer than [`MAX_TEXT`] bytes are
    /// cut at a character.
    ///
    /// # Errors
    ///
    /// When there are more models or cores than fit.
    pub fn encode(&self) -> Result<Vec<u8>, Malformed> {
        const WHAT: &str = "datastore block";
        if self.models.len() > MAX_MODELS {
            let reason = format!("{} models where {MAX_MODELS} fit", self.models.len());
            return Err(Malformed::new(WHAT, START + MODELS, reason));
        }
        let mut out = Vec::with_capacity(LENGTH);
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&40_512_u32.to_le_bytes());
        out.resize(TAG, 0);
        push_text(&mut out, &self.tag);
        for model in &self.models {
            let state: u32 = if model.running { 2 } else { 1 };
            for number in [state, model.id, model.node, model.core] {
                out.extend_from_slice(&number.to_le_bytes());
            }
            push_text(&mut out, &model.name);
            out.extend_from_slice(&model.uuid);
            for memory in [model.host, model.device] {
                push_words(&mut out, &memory.words());
            }
        }
        out.resize(LATENCIES, 0);
        for core in &self.cores {
            for histogram in [&core.total, &core.device] {
                push_words(&mut out, &histogram.buckets);
                push_words(&mut out, &[histogram.sum]);
            }
        }
        if out.len() > LENGTH {
            let reason = format!("{} cores where {} fit", self.cores.len(), nds::MAX_CORES);
            return Err(Malformed::new(WHAT, START + LATENCIES, reason));
        }
        out.resize(LENGTH, 0);
        Ok(out)
    }
}

impl ModelMemory {
    const fn words(self) -> [u64; 5] {
        [self.code, self.tensors, self.constants, self.scratchpad, self.misc]
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes_at(bytes, at).map(u32::from_le_bytes).unwrap_or_default()
}

fn memory_at(bytes: &[u8], at: usize) -> ModelMemory {
    let word = |index: usize| u64_at(bytes, at + 8 * index).unwrap_or_default();
    ModelMemory {
        code: word(0),
        tensors: word(1),
        constants: word(2),
        scratchpad: word(3),
        misc: word(4),
    }
}

fn text_at(bytes: &[u8], at: usize) -> String {
    let slot = bytes.get(at..at + MAX_TEXT + 1).unwrap_or_default();
    let text = slot.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

fn push_words(out: &mut Vec<u8>, words: &[u64]) {
    out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}

/// A slot of 256 bytes.
fn push_text(out: &mut Vec<u8>, text: &str) {
    let end = out.len() + MAX_TEXT + 1;
    let cut = text.char_indices().find(|(at, c)| *c == '\0' || at + c.len_utf8() > MAX_TEXT);
    let text = cut.map_or(text, |(at, _)| &text[..at]);
    out.extend_from_slice(text.as_bytes());
    out.resize(end, 0);
}
