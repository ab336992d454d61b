//! The kubelet's list, and what it says of cores and devices.
//!
//! The messages are those of the public pod-resources API, version 1, without
//! the fields that say nothing of devices. The ids are the indices that the
//! device plugin gives out: of cores under `aws.amazon.com/neuroncore`, of
//! devices under `aws.amazon.com/neurondevice` and `aws.amazon.com/neuron` (as
//! the OpenTelemetry receiver for Container Insights reads them).

use std::collections::BTreeMap;

use neuron_core::model::printable;

use crate::wire::{K8sInfo, Pod};

/// Indices that are believed: far more cores than an instance has.
const MOST: u32 = 4096;

/// `ListPodResourcesRequest`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ListRequest {}

/// `ListPodResourcesResponse`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ListResponse {
    #[prost(message, repeated, tag = "1")]
    pod_resources: Vec<PodResources>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct PodResources {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    namespace: String,
    #[prost(message, repeated, tag = "3")]
    containers: Vec<ContainerResources>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ContainerResources {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, repeated, tag = "2")]
    devices: Vec<ContainerDevices>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ContainerDevices {
    #[prost(string, tag = "1")]
    resource_name: String,
    #[prost(string, repeated, tag = "2")]
    device_ids: Vec<String>,
}

/// Who was given what.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Pods {
    cores: BTreeMap<u32, Pod>,
    devices: BTreeMap<u32, Pod>,
    /// An id that is no index.
    strange: Option<String>,
}

impl Pods {
    /// What an answer says.
    pub(super) fn of(answer: ListResponse) -> Self {
        let mut pods = Self::default();
        for pod in answer.pod_resources {
            let owner = Pod {
                pod_name: printable(&pod.name),
                namespace: printable(&pod.namespace),
                container_name: Vec::new(),
            };
            for container in pod.containers {
                let name = printable(&container.name);
                for given in container.devices {
                    pods.give(&given, &owner, &name);
                }
            }
        }
        pods
    }

    fn give(&mut self, given: &ContainerDevices, owner: &Pod, container: &str) {
        let owners = match given.resource_name.as_str() {
            "aws.amazon.com/neuroncore" => &mut self.cores,
            "aws.amazon.com/neurondevice" | "aws.amazon.com/neuron" => &mut self.devices,
            _ => return,
        };
        for id in &given.device_ids {
            let Some(index) = id.parse::<u32>().ok().filter(|index| *index < MOST) else {
                self.strange.get_or_insert_with(|| printable(id));
                continue;
            };
            let pod = owners.entry(index).or_insert_with(|| owner.clone());
            // A pod that is ending and its successor can both be listed: the
            // later one counts.
            if (&pod.pod_name, &pod.namespace) != (&owner.pod_name, &owner.namespace) {
                pod.clone_from(owner);
            }
            if !pod.container_name.iter().any(|name| name == container) {
                pod.container_name.push(container.to_owned());
            }
        }
    }

    /// The pod of each core and each device. Whoever has a device has its
    /// cores; whoever alone has cores of a device has the device.
    pub(super) fn info(self, cores_per_device: u32) -> K8sInfo {
        let Self { mut cores, mut devices, strange } = self;
        let per_device = cores_per_device.max(1);
        let mut sole: BTreeMap<u32, Option<Pod>> = BTreeMap::new();
        for (core, pod) in &cores {
            let entry = sole.entry(core / per_device).or_insert_with(|| Some(pod.clone()));
            let same = |known: &Pod| {
                (&known.pod_name, &known.namespace) == (&pod.pod_name, &pod.namespace)
            };
            if !entry.as_ref().is_some_and(same) {
                *entry = None;
            }
        }
        for (device, pod) in &devices {
            let first = device.saturating_mul(per_device);
            for core in first..first.saturating_add(per_device) {
                cores.entry(core).or_insert_with(|| pod.clone());
            }
        }
        for (device, pod) in sole {
            if let Some(pod) = pod {
                devices.entry(device).or_insert(pod);
            }
        }
        let error = strange.map_or_else(String::new, |id| {
            format!("the kubelet gave out {id:?}, which is no index of a core or device")
        });
        K8sInfo { period: 0.0, neuroncores_k8s_info: cores, neurondevices_k8s_info: devices, error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(resource: &str, ids: &[&str]) -> ContainerDevices {
        ContainerDevices {
            resource_name: format!("aws.amazon.com/{resource}"),
            device_ids: ids.iter().map(|id| (*id).to_owned()).collect(),
        }
    }

    fn pod(name: &str, containers: &[(&str, Vec<ContainerDevices>)]) -> PodResources {
        let containers = containers.iter().map(|(name, devices)| ContainerResources {
            name: (*name).to_owned(),
            devices: devices.clone(),
        });
        PodResources {
            name: name.to_owned(),
            namespace: String::from("ml"),
            containers: containers.collect(),
        }
    }

    #[test]
    fn devices_give_cores_and_cores_give_devices_of_one_owner() {
        let answer = ListResponse {
            pod_resources: vec![
                pod("a", &[("x", vec![given("neuron", &["0"])])]),
                pod(
                    "b",
                    &[
                        ("x", vec![given("neuroncore", &["4", "5"])]),
                        ("y", vec![given("neuroncore", &["5"])]),
                    ],
                ),
                pod("c", &[("z", vec![given("neuroncore", &["6"]), given("efa", &["9"])])]),
                pod("d", &[("w", vec![given("neuroncore", &["8"])])]),
            ],
        };
        let info = Pods::of(answer).info(4);
        let cores: Vec<(u32, &str)> =
            info.neuroncores_k8s_info.iter().map(|(n, p)| (*n, p.pod_name.as_str())).collect();
        assert_eq!(
            cores,
            [(0, "a"), (1, "a"), (2, "a"), (3, "a"), (4, "b"), (5, "b"), (6, "c"), (8, "d")]
        );
        let devices: Vec<(u32, &str)> =
            info.neurondevices_k8s_info.iter().map(|(n, p)| (*n, p.pod_name.as_str())).collect();
        assert_eq!(devices, [(0, "a"), (2, "d")]);
        assert_eq!(info.neuroncores_k8s_info[&5].container_name, ["x", "y"]);
        assert_eq!(info.error, "");
    }

    #[test]
    fn strange_ids_are_told_and_the_rest_holds() {
        let many = "4294967295";
        let answer = ListResponse {
            pod_resources: vec![pod(
                "a\u{1b}",
                &[("x", vec![given("neuron", &["neuron0", many, "1"])])],
            )],
        };
        let info = Pods::of(answer).info(2);
        assert_eq!(info.neurondevices_k8s_info.len(), 1);
        assert!(info.error.contains("neuron0"), "{}", info.error);
        assert!(!info.neurondevices_k8s_info[&1].pod_name.contains('\u{1b}'));
    }
}
