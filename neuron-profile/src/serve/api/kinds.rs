//! Kinds of events: the texts and facts by which a viewer colours and groups.
//!
//! Names come from outside and may be a megabyte long, or a hundred thousand:
//! lists are cut into pages and texts after a few hundred letters, and one kind
//! alone is told whole.

use std::borrow::Cow;
use std::collections::HashMap;

use axum::Json;
use axum::extract::{Path, Query, State};
use profile_store::kinds::{Kind, NONE};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Shared, with_profile};
use crate::serve::answer::Trouble;

/// Letters of a text in lists.
const LETTERS: usize = 256;

/// Kinds of an answer where nothing is said, and names of a profile.
pub(super) const USUAL: usize = 10_000;

/// Kinds of an answer at most.
const MOST: usize = 50_000;

/// A text as lists show it.
pub(super) fn cut(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LETTERS) {
        Some((at, _)) => Cow::Owned(format!("{}\u{2026}", text.get(..at).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}

/// Texts of an answer, each once.
#[derive(Debug, Default)]
struct Texts<'p> {
    list: Vec<Cow<'p, str>>,
    places: HashMap<&'p str, i64>,
}

impl<'p> Texts<'p> {
    /// The place of a text; -1 for none.
    fn place(&mut self, text: Option<&'p str>) -> i64 {
        let Some(text) = text else { return -1 };
        *self.places.entry(text).or_insert_with(|| {
            self.list.push(cut(text));
            i64::try_from(self.list.len() - 1).unwrap_or(-1)
        })
    }
}

/// Which part of the list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Part {
    #[serde(default)]
    from: usize,
    #[serde(default)]
    limit: Option<usize>,
}

pub(super) async fn list(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    Query(part): Query<Part>,
) -> Result<Json<Value>, Trouble> {
    let value = with_profile(shared, id, move |profile| {
        let total = profile.names().len();
        let limit = part.limit.unwrap_or(USUAL).clamp(1, MOST);
        let mut texts = Texts::default();
        let [mut names, mut layers, mut operators, mut sources] = [const { Vec::new() }; 4];
        let known = profile.kinds();
        for (at, name) in profile.names().iter().enumerate().skip(part.from).take(limit) {
            let kind = u32::try_from(at).ok().and_then(|at| known.kind(at));
            let of = |text: fn(&Kind) -> u32| known.text(kind.map_or(NONE, text));
            names.push(texts.place(Some(name)));
            layers.push(texts.place(of(|kind| kind.layer)));
            operators.push(texts.place(of(|kind| kind.operator)));
            sources.push(texts.place(of(|kind| kind.source)));
        }
        let next = part.from.saturating_add(limit);
        Ok(json!({
            "total": total,
            "from": part.from,
            "texts": texts.list,
            "name": names,
            "layer": layers,
            "operator": operators,
            "source": sources,
            "next": (next < total).then_some(next),
        }))
    });
    value.await.map(Json)
}

pub(super) async fn one(
    State(shared): State<Shared>,
    Path((id, place)): Path<(String, u32)>,
) -> Result<Json<Value>, Trouble> {
    let value = with_profile(shared, id, move |profile| {
        let all = profile.names();
        let name = usize::try_from(place).ok().and_then(|at| all.get(at));
        let name = name.ok_or_else(|| {
            Trouble::new(404, format!("the profile has {} kinds, no kind {place}", all.len()))
        })?;
        let kind = profile.kind(place);
        let text = |place| profile.kinds().text(place);
        Ok(json!({
            "kind": place,
            "name": name,
            "layer": text(kind.layer),
            "operator": text(kind.operator),
            "source": text(kind.source),
            "waits": kind.waits,
            "work": work(&kind.work),
        }))
    });
    value.await.map(Json)
}

/// Bytes and operations by the names of the tables.
pub(super) fn work(work: &profile_store::kinds::Work) -> Value {
    json!({
        "flops": work.flops,
        "transpose_flops": work.transpose_flops,
        "hbm_read_bytes": work.hbm_read,
        "hbm_write_bytes": work.hbm_write,
        "sbuf_read_bytes": work.sbuf_read,
        "sbuf_write_bytes": work.sbuf_write,
        "psum_read_bytes": work.psum_read,
        "psum_write_bytes": work.psum_write,
        "spill_save_bytes": work.spill_save,
        "spill_reload_bytes": work.spill_reload,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_letters() {
        assert_eq!(cut("short"), "short");
        let long = "ä".repeat(300);
        let text = cut(&long);
        assert_eq!(text.chars().count(), LETTERS + 1);
        assert!(text.ends_with('\u{2026}') && text.starts_with("ää"));
        assert_eq!(cut(&"x".repeat(LETTERS)), "x".repeat(LETTERS));
    }
}
