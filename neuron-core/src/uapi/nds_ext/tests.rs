//! The block survives a round trip and refuses what is not one.

use proptest::prelude::*;

use super::*;

fn entry(block: &Block) -> Vec<u8> {
    let mut bytes = vec![0; nds::SIZE];
    bytes[START..START + LENGTH].copy_from_slice(&block.encode().unwrap());
    bytes
}

fn example() -> Block {
    let mut core = CoreLatency::default();
    for nanos in [0, 1, 2, 1_500_000, u64::MAX] {
        core.total.add(nanos);
    }
    core.device.add(1_000_000);
    Block {
        tag: String::from("training-7"),
        models: vec![Model {
            id: 10_001,
            node: 2,
            core: 1,
            running: true,
            name: String::from("resnet50"),
            uuid: [7; 16],
            host: ModelMemory { code: 1, tensors: 2, constants: 3, scratchpad: 4, misc: 5 },
            device: ModelMemory { code: 6, tensors: 7, constants: 8, scratchpad: 9, misc: 10 },
        }],
        cores: std::iter::repeat_n(core, 16).collect(),
    }
}

#[test]
fn block_goes_both_ways() {
    let block = example();
    assert_eq!(Block::decode(&entry(&block)).unwrap(), Some(block));
    assert_eq!(Block::decode(&vec![0; nds::SIZE]).unwrap(), None);
}

/// The offsets of the table at the top, written out.
#[test]
fn fields_are_where_the_table_says() {
    let bytes = entry(&example());
    let at = |offset: usize, length: usize| &bytes[67_200 + offset..67_200 + offset + length];
    assert_eq!(at(0, 16), b"ntools\0\x01\x01\0\0\0\x40\x9e\0\0");
    assert_eq!(at(64, 11), b"training-7\0");
    assert_eq!(at(320, 16), [2, 0, 0, 0, 0x11, 0x27, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0]);
    assert_eq!(at(336, 9), b"resnet50\0");
    assert_eq!(at(320 + 272, 16), [7; 16]);
    assert_eq!(at(320 + 288 + 8, 8), 2_u64.to_le_bytes());
    assert_eq!(at(320 + 328 + 32, 8), 10_u64.to_le_bytes());
    assert_eq!(model_offset(1), Some(67_200 + 320 + 368));
    assert_eq!(model_offset(64), None);
    // 0 and 1 ns share bucket 0; 1.5 ms is between 2^20 and 2^21 ns.
    assert_eq!(at(23_872, 8), 2_u64.to_le_bytes());
    assert_eq!(bucket_offset(0, Latency::Total, 20), Some(67_200 + 23_872 + 160));
    assert_eq!(at(23_872 + 160, 8), 1_u64.to_le_bytes());
    assert_eq!(sum_offset(0, Latency::Device), Some(67_200 + 23_872 + 520 + 512));
    assert_eq!(at(23_872 + 520 + 512, 8), 1_000_000_u64.to_le_bytes());
    assert_eq!(sum_offset(15, Latency::Device), Some(67_200 + 40_512 - 8));
    assert_eq!(bucket_offset(16, Latency::Total, 0), None);
    assert_eq!(bucket_offset(0, Latency::Total, 64), None);
}

#[test]
fn counters_are_untouched() {
    let bytes = entry(&example());
    assert!(bytes[..nds::UNUSED_FROM].iter().all(|b| *b == 0));
    let last = nds::core_offset(15, 94).unwrap();
    assert!(last + 8 <= START);
}

#[test]
fn long_texts_are_cut_at_a_character() {
    let block = Block { tag: "é".repeat(200), ..Block::default() };
    let read = Block::decode(&entry(&block)).unwrap().unwrap();
    assert_eq!(read.tag, "é".repeat(127));
    let block = Block { tag: "x".repeat(255), ..Block::default() };
    assert_eq!(Block::decode(&entry(&block)).unwrap().unwrap().tag, block.tag);
}

#[test]
fn what_does_not_fit_is_refused() {
    let many = Block { models: vec![Model::default(); 65], ..Block::default() };
    assert!(many.encode().unwrap_err().reason.contains("65 models"));
    let wide = Block { cores: vec![CoreLatency::default(); 17], ..Block::default() };
    assert!(wide.encode().unwrap_err().reason.contains("17 cores"));
    let mut bytes = entry(&example());
    assert!(Block::decode(&bytes[..START + LENGTH - 1]).is_err());
    bytes[START + 320] = 3;
    assert!(Block::decode(&bytes).unwrap_err().reason.contains("state 3"));
    bytes[START + 8] = 2;
    assert!(Block::decode(&bytes).unwrap_err().reason.contains("version 2"));
}

/// What is read of an entry is all that there is, however many models.
#[test]
fn what_is_used_is_gathered() {
    for models in [0, 1, 3, 4, 5, 63, 64] {
        let models = (0..models).map(|id| Model { id: id + 1, ..Model::default() }).collect();
        let block = Block { models, cores: vec![CoreLatency::default(); 16], ..Block::default() };
        let whole = entry(&block);
        // Another entry was in it before.
        let (mut bytes, mut asked) = (vec![0xff; nds::SIZE], 0);
        let read = |from: usize, into: &mut [u8]| {
            asked += into.len();
            into.copy_from_slice(&whole[from..from + into.len()]);
            Ok::<_, ()>(into.len())
        };
        Extent::Used { cores: 16 }.gather(&mut bytes, read).unwrap();
        assert!(bytes == whole[..START + LENGTH]);
        assert_eq!(Block::decode(&bytes).unwrap(), Some(block.clone()));
        let few = block.models.len() < 4;
        assert_eq!(asked < 40_000, few, "{} models, {asked} bytes", block.models.len());
    }
}

proptest! {
    #[test]
    fn decode_never_panics(
        noise in prop::collection::vec(any::<u8>(), 0..2000),
        at in 0..LENGTH,
        length in prop_oneof![Just(nds::SIZE), 0..nds::SIZE],
    ) {
        let mut bytes = entry(&example());
        for (slot, byte) in bytes[START + at..].iter_mut().zip(noise) {
            *slot = byte;
        }
        bytes.truncate(length);
        match Block::decode(&bytes) {
            Ok(Some(block)) => prop_assert!(block.models.len() <= 64 && block.cores.len() == 16),
            Ok(None) => prop_assert!(at < 8),
            Err(_) => {}
        }
    }
}
