//! Text of waits and updates (isa-layouts.md §2.1, §2.2).
//!
//! Printed by captures: `==v`, `>=v`, `==1-`, `+@complete`, `++@complete`,
//! `+=v@complete`, `=v@complete`; `>v` is in the public sample. The others
//! follow them and are ours.

use super::value::integer;
use crate::isa::event::{
    Action, Compare, Events, Moment, Operand, Update, UpdateMode, Wait, WaitMode,
};
use crate::isa::names::SemaphoreNames;

fn operand(source: Operand, value: u32) -> String {
    match source {
        Operand::Value => value.to_string(),
        Operand::Register => format!("$R[{value}]"),
    }
}

fn read_operand(text: &str) -> Option<(Operand, u32)> {
    match text.strip_prefix("$R[") {
        Some(register) => Some((Operand::Register, integer(register.strip_suffix(']')?)?)),
        None => Some((Operand::Value, integer(text)?)),
    }
}

/// Text of the wait; `None` when there is none or the mode is unknown.
pub(crate) fn wait_text(events: &Events, names: &SemaphoreNames) -> Option<String> {
    let index = events.wait_index;
    Some(match events.wait_mode.meaning()? {
        Wait::None => return None,
        Wait::Semaphore(compare, source) => {
            format!("{}{}{}", names.text(index), compare.sign(), operand(source, events.wait_value))
        }
        Wait::EventSet { then_clear } => {
            format!("$E[{index}]==1{}", if then_clear { "-" } else { "" })
        }
        Wait::EventClear { then_set } => {
            format!("$E[{index}]==0{}", if then_set { "+" } else { "" })
        }
        Wait::Unordered => String::from("unordered"),
    })
}

/// Text of the update; `None` when there is none or the mode is unknown.
pub(crate) fn update_text(events: &Events, names: &SemaphoreNames) -> Option<String> {
    let update = events.update_mode.meaning()?;
    let index = events.update_index;
    let target = match update.action {
        Action::SetEvent | Action::ClearEvent => format!("$E[{index}]"),
        _ => names.text(index),
    };
    let change = match update.action {
        Action::SetEvent => String::from("+"),
        Action::ClearEvent => String::from("-"),
        Action::Increment => String::from("++"),
        Action::Decrement => String::from("--"),
        Action::Add(source) => format!("+={}", operand(source, events.update_value)),
        Action::Subtract(source) => format!("-={}", operand(source, events.update_value)),
        Action::Write(source) => format!("={}", operand(source, events.update_value)),
    };
    let moment = match update.moment {
        Moment::Read => "read",
        Moment::Complete => "complete",
    };
    Some(format!("{target}{change}@{moment}"))
}

/// Whether the text of a wait shows its index and its value.
pub(crate) fn wait_shows(mode: WaitMode) -> (bool, bool) {
    match mode.meaning() {
        Some(Wait::Semaphore(..)) => (true, true),
        Some(Wait::EventSet { .. } | Wait::EventClear { .. }) => (true, false),
        Some(Wait::None | Wait::Unordered) | None => (false, false),
    }
}

/// Whether the text of an update shows its index and its value.
pub(crate) fn update_shows(mode: UpdateMode) -> (bool, bool) {
    match mode.meaning().map(|update| update.action) {
        Some(Action::Add(_) | Action::Subtract(_) | Action::Write(_)) => (true, true),
        Some(_) => (true, false),
        None => (false, false),
    }
}

/// Value that real second blocks hold beside an update whose text has none:
/// 1 for `++` and `--`.
pub(crate) fn usual_update_value(mode: UpdateMode) -> u32 {
    match mode.meaning().map(|update| update.action) {
        Some(Action::Increment | Action::Decrement) => 1,
        _ => 0,
    }
}

/// A wait or an update that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventToken {
    Wait { mode: WaitMode, index: u8, value: Option<u32> },
    Update { mode: UpdateMode, index: u8, value: Option<u32> },
}

/// Whether a token is a wait or an update.
pub(crate) fn is_event(token: &str) -> bool {
    ["$S[", "S[", "$E["].iter().any(|start| token.starts_with(start)) || token == "unordered"
}

/// Reads a wait or an update.
pub(crate) fn read_event(token: &str) -> Option<EventToken> {
    let wait = |wait: Wait, index: u8, value: Option<u32>| {
        WaitMode::of(wait).map(|mode| EventToken::Wait { mode, index, value })
    };
    if token == "unordered" {
        return wait(Wait::Unordered, 0, None);
    }
    let (is_event, rest) = match token.strip_prefix("$E[") {
        Some(rest) => (true, rest),
        None => (false, token.strip_prefix('$').unwrap_or(token).strip_prefix("S[")?),
    };
    let (index, rest) = rest.split_once(']')?;
    let index = integer(index)?;
    if let Some((change, moment)) = rest.rsplit_once('@') {
        let moment = match moment {
            "read" => Moment::Read,
            "complete" => Moment::Complete,
            _ => return None,
        };
        let (action, value) = read_action(is_event, change)?;
        let mode = UpdateMode::of(Update { action, moment })?;
        return Some(EventToken::Update { mode, index, value });
    }
    if is_event {
        let meaning = match rest {
            "==1" => Wait::EventSet { then_clear: false },
            "==1-" => Wait::EventSet { then_clear: true },
            "==0" => Wait::EventClear { then_set: false },
            "==0+" => Wait::EventClear { then_set: true },
            _ => return None,
        };
        return wait(meaning, index, None);
    }
    let (compare, value) = [
        Compare::Equal,
        Compare::LessEqual,
        Compare::GreaterEqual,
        Compare::Less,
        Compare::Greater,
    ]
    .into_iter()
    .find_map(|compare| Some((compare, rest.strip_prefix(compare.sign())?)))?;
    let (source, value) = read_operand(value)?;
    wait(Wait::Semaphore(compare, source), index, Some(value))
}

fn read_action(is_event: bool, change: &str) -> Option<(Action, Option<u32>)> {
    match (is_event, change) {
        (true, "+") => return Some((Action::SetEvent, None)),
        (true, "-") => return Some((Action::ClearEvent, None)),
        (true, _) => return None,
        (false, "++") => return Some((Action::Increment, None)),
        (false, "--") => return Some((Action::Decrement, None)),
        _ => {}
    }
    let (action, text): (fn(Operand) -> Action, &str) =
        if let Some(text) = change.strip_prefix("+=") {
            (Action::Add, text)
        } else if let Some(text) = change.strip_prefix("-=") {
            (Action::Subtract, text)
        } else {
            (Action::Write, change.strip_prefix('=')?)
        };
    let (source, value) = read_operand(text)?;
    Some((action(source), Some(value)))
}
