//! neuron-top in a real terminal: tmux. What it shows, that keys do what they
//! should, and that the terminal is as it was when it ends, however that comes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use neuron_core::instance::InstanceType;
use neuron_core::sim::{Attachment, DatastoreWriter, Places, Sim};
use neuron_core::uapi::nds::{core_counter as id, device_counter};
use neuron_core::uapi::nds_ext::{self, Block, Model, ModelMemory};
use neuron_tests::{bin, require};

/// A terminal with a shell in it, on a server of its own.
struct Terminal {
    socket: String,
    dir: tempfile::TempDir,
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-L", &self.socket, "kill-server"]).output();
    }
}

impl Terminal {
    fn new(name: &str, columns: u32, lines: u32) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let terminal = Self { socket: format!("top-{name}-{}", std::process::id()), dir };
        let size = ["-x", &columns.to_string(), "-y", &lines.to_string()];
        let mut command = terminal.command(&["new-session", "-d"]);
        command.args(size).args(["env", "-u", "TMUX", "PS1=% ", "sh", "-i"]);
        command
            .env("LC_ALL", "C.UTF-8")
            .env("NEURON_SIM_DIR", terminal.dir.path())
            .env("HOME", terminal.dir.path())
            .env_remove("NEURON_SOURCE")
            .env_remove("NEURON_LOGICAL_NC_CONFIG")
            .env_remove("NO_COLOR")
            .env_remove("XDG_CONFIG_HOME");
        assert!(command.status().unwrap().success());
        terminal.wait("%");
        terminal
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        command.args(["-L", &self.socket, "-f", "/dev/null", "-u"]).args(args);
        command.stdin(Stdio::null());
        command
    }

    fn tmux(&self, args: &[&str]) -> String {
        let output = self.command(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// Waits until the screen has a text.
    fn wait(&self, text: &str) -> String {
        self.until(text, |screen| screen.contains(text))
    }

    fn until(&self, what: &str, holds: impl Fn(&str) -> bool) -> String {
        let begin = Instant::now();
        loop {
            let screen = self.screen();
            if holds(&screen) {
                return screen;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "no {what} in\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn keys(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    /// Types a line for the shell.
    fn line(&self, line: &str) {
        self.tmux(&["send-keys", "-l", line]);
        self.keys(&["Enter"]);
    }

    /// What the terminal is set to: alternate screen, cursor, mouse.
    fn modes(&self) -> String {
        self.tmux(&["display-message", "-p", "#{alternate_on} #{cursor_flag} #{mouse_any_flag}"])
    }

    /// What `stty` says, by the shell in it.
    fn stty(&self, name: &str) -> String {
        let path = self.dir.path().join(name);
        let shown = path.display();
        self.line(&format!("stty -g > {shown}.new; mv {shown}.new {shown}"));
        let begin = Instant::now();
        while !path.exists() {
            assert!(begin.elapsed() < Duration::from_secs(30), "stty did not run");
            std::thread::sleep(Duration::from_millis(20));
        }
        std::fs::read_to_string(path).unwrap()
    }

    /// The process of that name in the terminal.
    fn pid(&self, name: &str) -> String {
        let tty = self.tmux(&["display-message", "-p", "#{pane_tty}"]);
        let tty = tty.trim().trim_start_matches("/dev/").to_owned();
        let begin = Instant::now();
        loop {
            for entry in std::fs::read_dir("/proc").unwrap().flatten() {
                let comm = std::fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
                let own = std::fs::read_link(entry.path().join("fd/0")).unwrap_or_default();
                if comm.trim() == name && own == Path::new("/dev").join(&tty) {
                    return entry.file_name().to_string_lossy().into_owned();
                }
            }
            assert!(begin.elapsed() < Duration::from_secs(30), "{name} does not run");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// This process as an application on a device, with one model.
struct Worker {
    store: DatastoreWriter,
    _attachment: Attachment,
}

fn worker(dir: &Path, kind: &str, device: u32) -> Worker {
    let row = InstanceType::find(kind).unwrap();
    let sim = Sim::open_or_create(&Places::only(dir), kind, row).unwrap();
    let attachment = sim.attach(device).unwrap();
    let store = attachment.datastore().unwrap();
    store.set_device(device_counter::RUNTIME_VERSION, 0x0222_0000_000a).unwrap();
    store.set_device(device_counter::HOST_MEM_MISC, 3 << 20).unwrap();
    store.set_core(0, id::DEVICE_MEM_CODE, 7 << 20).unwrap();
    store.set_core(0, id::DEVICE_MEM_CONSTANTS, 5 << 20).unwrap();
    let model = Model {
        id: 10_001,
        device: ModelMemory { constants: 5 << 20, ..ModelMemory::default() },
        running: true,
        name: String::from("bert.neff"),
        ..Model::default()
    };
    let block = Block { tag: String::from("serving"), models: vec![model], ..Block::default() };
    store.write_extension(nds_ext::START, &block.encode().unwrap()).unwrap();
    Worker { store, _attachment: attachment }
}

#[test]
fn driven_like_a_user_does() {
    if !require("tmux") {
        return;
    }
    let terminal = Terminal::new("user", 100, 30);
    let before = terminal.stty("before");
    let worker = worker(terminal.dir.path(), "trn1.2xlarge", 0);
    let top = bin("neuron-top");
    terminal.line(&format!("{} --source sim:trn1.2xlarge --period 100ms", top.display()));
    let screen = terminal.wait("[2]:serving");
    assert!(screen.contains("(trn1.2xlarge, simulated)"), "{screen}");
    assert!(screen.contains("NeuronCore v2 Utilization"), "{screen}");
    assert!(screen.contains(">[1]:all<"));
    // 7 MB of code and 5 of constants; 3 of the host.
    assert!(screen.contains("12.0MB") && screen.contains("3.0MB"), "{screen}");
    assert_eq!(terminal.modes().trim(), "1 0 1");

    // Figures are of the counters: nothing, then half of the core's time.
    terminal.until("an idle core", |screen| screen.contains("Utilization (Avg: 0.00%)"));
    let busy = std::thread::spawn(move || {
        for step in 1..=600_u64 {
            worker.store.set_core(0, id::TIME_IN_USE, step * 10_000_000).unwrap();
            worker.store.set_core(0, id::CORE_TIME, step * 20_000_000).unwrap();
            worker.store.set_core(0, id::MAC_COUNT, step * 1_000_000_000_000).unwrap();
            std::thread::sleep(Duration::from_millis(20));
        }
        worker
    });
    let shown = |screen: &str| -> Option<f64> {
        let text = screen.split("(Avg: ").nth(1)?.split('%').next()?;
        text.trim().parse().ok()
    };
    // Half of one core of two; the two clocks are read at different moments.
    terminal.until("a busy core", |screen| {
        shown(screen).is_some_and(|avg| (15.0..35.0).contains(&avg))
    });
    terminal.keys(&["f"]);
    terminal.wait("TF | Total:");
    terminal.keys(&["f", "h"]);
    terminal.until("a curve", |screen| screen.contains('▄') || screen.contains('▅'));
    terminal.keys(&["h"]);

    // Tabs.
    terminal.keys(&["2"]);
    terminal.wait(">[2]:serving<");
    terminal.keys(&["a"]);
    terminal.wait(">[1]:all<");

    // The tree.
    terminal.keys(&["x"]);
    let screen = terminal.wait("bert.neff");
    let line = screen.lines().find(|line| line.contains("bert.neff")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words, ["[-]", "bert.neff", "10001", "5.0MB", "0.0B"]);
    terminal.keys(&["x"]);
    terminal.until("a collapsed tree", |screen| !screen.contains("bert.neff"));
    terminal.keys(&["Enter"]);
    terminal.wait("[+] NC 0");

    // Filter, help, pause.
    terminal.keys(&["/"]);
    terminal.tmux(&["send-keys", "-l", "zzz"]);
    terminal.wait("nothing passes the filter");
    terminal.keys(&["Escape"]);
    terminal.wait("[+] NC 0");
    terminal.keys(&["?"]);
    terminal.wait("any other key closes this");
    terminal.keys(&["?"]);
    terminal.until("no help", |screen| !screen.contains("any other key"));
    terminal.keys(&["["]);
    terminal.wait("paused -");
    terminal.keys(&["Space"]);
    terminal.until("no pause", |screen| !screen.contains("paused"));

    // Sizes. A line never goes beyond the edge.
    for (columns, lines) in [("40", "15"), ("200", "50"), ("100", "30")] {
        terminal.tmux(&["resize-window", "-x", columns, "-y", lines]);
        let (columns, count): (usize, usize) = (columns.parse().unwrap(), lines.parse().unwrap());
        let screen = terminal.until("the new size", |screen| {
            let last = screen.trim_end_matches('\n').lines().last().unwrap_or_default();
            screen.lines().count() == count && last.contains("q: quit")
        });
        assert!(screen.lines().all(|line| line.chars().count() <= columns), "{screen}");
    }

    // A mouse: the tab of the process.
    let screen = terminal.screen();
    let (row, line) =
        screen.lines().enumerate().find(|(_, line)| line.contains("[2]:serving")).unwrap();
    let column = line.find("[2]").unwrap();
    let press = format!("\x1b[<0;{};{}M\x1b[<0;{};{}m", column + 2, row + 1, column + 2, row + 1);
    terminal.tmux(&["send-keys", "-l", &press]);
    terminal.wait(">[2]:serving<");

    terminal.keys(&["q"]);
    terminal.until("the shell", |screen| !screen.contains("NeuronCore"));
    assert_eq!(terminal.modes().trim(), "0 1 0");
    assert_eq!(terminal.stty("after"), before);
    drop(busy.join().unwrap());
}

/// Ends the program in a way and looks at the terminal.
fn ended_by(
    name: &str,
    end: impl FnOnce(&Terminal),
    said: &str,
    line: impl FnOnce(&Terminal) -> String,
) {
    let terminal = Terminal::new(name, 80, 24);
    let before = terminal.stty("before");
    terminal.line(&format!("{}; echo status=$?", line(&terminal)));
    terminal.wait("NeuronCore v2 Utilization");
    assert_eq!(terminal.modes().trim(), "1 0 1");
    end(&terminal);
    // Not the line as it was typed: it is there again before the program has
    // ended, and what is typed then is thrown away.
    let ended = |screen: &str| {
        let told = screen.split("status=").skip(1);
        told.filter_map(|rest| rest.chars().next()).any(|first| first.is_ascii_digit())
    };
    let screen = terminal.until("the end", ended);
    assert!(screen.contains(said), "{name}: {screen}");
    assert_eq!(terminal.modes().trim(), "0 1 0", "{name}");
    assert_eq!(terminal.stty("after"), before, "{name}");
}

fn plain(_: &Terminal) -> String {
    format!("{} --source sim:trn1.2xlarge", bin("neuron-top").display())
}

fn kill(terminal: &Terminal, signal: &str, name: &str) {
    let pid = terminal.pid(name);
    assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
}

#[test]
fn the_terminal_is_restored_after_every_end() {
    if !require("tmux") {
        return;
    }
    ended_by("term", |terminal| kill(terminal, "-TERM", "neuron-top"), "status=0", plain);
    ended_by("hup", |terminal| kill(terminal, "-HUP", "neuron-top"), "status=0", plain);
    ended_by("int", |terminal| kill(terminal, "-INT", "neuron-top"), "status=0", plain);
    ended_by("ctrl-c", |terminal| terminal.keys(&["C-c"]), "status=0", plain);
}

/// The example of neuron-top that reads from a source in trouble.
fn trouble() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "build",
            "--quiet",
            "--message-format=json",
            "-p",
            "neuron-top",
            "--example",
            "trouble",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success());
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["target"]["name"] == "trouble")
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .unwrap()
}

#[test]
fn the_terminal_is_restored_after_a_panic() {
    if !require("tmux") {
        return;
    }
    let program = trouble();
    let line = |_: &Terminal| format!("{} panic 30 sim:trn1.2xlarge", program.display());
    ended_by("panic", |_| {}, "the source is in trouble", line);
}

/// Keys are answered while a reading takes seconds, and the screen says that
/// nothing new has come.
#[test]
fn a_slow_source_holds_nothing_up() {
    if !require("tmux") {
        return;
    }
    let terminal = Terminal::new("slow", 80, 24);
    terminal.line(&format!("{} sleep 8 sim:trn1.2xlarge", trouble().display()));
    terminal.wait("Utilization (Avg:");
    terminal.wait("no answer for");
    let begin = Instant::now();
    terminal.keys(&["f"]);
    terminal.wait("TF | Total:");
    terminal.keys(&["q"]);
    terminal.until("the shell", |screen| !screen.contains("NeuronCore"));
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
}

/// A terminal that goes away ends the program.
#[test]
fn a_lost_terminal_ends_it() {
    if !require("tmux") {
        return;
    }
    let terminal = Terminal::new("lost", 80, 24);
    terminal.line(&plain(&terminal));
    terminal.wait("NeuronCore v2 Utilization");
    let pid = terminal.pid("neuron-top");
    terminal.tmux(&["kill-server"]);
    let begin = Instant::now();
    while Path::new("/proc").join(&pid).exists() {
        assert!(begin.elapsed() < Duration::from_secs(20), "it goes on without a terminal");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Stopped with Ctrl-Z and continued by the shell.
#[test]
fn ctrl_z_stops_it_and_fg_goes_on() {
    if !require("tmux") {
        return;
    }
    let terminal = Terminal::new("stop", 80, 24);
    terminal.line("set -m");
    terminal.line(&plain(&terminal));
    terminal.wait("NeuronCore v2 Utilization");
    terminal.keys(&["C-z"]);
    terminal.until("the shell", |screen| !screen.contains("NeuronCore"));
    assert_eq!(terminal.modes().trim(), "0 1 0");
    terminal.line("fg");
    terminal.wait("NeuronCore v2 Utilization");
    assert_eq!(terminal.modes().trim(), "1 0 1");
    terminal.keys(&["q"]);
    terminal.until("the shell", |screen| !screen.contains("NeuronCore"));
}
