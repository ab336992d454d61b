//! The form of the configuration file.

use std::fmt;
use std::time::Duration;

use regex::Regex;
use serde::de::{Error as _, Visitor};
use serde::{Deserialize, Deserializer};

use super::{Config, Group, K8S_PERIOD, OfApplication, OfSystem, Selection, parse_period};

/// Largest file that is read.
const LIMIT: usize = 1 << 20;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    period: Option<Period>,
    #[serde(default)]
    neuron_runtimes: Option<Vec<Entry>>,
    #[serde(default)]
    system_metrics: Option<Vec<Metric<OfSystem>>>,
    #[serde(default)]
    k8s_info: Option<K8s>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(default)]
    tag_filter: Option<Filter>,
    #[serde(default)]
    period: Option<Period>,
    metrics: Vec<Metric<OfApplication>>,
    /// The runtime 1.x had an address here. Accepted to be refused by name.
    #[serde(default)]
    address: Option<Never>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, bound = "G: Group")]
struct Metric<G: Group> {
    #[serde(rename = "type", deserialize_with = "group")]
    group: G,
    #[serde(default)]
    period: Option<Period>,
}

/// `true`, or `{"period": "15s"}`. The original's spelling is not published
/// (our choice).
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "write true, false or {\"period\": \"15s\"}")]
enum K8s {
    Flag(bool),
    Settings(K8sSettings),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct K8sSettings {
    #[serde(default)]
    period: Option<Period>,
}

#[derive(Debug, Clone, Copy)]
struct Period(Duration);

impl<'de> Deserialize<'de> for Period {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text(|text: &str| parse_period(text).map(Self)))
    }
}

/// A string that is parsed where it is read, so that an error has its line.
struct Text<F>(F);

impl<T, F: FnOnce(&str) -> Result<T, String>> Visitor<'_> for Text<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        (self.0)(text).map_err(E::custom)
    }
}

#[derive(Debug)]
struct Filter(Regex);

impl<'de> Deserialize<'de> for Filter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text(|text: &str| {
            Regex::new(text).map(Self).map_err(|error| {
                let said = error.to_string();
                let last = said.lines().next_back().unwrap_or_default();
                format!("{text:?} is no regular expression: {last}")
            })
        }))
    }
}

#[derive(Debug)]
struct Never;

impl<'de> Deserialize<'de> for Never {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(D::Error::custom("belongs to runtime 1.x; select applications with tag_filter"))
    }
}

fn group<'de, D: Deserializer<'de>, G: Group>(deserializer: D) -> Result<G, D::Error> {
    deserializer.deserialize_str(Text(G::of_name))
}

/// Reads the text of a file.
pub(super) fn parse(text: &[u8], period: Duration) -> Result<Config, String> {
    if text.len() > LIMIT {
        return Err(format!("{} bytes are too many for a configuration", text.len()));
    }
    let mut json = serde_json::Deserializer::from_slice(text);
    let file: File = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let key = error.path().to_string();
        said(&key, error.inner())
    })?;
    json.end().map_err(|error| said(".", &error))?;
    config(file, period)
}

/// `line 3: neuron_runtimes[0].period: …`: serde_json puts the place last.
fn said(key: &str, error: &serde_json::Error) -> String {
    let text = error.to_string();
    let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
    let key = if key == "." { String::new() } else { format!("{key}: ") };
    match error.line() {
        0 => format!("{key}{reason}"),
        line => format!("line {line}: {key}{reason}"),
    }
}

fn config(file: File, period: Duration) -> Result<Config, String> {
    let root = file.period.map_or(period, |period| period.0);
    let mut config = Config::standard(root);
    if let Some(entries) = file.neuron_runtimes {
        config.applications = Vec::with_capacity(entries.len());
        for (index, entry) in entries.into_iter().enumerate() {
            let Never = entry.address.unwrap_or(Never);
            let default = entry.period.map_or(root, |period| period.0);
            let key = format!("neuron_runtimes[{index}].metrics");
            config.applications.push(Selection {
                filter: entry.tag_filter.map(|filter| filter.0),
                groups: metrics(entry.metrics, default, &key)?,
            });
        }
    }
    if let Some(list) = file.system_metrics {
        config.system = metrics(list, root, "system_metrics")?;
    }
    config.k8s = match file.k8s_info {
        None | Some(K8s::Flag(false)) => None,
        Some(K8s::Flag(true)) => Some(K8S_PERIOD),
        Some(K8s::Settings(settings)) => {
            Some(settings.period.map_or(K8S_PERIOD, |period| period.0))
        }
    };
    Ok(config)
}

