//! Pages: the viewer, and where it is not part of the program the list of
//! profiles and the metrics of one, plain and without scripts. Names come from
//! outside and are escaped.

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, header};
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use profile_store::read::objects;
use serde_json::Value;

use super::answer::Trouble;
use super::api::Shared;
use super::assets::Viewer;

const STYLE: &str = include_str!("pages.css");

/// How the plain pages say why they are plain.
const NO_VIEWER: &str = "<p>The Device Viewer is not part of this build: <code>cargo xtask \
                         web</code> makes it, then build again.</p>\n";

pub(super) fn router(viewer: Viewer) -> Router<Shared> {
    if viewer == Viewer::Plain {
        return Router::new()
            .route("/", get(list))
            .route("/profile/{id}", get(profile))
            .route("/tensorboard.html", get(async || page("Neuron", NO_VIEWER)))
            .route("/pages.css", get(async || ([(header::CONTENT_TYPE, "text/css")], STYLE)));
    }
    // The viewer's script finds out by the path which page it is.
    let page =
        |viewer: Viewer| get(async move |headers: HeaderMap| viewer.answer("index.html", &headers));
    let (icon, plugin) = (viewer.clone(), viewer.clone());
    Router::new()
        .route("/", page(viewer.clone()))
        .route("/profile/{id}", page(viewer.clone()))
        .route("/compare", page(viewer.clone()))
        .route(
            "/tensorboard.html",
            get(async move |all: HeaderMap| plugin.answer("tensorboard.html", &all)),
        )
        .route("/favicon.svg", get(async move |all: HeaderMap| icon.answer("favicon.svg", &all)))
        .route(
            "/assets/{name}",
            get(async move |Path(name): Path<String>, headers: HeaderMap| {
                viewer.answer(&format!("assets/{name}"), &headers)
            }),
        )
}

/// A text as a page shows it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            letter => out.push(letter),
        }
    }
    out
}

fn page(title: &str, body: &str) -> Html<String> {
    let title = escaped(title);
    Html(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
         <link rel=\"stylesheet\" href=\"/pages.css\">\n</head>\n<body>\n<h1>{title}</h1>\n\
         {body}\n</body>\n</html>\n"
    ))
}

async fn list(State(shared): State<Shared>) -> Result<impl IntoResponse, Trouble> {
    let listed = tokio::task::spawn_blocking(move || shared.store.list()).await;
    let (found, bad) = listed.map_err(|_| Trouble::new(500, "the list cannot be read"))??;
    let mut body = String::from(NO_VIEWER);
    for error in &bad {
        body.push_str(&format!("<p class=\"bad\">{}</p>\n", escaped(&error.to_string())));
    }
    if found.is_empty() {
        body.push_str(
            "<p>No profile is stored yet: <code>neuron-profile view -n FILE.neff -s FILE.ntff \
             --ingest-only</code> stores one.</p>",
        );
        return Ok(page("Profiles", &body));
    }
    body.push_str(
        "<table>\n<tr><th>Name</th><th>Events</th><th>Time</th><th>NEFF</th><th>Trace</th>\
         <th>Tags</th></tr>\n",
    );
    for entry in &found {
        let (manifest, labels) = (&entry.manifest, &entry.labels);
        let simulated = if manifest.simulated { " (simulated)" } else { "" };
        let cells = [
            manifest.events.to_string(),
            time(manifest.total_ns),
            escaped(&manifest.neff),
            escaped(&manifest.trace),
            escaped(&labels.tags.join(", ")),
        ];
        body.push_str(&format!(
            "<tr><td><a href=\"/profile/{}\">{}</a>{simulated}</td>",
            manifest.id,
            escaped(&labels.display_name)
        ));
        for cell in cells {
            body.push_str(&format!("<td>{cell}</td>"));
        }
        body.push_str("</tr>\n");
    }
    body.push_str("</table>");
    Ok(page("Profiles", &body))
}

async fn profile(
    State(shared): State<Shared>,
    Path(id): Path<String>,
) -> Result<impl IntoResponse, Trouble> {
    let made = tokio::task::spawn_blocking(move || {
        let profile = shared.profile(&id)?;
        let manifest = profile.manifest();
        let mut body = String::from("<p><a href=\"/\">All profiles</a></p>\n");
        if manifest.simulated {
            body.push_str("<p>On the software NeuronCore: simulated.</p>\n");
        }
        for note in &manifest.notes {
            body.push_str(&format!("<p class=\"bad\">{}</p>\n", escaped(note)));
        }
        body.push_str(&format!(
            "<p>{} events in {}; <a href=\"/api/v1/profiles/{id}/tables\">tables</a></p>\n",
            manifest.events,
            time(manifest.total_ns)
        ));
        body.push_str("<table>\n<tr><th>Metric</th><th>Value</th></tr>\n");
        for batch in profile.batches("Summary")? {
            let batch = batch.map_err(|error| Trouble::new(500, error.to_string()))?;
            for row in objects(&batch) {
                for (name, value) in &row {
                    let value = match value {
                        Value::String(text) => text.clone(),
                        value => value.to_string(),
                    };
                    let cells = (escaped(name), escaped(&value));
                    body.push_str(&format!("<tr><td>{}</td><td>{}</td></tr>\n", cells.0, cells.1));
                }
            }
        }
        body.push_str("</table>");
        Ok::<_, Trouble>(page(&profile.labels().display_name, &body))
    });
    made.await.map_err(|_| Trouble::new(500, "the profile cannot be shown"))?
}

/// A length of time with a fitting unit.
#[allow(clippy::cast_precision_loss, reason = "three digits are shown")]
fn time(ns: u64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "us")];
    let fitting = units.into_iter().find(|(size, _)| ns >= *size);
    fitting.map_or_else(
        || format!("{ns} ns"),
        |(size, unit)| format!("{:.3} {unit}", ns as f64 / size as f64),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_text() {
        let Html(page) = page("<script>alert('a')</script>", "");
        assert!(!page.contains("<script>") && page.contains("&lt;script&gt;alert(&#39;a&#39;)"));
        assert_eq!(escaped("a & \"b\""), "a &amp; &quot;b&quot;");
    }

    #[test]
    fn times_have_units() {
        assert_eq!(time(999), "999 ns");
        assert_eq!(time(1500), "1.500 us");
        assert_eq!(time(2_069_900), "2.070 ms");
        assert_eq!(time(3_000_000_000), "3.000 s");
    }
}
