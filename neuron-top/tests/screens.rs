//! Screens at three sizes. What a golden file holds is also asserted by figures
//! worked out from the samples; the files are rewritten with
//! `NEURON_REGENERATE=1`.

mod samples;

use std::path::Path;

use neuron_top::app::App;
use neuron_top::draw::{self, line_of};
use neuron_top::keys::Key;
use neuron_top::theme::Theme;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier};

const SIZES: [(u16, u16); 3] = [(40, 15), (80, 24), (200, 60)];

/// Draws twice: the first tells the state how large the tree's area is.
fn drawn(app: &mut App, size: (u16, u16), theme: &Theme) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    for _ in 0..2 {
        let mut found = draw::Drawn::default();
        terminal
            .draw(|frame| {
                let area = frame.area();
                found = draw::draw(frame.buffer_mut(), area, app, theme);
            })
            .unwrap();
        app.on_drawn(found.page, found.row);
    }
    terminal.backend().buffer().clone()
}

fn lines(buffer: &Buffer) -> Vec<String> {
    (0..buffer.area.height).map(|y| line_of(buffer, y)).collect()
}

fn press(app: &mut App, keys: &str) {
    for key in keys.split(' ') {
        app.on_key(Key::parse(key).unwrap());
    }
}

/// Compares with the golden file, and the same screen without colour with the
/// coloured one.
fn golden(name: &str, app: &mut App, size: (u16, u16)) -> Vec<String> {
    let lines = lines(&drawn(app, size, &Theme::dark()));
    let text = lines.join("\n") + "\n";
    let file = format!("tests/golden/{name}-{}x{}.txt", size.0, size.1);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os("NEURON_REGENERATE").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let known = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, known, "{}", path.display());
    assert!(lines.iter().all(|line| line.chars().count() <= usize::from(size.0)));
    lines
}

fn has(lines: &[String], text: &str) -> bool {
    lines.iter().any(|line| line.contains(text))
}

