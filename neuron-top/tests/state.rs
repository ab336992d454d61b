//! The state: what keys do, and that readings move nothing under the cursor.

mod samples;

use std::sync::Arc;

use neuron_core::instance::Chip;
use neuron_core::sample::Sample;
use neuron_top::app::{App, Effect, Overlay, Target};
use neuron_top::frame::Frame;
use neuron_top::keys::{Key, Keymap};
use neuron_top::tree::{Node, Sort};

fn press(app: &mut App, keys: &str) -> Effect {
    let mut last = Effect::None;
    for key in keys.split(' ') {
        last = app.on_key(Key::parse(key).unwrap());
    }
    last
}

fn cursor(app: &App) -> String {
    let lines = app.lines();
    lines[app.place(&lines)].label.clone()
}

/// Two readings of trn1.2xlarge for each list of pids; every process has one
/// model.
fn with_pids(lists: &[&[u32]]) -> Vec<Arc<Frame>> {
    let samples: Vec<Sample> = (0..)
        .zip(lists)
        .map(|(second, pids)| {
            let mut sample =
                samples::machine("trn1.2xlarge", "i-0", Chip::Trainium1, 1, 8, 1000 + second);
            for pid in *pids {
                samples::count(&mut sample, 0, *pid, 0, &[(0, 1), (22, 100)]);
                let memory = neuron_core::sample::ModelMemory { code: 10, ..Default::default() };
                let name = format!("m{pid}");
                let host = neuron_core::sample::ModelMemory::default();
                samples::model(&mut sample, 0, *pid, samples::loaded(*pid, 0, &name, host, memory));
            }
            sample
        })
        .collect();
    samples::frames(&samples)
}

fn names(app: &App) -> Vec<String> {
    (1..)
        .zip(app.tabs().slots())
        .map(|(tab, slot)| {
            let gone = if slot.gone { "-" } else { "" };
            let shown = if app.tabs().is_shown(tab) { "" } else { "!" };
            format!("{gone}{shown}{}", slot.tag)
        })
        .collect()
}

#[test]
fn tabs_stay_in_their_places() {
    let lists: &[&[u32]] = &[&[5, 7, 9], &[5, 9], &[4, 5, 9], &[4, 9], &[4, 9, 11], &[]];
    let frames = with_pids(lists);
    let mut app = App::new(Keymap::default(), false, false);
    app.on_frame(Arc::clone(&frames[0]));
    assert_eq!(names(&app), ["5", "7", "9"]);
    press(&mut app, "2");
    assert_eq!(app.pid(), Some(5));
    app.on_frame(Arc::clone(&frames[1]));
    // 7 has ended: 9 does not move up.
    assert_eq!(names(&app), ["5", "-!7", "9"]);
    app.on_frame(Arc::clone(&frames[2]));
    // A new process takes the free place.
    assert_eq!(names(&app), ["5", "4", "9"]);
    app.on_frame(Arc::clone(&frames[3]));
    // The current tab stays, though its process has ended.
    assert_eq!((names(&app), app.pid()), (vec!["-5".into(), "4".into(), "9".into()], Some(5)));
    app.on_frame(Arc::clone(&frames[4]));
    // Its place is not given away while somebody looks at it.
    assert_eq!(names(&app), ["-5", "4", "9", "11"]);
    press(&mut app, "d");
    assert_eq!(app.pid(), Some(4));
    press(&mut app, "a a");
    // Round the end; the one that ended and is not current is passed over.
    assert_eq!((app.pid(), app.tabs().current()), (Some(11), 4));
    press(&mut app, "1");
    app.on_frame(Arc::clone(&frames[5]));
    assert!(names(&app).is_empty());
    press(&mut app, "3");
    assert_eq!(app.tabs().current(), 0);
}

#[test]
fn nothing_moves_under_the_cursor() {
    let frames = with_pids(&[&[20], &[10, 20], &[10, 20, 30], &[30]]);
    let mut app = App::new(Keymap::default(), false, false);
    app.on_frame(Arc::clone(&frames[0]));
    app.on_drawn(4, 0);
    press(&mut app, "x down down");
    assert_eq!(cursor(&app), "m20");
    let line = |app: &App| {
        let lines = app.lines();
        app.place(&lines) - app.top(&lines, 4)
    };
    let before = line(&app);
    app.on_frame(Arc::clone(&frames[1]));
    assert_eq!((cursor(&app).as_str(), line(&app)), ("m20", before));
    app.on_frame(Arc::clone(&frames[2]));
    assert_eq!((cursor(&app).as_str(), line(&app)), ("m20", before));
    // Its model has gone: what it hung under.
    app.on_frame(Arc::clone(&frames[3]));
    assert_eq!(cursor(&app), "NC 0");
}

