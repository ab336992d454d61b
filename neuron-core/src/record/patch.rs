//! What changed from one JSON document to the next.
//!
//! A patch is a document too. Of an object it has the keys that changed, and
//! those that went under `-`. Of an array of the same length it has the places
//! that changed under `@`. Anything else is put in whole: scalars as they are,
//! the rest under `=`.

use serde_json::{Map, Value};

const REMOVED: &str = "-";
const PLACES: &str = "@";
const WHOLE: &str = "=";

/// The patch from `old` to `new`; `None` when nothing changed.
pub(super) fn diff(old: &Value, new: &Value) -> Option<Value> {
    match (old, new) {
        _ if old == new => None,
        (Value::Object(old), Value::Object(new)) if !new.keys().any(|key| is_mark(key)) => {
            let mut patch = Map::new();
            for (key, value) in new {
                match old.get(key) {
                    Some(before) => {
                        if let Some(change) = diff(before, value) {
                            patch.insert(key.clone(), change);
                        }
                    }
                    None => drop(patch.insert(key.clone(), whole(value))),
                }
            }
            let removed: Vec<Value> = old
                .keys()
                .filter(|key| !new.contains_key(*key))
                .cloned()
                .map(Value::String)
                .collect();
            if !removed.is_empty() {
                patch.insert(String::from(REMOVED), Value::Array(removed));
            }
            Some(Value::Object(patch))
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            let places: Map<String, Value> = old
                .iter()
                .zip(new)
                .enumerate()
                .filter_map(|(at, (old, new))| Some((at.to_string(), diff(old, new)?)))
                .collect();
            Some(mark(PLACES, Value::Object(places)))
        }
        (_, new) => Some(whole(new)),
    }
}

/// Puts a patch into the document that it was made against. A patch that does
/// not fit changes what it can: the bytes are from outside.
pub(super) fn apply(document: &mut Value, patch: Value) {
    let Value::Object(mut patch) = patch else {
        *document = patch;
        return;
    };
    if let Some(value) = patch.remove(WHOLE) {
        *document = value;
        return;
    }
    if let Some(Value::Object(places)) = patch.remove(PLACES) {
        if let Value::Array(list) = document {
            for (at, change) in places {
                if let Some(slot) = at.parse().ok().and_then(|at: usize| list.get_mut(at)) {
                    apply(slot, change);
                }
            }
        }
        return;
    }
    if !document.is_object() {
        *document = Value::Object(Map::new());
    }
    let Value::Object(map) = document else { return };
    if let Some(Value::Array(removed)) = patch.remove(REMOVED) {
        for key in removed.iter().filter_map(Value::as_str) {
            map.remove(key);
        }
    }
    for (key, change) in patch {
        apply(map.entry(key).or_insert(Value::Null), change);
    }
}

/// A value to be put in whole.
fn whole(value: &Value) -> Value {
    match value {
        Value::Object(_) | Value::Array(_) => mark(WHOLE, value.clone()),
        scalar => scalar.clone(),
    }
}

fn mark(name: &str, value: Value) -> Value {
    Value::Object(Map::from_iter([(name.to_owned(), value)]))
}

fn is_mark(key: &str) -> bool {
    matches!(key, REMOVED | PLACES | WHOLE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<u8>().prop_map(|n| json!(n)),
            "[a-c@=-]{0,2}".prop_map(|text| json!(text)),
        ];
        leaf.prop_recursive(4, 40, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                prop::collection::btree_map("[a-c@=-]", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    #[test]
    fn only_what_changed_is_in_it() {
        let old = json!({"a": {"x": 1, "y": [1, {"z": 2}, 3]}, "b": 5, "c": 6});
        let new = json!({"a": {"x": 1, "y": [1, {"z": 9}, 3]}, "c": 6, "d": [7]});
        assert_eq!(
            diff(&old, &new).unwrap(),
            json!({"a": {"y": {"@": {"1": {"z": 9}}}}, "d": {"=": [7]}, "-": ["b"]})
        );
        assert_eq!(diff(&old, &old), None);
    }

    proptest! {
        #[test]
        fn what_is_taken_apart_can_be_put_together(old in value(), new in value()) {
            let mut document = old.clone();
            if let Some(patch) = diff(&old, &new) {
                apply(&mut document, patch);
            }
            prop_assert_eq!(document, new);
        }

        #[test]
        fn any_patch_can_be_put_into_anything(mut document in value(), patch in value()) {
            apply(&mut document, patch);
        }
    }
}