/// Groups with their periods; each may be named once.
fn metrics<G: Group>(
    list: Vec<Metric<G>>,
    default: Duration,
    key: &str,
) -> Result<Vec<(G, Duration)>, String> {
    let mut groups: Vec<(G, Duration)> = Vec::with_capacity(list.len());
    for (index, metric) in list.into_iter().enumerate() {
        if groups.iter().any(|(group, _)| *group == metric.group) {
            return Err(format!("{key}[{index}]: {} is named twice", metric.group.name()));
        }
        groups.push((metric.group, metric.period.map_or(default, |period| period.0)));
    }
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config, String> {
        parse(text.as_bytes(), Duration::from_secs(5))
    }

    /// The example of the guide, with every level at which a period can stand.
    #[test]
    fn periods_are_inherited() {
        let config = read(
            r#"{
              "period": "1.0s",
              "neuron_runtimes": [
                {"tag_filter": "^train", "period": "2s", "metrics": [
                    {"type": "neuroncore_counters"}, {"type": "memory_used", "period": "500ms"}]},
                {"metrics": [{"type": "execution_stats"}, {"type": "neuron_runtime_vcpu_usage"}]}
              ],
              "system_metrics": [{"period": "30s", "type": "vcpu_usage"}, {"type": "self_stats"}]
            }"#,
        )
        .unwrap();
        let millis = |duration: Duration| duration.as_millis();
        let first: Vec<_> =
            config.applications[0].groups.iter().map(|(g, p)| (*g, millis(*p))).collect();
        assert_eq!(
            first,
            [(OfApplication::NeuroncoreCounters, 2000), (OfApplication::MemoryUsed, 500)]
        );
        assert!(config.applications[1].groups.iter().all(|(_, period)| millis(*period) == 1000));
        assert_eq!(millis(config.system[0].1), 30_000);
        assert_eq!((config.system[1].0, millis(config.system[1].1)), (OfSystem::SelfStats, 1000));
        assert_eq!(config.selection("train-1"), Some(0));
        assert_eq!(config.selection("a train"), Some(1));
    }

    #[test]
    fn nothing_said_is_the_standard() {
        for text in ["{}", "{\"period\": \"5s\"}", "{\"k8s_info\": false}"] {
            let config = read(text).unwrap();
            assert_eq!(config.applications[0].groups.len(), 4);
            let system: Vec<_> = config.system.iter().map(|(group, _)| *group).collect();
            assert_eq!(system, [OfSystem::VcpuUsage, OfSystem::MemoryInfo]);
            assert_eq!(
                (config.applications[0].groups[0].1, config.k8s),
                (Duration::from_secs(5), None)
            );
        }
        let none = read("{\"neuron_runtimes\": [], \"system_metrics\": []}").unwrap();
        assert!(none.applications.is_empty() && none.system.is_empty());
        let k8s = |text: &str| read(text).unwrap().k8s.map(|period| period.as_secs());
        assert_eq!(k8s("{\"k8s_info\": true}"), Some(15));
        assert_eq!(k8s("{\"k8s_info\": {\"period\": \"3s\"}}"), Some(3));
    }

    #[test]
    fn what_is_wrong_is_named_by_line_and_key() {
        for (text, parts) in [
            (
                "{\n \"period\": \"abc\"}",
                &["line 2: period: ", "\"abc\" is no period", "500ms"][..],
            ),
            ("{\"period\": 5}", &["line 1: period: ", "expected a string"]),
            ("{\n\n\"perod\": \"1s\"}", &["line 3", "perod", "period", "neuron_runtimes"]),
            (
                "{\"neuron_runtimes\": [\n{\"metrics\": [\n{\"type\": \"vcpu_usage\"\n}]}]}",
                &["line 3: neuron_runtimes[0].metrics[0].type: ", "available: neuroncore_counters"],
            ),
            (
                "{\"neuron_runtimes\": [{}]}",
                &["line 1: neuron_runtimes[0]", "missing field `metrics`"],
            ),
            (
                "{\"neuron_runtimes\": [{\"tag_filter\": \"(\", \"metrics\": []}]}",
                &["tag_filter: ", "no regular expression", "unclosed group"],
            ),
            (
                "{\"neuron_runtimes\": [{\"address\": \"unix:/run/neuron.sock\", \"metrics\": []}]}",
                &["address: ", "tag_filter"],
            ),
            (
                "{\"system_metrics\": [{\"type\": \"vcpu_usage\"}, {\"type\": \"vcpu_usage\"}]}",
                &["system_metrics[1]: vcpu_usage is named twice"],
            ),
            ("{\"k8s_info\": 3}", &["line 1: k8s_info: write true, false"]),
            ("{} x", &["line 1: trailing characters"]),
            ("", &["line 1", "EOF"]),
            ("[1]", &["line 1"]),
        ] {
            let said = read(text).unwrap_err();
            for part in parts {
                assert!(said.contains(part), "{text}: {said:?} lacks {part:?}");
            }
            assert_eq!(said.lines().count(), 1, "{said}");
        }
    }
}