#[test]
fn the_tree_is_walked_as_the_original_does() {
    let mut app = samples::app(&samples::picture());
    app.on_drawn(10, 0);
    assert_eq!(cursor(&app), "ND 0");
    press(&mut app, "up");
    assert_eq!(cursor(&app), "ND 0");
    press(&mut app, "right right");
    assert_eq!(cursor(&app), "NC 0");
    press(&mut app, "enter down");
    assert_eq!(cursor(&app), "file.neff");
    press(&mut app, "left");
    assert_eq!(cursor(&app), "NC 0");
    press(&mut app, "left left left");
    assert_eq!((cursor(&app).as_str(), app.lines().len()), ("ND 0", 16));
    press(&mut app, "end");
    assert_eq!(cursor(&app), "ND15");
    let lines = app.lines();
    assert_eq!(app.top(&lines, 10), 6);
    press(&mut app, "pageup");
    assert_eq!(cursor(&app), "ND 5");
    press(&mut app, "home x");
    assert!(app.lines().len() > 200);
    press(&mut app, "x");
    assert_eq!(app.lines().len(), 16);
}

#[test]
fn pause_and_steps_in_time_show_what_was_recorded() {
    let mut samples = samples::many();
    let mut later = samples[1].clone();
    later.uptime = later.uptime.map(|at| at + 1_000_000_000);
    later.taken =
        neuron_core::units::Timestamp::from_unix_nanos(later.taken.unix_nanos() + 1_000_000_000);
    samples.push(later);
    let frames = samples::frames(&samples);
    let mut app = App::new(Keymap::default(), false, false);
    for frame in &frames[..2] {
        app.on_frame(Arc::clone(frame));
    }
    press(&mut app, "space");
    assert_eq!(app.behind(), Some((0, 0.0)));
    app.on_frame(Arc::clone(&frames[2]));
    // Readings go on, the screen does not.
    assert_eq!(app.behind(), Some((1, 1.0)));
    assert!(Arc::ptr_eq(app.frame().unwrap(), &frames[1]));
    press(&mut app, "[ [ [");
    assert_eq!(app.behind(), Some((2, 2.0)));
    assert!(Arc::ptr_eq(app.frame().unwrap(), &frames[0]));
    press(&mut app, "]");
    assert!(Arc::ptr_eq(app.frame().unwrap(), &frames[1]));
    press(&mut app, "] ]");
    assert_eq!(app.behind(), None);
    assert!(Arc::ptr_eq(app.frame().unwrap(), &frames[2]));
}

#[test]
fn sort_filter_and_overlays() {
    let mut app = samples::app(&samples::many());
    assert_eq!(press(&mut app, "s"), Effect::Draw);
    assert_eq!((app.sort(), app.lines()[0].label.as_str()), (Sort::Use, "ND14"));
    press(&mut app, "/ L a m a - 3");
    // q is a letter while one writes.
    press(&mut app, "q");
    assert_eq!(app.filter(), ("Lama-3q", true));
    press(&mut app, "backspace enter");
    assert_eq!(app.filter(), ("Lama-3", false));
    assert_eq!(app.lines().len(), 2);
    let shown: Vec<usize> = (0..9).filter(|tab| app.tabs().is_shown(*tab)).collect();
    assert_eq!(shown, [0, 4]);
    press(&mut app, "escape");
    assert_eq!((app.filter().0, app.lines().len()), ("", 16));
    press(&mut app, "?");
    assert_eq!(app.overlay(), Some((Overlay::Help, 0)));
    press(&mut app, "down down");
    assert_eq!(app.overlay(), Some((Overlay::Help, 2)));
    // Any other key closes it, and does no more.
    assert_eq!(press(&mut app, "q"), Effect::Draw);
    assert_eq!((app.overlay(), press(&mut app, "q")), (None, Effect::Quit));
    press(&mut app, "?");
    assert_eq!(press(&mut app, "ctrl-c"), Effect::Quit);
    assert_eq!(press(&mut app, "ctrl-l"), Effect::Redraw);
    press(&mut app, "escape");
    assert_eq!(press(&mut app, "ctrl-z"), Effect::Suspend);
    assert_eq!(press(&mut app, "delete"), Effect::None);
}

#[test]
fn clicks_go_where_they_point() {
    let mut app = samples::app(&samples::many());
    app.on_drawn(10, 0);
    app.on_click(Target::Grid(Node::core(9, 2)));
    assert_eq!(app.cursor(), Some(Node::core(9, 2)));
    app.on_click(Target::Mark(Node::device(2)));
    assert_eq!(app.cursor(), Some(Node::device(2)));
    assert!(app.lines().iter().any(|line| line.node == Node::core(2, 0)));
    app.on_click(Target::Tab(4));
    assert_eq!(app.pid(), Some(5003));
    app.on_click(Target::Tab(40));
    assert_eq!(app.pid(), Some(5003));
    app.on_click(Target::Notes);
    assert_eq!(app.overlay(), Some((Overlay::Notes, 0)));
    app.on_wheel(3);
    assert_eq!(app.overlay(), Some((Overlay::Notes, 3)));
}
