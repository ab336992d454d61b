//! Rules that say what limits a profile: from metrics to findings, without
//! looking at a profile.
//!
//! A rule is a row of a table: which metric it looks at, the limit, what to do,
//! and the question whose rows show where. The limits marked *vendor* are those
//! of the vendor's insights (profiler.md §3.10); the others are our choice.
//!
//! Left out: outliers among collectives, since no public trace has records of
//! them.

mod list;
mod measure;

use std::collections::BTreeMap;

use serde::Serialize;

pub use list::RULES;

/// Metrics of a profile by name: those of `Summary`, and some that are counted
/// from other tables (`facts`). Times in s, shares from 0 to 1.
pub type Metrics = BTreeMap<String, f64>;

/// How much is at stake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Less than a tenth of the time, or numbers that are incomplete.
    Low,
    /// A tenth and more.
    Medium,
    /// Three tenths and more, or faults of the hardware.
    High,
}

impl Severity {
    /// Of a share of the time (our choice).
    fn of(weight: f64) -> Self {
        match weight {
            weight if weight >= 0.3 => Self::High,
            weight if weight >= 0.1 => Self::Medium,
            _ => Self::Low,
        }
    }

    /// Its word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// Which side of the limit a rule holds on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The figure is larger than the limit.
    Above,
    /// It is smaller.
    Below,
}

/// What a rule measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The figure.
    pub value: f64,
    /// Share of the execution that is at stake, 0 to 1.
    pub weight: f64,
    /// The most that can be won by repairing this alone: time now by time then;
    /// `None` where the metrics do not say.
    pub speedup: Option<f64>,
    /// What it is, one sentence.
    pub sentence: String,
    /// The engine that it is about, as in `ActiveTime`; empty for none.
    pub engine: &'static str,
}

/// A rule.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Name, for scripts.
    pub id: &'static str,
    /// What the figure is.
    pub figure: &'static str,
    /// Unit of the figure; `%` is a fraction from 0 to 1.
    pub unit: &'static str,
    /// Where it holds.
    pub side: Side,
    /// The limit.
    pub threshold: f64,
    /// Lowest severity, for what no share of the time tells.
    pub least: Severity,
    /// The figure of a profile; `None` where its metrics do not have it, or
    /// where the rule says nothing about such a profile.
    pub measure: fn(&mut Seen<'_>) -> Option<Measured>,
    /// What to do, one sentence.
    pub advice: &'static str,
    /// What that may cost, one sentence.
    pub trade_off: &'static str,
    /// Table of the evidence.
    pub table: &'static str,
    /// The question for the evidence: a column `row` with the place in the
    /// table, then what to look at. `{engine}` is the engine of the finding.
    pub sql: &'static str,
}

/// Something that limits a profile.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Id of the rule.
    pub rule: &'static str,
    /// How much is at stake.
    pub severity: Severity,
    /// The same as a share of the execution, 0 to 1. The largest comes first.
    pub weight: f64,
    /// What it is, one sentence.
    pub sentence: String,
    /// What the figure is.
    pub figure: &'static str,
    /// The figure.
    pub value: f64,
    /// Its unit; `%` is a fraction from 0 to 1.
    pub unit: &'static str,
    /// The rule holds on this side of the limit.
    pub side: Side,
    /// The limit.
    pub threshold: f64,
    /// The most that can be won by repairing this alone; absent where unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speedup: Option<f64>,
    /// What to do, one sentence.
    pub advice: &'static str,
    /// What that may cost, one sentence.
    pub trade_off: &'static str,
    /// The metrics that it is drawn from.
    pub metrics: BTreeMap<&'static str, f64>,
    /// Table of the evidence.
    pub table: &'static str,
    /// The question whose rows show where.
    pub sql: String,
}

/// Metrics that are being looked at, and those that were used.
#[derive(Debug)]
pub struct Seen<'a> {
    metrics: &'a Metrics,
    used: BTreeMap<&'static str, f64>,
}

impl<'a> Seen<'a> {
    fn new(metrics: &'a Metrics) -> Self {
        Self { metrics, used: BTreeMap::new() }
    }

    /// A metric; `None` where the profile does not have it.
    pub fn get(&mut self, name: &'static str) -> Option<f64> {
        let value = *self.metrics.get(name)?;
        self.used.insert(name, value);
        Some(value)
    }
}

/// What limits a profile: faults of the hardware, then the heaviest.
pub fn judge(metrics: &Metrics) -> Vec<Finding> {
    let mut found: Vec<Finding> = RULES.iter().filter_map(|rule| held(rule, metrics)).collect();
    found.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| b.weight.total_cmp(&a.weight)));
    found
}

/// A rule that holds.
fn held(rule: &Rule, metrics: &Metrics) -> Option<Finding> {
    let mut seen = Seen::new(metrics);
    let Measured { value, weight, speedup, sentence, engine } = (rule.measure)(&mut seen)?;
    let holds = match rule.side {
        Side::Above => value > rule.threshold,
        Side::Below => value < rule.threshold,
    };
    let weight = weight.clamp(0.0, 1.0);
    (holds && value.is_finite()).then(|| Finding {
        rule: rule.id,
        severity: Severity::of(weight).max(rule.least),
        weight,
        sentence,
        figure: rule.figure,
        value,
        unit: rule.unit,
        side: rule.side,
        threshold: rule.threshold,
        speedup: speedup.filter(|speedup| speedup.is_finite() && *speedup > 1.0),
        advice: rule.advice,
        trade_off: rule.trade_off,
        metrics: seen.used,
        table: rule.table,
        sql: rule.sql.replace("{engine}", engine),
    })
}

#[cfg(test)]
mod tests;
