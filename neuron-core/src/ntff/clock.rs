//! One clock for all times of a device (ntff.md §3.7, §8).
//!
//! Records carry raw ticks of the clock of their source. On Trn2 that is one
//! clock in picoseconds; on Trn1 each source has its own base and rate, so raw
//! ticks are a type of their own and only [`DeviceTime`]s compare.

use serde::Serialize;

use super::messages::{BlockTimestampInfo, NcTimestampInfo};
use super::notification::Engine;

/// Raw time of a record, on the clock of its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(transparent)]
pub struct Ticks(pub u64);

/// A moment on the common clock of a device, in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
#[serde(transparent)]
pub struct DeviceTime(u64);

impl DeviceTime {
    /// From picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Picoseconds.
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// Whole nanoseconds since an earlier moment: the difference is taken
    /// first, as the vendor's viewer does (§7.3). `None` when it is not earlier.
    pub const fn whole_ns_since(self, earlier: Self) -> Option<u64> {
        match self.0.checked_sub(earlier.0) {
            Some(ps) => Some(ps / 1000),
            None => None,
        }
    }
}

/// How the ticks of one source become device time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// Ticks at which device time is 0.
    pub init: u64,
    /// Ticks that passed while `expected` picoseconds did; not 0.
    pub actual: u64,
    /// See `actual`.
    pub expected: u64,
}

impl Clock {
    /// Ticks are picoseconds.
    pub const IDENTITY: Self = Self { init: 0, actual: 1, expected: 1 };

    /// Device time, rounded down. A tick before `init` gives 0 and one too
    /// late to express the largest time (our choice; neither was seen).
    pub fn correct(self, ticks: Ticks) -> DeviceTime {
        if self == Self::IDENTITY {
            return DeviceTime(ticks.0);
        }
        let passed = u128::from(ticks.0.saturating_sub(self.init));
        let ps = passed * u128::from(self.expected) / u128::from(self.actual.max(1));
        DeviceTime(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// Whether device time can tell these ticks: [`Self::correct`] gave neither
    /// of its limits in place of what is beyond.
    pub fn tells(self, ticks: Ticks) -> bool {
        let end = (u128::from(u64::MAX) + 1) * u128::from(self.actual.max(1));
        let passed = ticks.0.checked_sub(self.init).map(u128::from);
        passed.is_some_and(|passed| passed * u128::from(self.expected) < end)
    }

    /// The last tick at or before a moment, for writers.
    pub fn ticks(self, time: DeviceTime) -> Ticks {
        let passed =
            u128::from(time.0) * u128::from(self.actual) / u128::from(self.expected.max(1));
        let passed = u64::try_from(passed).unwrap_or(u64::MAX);
        Ticks(self.init.saturating_add(passed))
    }

    /// A message without a rate is the identity.
    fn from_message(message: Option<&BlockTimestampInfo>) -> Self {
        match message {
            Some(m) if m.actual_timestamp_inc != 0 && m.expected_timestamp_inc != 0 => Self {
                init: m.init_timestamp,
                actual: m.actual_timestamp_inc,
                expected: m.expected_timestamp_inc,
            },
            _ => Self::IDENTITY,
        }
    }
}

/// The clocks of one core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calibration {
    /// PE, ACT, POOL, DVE, SP; SP's is also that of the updates of all engines.
    engines: [Clock; 5],
    throttle: Clock,
    dma: Vec<Clock>,
    topsp: Clock,
}

impl Default for Calibration {
    fn default() -> Self {
        Self {
            engines: [Clock::IDENTITY; 5],
            throttle: Clock::IDENTITY,
            dma: Vec::new(),
            topsp: Clock::IDENTITY,
        }
    }
}

impl Calibration {
    /// From the message of a sub-graph.
    pub fn new(message: &NcTimestampInfo) -> Self {
        let clock = |m: &Option<BlockTimestampInfo>| Clock::from_message(m.as_ref());
        Self {
            // The message's order differs from that of the engine numbers.
            engines: [&message.pe, &message.act, &message.pool, &message.dve, &message.sp]
                .map(clock),
            throttle: clock(&message.throttle),
            dma: message.dma.iter().map(|m| Clock::from_message(Some(m))).collect(),
            topsp: clock(&message.topsp),
        }
    }

