//! A PutMetricData request of the service's JSON protocol, and its answer
//! (the API's published model: target prefix, error types, limits).

use serde_json::{Value, json};

use super::metrics::{Block, Datum};

/// Most metrics of a request.
pub(super) const MOST_DATA: usize = 1000;

/// Most bytes of the metrics in a request: the limit is 1 MB, and the rest of
/// the body is some hundred bytes.
pub(super) const MOST_BYTES: usize = 980_000;

/// Longest value of a dimension, characters.
const LONGEST: usize = 1024;

/// Content type of the body.
pub(super) const KIND: &str = "application/x-amz-json-1.0";

/// What the request asks for.
pub(super) const TARGET: &str = "GraniteServiceVersion20100801.PutMetricData";

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// Its metrics are stored.
    Taken,
    /// They are not, and may be later.
    Again(String),
    /// As [`Self::Again`], and the credentials are in question.
    Denied(String),
    /// They never will be.
    Refused(String),
}

/// The metrics of a block, each written down.
pub(super) fn data(block: &Block, seconds: f64) -> impl Iterator<Item = String> {
    let dimensions: Vec<Value> = block
        .dimensions
        .iter()
        .map(|(name, value)| json!({"Name": name, "Value": accepted(value)}))
        .collect();
    // What is not a number is refused, and with it everything beside it.
    let finite = block.data.iter().filter(|datum| datum.value.is_finite());
    finite.map(move |datum| written(datum, &dimensions, seconds))
}

#[allow(clippy::cast_possible_truncation, reason = "seconds since 1970 saturate")]
fn written(datum: &Datum, dimensions: &[Value], seconds: f64) -> String {
    json!({
        "MetricName": datum.name,
        "Dimensions": dimensions,
        "Timestamp": seconds as i64,
        "Value": datum.value,
        "Unit": datum.unit,
    })
    .to_string()
}

/// A value that the service accepts for a dimension: printable ASCII that does
/// not begin with a colon. A tag can be anything.
fn accepted(value: &str) -> String {
    let plain = |c: char| if c.is_ascii_graphic() || c == ' ' { c } else { '_' };
    let text: String = value.chars().take(LONGEST).map(plain).collect();
    match text.strip_prefix(':') {
        Some(rest) => format!("_{rest}"),
        None if text.trim().is_empty() => String::from("_"),
        None => text,
    }
}

/// The body of a request.
pub(super) fn body(namespace: &str, data: &[String]) -> String {
    format!("{{\"Namespace\":{},\"MetricData\":[{}]}}", json!(namespace), data.join(","))
}

/// What the service says. `said` is the start of the body.
pub(super) fn answer(status: u16, said: &[u8]) -> Answer {
    if status == 200 {
        return Answer::Taken;
    }
    let document: Value = serde_json::from_slice(said).unwrap_or_default();
    // `com.amazonaws.cloudwatch#InvalidParameterValueException:...`
    let kind = document["__type"].as_str().unwrap_or_default();
    let kind = kind.rsplit('#').next().unwrap_or_default();
    let kind = kind.split(':').next().unwrap_or_default();
    let message = document["message"].as_str().or(document["Message"].as_str());
    let message = neuron_core::model::printable(message.unwrap_or_default());
    let mut reason = format!("status {status}");
    for part in [neuron_core::model::printable(kind), message] {
        if !part.is_empty() {
            reason.push_str(": ");
            reason.push_str(&part);
        }
    }
    const REFUSALS: [&str; 5] =
        ["InvalidParameter", "Missing", "Validation", "Serialization", "RequestTooLarge"];
    const DENIALS: [&str; 9] = [
        "AccessDenied",
        "ExpiredToken",
        "InvalidClientTokenId",
        "UnrecognizedClient",
        "InvalidSignature",
        "SignatureDoesNotMatch",
        "IncompleteSignature",
        "MissingAuthenticationToken",
        "InvalidAccessKeyId",
    ];
    let begins = |names: &[&str]| names.iter().any(|name| kind.starts_with(name));
    if begins(&DENIALS) || matches!(status, 401 | 403) {
        Answer::Denied(reason)
    } else if status == 413 || (status == 400 && begins(&REFUSALS)) {
        Answer::Refused(reason)
    } else {
        Answer::Again(reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_the_service() {
        let said = |kind: &str| format!(r#"{{"__type":"{kind}","message":"no\nno"}}"#);
        let of = |status, kind: &str| answer(status, said(kind).as_bytes());
        assert_eq!(answer(200, b"{}"), Answer::Taken);
        for (status, kind) in [
            (400, "com.amazonaws.cloudwatch#InvalidParameterValueException"),
            (400, "com.amazonaws.cloudwatch#MissingRequiredParameterException"),
            (400, "ValidationError"),
            (413, ""),
        ] {
            assert!(matches!(of(status, kind), Answer::Refused(_)), "{status} {kind}");
        }
        for (status, kind) in [
            (400, "ThrottlingException"),
            (400, "com.amazon.coral.service#Throttling:http://x"),
            (500, "InternalServiceFault"),
            (503, ""),
            (429, ""),
            (302, ""),
        ] {
            assert!(matches!(of(status, kind), Answer::Again(_)), "{status} {kind}");
        }
        for (status, kind) in [
            (400, "com.amazon.coral.service#ExpiredTokenException"),
            (403, "AccessDeniedException"),
            (400, "MissingAuthenticationTokenException"),
            (403, "InvalidSignatureException"),
        ] {
            assert!(matches!(of(status, kind), Answer::Denied(_)), "{status} {kind}");
        }
        let Answer::Again(reason) = of(503, "x#ServiceUnavailable") else { unreachable!() };
        assert!(reason.starts_with("status 503: ServiceUnavailable: no") && !reason.contains('\n'));
        assert_eq!(answer(502, b"<html>"), Answer::Again(String::from("status 502")));
    }

    #[test]
    fn what_the_service_would_refuse_is_not_sent() {
        for (value, sent) in [
            ("train", "train"),
            (":a:b", "_a:b"),
            ("", "_"),
            (" ", "_"),
            ("Zürich\n", "Z_rich_"),
            (&"x".repeat(2000), &"x".repeat(1024)),
        ] {
            assert_eq!(accepted(value), sent, "{value:?}");
        }
        let datum = |value| Datum { name: String::from("m"), unit: "Percent", value };
        let block = Block {
            dimensions: vec![("InstanceId", String::from("i-1"))],
            data: vec![datum(f64::NAN), datum(1.5), datum(f64::INFINITY)],
        };
        let sent: Vec<String> = data(&block, 1_789_180_926.9).collect();
        assert_eq!(sent.len(), 1);
        let document: Value = serde_json::from_str(&body("a\"b", &sent)).unwrap();
        assert_eq!(document["Namespace"], "a\"b");
        let only = &document["MetricData"][0];
        assert_eq!((&only["Timestamp"], &only["Value"]), (&json!(1_789_180_926), &json!(1.5)));
        assert_eq!(only["Dimensions"][0], json!({"Name": "InstanceId", "Value": "i-1"}));
    }
}
