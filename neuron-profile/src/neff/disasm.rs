//! `neff disasm`: the instruction streams of a NEFF as text or JSON.
//!
//! It takes streams that are already unpacked, decodes record by record while
//! it writes, and keeps no stream's text in memory. Finding the streams in the
//! file is the caller's part.

use std::io::{self, Write};

use neuron_core::instance::Arch;
use neuron_core::isa::asm::{disassemble, viewer_operands};
use neuron_core::isa::field::RecordBytes;
use neuron_core::isa::names::SemaphoreNames;
use neuron_core::isa::{Engine, Record, decode_stream};
use neuron_core::text::{hex, printable};
use serde::{Serialize, Serializer};

/// The instruction stream of one engine in one sub-graph.
#[derive(Debug, Clone, Copy)]
pub struct Stream<'a> {
    /// `sg00`.
    pub subgraph: &'a str,
    /// The engine.
    pub engine: Engine,
    /// The member's bytes, records of 64.
    pub bytes: &'a [u8],
    /// Queue and completion semaphore of each DMA block in the engine's JSON;
    /// they name semaphores in the text.
    pub queues: &'a [(String, u8)],
}

/// The streams of a NEFF and the generation they are for.
#[derive(Debug, Clone, Copy)]
pub struct Program<'a> {
    /// From the target word of the kelf member.
    pub arch: Arch,
    /// The streams; those of one sub-graph share semaphores.
    pub streams: &'a [Stream<'a>],
}

impl<'a> Stream<'a> {
    /// Whole records, and how many bytes are left after them.
    fn records(&self) -> (&'a [RecordBytes], usize) {
        let (records, rest) = self.bytes.as_chunks();
        (records, rest.len())
    }

    fn warning(&self) -> Option<String> {
        let (records, rest) = self.records();
        (rest > 0).then(|| {
            format!(
                "{} {}: {rest} bytes after slot {} are no whole record of 64 bytes; not shown",
                printable(self.subgraph),
                self.engine,
                records.len()
            )
        })
    }
}

impl<'a> Program<'a> {
    /// What could not be shown, one line each.
    pub fn warnings(&self) -> Vec<String> {
        self.streams.iter().filter_map(Stream::warning).collect()
    }

    /// Who raises the semaphores of a sub-graph.
    fn names(&self, subgraph: &str) -> SemaphoreNames {
        let mut names = SemaphoreNames::none();
        for stream in self.streams.iter().filter(|stream| stream.subgraph == subgraph) {
            let (records, _) = stream.records();
            for chunk in records.chunks(1024) {
                let whole = decode_stream(self.arch, chunk.as_flattened()).unwrap_or_default();
                names.add_stream(stream.engine, &whole);
            }
            for (queue, semaphore) in stream.queues {
                names.add_queue(*semaphore, queue);
            }
        }
        names
    }

    /// Writes a listing: a comment for each stream, then its records with
    /// their slots. The lines of a stream assemble to its bytes.
    pub fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut known: Option<(&str, SemaphoreNames)> = None;
        for (index, stream) in self.streams.iter().enumerate() {
            let names = match known.take() {
                Some((subgraph, names)) if subgraph == stream.subgraph => names,
                _ => self.names(stream.subgraph),
            };
            let (records, _) = stream.records();
            let gap = if index == 0 { "" } else { "\n" };
            writeln!(
                out,
                "{gap}# {} {} ({}), records: {}, generation: {}",
                printable(stream.subgraph),
                stream.engine,
                stream.engine.display_name(),
                records.len(),
                self.arch.number()
            )?;
            let width = records.len().saturating_sub(1).to_string().len();
            for (slot, bytes) in records.iter().enumerate() {
                let record = Record::decode(self.arch, bytes);
                writeln!(out, "{slot:width$}: {}", disassemble(&record, &names))?;
            }
            if let Some(warning) = stream.warning() {
                writeln!(out, "# {warning}")?;
            }
            known = Some((stream.subgraph, names));
        }
        out.flush()
    }

    /// Writes the elements of the JSON list `streams`, commas between them;
    /// `first` tells whether none stands before. A stream has its `subgraph`,
    /// `engine` and `records`; a record its `slot`, `opcode`, `operands` as the
    /// vendor's viewer prints them, assembler `line`, `bytes` in hexadecimal,
    /// the `status` of its opcode's layout, whether every byte is `understood`,
    /// and its `fields`.
    pub fn write_json(&self, out: &mut dyn Write, first: bool) -> io::Result<()> {
        for (index, stream) in self.streams.iter().enumerate() {
            if index > 0 || !first {
                out.write_all(b",")?;
            }
            serde_json::to_writer(&mut *out, &Listing { program: self, stream })?;
        }
        Ok(())
    }
}

/// A stream whose records are decoded while they are written.
struct Listing<'a> {
    program: &'a Program<'a>,
    stream: &'a Stream<'a>,
}

impl Serialize for Listing<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Header<'a> {
            subgraph: &'a str,
            engine: Engine,
            records: Rows<'a>,
        }
        let names = self.program.names(self.stream.subgraph);
        let (records, _) = self.stream.records();
        Header {
            subgraph: self.stream.subgraph,
            engine: self.stream.engine,
            records: Rows { arch: self.program.arch, names, records },
        }
        .serialize(serializer)
    }
}

struct Rows<'a> {
    arch: Arch,
    names: SemaphoreNames,
    records: &'a [RecordBytes],
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Row {
            slot: usize,
            opcode: String,
            operands: String,
            line: String,
            bytes: String,
            status: &'static str,
            understood: bool,
            fields: Record,
        }
        serializer.collect_seq(self.records.iter().enumerate().map(|(slot, bytes)| {
            let record = Record::decode(self.arch, bytes);
            let info = record.opcode().info_on(self.arch);
            Row {
                slot,
                opcode: record.opcode().to_string(),
                operands: viewer_operands(&record, &self.names),
                line: disassemble(&record, &self.names),
                bytes: hex(bytes),
                status: info.map_or("unknown", |info| info.status.text()),
                understood: record.is_understood(),
                fields: record,
            }
        }))
    }
}