    /// Of the instructions of an engine.
    pub fn engine(&self, engine: Engine) -> Clock {
        let [pe, act, pool, dve, sp] = self.engines;
        match engine {
            Engine::Pe => pe,
            Engine::Act => act,
            Engine::Pool => pool,
            Engine::Dve => dve,
            Engine::Sp => sp,
        }
    }

    /// Of semaphore and event updates, whatever engine made them.
    pub fn updates(&self) -> Clock {
        self.engine(Engine::Sp)
    }

    /// Of error records. Not stated anywhere; taken as that of the updates
    /// (our choice).
    pub fn errors(&self) -> Clock {
        self.updates()
    }

    /// Of throttle records.
    pub fn throttle(&self) -> Clock {
        self.throttle
    }

    /// Of a DMA engine, by its number of any base: 16 engines per core.
    pub fn dma(&self, engine: u32) -> Clock {
        let index = usize::try_from(engine % 16).unwrap_or(0);
        self.dma.get(index).copied().unwrap_or(Clock::IDENTITY)
    }

    /// Of TopSP records.
    pub fn topsp(&self) -> Clock {
        self.topsp
    }

    /// Whether every clock counts device time already, as on Trn2.
    pub fn is_identity(&self) -> bool {
        self.engines
            .iter()
            .chain([&self.throttle, &self.topsp])
            .chain(&self.dma)
            .all(|clock| *clock == Clock::IDENTITY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The Trn1 factors of §3.7: a throttle tick is 714.27 ps, a DMA tick
    /// 1176.4 ps.
    #[test]
    fn trn1_rates() {
        let throttle = Clock { init: 100, actual: 1024, expected: 731_408 };
        assert_eq!(throttle.correct(Ticks(100 + 100_000)).ps(), 71_426_562);
        let dma = Clock { init: 0, actual: 1024, expected: 1_204_672 };
        assert_eq!(dma.correct(Ticks(1000)).ps(), 1_176_437);
        let pe = Clock { init: 7, actual: 731_428, expected: 731_408 };
        assert_eq!(pe.correct(Ticks(7 + 731_428)).ps(), 731_408);
        assert_eq!(pe.correct(Ticks(3)).ps(), 0);
        let far = Clock { init: 0, actual: 1, expected: u64::MAX };
        assert_eq!(far.correct(Ticks(u64::MAX)).ps(), u64::MAX);
    }

    /// At the limits themselves a time is still true.
    #[test]
    fn what_a_clock_tells() {
        let clock = Clock { init: 100, actual: 2, expected: 1 };
        assert!(!clock.tells(Ticks(99)) && clock.tells(Ticks(100)) && clock.tells(Ticks(u64::MAX)));
        let far = Clock { init: 1, actual: 1, expected: u64::MAX };
        assert!(far.tells(Ticks(2)) && !far.tells(Ticks(3)));
        assert_eq!((far.correct(Ticks(2)).ps(), far.correct(Ticks(3)).ps()), (u64::MAX, u64::MAX));
        assert!(Clock::IDENTITY.tells(Ticks(0)) && Clock::IDENTITY.tells(Ticks(u64::MAX)));
    }

    /// Trn2 writes {2: 1, 3: 1}, and a missing message is the same.
    #[test]
    fn identity_is_recognised() {
        let one = BlockTimestampInfo {
            init_timestamp: 0,
            actual_timestamp_inc: 1,
            expected_timestamp_inc: 1,
        };
        let message = NcTimestampInfo {
            pe: Some(one),
            sp: Some(one),
            dma: vec![one; 16],
            ..NcTimestampInfo::default()
        };
        assert!(Calibration::new(&message).is_identity());
        let skewed = BlockTimestampInfo { init_timestamp: 5, ..one };
        let message = NcTimestampInfo { dve: Some(skewed), ..message };
        let calibration = Calibration::new(&message);
        assert!(!calibration.is_identity());
        assert_eq!(calibration.engine(Engine::Dve).correct(Ticks(9)).ps(), 4);
        assert_eq!(calibration.engine(Engine::Pool).correct(Ticks(9)).ps(), 9);
    }

    #[test]
    fn differences_are_taken_before_rounding() {
        let window = DeviceTime::from_ps(1900);
        assert_eq!(DeviceTime::from_ps(3100).whole_ns_since(window), Some(1));
        assert_eq!(DeviceTime::from_ps(1000).whole_ns_since(window), None);
    }
}
