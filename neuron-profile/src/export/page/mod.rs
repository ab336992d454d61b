//! `export --format html`: the Device Viewer and a profile in one file, which
//! works from a disk, without a server.
//!
//! The page answers the viewer's requests itself (web/src/share): from the
//! events of a window, the tables, and answers of the interface that were
//! recorded for it. Sums, trees, searches and metrics are computed in the page
//! by the same rules, so the file holds rows, not results, and every zoom
//! within the window is exact. Of the rest of a large profile it holds one
//! picture, sums of the whole, and a list of what was left out.
//!
//! ```text
//! <script id="profile-archive">   pieces, each gzip in base64, one after the other
//! <script id="profile-index">     JSON: what is where (begin and length in letters), and what is left out
//! <script type="module">          the viewer
//! ```
//!
//! The page's policy allows its own script and style, by their hashes, and no
//! request at all.

mod archive;
mod columns;
mod events;
mod overview;
mod recorded;
mod tables;
mod viewer;

use std::io::Write;

use anyhow::{Context as _, ensure};
use profile_store::{Profile, Store};
use serde_json::{Value, json};

use archive::Archive;
use viewer::Viewer;

/// Events of a page where nothing is said (our choice: some 8 MB).
pub const EVENTS: u64 = 200_000;

/// Events of a page at most: a browser holds them all.
pub const MOST: u64 = 2_000_000;

/// What of a profile a page has.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Events at most.
    pub events: u64,
    /// Begin of the window whose events are in it, ns.
    pub from: Option<u64>,
    /// End of it, ns.
    pub to: Option<u64>,
    /// What is seen first: the part of a link behind `#`, without it.
    pub view: String,
}

/// The window of a page, and what is not in it.
#[derive(Debug, Clone, Default)]
struct Window {
    from: u64,
    to: u64,
    /// All events of the profile are in it.
    whole: bool,
    events: u64,
}

/// Whether this program has a viewer to put into a page.
pub fn possible() -> bool {
    viewer::Viewer::read().is_ok()
}

/// Writes a page.
///
/// # Errors
///
/// A program without viewer, a window outside of the profile, files that cannot
/// be read or written.
pub fn write(
    store: &Store,
    profile: &Profile,
    wanted: &Wanted,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let viewer = Viewer::read()?;
    let window = events::window(profile, wanted)?;
    let name = &profile.labels().display_name;
    viewer.begin(name, out)?;
    let mut archive = Archive::new(out);
    let mut left_out = Vec::new();
    let total = profile.manifest().total_ns;
    if !window.whole {
        left_out.push(format!(
            "Events before {} ns and from {} ns on: {} of {} are here",
            window.from,
            window.to,
            window.events,
            profile.manifest().events
        ));
    }
    let (lanes, rows) = events::add(profile, &window, &mut archive)?;
    let tables = tables::add(profile, &window, wanted.events, &rows, &mut archive, &mut left_out)?;
    let overview = if window.whole { Value::Null } else { overview::add(profile, &mut archive)? };
    let recorded = recorded::add(store, profile, &mut archive, &mut left_out)?;
    let series = events::series(profile, &window)?;
    let kinds = archive.json(&json!({ "names": profile.names(), "kinds": profile.kinds() }))?;
    let id = &profile.manifest().id;
    let index = json!({
        "version": 1,
        "id": id,
        "name": name,
        "made_by": env!("CARGO_PKG_VERSION"),
        "total_ns": total,
        "window": { "from": window.from, "to": window.to, "whole": window.whole, "events": window.events },
        "view": wanted.view,
        "left_out": left_out,
        "lanes": lanes,
        "tables": tables,
        "overview": overview,
        "recorded": recorded,
        "series": series,
        "kinds": kinds,
    });
    viewer.end(&index, out).context("the page cannot be written")?;
    Ok(())
}

/// The window that is asked for, ns.
///
/// # Errors
///
/// One outside of the profile, or too many events.
pub fn check(wanted: &Wanted, total: u64) -> anyhow::Result<(u64, u64)> {
    let (from, to) = (wanted.from.unwrap_or(0), wanted.to.unwrap_or(total).min(total.max(1)));
    ensure!(
        from < to,
        "from {from} to {to} ns is no window of a profile of {total} ns: give --from below --to"
    );
    ensure!(
        (1..=MOST).contains(&wanted.events),
        "a page has 1 to {MOST} events, not {}: choose --events",
        wanted.events
    );
    Ok((from, to))
}