/// Words without bars: what is compared with a picture.
fn words(line: &str) -> Vec<String> {
    let bare: String = line.chars().map(|c| if c == '|' { ' ' } else { c }).collect();
    bare.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn idle() {
    for size in SIZES {
        let mut app = samples::app(&samples::idle());
        let lines = golden("idle", &mut app, size);
        assert!(has(&lines, "NeuronCore v2 Utilization (Avg: 0.00%)"), "{lines:#?}");
        // 8 and 4 of 800 ticks.
        assert!(has(&lines, "[ 1.00%, 0.50%]"), "{lines:#?}");
        assert!(has(&lines, "[ 0.00%, 0.00%]"));
        assert!(has(&lines, ">[1]:all<"));
        assert_eq!(lines.iter().filter(|line| line.contains("[ 0.00%]")).count(), 1);
        assert!(has(&lines, "ND 0"));
    }
}

#[test]
fn one_process() {
    for size in SIZES {
        let mut app = samples::app(&samples::one());
        press(&mut app, "down enter down enter");
        let lines = golden("one", &mut app, size);
        assert!(has(&lines, "(Avg: 12.50%)"), "{lines:#?}");
        assert!(has(&lines, "[25.00%]"));
        // 100 and 20 of 800 ticks.
        assert!(has(&lines, "[12.50%, 2.50%]"));
        // 64 KB + 100 MB + 3 MB + 1 KB + 2 MB; 1 MB + 4 KB + 30 MB.
        assert!(has(&lines, "105.1MB") && has(&lines, "31.0MB"), "{lines:#?}");
        assert!(has(&lines, "[2]:serving"));
        if size.1 > 15 {
            let model = lines.iter().find(|line| line.contains("bert-large.neff")).unwrap();
            assert_eq!(words(model)[1..], ["bert-large.neff", "10001", "101.0MB", "4.0KB"]);
            assert!(has(&lines, "Model Code") && has(&lines, "Constants"));
        }
    }
}

#[test]
fn sixteen_devices_with_eight_processes() {
    for size in SIZES {
        let mut app = samples::app(&samples::many());
        let lines = golden("many", &mut app, size);
        // The mean of 10 to 80 percent.
        assert!(has(&lines, "NeuronCore v3d Utilization (Avg: 45.00%)"), "{lines:#?}");
        // 1920 and 960 of 19200 ticks, by process 192 and 96.
        assert!(has(&lines, "[10.00%, 5.00%]"));
        assert!(has(&lines, "[ 8.00%, 4.00%]"), "{lines:#?}");
        // 16 devices of 8 cores of 500 MB; 8 processes of 100 MB.
        assert!(has(&lines, "62.5GB") && has(&lines, "800.0MB"));
        for device in 0..16 {
            assert!(has(&lines, &format!("ND{device} ")), "{device} {lines:#?}");
        }
        press(&mut app, "8");
        let lines = self::lines(&drawn(&mut app, size, &Theme::dark()));
        assert!(has(&lines, ">[8]:worker-6<"), "{lines:#?}");
        // Two of sixteen devices at 70 percent.
        assert!(has(&lines, "(Avg: 8.75%)"), "{lines:#?}");
        assert!(has(&lines, "7.8GB") && has(&lines, "100.0MB"));
        assert!(has(&lines, "[ 1.00%, 0.50%]"));
        press(&mut app, "f");
        let lines = self::lines(&drawn(&mut app, size, &Theme::dark()));
        // 16 physical cores of 2 x 0.7e9 x 100 operations a second.
        assert!(has(&lines, "Total:    2.240TF"), "{lines:#?}");
    }
}

#[test]
fn lost_device() {
    for size in SIZES {
        let mut app = samples::app(&samples::lost());
        let lines = golden("lost", &mut app, size);
        assert!(
            lines[..4].iter().any(|line| line.contains("neuron3: is not there any more")),
            "{lines:#?}"
        );
        assert!(has(&lines, if size.0 == 40 { " +1" } else { " +1, n lists all" }));
        assert!(has(&lines, if size.0 == 40 { "ND3  xxxx ND9 " } else { "lost" }), "{lines:#?}");
        // Those behind it stay where they were.
        let mut whole = samples::app(&samples::many());
        let all = self::lines(&drawn(&mut whole, (200, 60), &Theme::dark()));
        let place = |lines: &[String], text| lines.iter().position(|line| line.starts_with(text));
        if size == (200, 60) {
            let shift = place(&lines, "ND3 ").unwrap().abs_diff(place(&all, "ND3 ").unwrap());
            assert_eq!(
                place(&lines, "ND15").unwrap().abs_diff(place(&all, "ND15").unwrap()),
                shift
            );
            let nd5 = &lines[place(&lines, "ND5 ").unwrap()];
            assert_eq!(nd5.matches("[reset ]").count(), 4, "{nd5}");
            let nd3 = &lines[place(&lines, "ND3 ").unwrap()];
            assert_eq!(nd3.matches("[ lost ]").count(), 4, "{nd3}");
        }
        press(&mut app, "n");
        let lines = self::lines(&drawn(&mut app, size, &Theme::dark()));
        assert!(has(&lines, "neuron3: is not there any more"));
        assert!(has(&lines, "neuron5: is in reset"), "{lines:#?}");
    }
}

/// top-nt-1.png: 193 columns and 57 lines. Word for word but for three things:
/// the tool's version; the summary's scratchpads, which the picture shows as
/// nothing although its tree and its total have them; capacities, which are
/// ours.
#[test]
fn the_picture() {
    let mut app = samples::app(&samples::picture());
    // Expands what is expanded there and goes to ND 1, NC 0.
    let _ = drawn(&mut app, (193, 57), &Theme::dark());
    let six = "down down down down down down";
    press(&mut app, &format!("right down right {six} right {six} right down right"));
    let buffer = drawn(&mut app, (193, 57), &Theme::dark());
    let ours = lines(&buffer);
    let theirs = include_str!("golden/top-nt-1.words");
    let mut compared = 0;
    for (number, line) in theirs.lines().enumerate() {
        let words: Vec<String> = words(&ours[number]);
        let expected: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words, expected, "line {number}: {}", ours[number]);
        compared += expected.len();
    }
    assert!(compared > 250, "{compared}");
    for size in SIZES {
        golden("picture", &mut app, size);
    }
}

