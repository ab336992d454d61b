//! Every metric once: id, headings, keys, unit, kind, help, labels.
//!
//! Table columns, JSON keys, CSV headers, Prometheus lines and the metric
//! page of the docs are read from these rows, so they cannot disagree.
