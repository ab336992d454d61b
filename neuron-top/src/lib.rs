//! The live screen of NeuronCores, memory and processes.
//!
//! `reading` turns a source into [`frame::Frame`]s on a thread of its own,
//! [`app`] is the state (keys and frames in, what to show out), [`draw`] puts
//! it on a buffer, `live` has the loop. What this crate leaves out: long
//! records and exports (neuron-monitor).

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use neuron_core::Error;
use neuron_core::cli::{self, Exit, Output};

pub mod app;
mod args;
mod collect;
pub mod config;
pub mod draw;
mod events;
pub mod figures;
pub mod frame;
pub mod health;
pub mod history;
pub mod input;
pub mod json;
pub mod keys;
pub mod live;
pub mod reading;
pub mod tabs;
mod terminal;
pub mod theme;
pub mod tree;

pub use args::{Arguments, command};

use app::App;
use config::Config;
use live::{Failure, Setting};
use reading::Reading;
use theme::Theme;

/// Name in front of every message.
const PROGRAM: &str = "neuron-top";

/// Time between two readings where nothing is said.
const PERIOD: Duration = Duration::from_secs(1);

/// Columns of plain text where no terminal tells.
const COLUMNS: u16 = 100;

/// Runs the program; `args` starts with its name.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    let args: Arguments = match cli::parse(command(), args, Exit::Error) {
        Ok(args) => args,
        Err(exit) => return exit,
    };
    let env = |name: &str| std::env::var(name).ok();
    let config = match Config::read(args.config.as_deref(), env) {
        Ok(config) => config,
        Err(reason) => return complain(&reason),
    };
    let (reading, watch) = match Reading::open(args.common.source()) {
        Ok(opened) => opened,
        Err(error) => return failed(&error, &args),
    };
    let period = args.period.or(config.period).unwrap_or(PERIOD);
    let terminal = std::io::stdout().is_terminal();
    if let Some(count) = args.printed(terminal) {
        return print(reading, watch, &args, &config, period, count);
    }
    let setting = setting(&args, config, period, env);
    match live::run(reading, watch, setting) {
        Ok(()) => Exit::Done,
        Err(Failure::Source(error)) => failed(&error, &args),
        Err(Failure::Terminal(error)) => complain(&format!("terminal: {error}")),
        Err(Failure::Collector) => complain("the thread that reads has ended; see above"),
    }
}

fn setting(
    args: &Arguments,
    config: Config,
    period: Duration,
    env: impl Fn(&str) -> Option<String>,
) -> Setting {
    let light = args.theme.unwrap_or(config.theme).is_light(env("COLORFGBG").as_deref());
    let mut theme = Theme::of(args.common.color.decide(true), light);
    if theme.draws_rest {
        theme.paint(&config.colors);
    }
    theme.ascii = args.ascii || config.ascii.unwrap_or_else(|| !is_utf8(&env));
    Setting {
        period,
        keymap: config.keys,
        theme,
        mouse: config.mouse.unwrap_or(true) && !args.no_mouse,
        flops: config.flops,
        curves: config.curves,
    }
}

/// Whether the locale has UTF-8 (POSIX: the first of three that is set).
fn is_utf8(env: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name| env(name).filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default();
    let locale = locale.to_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// Prints `count` readings, the first after one period.
fn print(
    mut reading: Reading,
    watch: Option<reading::Watch>,
    args: &Arguments,
    config: &Config,
    period: Duration,
    count: u64,
) -> Exit {
    let mut out = Output::stdout();
    let mut app = App::new(config.keys.clone(), config.flops, config.curves);
    app.expand_all();
    // What rates are held against. Firmware is asked meanwhile, once.
    if let Err(error) = reading.frame() {
        return failed(&error, args);
    }
    let asked = watch.map(|mut watch| std::thread::spawn(move || watch.ask()));
    let mut said: Vec<String> = Vec::new();
    let mut partial = false;
    for number in 0..count {
        let ended = wait(period);
        if ended {
            return Exit::Done;
        }
        // A first document without the health of devices would not be whole.
        if number == 0
            && let Some(asked) = &asked
        {
            let begin = std::time::Instant::now();
            while !asked.is_finished() && begin.elapsed() < FIRMWARE {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        let frame = match reading.frame() {
            Ok(frame) => Arc::new(frame),
            Err(error) => return failed(&error, args),
        };
        app.on_frame(Arc::clone(&frame));
        let bytes = match args.json {
            true => json::line(&frame).unwrap_or_default(),
            false => {
                let apart = if number > 0 { "\n" } else { "" };
                format!("{apart}{}", draw::text(&app, columns(), ascii(args, config))).into_bytes()
            }
        };
        if let Err(error) = out.write_all(&bytes).and_then(|()| out.flush()) {
            return complain(&format!("cannot write to stdout: {error}"));
        }
        if out.is_closed() {
            return Exit::Done;
        }
        let problems: Vec<String> = frame.failure.iter().cloned().collect();
        for problem in problems.iter().filter(|problem| !said.contains(problem)) {
            cli::complain(PROGRAM, problem);
        }
        partial |= !problems.is_empty();
        said = problems;
    }
    if partial { Exit::Partial } else { Exit::Done }
}

/// Longest time that a first document waits for firmware.
const FIRMWARE: Duration = Duration::from_secs(5);

/// Waits; whether the reader of stdout went away meanwhile.
fn wait(period: Duration) -> bool {
    std::thread::sleep(period);
    cli::reader_gone(&std::io::stdout())
}

fn columns() -> u16 {
    let known = cli::width_of(&std::io::stdout())
        .or_else(|| std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok()));
    let columns = known.and_then(|columns| u16::try_from(columns).ok()).unwrap_or(COLUMNS);
    columns.clamp(draw::LEAST.0, 1000)
}

fn ascii(args: &Arguments, config: &Config) -> bool {
    let env = |name: &str| std::env::var(name).ok();
    args.ascii || config.ascii.unwrap_or_else(|| !is_utf8(env))
}

fn complain(text: &str) -> Exit {
    cli::complain(PROGRAM, text);
    Exit::Error
}

fn failed(error: &Error, args: &Arguments) -> Exit {
    match error {
        Error::NoDevices(reason) => cli::no_devices(PROGRAM, reason, args.common.color),
        error => cli::complain(PROGRAM, &error.to_string()),
    }
    Exit::Error
}