#[test]
fn the_picture_of_flops() {
    let mut app = samples::app(&samples::picture());
    press(&mut app, "f");
    let lines = lines(&drawn(&mut app, (193, 57), &Theme::dark()));
    assert!(
        lines[3].starts_with("NeuronCore v2 Utilization (Avg:    9.946TF | Total:  318.278TF)"),
        "{}",
        lines[3]
    );
    for (device, cores) in samples::FLOPS.iter().enumerate() {
        for giga in cores {
            let cell = format!("[{:9}.{:03}TF]", giga / 1000, giga % 1000);
            assert_eq!(cell.len(), 17);
            let cell = format!("[{:>9}TF]", format!("{}.{:03}", giga / 1000, giga % 1000));
            assert!(lines[5 + device].contains(&cell), "{cell} in {}", lines[5 + device]);
        }
    }
}

/// Colours of the picture, by place.
#[test]
fn the_colours_of_the_picture() {
    let mut app = samples::app(&samples::picture());
    press(&mut app, "down right");
    let buffer = drawn(&mut app, (193, 57), &Theme::dark());
    let cell = |x, y| buffer.cell((x, y)).unwrap();
    assert_eq!((cell(0, 1).bg, cell(100, 1).fg), (Color::Blue, Color::White));
    for y in [3, 22, 26, 30] {
        assert_eq!((cell(0, y).bg, cell(0, y).fg), (Color::Cyan, Color::Black), "{y}");
    }
    // A bar of 85 columns at 69.89 %: 59 used.
    assert_eq!(
        (cell(5, 5).fg, cell(63, 5).fg, cell(64, 5).fg),
        (Color::Green, Color::Green, Color::DarkGray)
    );
    // The device of the cursor.
    assert_eq!(
        (cell(5, 6).bg, cell(100, 6).bg, cell(5, 7).bg),
        (Color::Blue, Color::Blue, Color::Reset)
    );
    // User, then system.
    assert_eq!(
        (cell(19, 23).fg, cell(24, 23).fg, cell(40, 23).fg),
        (Color::Green, Color::Red, Color::DarkGray)
    );
    // Cursor, its indent, a model that is not started.
    let row = 33;
    assert_eq!((cell(1, row).bg, cell(1, row).fg), (Color::Red, Color::LightYellow));
    assert_eq!(cell(0, row).bg, Color::Reset);
    assert_eq!((cell(0, 55).fg, cell(0, 55).bg), (Color::LightYellow, Color::Blue));
    assert_eq!(cell(33, 55).fg, Color::LightGreen);
}

#[test]
fn without_colour_nothing_is_coloured() {
    let mut app = samples::app(&samples::lost());
    for size in SIZES {
        let buffer = drawn(&mut app, size, &Theme::plain());
        assert!(
            buffer.content.iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset)
        );
        assert!(buffer.content.iter().any(|cell| cell.modifier.contains(Modifier::REVERSED)));
    }
}

#[test]
fn ascii_is_all_that_is_drawn_where_that_is_asked() {
    let theme = Theme { ascii: true, ..Theme::dark() };
    for size in [(40, 12), (80, 24), (200, 60)] {
        for keys in ["h", "h f", "n", "?"] {
            let mut app = samples::app(&samples::lost());
            press(&mut app, keys);
            let buffer = drawn(&mut app, size, &theme);
            assert!(buffer.content.iter().all(|cell| cell.symbol().is_ascii()), "{size:?} {keys}");
        }
    }
}

/// No size, state or key breaks the drawing, and the cursor stays in sight.
#[test]
fn any_size_can_be_drawn() {
    let mut apps =
        [samples::app(&samples::many()), samples::app(&samples::idle()), samples::app(&[])];
    for app in &mut apps {
        for width in [0, 1, 39, 40, 41, 60, 79, 100, 160, 300] {
            for height in [0, 11, 12, 13, 16, 24, 50] {
                for keys in ["x", "f", "h", "?", "?", "down"] {
                    press(app, keys);
                    drawn(app, (width, height), &Theme::dark());
                }
            }
        }
    }
}
