//! The metric page: every row of the catalogue, grouped by its object.

use neuron_core::catalog::Metric;

const HEAD: &str = "# Metrics

<!-- Generated from neuron-core/src/catalog by cargo xtask gen; do not edit. -->

Every metric of the tools. A *fact* does not change while a device is attached
or a process lives, a *counter* only grows, a *level* goes up and down.
";

/// The page in Markdown. The object of a row is its id up to the first dot.
pub(crate) fn page(metrics: &[Metric]) -> String {
    let mut page = HEAD.to_owned();
    let mut object = "";
    for metric in metrics {
        let this = metric.id.split('.').next().unwrap_or_default();
        if this != object {
            object = this;
            page += &format!(
                "\n## {object}\n\n| id | what | kind | unit | JSON | Prometheus | labels | heading |\n\
                 | --- | --- | --- | --- | --- | --- | --- | --- |\n"
            );
        }
        page += &row(metric);
    }
    page
}

fn row(metric: &Metric) -> String {
    let cells = [
        code(metric.id),
        metric.help.to_owned(),
        metric.kind.name().to_owned(),
        metric.unit.name().to_owned(),
        code(metric.json),
        code(metric.prometheus.unwrap_or_default()),
        metric.labels.iter().map(|label| code(label)).collect::<Vec<_>>().join(", "),
        metric.heading.join(" ").trim().to_owned(),
    ];
    let cells = cells.map(|cell| cell.replace('|', "\\|"));
    format!("| {} |\n", cells.join(" | "))
}

fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{text}`") }
}

#[cfg(test)]
mod tests {
    use neuron_core::catalog::METRICS;

    use super::*;

    #[test]
    fn every_metric_has_one_row_below_its_object() {
        let page = page(METRICS);
        let mut object = "";
        let mut ids = Vec::new();
        for line in page.lines() {
            if let Some(name) = line.strip_prefix("## ") {
                object = name;
            }
            if let Some((id, _)) = line.strip_prefix("| `").and_then(|rest| rest.split_once('`')) {
                assert!(id.starts_with(&format!("{object}.")), "{id} below {object}");
                // Nine bars that are not part of a text.
                assert_eq!(line.replace("\\|", "").matches('|').count(), 9, "{line}");
                ids.push(id);
            }
        }
        assert_eq!(ids, METRICS.iter().map(|metric| metric.id).collect::<Vec<_>>());
    }
}
