//! A process that runs a case for each line it is given, and tells what that
//! took. So both sides of a bench stay warm and run in turn. Between its turns
//! it is stopped: threads of many libraries look for work long after they had
//! some, and would take a processor from the other side.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::run::Run;

/// The process. Closing its input ends it.
#[derive(Debug)]
pub(super) struct Server {
    line: String,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Server {
    /// Starts it with this many threads.
    pub(super) fn start(run: &Run, threads: usize) -> Result<Self> {
        let mut command = run.command();
        for name in ["NPU_BENCH_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"] {
            command.env(name, threads.to_string());
        }
        let line = run.line();
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.with_context(|| format!("cannot start `{line}`"))?;
        let output = BufReader::new(child.stdout.take().context("no pipe from the child")?);
        let input = child.stdin.take();
        Ok(Self { line, child, input, output })
    }

    /// Runs a case twice, the first time to warm up; the numbers of its second
    /// answer, or why it cannot run.
    pub(super) fn turn(&mut self, case: &str) -> Result<Result<Vec<f64>, String>> {
        self.signal(Signal::CONT)?;
        let warm = self.ask(case)?;
        let answer = if warm.is_ok() { self.ask(case)? } else { warm };
        self.signal(Signal::STOP)?;
        Ok(answer)
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        kill_process(Pid::from_child(&self.child), signal)
            .with_context(|| format!("cannot signal `{}`", self.line))
    }

    /// Runs a case once; the numbers of its answer, or why it cannot run.
    pub(super) fn ask(&mut self, case: &str) -> Result<Result<Vec<f64>, String>> {
        let input = self.input.as_mut().context("the input is closed")?;
        writeln!(input, "{case}").and_then(|()| input.flush())?;
        let mut answer = String::new();
        if self.output.read_line(&mut answer)? == 0 {
            bail!("`{}` ended at {case}", self.line);
        }
        if let Some(reason) = answer.strip_prefix("missing ") {
            return Ok(Err(reason.trim().to_owned()));
        }
        let numbers = answer.split_whitespace().map(str::parse).collect::<Result<Vec<f64>, _>>();
        let numbers = numbers.with_context(|| format!("`{}` answered {answer:?}", self.line))?;
        Ok(Ok(numbers))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.signal(Signal::CONT);
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(script: &str) -> Server {
        Server::start(&Run::new("sh").args(["-c", script]), 3).unwrap()
    }

    #[test]
    fn answers_are_numbers_or_a_reason() {
        let mut server = server("read a; echo $a $NPU_BENCH_THREADS; read b; echo missing no $b");
        assert_eq!(server.ask("7").unwrap(), Ok(vec![7.0, 3.0]));
        assert_eq!(server.ask("file").unwrap(), Err("no file".to_owned()));
    }

    #[test]
    fn a_turn_is_the_second_answer() {
        let mut server = server("n=0; while read a; do n=$((n+1)); echo $n; done");
        assert_eq!(server.turn("x").unwrap(), Ok(vec![2.0]));
        assert_eq!(server.turn("x").unwrap(), Ok(vec![4.0]));
    }

    #[test]
    fn a_server_that_ends_or_babbles_is_an_error() {
        let error = server("read a").ask("gemm").unwrap_err().to_string();
        assert!(error.ends_with("ended at gemm"), "{error}");
        let error = server("read a; echo hello").ask("gemm").unwrap_err().to_string();
        assert!(error.ends_with(r#"answered "hello\n""#), "{error}");
    }
}
