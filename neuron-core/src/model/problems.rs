//! Problems as a reader sees them: each device by the name that the views give
//! it, and one line for devices that have the same one.

use crate::sample::{Device, Problem};

/// The problems with their devices named in the text: by the index that is
/// shown, and by the host's where that is another.
pub(super) fn told(devices: &[Device], problems: &[Problem]) -> Vec<Problem> {
    let name = |host: u32| match devices.iter().find(|device| device.host_index == host) {
        Some(device) if device.index != host => format!("neuron{} (host {host})", device.index),
        _ => format!("neuron{host}"),
    };
    let mut groups: Vec<(String, Vec<u32>)> = Vec::new();
    for problem in problems.iter().take(MOST) {
        let text = super::printable(&problem.text);
        let text = match problem.device.map(|host| format!("neuron{host}: ")) {
            Some(own) => text.strip_prefix(&own).unwrap_or(&text).to_owned(),
            None => text,
        };
        match groups.iter_mut().find(|(known, _)| *known == text) {
            Some((_, devices)) => devices.extend(problem.device),
            None => groups.push((text, problem.device.into_iter().collect())),
        }
    }
    groups
        .into_iter()
        .map(|(text, devices)| match devices.as_slice() {
            [] => Problem { device: None, text },
            [host] => Problem { device: Some(*host), text: format!("{}: {text}", name(*host)) },
            [first, .., last] => {
                let (count, first, last) = (devices.len(), name(*first), name(*last));
                Problem {
                    device: None,
                    text: format!("{count} devices ({first} to {last}): {text}"),
                }
            }
        })
        .collect()
}

/// Most problems of a sample that are told. A reading has far fewer; a
/// recording may hold anything.
const MOST: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn device(index: u32, host_index: u32) -> Device {
        Device { index, host_index, ..Device::default() }
    }

    fn problem(device: Option<u32>, text: &str) -> Problem {
        Problem { device, text: text.to_owned() }
    }

    fn texts(problems: &[Problem]) -> Vec<String> {
        let devices = [device(0, 0), device(1, 13), device(2, 14)];
        told(&devices, problems).into_iter().map(|problem| problem.text).collect()
    }

    #[test]
    fn devices_have_the_names_that_are_shown() {
        let one = |host, text| texts(&[problem(host, text)]);
        assert_eq!(one(Some(0), "no answer"), ["neuron0: no answer"]);
        assert_eq!(one(Some(13), "no answer"), ["neuron1 (host 13): no answer"]);
        assert_eq!(one(Some(13), "neuron13: no answer"), ["neuron1 (host 13): no answer"]);
        assert_eq!(one(Some(7), "no node"), ["neuron7: no node"]);
        assert_eq!(one(None, "cannot list /proc"), ["cannot list /proc"]);
    }

    #[test]
    fn what_several_have_is_said_once() {
        let many = [0, 13, 14].map(|host| problem(Some(host), "no\u{1b}[2J answer\n"));
        let line = "3 devices (neuron0 to neuron2 (host 14)): no\\u{1b}[2J answer\\n";
        assert_eq!(texts(&many), [line]);
    }
}
