//! `neuron-profile report`: named questions to stored profiles, and what limits
//! them.

pub(crate) mod bottlenecks;
mod show;

use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use clap::ValueEnum;
use profile_query::report::{self, Section};
use profile_query::{Dataset, Session, Stop, compare, judge_all};

use crate::output::{self, Exit};
use crate::query::interrupt::Interrupt;
use crate::query::memory;
use crate::query::select::Select;
use show::{Page, Part, Shown, Style};

/// Answer questions that are asked of every profile
#[derive(Debug, clap::Args)]
#[command(after_help = output::codes())]
pub struct Args {
    /// Question
    #[arg(value_enum)]
    name: Name,

    /// Profiles: id, the begin of one, a display name, or a folder or URL for all below it; compare holds each against the first
    #[arg(value_name = "PROFILE")]
    profiles: Vec<String>,

    /// Form of the result
    #[arg(long, value_enum, default_value_t)]
    output_format: Style,

    /// Where it goes; it appears whole or not at all
    #[arg(short, long, value_name = "FILE")]
    output_file: Option<PathBuf>,

    /// Rows of each table at most; 20 for people, 10000 in csv and json if left out
    #[arg(long, value_name = "N", value_parser = rows)]
    limit: Option<usize>,

    /// Print the SQL behind the tables and ask nothing
    #[arg(long)]
    sql: bool,

    #[command(flatten)]
    select: Select,
}

fn rows(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=1_000_000).contains(number));
    number.ok_or_else(|| String::from("a number from 1 to 1000000"))
}

/// Questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Name {
    /// What limits the profile, with the rows that show it
    Bottlenecks,
    /// Which layers take the time of which engine
    Layers,
    /// Which operators and opcodes take the time
    Operators,
    /// How busy each engine is, and what it waits for
    Engines,
    /// What the DMA rings move, how fast, in what sizes
    Dma,
    /// When nothing computed, and what ended the pause
    Idle,
    /// How full the memories are, and what moves between them
    Memory,
    /// Metrics, layers, operators and opcodes of two profiles or more
    Compare,
}

impl Name {
    fn text(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    fn sections(self) -> &'static [Section] {
        match self {
            Self::Compare => report::COMPARE.sections,
            name => report::find(&name.text()).map_or(&[], |report| report.sections),
        }
    }
}

impl Args {
    fn limit(&self) -> usize {
        self.limit.unwrap_or(if self.output_format == Style::Table { 20 } else { 10_000 })
    }
}

/// Runs the command.
///
/// # Errors
///
/// No such profile, tables that cannot be read, files that cannot be written.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    if args.sql {
        sql(args, out)?;
        return Ok(Exit::Done);
    }
    let profiles = args.select.profiles(&args.profiles)?;
    if args.name == Name::Compare && profiles.len() < 2 {
        bail!("compare needs two profiles: neuron-profile report compare A B");
    }
    let stop = Stop::default();
    let interrupt = Interrupt::catch(&stop)?;
    let pages = match args.name {
        Name::Compare => against(args, &profiles, &stop),
        _ => profiles.iter().map(|profile| one(args, profile, &stop)).collect(),
    };
    interrupt.end();
    let shown = Shown { report: args.name.text(), pages: pages? };
    shown.write(args.output_format, args.output_file.as_deref(), out)?;
    Ok(Exit::Done)
}

/// A report of one profile.
fn one(args: &Args, profile: &Dataset, stop: &Stop) -> anyhow::Result<Page> {
    let session = args.select.session(vec![profile.clone()], stop)?;
    let mut page = Page::of(&[profile]);
    if args.name == Name::Bottlenecks {
        let judged = judge_all(&session).map_err(memory)?;
        if let Some(why) = judged.iter().find_map(|one| one.here) {
            output::tell(
                "note",
                [format!("rows of findings are looked for in this process: {why}")],
            );
        }
        page.findings = Some(judged);
    }
    ask(args, &session, &mut page)?;
    Ok(page)
}

/// Each profile against the first.
fn against(args: &Args, profiles: &[Dataset], stop: &Stop) -> anyhow::Result<Vec<Page>> {
    let Some((first, others)) = profiles.split_first() else { return Ok(Vec::new()) };
    let compared = others.iter().map(|second| {
        let (engine, limits) = (args.select.engine(), args.select.limits());
        let mut page = Page::of(&[first, second]);
        let changes = compare::metrics(engine, first, second, limits, stop);
        let mut changes = changes.map_err(memory)?;
        changes.retain(|change| change.difference() != Some(0.0));
        changes.truncate(args.limit());
        page.parts.push(Part {
            name: "metrics",
            title: "Metrics that differ, by ratio",
            batches: vec![compare::batch(&changes)?],
        });
        let session = args.select.session(vec![first.clone(), second.clone()], stop)?;
        ask(args, &session, &mut page)?;
        Ok(page)
    });
    compared.collect()
}

/// The tables of a report.
fn ask(args: &Args, session: &Session, page: &mut Page) -> anyhow::Result<()> {
    for section in args.name.sections() {
        let rows = session.query(&section.sql(args.limit())).map_err(memory)?;
        if let Some(why) = rows.here() {
            let text = format!("{} is answered in this process: {why}", section.name);
            output::tell("note", [text]);
        }
        let schema = rows.schema();
        let mut batches = rows.collect::<Result<Vec<_>, _>>().map_err(memory)?;
        // The names of the columns, also where no row came.
        batches.insert(0, profile_query::arrow::array::RecordBatch::new_empty(schema));
        page.parts.push(Part { name: section.name, title: section.title, batches });
    }
    Ok(())
}

/// The statements, each with its title.
fn sql(args: &Args, out: &mut dyn Write) -> std::io::Result<()> {
    let sections = args.name.sections();
    let statements: Vec<(String, String)> = if args.name == Name::Bottlenecks {
        let rules = profile_query::rules::RULES.iter();
        rules.map(|rule| (rule.id.to_owned(), rule.sql.to_owned())).collect()
    } else {
        let all = sections.iter();
        all.map(|section| (section.title.to_owned(), section.sql(args.limit()))).collect()
    };
    for (title, sql) in statements {
        writeln!(out, "-- {title}\n{sql};")?;
    }
    out.flush()
}
