//! What is the same for all executions of a slot: most columns of
//! `Instruction`.

use neuron_core::engine::Engine;
use neuron_core::isa::Record;
use neuron_core::isa::body::Body;
use profile_engine::cores::Core;
use profile_engine::debug::{Purpose, id_text};
use profile_engine::program::Slot;

use crate::encode::{Cells, Dictionary};
use crate::kinds::{Description, Work};

/// Columns of texts.
pub(super) const TEXTS: [&str; 15] = [
    "opcode",
    "operands",
    "compiler_opcode",
    "compiler_operands",
    "penguin_id",
    "bir_id",
    "bir_instruction_name",
    "kernel_instruction_name",
    "hlo_attrs",
    "hlo_name",
    "layer",
    "stack_frame_ids",
    "nki_source_location",
    "tensor_instruction_type",
    "scalar_activation_fn",
];

/// Columns of numbers.
pub(super) const NUMBERS: [&str; 17] = [
    "compiler_pc",
    "raw_penguin_id",
    "raw_bir_id",
    "raw_hlo_id",
    "hbm_read_bytes",
    "hbm_write_bytes",
    "sbuf_read_bytes",
    "sbuf_write_bytes",
    "spill_save_bytes",
    "spill_reload_bytes",
    "psum_read_bytes",
    "psum_write_bytes",
    "psum_read_sbuf_write_bytes",
    "tensor_elements",
    "raw_flops",
    "tensor_elements_transpose",
    "flops_transpose",
];

/// One slot.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    pub(super) texts: [Option<String>; TEXTS.len()],
    pub(super) numbers: [Option<i64>; NUMBERS.len()],
    waits: bool,
    product: bool,
}

fn long(value: u64) -> Option<i64> {
    i64::try_from(value).ok()
}

impl Facts {
    /// Those of an instruction outside every program: it has no texts, and
    /// empty ones in columns that are never null.
    fn resident() -> Self {
        let mut texts: [Option<String>; TEXTS.len()] = Default::default();
        for at in [0, 1, 5] {
            if let Some(text) = texts.get_mut(at) {
                *text = Some(String::new());
            }
        }
        Self { texts, numbers: Default::default(), waits: false, product: false }
    }

    /// Those of a slot.
    pub(super) fn new(core: &Core, slot: Option<&Slot>) -> Self {
        let Some(slot) = slot else { return Self::resident() };
        let origin = core.origin(slot);
        let (opcode, operands) = slot.text(core.arch, &core.names);
        let (compiled, compiled_operands) = slot.compiled_text(core.arch, &core.names).unzip();
        let filled = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let id = |id: u64| if id == 0 { String::new() } else { id_text(id) };
        let traffic = &slot.traffic;
        let spills = slot.purpose == Purpose::Spill;
        let turns = slot.purpose == Purpose::Transpose;
        let elements = traffic.elements;
        let product = slot.role.product;
        let when = |holds: bool, value: u64| if holds { long(value) } else { None };
        Self {
            texts: [
                Some(opcode),
                Some(operands),
                compiled,
                compiled_operands,
                origin.map(|origin| id(origin.penguin_id)),
                Some(origin.map_or_else(String::new, |origin| id(origin.bir_id))),
                origin.map(|origin| origin.name.clone()),
                origin.and_then(|origin| filled(&origin.kernel)),
                origin.map(|_| String::from("[]")),
                origin.and_then(|origin| filled(&origin.hlo_name)),
                origin.map(|origin| origin.layer.clone()),
                origin.and_then(|origin| filled(&origin.frame_ids())),
                origin.and_then(|origin| filled(&origin.source)),
                filled(slot.purpose.name()),
                activation(core, slot),
            ],
            numbers: [
                slot.neff_slot.and_then(long),
                origin.and_then(|origin| long(origin.penguin_id)),
                origin.and_then(|origin| long(origin.bir_id)),
                origin.and_then(|origin| long(origin.hlo_id)),
                long(traffic.hbm_read),
                long(traffic.hbm_write),
                long(traffic.sbuf_read),
                long(traffic.sbuf_write),
                when(spills, traffic.hbm_write),
                when(spills, traffic.hbm_read),
                long(traffic.psum_read),
                long(traffic.psum_write),
                long(traffic.psum_read_sbuf_write),
                when(product, elements),
                when(product, elements.saturating_mul(2)),
                when(product && turns, elements),
                when(product && turns, elements.saturating_mul(2)),
            ],
            waits: slot.role.waits,
            product,
        }
    }

