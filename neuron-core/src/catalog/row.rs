//! What one row of the catalogue holds.

/// What a value counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Text.
    Text,
    /// A bare number: an index, a size of a group, a count of events.
    Number,
    /// Bytes.
    Bytes,
    /// Nanoseconds.
    Nanoseconds,
    /// Percent of a maximum, 0 to 100.
    Percent,
    /// Floating-point operations.
    Flops,
    /// Floating-point operations per second.
    FlopsPerSecond,
    /// A share, 0 to 1.
    Ratio,
    /// Seconds.
    Seconds,
    /// Always 1: what it tells is in the labels.
    One,
    /// A version packed as major, minor and build
    /// ([`crate::units::PackedVersion`]).
    Version,
}

/// How a value behaves in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Does not change while a device is attached or a process lives.
    Fact,
    /// Only grows, until the driver is loaded again or someone clears it.
    Counter,
    /// Goes up and down.
    Level,
}

impl Unit {
    /// The unit as the metric page writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "number",
            Self::Bytes => "bytes",
            Self::Nanoseconds => "ns",
            Self::Percent => "percent",
            Self::Flops => "floating-point operations",
            Self::FlopsPerSecond => "floating-point operations per second",
            Self::Ratio => "ratio",
            Self::Seconds => "seconds",
            Self::One => "1",
            Self::Version => "version",
        }
    }
}

impl Kind {
    /// The kind as the metric page writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fact => "fact",
            Self::Counter => "counter",
            Self::Level => "level",
        }
    }
}

/// One metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metric {
    /// Object and name, `device.memory`. Unique.
    pub id: &'static str,
    /// The two lines of a table heading; empty where no table shows it.
    pub heading: [&'static str; 2],
    /// Key in JSON, header in CSV.
    pub json: &'static str,
    /// Name in Prometheus, where it is exported under one of its own.
    pub prometheus: Option<&'static str>,
    /// HELP text in Prometheus where that of the original is to be kept.
    pub prometheus_help: Option<&'static str>,
    /// What the value counts.
    pub unit: Unit,
    /// How it behaves in time.
    pub kind: Kind,
    /// One sentence without a full stop.
    pub help: &'static str,
    /// What tells two values of the metric apart.
    pub labels: &'static [&'static str],
    /// Where the fact is from: sheet and section.
    pub source: &'static str,
    /// Path of the sysfs leaf below the device, with the core's directory
    /// spelt `neuron_core` without its number. A directory stands for its
    /// `total`.
    pub leaf: Option<&'static str>,
    /// Id in the datastore's device counters.
    pub device_counter: Option<u32>,
    /// Id in the datastore's core counters.
    pub core_counter: Option<u32>,
}

impl Metric {
    /// A row with what every row has.
    pub(super) const fn row(
        id: &'static str,
        json: &'static str,
        (kind, unit): (Kind, Unit),
        labels: &'static [&'static str],
        source: &'static str,
        help: &'static str,
    ) -> Self {
        Self {
            id,
            heading: ["", ""],
            json,
            prometheus: None,
            prometheus_help: None,
            unit,
            kind,
            help,
            labels,
            source,
            leaf: None,
            device_counter: None,
            core_counter: None,
        }
    }

    /// Heading of a table column.
    pub(super) const fn heading(mut self, first: &'static str, second: &'static str) -> Self {
        self.heading = [first, second];
        self
    }

    /// Name in Prometheus.
    pub(super) const fn prometheus(mut self, name: &'static str) -> Self {
        self.prometheus = Some(name);
        self
    }

    /// Name and HELP in Prometheus, both the original's (sys-tools.md §5.3).
    pub(super) const fn original(mut self, name: &'static str, help: &'static str) -> Self {
        self.prometheus = Some(name);
        self.prometheus_help = Some(help);
        self
    }

    /// Leaf in sysfs.
    pub(super) const fn leaf(mut self, path: &'static str) -> Self {
        self.leaf = Some(path);
        self
    }

    /// Device counter of the datastore.
    pub(super) const fn nds_device(mut self, id: u32) -> Self {
        self.device_counter = Some(id);
        self
    }

    /// Core counter of the datastore.
    pub(super) const fn nds_core(mut self, id: u32) -> Self {
        self.core_counter = Some(id);
        self
    }
}

/// Declares rows as constants and collects them in `ROWS`. The help text is
/// also the documentation of the constant.
macro_rules! rows {
    ($($name:ident: $id:literal, $json:literal, $kind:ident $unit:ident, $labels:expr,
       $source:literal, $help:literal $(, $method:ident($($arg:expr),*))*;)*) => {
        $(
            #[doc = $help]
            pub const $name: Metric =
                Metric::row($id, $json, (Kind::$kind, Unit::$unit), $labels, $source, $help)
                    $(.$method($($arg),*))*;
        )*
        pub(super) const ROWS: &[Metric] = &[$($name),*];
    };
}
pub(super) use rows;

/// Labels of a device.
pub(super) const OF_DEVICE: &[&str] = &["neuron_device_index"];
/// Labels of a physical core.
pub(super) const OF_CORE: &[&str] = &["neuron_device_index", "neuroncore"];
/// Labels of a process on a device.
pub(super) const OF_PROCESS: &[&str] = &["neuron_device_index", "pid"];
/// Labels of a process on a physical core.
pub(super) const OF_PROCESS_CORE: &[&str] = &["neuron_device_index", "neuroncore", "pid"];
/// Labels of the instance as a whole: none.
pub(super) const OF_INSTANCE: &[&str] = &[];
