//! The records of ntff.md §12, and the round trip of every word.

use proptest::prelude::*;

use super::*;

fn record(hex: &str) -> Record {
    let mut bytes = [0; 16];
    for (byte, pair) in bytes.iter_mut().zip(hex.split(' ')) {
        *byte = u8::from_str_radix(pair, 16).unwrap();
    }
    bytes[8] = 9;
    Record::from_bytes(bytes)
}

fn decode(hex: &str, trace: TraceType) -> Notification {
    let record = record(hex);
    assert_eq!(record.time, Ticks(9));
    let notification = Decoder::new(trace, 2).decode(record);
    assert!(notification.explains(record), "{hex}: {notification:?}");
    assert!(record.phase());
    notification
}

#[test]
fn instructions_of_the_sheet() {
    let Notification::Start(start) = decode("1b 02 01 84 00 00 fa 8b", TraceType::Instruction)
    else {
        panic!()
    };
    assert_eq!((start.engine, start.pc, start.hint), (Engine::Pe, 0x1_021b, 0));
    assert_eq!((start.wait_cycles, start.wait_ns()), (35834, 29861));
    assert_eq!(
        decode("1b 02 01 85 ff ff ff ff", TraceType::Instruction),
        Notification::End(End {
            engine: Engine::Pe,
            pc: 0x1_021b,
            hint: 0,
            crc_in: 0xffff,
            crc_out: 0xffff
        })
    );
    let Notification::Start(start) = decode("57 fc 20 88 00 00 25 5b", TraceType::Instruction)
    else {
        panic!()
    };
    assert_eq!((start.engine, start.pc, start.hint), (Engine::Act, 0x0_fc57, 2));
    let Notification::Explicit(explicit) =
        decode("4c 0e 11 8e ff ff 02 00", TraceType::Instruction)
    else {
        panic!()
    };
    assert_eq!((explicit.engine, explicit.hint, explicit.packets()), (Engine::Pool, 1, Some(32)));
    assert!(matches!(
        explicit.body,
        ExplicitBody::DescriptorsDone {
            engines: 0xffff,
            packets_per_engine: 2,
            infer_pc: false,
            upper_engines: false
        }
    ));
    assert_eq!(
        decode("05 00 00 85 34 12 cd ab", TraceType::Instruction),
        Notification::End(End {
            engine: Engine::Pe,
            pc: 5,
            hint: 0,
            crc_in: 0x1234,
            crc_out: 0xabcd
        })
    );
}

#[test]
fn updates_of_the_sheet() {
    let update = |hex| match decode(hex, TraceType::Event) {
        Notification::Update(update) => update,
        other => panic!("{other:?}"),
    };
    let bus = update("08 01 f3 9b 05 00 00 00");
    assert_eq!((bus.engine, bus.id, bus.is_semaphore, bus.value), (None, 8, true, 5));
    assert_eq!(bus.change(), Change::Increment);
    let act = update("02 01 f3 cb 08 00 00 00");
    assert_eq!((act.engine, act.id, act.value), (Some(Engine::Act), 2, 8));
    assert!(record("02 01 f3 cb 08 00 00 00").hardware_loss());
    let wait = update("08 00 07 87 00 00 00 00");
    assert_eq!((wait.engine, wait.id, wait.is_semaphore), (Some(Engine::Pe), 8, false));
    assert_eq!(wait.change(), Change::ClearedByWait);
}

#[test]
fn dma_of_the_sheet() {
    let dma = |hex| match decode(hex, TraceType::Dma) {
        Notification::Dma(dma) => dma,
        other => panic!("{other:?}"),
    };
    let start = dma("00 00 00 80 11 00 00 00");
    assert_eq!((start.engine, start.device_engine(4)), (0, 64));
    let step = DmaStep::Start { direction: Direction::Read, queue: 1, metadata: 0 };
    assert_eq!(start.step, step);
    let step = DmaStep::End { direction: Direction::Write, queue: 1, bytes: 512, crc: 6280 };
    assert_eq!(dma("00 02 00 80 15 00 88 18").step, step);
    let completion = dma("00 00 00 91 e6 00 00 00");
    assert_eq!((completion.engine, completion.device_engine(5)), (17, 81));
    assert_eq!(completion.step, DmaStep::Completion { direction: Direction::Write, queue: 14 });
}

#[test]
fn throttle_and_faults_of_the_sheet() {
    assert_eq!(
        decode("cc 00 08 9e 08 00 00 00", TraceType::Throttle),
        Notification::Throttle(Throttle { metadata: 0xcc, n: 8, k: 8, activity: 0 })
    );
    assert_eq!(
        decode("00 00 08 9e 04 01 00 00", TraceType::Throttle),
        Notification::Throttle(Throttle { metadata: 0, n: 8, k: 4, activity: 1 })
    );
    // The layout of Trn1 is not known.
    let trn1 = Decoder::new(TraceType::Throttle, 1).decode(record("00 00 00 9e 40 00 00 00"));
    assert!(matches!(trn1, Notification::Unknown { .. }));
    let Notification::Fault(nan) = decode("01 00 00 9f 00 00 00 00", TraceType::Error) else {
        panic!()
    };
    assert_eq!((nan.name(), nan.class()), (Some("FP_NAN"), FaultClass::Numerical));
    let lost = record("01 00 00 bf 00 00 00 00");
    assert!(lost.software_loss() && !lost.hardware_loss());
}

#[test]
fn packets_of_zero_mean_4096() {
    let Notification::Explicit(explicit) =
        decode("00 00 10 8e 03 00 00 40", TraceType::Instruction)
    else {
        panic!()
    };
    assert_eq!(explicit.packets(), Some(8192));
    let ExplicitBody::DescriptorsDone { infer_pc, .. } = explicit.body else { panic!() };
    assert!(infer_pc);
}

#[test]
fn completions_by_code() {
    let record = |code: u64, custom: u64| Record {
        word: (code << 48) | (custom << 32) | (0x06 << 24),
        time: Ticks(0),
    };
    assert_eq!(Completion::decode(record(2, 0)), Some(Completion::ExecutionStart));
    assert_eq!(
        Completion::decode(record(6, 5)),
        Some(Completion::Custom(Custom::DescriptorBounds))
    );
    assert_eq!(Completion::decode(record(6, 11)), Some(Completion::Custom(Custom::Unknown(11))));
    assert_eq!(Completion::decode(record(1, 0)), None);
}

proptest! {
    /// What was decoded once decodes to the same again, for every word.
    #[test]
    fn decoding_is_stable(word: u64, time: u64, dma: bool) {
        let trace = if dma { TraceType::Dma } else { TraceType::Instruction };
        let decoder = Decoder::new(trace, 2);
        let notification = decoder.decode(Record { word, time: Ticks(time) });
        let again = notification.encode(Ticks(time));
        match (notification, decoder.decode(again)) {
            // These carry the marks with the word.
            (Notification::Unknown { .. }, Notification::Unknown { word: second }) => {
                prop_assert_eq!(second, again.word);
            }
            (Notification::Dma(Dma { step: DmaStep::Other { .. }, engine }),
                Notification::Dma(second)) => prop_assert_eq!(engine, second.engine),
            (first, second) => prop_assert_eq!(first, second),
        }
        prop_assert_eq!(again.to_bytes(), Record::from_bytes(again.to_bytes()).to_bytes());
    }
}
