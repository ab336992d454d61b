//! `/proc/stat`, `/proc/meminfo` and `/proc/PID/stat`.
//!
//! Ticks are those of the kernel's interface, 100 a second on every platform
//! that has Neuron devices (`USER_HZ`).

use std::io;

use super::files::Files;
use crate::sample::{CpuTimes, Cpus, Ram, System, Usage, Wanted};

/// What is asked for of the host.
pub(crate) fn read(files: &dyn Files, wanted: Wanted) -> Option<System> {
    if !wanted.cpus && !wanted.ram {
        return None;
    }
    let mut system = System::default();
    if wanted.cpus {
        match get(files, "proc/stat", parse_stat) {
            Ok(cpus) => system.cpus = Some(cpus),
            Err(error) => system.cpus_error = Some(error),
        }
    }
    if wanted.ram {
        match get(files, "proc/meminfo", parse_meminfo) {
            Ok(ram) => system.ram = Some(ram),
            Err(error) => system.ram_error = Some(error),
        }
    }
    Some(system)
}

/// CPU time of a process, or the text that the vendor's monitor has for its
/// absence (sys-tools.md §4.9).
pub(crate) fn usage(files: &dyn Files, pid: u32) -> Result<Usage, String> {
    get(files, &format!("proc/{pid}/stat"), parse_process)
}

fn get<T>(
    files: &dyn Files,
    path: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, String> {
    let shown = files.display(path);
    let bytes =
        files.read_often(path).map_err(|error| go_text(&shown.display().to_string(), &error))?;
    parse(&String::from_utf8_lossy(&bytes))
        .ok_or_else(|| format!("{}: unexpected content", shown.display()))
}

/// `open /proc/1/stat: no such file or directory`, as a Go program says it.
fn go_text(path: &str, error: &io::Error) -> String {
    format!("open {path}: {}", crate::error::io_reason(error))
}

/// The lines of `/proc/stat`: `cpu`, `cpuN`, `ctxt`.
fn parse_stat(text: &str) -> Option<Cpus> {
    let mut cpus = Cpus::default();
    let mut found = false;
    for line in text.lines() {
        let Some((name, rest)) = line.split_once(' ') else { continue };
        if name == "ctxt" {
            cpus.context_switches = rest.trim().parse().ok()?;
        } else if name == "cpu" {
            cpus.all = times(rest)?;
            found = true;
        } else if let Some(number) = name.strip_prefix("cpu") {
            cpus.each.push((number.parse().ok()?, times(rest)?));
        }
    }
    found.then_some(cpus)
}

fn times(text: &str) -> Option<CpuTimes> {
    let mut fields = text.split_ascii_whitespace().map(|field| field.parse().ok());
    let mut next = || fields.next().flatten();
    Some(CpuTimes {
        user: next()?,
        nice: next()?,
        system: next()?,
        idle: next()?,
        io_wait: next()?,
        irq: next()?,
        soft_irq: next()?,
    })
}

fn parse_meminfo(text: &str) -> Option<Ram> {
    let bytes = |key: &str| {
        let line = text.lines().find(|line| line.starts_with(key))?;
        let number = line.get(key.len()..)?.trim().strip_suffix("kB")?.trim();
        number.parse::<u64>().ok()?.checked_mul(1024)
    };
    Some(Ram {
        total: bytes("MemTotal:")?,
        available: bytes("MemAvailable:"),
        free: bytes("MemFree:")?,
        buffers: bytes("Buffers:").unwrap_or(0),
        cached: bytes("Cached:").unwrap_or(0),
        swap_total: bytes("SwapTotal:").unwrap_or(0),
        swap_free: bytes("SwapFree:").unwrap_or(0),
    })
}

/// Fields 14, 15 and 22 of `/proc/PID/stat`, counted from the last `)` of the
/// command.
fn parse_process(text: &str) -> Option<Usage> {
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let number = |field: usize| fields.get(field.checked_sub(3)?)?.parse().ok();
    Some(Usage { user: number(14)?, system: number(15)?, started: number(22)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::HostFiles;

    fn files(entries: &[(&str, &str)]) -> (tempfile::TempDir, HostFiles) {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in entries {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let files = HostFiles::open(dir.path()).unwrap();
        (dir, files)
    }

    const EVERYTHING: Wanted = Wanted::EVERYTHING;

    /// Lines in the form of proc(5), with the fields a kernel 6.1 writes.
    #[test]
    fn proc_as_the_kernel_writes_it() {
        let stat = "cpu  11 2 33 4444 5 0 6 7 0 0\ncpu0 5 1 16 2222 2 0 3 4 0 0\n\
                    cpu3 6 1 17 2222 3 0 3 3 0 0\nintr 99 0 1\nctxt 1234\nbtime 1\n";
        let meminfo = "MemTotal:       32334184 kB\nMemFree:         1000000 kB\n\
                       MemAvailable:   30000000 kB\nBuffers:             100 kB\n\
                       Cached:              200 kB\nSwapCached:            0 kB\n\
                       SwapTotal:          4096 kB\nSwapFree:           1024 kB\n";
        let (_dir, files) = files(&[("proc/stat", stat), ("proc/meminfo", meminfo)]);
        let system = read(&files, EVERYTHING).unwrap();
        let cpus = system.cpus.unwrap();
        assert_eq!((cpus.all.user, cpus.all.idle, cpus.all.soft_irq), (11, 4444, 6));
        assert_eq!(cpus.each.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0, 3]);
        assert_eq!(cpus.context_switches, 1234);
        let ram = system.ram.unwrap();
        assert_eq!(ram.total, 33_110_204_416);
        assert_eq!(ram.available, Some(30_000_000 * 1024));
        assert_eq!((ram.cached, ram.swap_total, ram.swap_free), (204_800, 4096 << 10, 1024 << 10));
    }

    #[test]
    fn what_is_missing_or_garbled_is_said_as_the_original_does() {
        let (dir, files) = files(&[("proc/stat", "cpu x\n"), ("proc/7/stat", "7 (a b) S 1")]);
        let system = read(&files, EVERYTHING).unwrap();
        let shown = |path: &str| dir.path().join(path).display().to_string();
        assert_eq!(
            system.cpus_error.unwrap(),
            format!("{}: unexpected content", shown("proc/stat"))
        );
        assert_eq!(
            system.ram_error.unwrap(),
            format!("open {}: no such file or directory", shown("proc/meminfo"))
        );
        assert!(usage(&files, 7).unwrap_err().ends_with("unexpected content"));
        assert!(usage(&files, 8).unwrap_err().ends_with("stat: no such file or directory"));
        assert_eq!(read(&files, Wanted::default()), None);
    }

    #[test]
    fn time_that_this_process_uses_shows() {
        let files = HostFiles::open(std::path::Path::new("/")).unwrap();
        let me = std::process::id();
        let before = usage(&files, me).unwrap();
        assert!(before.started > 0);
        let began = std::time::Instant::now();
        let mut used = before;
        while used.user + used.system < before.user + before.system + 3 {
            assert!(began.elapsed().as_secs() < 20, "no time passes: {used:?}");
            used = usage(&files, me).unwrap();
        }
    }
}