    pub(super) fn text(&self, column: &str) -> Option<String> {
        let at = TEXTS.iter().position(|name| *name == column)?;
        self.texts.get(at)?.clone()
    }

    fn number(&self, column: &str) -> u64 {
        let at = NUMBERS.iter().position(|name| *name == column);
        let number = at.and_then(|at| self.numbers.get(at).copied().flatten());
        number.and_then(|number| u64::try_from(number).ok()).unwrap_or(0)
    }

    /// Its kind.
    pub(super) fn kind(&self) -> Description {
        Description {
            name: self.text("opcode").unwrap_or_default(),
            layer: self.text("layer"),
            operator: self.text("hlo_name"),
            source: self.text("nki_source_location"),
            waits: self.waits,
            product: self.product,
            work: Work {
                hbm_read: self.number("hbm_read_bytes"),
                hbm_write: self.number("hbm_write_bytes"),
                sbuf_read: self.number("sbuf_read_bytes"),
                sbuf_write: self.number("sbuf_write_bytes"),
                psum_read: self.number("psum_read_bytes"),
                psum_write: self.number("psum_write_bytes"),
                psum_read_sbuf_write: self.number("psum_read_sbuf_write_bytes"),
                spill_save: self.number("spill_save_bytes"),
                spill_reload: self.number("spill_reload_bytes"),
                flops: self.number("raw_flops"),
                transpose_flops: self.number("flops_transpose"),
            },
        }
    }
}

/// The function of an ACTIVATE.
fn activation(core: &Core, slot: &Slot) -> Option<String> {
    let record = Record::decode(core.arch, &slot.bytes);
    match record.instruction().map(|instruction| &instruction.body) {
        Some(Body::Activate(body)) => Some(body.function.to_string()),
        Some(Body::ActivateQuantize(body)) => Some(body.function.to_string()),
        _ => None,
    }
}

/// Facts of the slots of a lane, made when they are met.
#[derive(Debug)]
pub(super) struct Known {
    core: usize,
    engine: Engine,
    slots: Vec<Option<Box<Facts>>>,
    resident: Facts,
}

impl Known {
    pub(super) fn new(core: usize, engine: Engine, cores: &[Core]) -> Self {
        let of = cores.get(core);
        let count = of.map_or(0, |core| core.program(engine).slots.len());
        Self { core, engine, slots: vec![None; count], resident: Facts::resident() }
    }

    /// The facts of a slot; `u32::MAX` is outside every program.
    pub(super) fn facts(&mut self, slot: u32, cores: &[Core]) -> &Facts {
        let Some(place) = self.slots.get_mut(slot as usize) else { return &self.resident };
        let (core, engine) = (self.core, self.engine);
        place.get_or_insert_with(|| {
            let facts = cores.get(core).map(|core| Facts::new(core, core.slot(engine, slot)));
            Box::new(facts.unwrap_or_else(|| self.resident.clone()))
        })
    }

    /// The columns of slots, in the order of `slots`.
    pub(super) fn columns(
        &mut self,
        slots: &[u32],
        cores: &[Core],
    ) -> Vec<(&'static str, Dictionary)> {
        for slot in slots {
            self.facts(*slot, cores);
        }
        let of = |slot: &u32| match self.slots.get(*slot as usize) {
            Some(Some(facts)) => facts.as_ref(),
            _ => &self.resident,
        };
        let texts = TEXTS.iter().enumerate().map(|(at, name)| {
            let list = slots.iter().map(|slot| of(slot).texts.get(at).cloned().flatten());
            (*name, Dictionary(Cells::Texts(list.collect())))
        });
        let numbers = NUMBERS.iter().enumerate().map(|(at, name)| {
            let list = slots.iter().map(|slot| of(slot).numbers.get(at).copied().flatten());
            (*name, Dictionary(Cells::Longs(list.collect())))
        });
        texts.chain(numbers).collect()
    }
}
