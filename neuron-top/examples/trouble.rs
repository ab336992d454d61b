//! The live screen on a source in trouble, for tests and benches:
//! `trouble sleep SECONDS SOURCE` reads so slowly, `trouble panic READINGS
//! SOURCE` panics after so many.

use std::time::Duration;

use neuron_core::sample::{Sample, Wanted};
use neuron_core::source::{self, Source};
use neuron_top::keys::Keymap;
use neuron_top::live::{self, Setting};
use neuron_top::reading::Reading;
use neuron_top::theme::Theme;

#[derive(Debug)]
struct Trouble {
    inner: Box<dyn Source>,
    kind: String,
    number: u64,
    left: u64,
}

impl Source for Trouble {
    fn sample(&mut self, wanted: Wanted) -> neuron_core::Result<Sample> {
        match self.kind.as_str() {
            // The first one is quick, so that there is something to see.
            "sleep" if self.left == 0 => std::thread::sleep(Duration::from_secs(self.number)),
            "panic" => assert!(self.left > 0, "the source is in trouble"),
            _ => {}
        }
        self.left = self.left.saturating_sub(1);
        self.inner.sample(wanted)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [kind, number, spec] = args.as_slice() else {
        return Err("usage: trouble sleep|panic NUMBER SOURCE".into());
    };
    let number: u64 = number.parse()?;
    let left = if kind == "sleep" { 2 } else { number };
    let source = Trouble { inner: source::open(&spec.parse()?)?, kind: kind.clone(), number, left };
    let setting = Setting {
        period: Duration::from_millis(100),
        keymap: Keymap::default(),
        theme: Theme::dark(),
        mouse: true,
        flops: false,
        curves: false,
    };
    match live::show(Reading::of(Box::new(source)), setting) {
        Ok(()) => Ok(()),
        Err(failure) => Err(format!("{failure:?}").into()),
    }
}
