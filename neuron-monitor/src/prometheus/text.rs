//! The two text formats: Prometheus 0.0.4 and OpenMetrics 1.0.
//!
//! Labels come out in alphabetical order, as those of the original do.

use std::fmt::Write as _;

use neuron_core::catalog::{Kind, Metric};

use crate::wire::{K8sInfo, Pod};

/// A format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Prometheus text 0.0.4.
    Prometheus,
    /// OpenMetrics text 1.0.0.
    OpenMetrics,
}

impl Format {
    /// What a client accepts: OpenMetrics when it names it.
    pub(super) fn accepted(accept: &str) -> Self {
        let named = |range: &str| {
            let mut parts = range.split(';').map(str::trim);
            let kind = parts.next().is_some_and(|kind| kind == "application/openmetrics-text");
            let refused = parts.any(|part| matches!(part, "q=0" | "q=0.0"));
            kind && !refused
        };
        if accept.split(',').any(named) { Self::OpenMetrics } else { Self::Prometheus }
    }

    pub(super) const fn content_type(self) -> &'static str {
        match self {
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// Writes families.
#[derive(Debug)]
pub(super) struct Page<'p> {
    format: Format,
    text: String,
    /// Labels that every sample has, in order, each as `name="value"`.
    common: Vec<(&'static str, String)>,
    /// When the counters of the family at hand began, with the labels of
    /// their samples: the lines of `_created`.
    created: String,
    /// Whose each core and device is.
    pods: Option<&'p K8sInfo>,
}

/// Labels of a sample beyond the common ones, in alphabetical order.
pub(super) type Labels<'a> = [(&'static str, &'a str)];

impl<'p> Page<'p> {
    /// An empty page. `common` are labels of every sample; samples of a core or
    /// a device also get those of its pod.
    pub(super) fn new(
        format: Format,
        common: &[(&'static str, &str)],
        pods: Option<&'p K8sInfo>,
    ) -> Self {
        let mut common: Vec<(&'static str, String)> =
            common.iter().map(|(name, value)| (*name, label(name, value))).collect();
        common.sort_unstable();
        let (text, created) = (String::with_capacity(16 << 10), String::new());
        Self { format, text, common, created, pods }
    }

    /// A family: its head, and what `samples` writes. A family without a
    /// sample has no head either.
    pub(super) fn family(&mut self, metric: &Metric, samples: impl FnOnce(&mut Samples<'_, 'p>)) {
        let Some(full) = metric.prometheus else { return };
        let counter = metric.kind == Kind::Counter;
        let family = match (counter, self.format) {
            (true, Format::OpenMetrics) => full.strip_suffix("_total").unwrap_or(full),
            _ => full,
        };
        let begin = self.text.len();
        let help = metric.prometheus_help.unwrap_or(metric.help);
        let kind = if counter { "counter" } else { "gauge" };
        let _ = writeln!(self.text, "# HELP {family} {help}\n# TYPE {family} {kind}");
        let head = self.text.len();
        self.created.clear();
        samples(&mut Samples { page: self, full, created: None });
        if self.text.len() == head {
            self.text.truncate(begin);
            return;
        }
        if !self.created.is_empty() {
            let base = full.strip_suffix("_total").unwrap_or(full);
            if self.format == Format::Prometheus {
                let _ = writeln!(
                    self.text,
                    "# HELP {base}_created {help}\n# TYPE {base}_created gauge"
                );
            }
            let created = std::mem::take(&mut self.created);
            self.text.push_str(&created);
            self.created = created;
        }
    }

    /// The finished text.
    pub(super) fn finish(mut self) -> String {
        if self.format == Format::OpenMetrics {
            self.text.push_str("# EOF\n");
        }
        self.text
    }
}

/// Writes the samples of a family.
#[derive(Debug)]
pub(super) struct Samples<'a, 'p> {
    page: &'a mut Page<'p>,
    full: &'static str,
    created: Option<f64>,
}

impl Samples<'_, '_> {
    /// The samples that follow began at this time.
    pub(super) const fn since(&mut self, created: f64) {
        self.created = Some(created);
    }

    /// A sample.
    pub(super) fn float(&mut self, labels: &Labels<'_>, value: f64) {
        self.write(labels, format_args!("{value}"));
    }

    /// A sample that is a whole number.
    pub(super) fn count(&mut self, labels: &Labels<'_>, value: u64) {
        self.write(labels, format_args!("{value}"));
    }

    fn write(&mut self, labels: &Labels<'_>, value: std::fmt::Arguments<'_>) {
        let Some(pod) = self.page.pods.and_then(|pods| pod_of(pods, labels)) else {
            return self.write_with(labels, value);
        };
        let containers = pod.container_name.join(",");
        let mut all = labels.to_vec();
        // The names that other device exporters use (our choice).
        all.extend([
            ("container", containers.as_str()),
            ("namespace", &pod.namespace),
            ("pod", &pod.pod_name),
        ]);
        all.sort_unstable();
        self.write_with(&all, value);
    }

    fn write_with(&mut self, labels: &Labels<'_>, value: std::fmt::Arguments<'_>) {
        let Page { text, common, .. } = &mut *self.page;
        line(text, self.full, "", common, labels, |text| {
            let _ = text.write_fmt(value);
        });
        self.stamp(labels);
    }

    fn stamp(&mut self, labels: &Labels<'_>) {
        let Some(at) = self.created else { return };
        let base = self.full.strip_suffix("_total").unwrap_or(self.full);
        let Page { created, common, .. } = &mut *self.page;
        line(created, base, "_created", common, labels, |text| {
            let _ = write!(text, "{at}");
        });
    }
}

/// The pod of the core, or else the device, that labels name.
fn pod_of<'p>(pods: &'p K8sInfo, labels: &Labels<'_>) -> Option<&'p Pod> {
    let index =
        |name: &str| -> Option<u32> { labels.iter().find(|(own, _)| *own == name)?.1.parse().ok() };
    let of_core = || pods.neuroncores_k8s_info.get(&index("neuroncore")?);
    of_core().or_else(|| pods.neurondevices_k8s_info.get(&index("neuron_device_index")?))
}

fn line(
    text: &mut String,
    name: &str,
    suffix: &str,
    common: &[(&'static str, String)],
    labels: &Labels<'_>,
    value: impl FnOnce(&mut String),
) {
    text.push_str(name);
    text.push_str(suffix);
    text.push('{');
    let mut rest = labels.iter().peekable();
    let mut first = true;
    let mut comma = |text: &mut String| {
        if !std::mem::take(&mut first) {
            text.push(',');
        }
    };
    for (name, rendered) in common {
        while let Some((own, value)) = rest.next_if(|(own, _)| own < name) {
            comma(text);
            push_label(text, own, value);
        }
        comma(text);
        text.push_str(rendered);
    }
    for (own, value) in rest {
        comma(text);
        push_label(text, own, value);
    }
    text.push_str("} ");
    value(text);
    text.push('\n');
}

fn label(name: &str, value: &str) -> String {
    let mut text = String::new();
    push_label(&mut text, name, value);
    text
}

fn push_label(text: &mut String, name: &str, value: &str) {
    text.push_str(name);
    text.push_str("=\"");
    if value.contains(['\\', '"', '\n']) {
        for c in value.chars() {
            match c {
                '\\' => text.push_str("\\\\"),
                '"' => text.push_str("\\\""),
                '\n' => text.push_str("\\n"),
                c => text.push(c),
            }
        }
    } else {
        text.push_str(value);
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use neuron_core::catalog::{APPLICATION_STATUS, HARDWARE_INFO, SYSTEM_MEMORY_TOTAL};

    use super::*;

    /// The sample line of sys-tools.md §5.3.
    #[test]
    fn the_published_line() {
        let common = [
            ("instance_id", "i-0"),
            ("subnet_id", "subnet-0"),
            ("instance_name", ""),
            ("instance_type", "inf1.xlarge"),
            ("region", "eu-north-1"),
            ("availability_zone", "eu-north-1a"),
        ];
        let mut page = Page::new(Format::Prometheus, &common, None);
        page.family(&HARDWARE_INFO, |samples| {
            let labels = [
                ("neuron_device_count", "1"),
                ("neuron_device_memory_size", "8589934592"),
                ("neuroncore_per_device_count", "4"),
            ];
            samples.float(&labels, 1.0);
        });
        assert_eq!(
            page.finish(),
            "# HELP neuron_hardware_info Neuron Hardware Information\n\
             # TYPE neuron_hardware_info gauge\n\
             neuron_hardware_info{availability_zone=\"eu-north-1a\",instance_id=\"i-0\",\
             instance_name=\"\",instance_type=\"inf1.xlarge\",neuron_device_count=\"1\",\
             neuron_device_memory_size=\"8589934592\",neuroncore_per_device_count=\"4\",\
             region=\"eu-north-1\",subnet_id=\"subnet-0\"} 1\n"
        );
    }

    #[test]
    fn counters_in_both_formats() {
        let write = |format| {
            let mut page = Page::new(format, &[], None);
            page.family(&APPLICATION_STATUS, |samples| {
                samples.since(5.5);
                samples.count(&[("runtime_tag", "a\"\\\nb"), ("status_type", "completed")], 3);
            });
            page.family(&SYSTEM_MEMORY_TOTAL, |_| {});
            page.finish()
        };
        let labels = "{runtime_tag=\"a\\\"\\\\\\nb\",status_type=\"completed\"}";
        assert_eq!(
            write(Format::Prometheus),
            format!(
                "# HELP execution_status_total Execution status total\n\
                 # TYPE execution_status_total counter\nexecution_status_total{labels} 3\n\
                 # HELP execution_status_created Execution status total\n\
                 # TYPE execution_status_created gauge\nexecution_status_created{labels} 5.5\n"
            )
        );
        assert_eq!(
            write(Format::OpenMetrics),
            format!(
                "# HELP execution_status Execution status total\n\
                 # TYPE execution_status counter\nexecution_status_total{labels} 3\n\
                 execution_status_created{labels} 5.5\n# EOF\n"
            )
        );
    }

    #[test]
    fn the_client_chooses() {
        for (accept, format) in [
            ("", Format::Prometheus),
            ("*/*", Format::Prometheus),
            ("text/plain;version=0.0.4", Format::Prometheus),
            (
                "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.3,*/*;q=0.1",
                Format::OpenMetrics,
            ),
            ("application/openmetrics-text; q=0, text/plain", Format::Prometheus),
        ] {
            assert_eq!(Format::accepted(accept), format, "{accept}");
        }
    }
}
