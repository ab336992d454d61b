//! Names of semaphores in operand text (isa-layouts.md §2.2).

use super::body::Body;
use super::event::UpdateMode;
use super::record::Record;
use crate::engine::Engine;

/// Who raises each semaphore of one core's program. A semaphore with exactly
/// one source prints as `S[5] (Tensor)`, any other as `$S[5]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SemaphoreNames {
    sources: Vec<Source>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    None,
    One(String),
    Several,
}

impl Default for SemaphoreNames {
    fn default() -> Self {
        Self::none()
    }
}

impl SemaphoreNames {
    /// No semaphore has a name.
    pub fn none() -> Self {
        Self { sources: vec![Source::None; 256] }
    }

    /// Notes the sources in the stream of one engine: updates that add 1 at
    /// completion in a header, and the completion semaphores of dynamic DMA.
    /// Updates in the second block of EVENT_SEMAPHORE do not count. The
    /// completion semaphores of DMA triggers stand in the engine's JSON, see
    /// [`SemaphoreNames::add_queue`].
    pub fn add_stream(&mut self, engine: Engine, records: &[Record]) {
        const INCREMENT: UpdateMode = UpdateMode(0x13);
        for instruction in records.iter().filter_map(Record::instruction) {
            let header = instruction.header;
            if header.update_mode == INCREMENT {
                self.add(header.update_index, engine.display_name());
            }
            if let Body::DmaDirect(dma) = instruction.body {
                self.add(dma.semaphore, dynamic_queue(engine));
            }
        }
    }

    /// Notes a queue as a source, by its name in the NEFF (`qSPSpillReload0`),
    /// which prints with the viewer's word for the engine
    /// (`qSyncSpillReload0`).
    pub fn add_queue(&mut self, semaphore: u8, queue: &str) {
        let renamed = [("qPool", "qGpSimd"), ("qSP", "qSync"), ("qAct", "qScalar")]
            .into_iter()
            .find_map(|(from, to)| Some(format!("{to}{}", queue.strip_prefix(from)?)));
        let name = renamed.as_deref().unwrap_or(queue);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
        if name.bytes().all(plain) {
            self.add(semaphore, name);
        } else if let Some(source) = self.sources.get_mut(usize::from(semaphore)) {
            // a name that would not read back as a comment is not shown
            *source = Source::Several;
        }
    }

    fn add(&mut self, semaphore: u8, name: &str) {
        if let Some(source) = self.sources.get_mut(usize::from(semaphore)) {
            *source = match source {
                Source::None => Source::One(String::from(name)),
                Source::One(known) if known == name => return,
                Source::One(_) | Source::Several => Source::Several,
            };
        }
    }

    /// `S[5] (Tensor)` or `$S[5]`.
    pub fn text(&self, semaphore: u8) -> String {
        match self.sources.get(usize::from(semaphore)) {
            Some(Source::One(name)) => format!("S[{semaphore}] ({name})"),
            _ => format!("$S[{semaphore}]"),
        }
    }
}

/// Name of the queue that a dynamic DMA record uses. Captures show the three
/// of ACT, POOL and SP; the form is continued for the others (inferred).
const fn dynamic_queue(engine: Engine) -> &'static str {
    match engine {
        Engine::Act => "qScalarDynamicHW",
        Engine::Pool => "qGpSimdDynamic",
        Engine::Sp => "qSyncDynamicHW",
        Engine::Pe => "qTensorDynamicHW",
        Engine::Dve => "qVectorDynamicHW",
    }
}
