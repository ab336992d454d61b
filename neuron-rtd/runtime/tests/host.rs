//! What a simulated instance shows of a runtime.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use std::path::Path;
use std::sync::Arc;

use neuron_core::instance::InstanceType;
use neuron_core::sample::DeviceState;
use neuron_core::sim::{Places, ProcessId, Sim};
use neuron_core::uapi::nds::core_counter as id;
use neuron_core::uapi::{nds, nds_ext};
use rtd_runtime::{
    Code, Cores, Failure, LoadParams, ModelState, Quiet, Runtime, Settings, SimHost, Software,
};
use support::neff::{Chain, Node};
use support::{request, until};

fn sim(dir: &Path) -> Sim {
    let kind = InstanceType::find("inf1.6xlarge").unwrap();
    Sim::open_or_create(&Places::only(dir), "lab", kind).unwrap()
}

fn runtime(sim: &Sim, devices: &[u32]) -> Result<Runtime, Failure> {
    let cores = Cores::new(InstanceType::find("inf1.6xlarge").unwrap(), devices)?;
    let host = SimHost::attach(sim.clone(), &cores, "a test")?;
    let backend = Box::new(Software::default());
    Runtime::new(cores, backend, Box::new(host), Settings::default(), Arc::new(Quiet))
}

fn entry(sim: &Sim, device: u32) -> Vec<u8> {
    std::fs::read(sim.datastore_path(device, ProcessId::own().unwrap())).unwrap()
}

fn counter(sim: &Sim, device: u32, core: usize, counter: u32) -> u64 {
    let nds::Entry::InUse(store) = nds::parse(&entry(sim, device), 4).unwrap() else {
        panic!("no datastore")
    };
    store.cores[core].counters.get(&counter).copied().unwrap_or(0)
}

#[test]
fn counters_models_and_memory_are_shown_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let sim = sim(dir.path());
    let runtime = runtime(&sim, &[1, 2]).unwrap();
    let neff = Chain::new("shown", &[Node::Copy(1)]).build();
    let group = runtime.create_group(Some(5), 0).unwrap().id;
    let a = runtime.load(&neff, &support::into(group)).unwrap();
    runtime.start(a).unwrap();
    // cores 0 to 4 are in the group: this one is core 1 of device 2
    let b = runtime.load(&neff, &LoadParams::default()).unwrap();
    for n in 0..10 {
        assert_eq!(runtime.infer(request(a, n)).failure, None);
    }
    runtime.infer(request(b, 1));
    runtime.infer(request(b, 0xff));
    runtime.publish();
    assert_eq!(counter(&sim, 1, 0, id::COMPLETED), 10);
    assert_eq!(counter(&sim, 1, 0, id::INFERENCE_COUNT), 10);
    assert_eq!(counter(&sim, 1, 0, id::MODEL_LOAD_COUNT), 1);
    assert!(counter(&sim, 1, 0, id::TIME_IN_USE) > 0);
    assert!(counter(&sim, 1, 4 - 1, id::CORE_TIME) > 0, "its group owns it");
    assert_eq!(counter(&sim, 2, 1, id::COMPLETED), 1);
    assert_eq!(counter(&sim, 2, 1, id::COMPLETED_WITH_NUM_ERR), 1);
    assert_eq!(counter(&sim, 2, 2, id::CORE_TIME), 0, "nobody owns it");
    let block = nds_ext::Block::decode(&entry(&sim, 2)).unwrap().unwrap();
    assert_eq!(block.tag, "a test");
    let [model] = block.models.as_slice() else { panic!("{:?}", block.models) };
    assert_eq!((model.id, model.core, model.running, model.name.as_str()), (b, 1, true, "shown"));
    assert_eq!((model.device.code, model.device.tensors), (128, 4 * 128));
    assert_eq!(block.cores[1].total.count(), 2);
    let used = |device: usize| sim.snapshot().unwrap().devices[device].device_memory_in_use();
    // code and tensors, in pages
    assert_eq!((used(1), used(2), used(3)), (8192, 8192, 0));
    runtime.unload(b).unwrap();
    assert_eq!(used(2), 0);
    runtime.publish();
    let block = nds_ext::Block::decode(&entry(&sim, 2)).unwrap().unwrap();
    assert_eq!(block.models, []);
    runtime.shut_down();
    drop(runtime);
    // the counters have moved into the totals
    let state = sim.snapshot().unwrap();
    assert!(state.marks.is_empty() && state.devices.iter().all(|d| d.processes.is_empty()));
    assert_eq!(state.devices[1].core(0).counters[&id::COMPLETED].total, 10);
    assert_eq!(state.devices[2].core(1).counters[&id::COMPLETED].total, 1);
}

#[test]
fn cores_that_somebody_owns_are_refused_with_the_owner() {
    let dir = tempfile::tempdir().unwrap();
    let sim = sim(dir.path());
    let first = runtime(&sim, &[0, 1]).unwrap();
    let other = runtime(&sim, &[2, 3]).unwrap();
    let refused = runtime(&sim, &[1, 2]).unwrap_err();
    assert_eq!(refused.code, Code::HwError);
    let text = refused.details();
    assert!(text.contains(&format!("device inuse by pid:{}", std::process::id())), "{text}");
    assert!(text.contains("Could not open the device index:1"), "{text}");
    first.shut_down();
    drop(first);
    runtime(&sim, &[0, 1]).unwrap().shut_down();
    other.shut_down();
}

#[test]
fn too_large_a_model_is_refused_and_leaves_no_memory_behind() {
    let dir = tempfile::tempdir().unwrap();
    let sim = sim(dir.path());
    let runtime = runtime(&sim, &[0]).unwrap();
    let mut chain = Chain::new("large", &[Node::Copy(1)]);
    chain.bytes = 512 * 16_000;
    // 16 MB for each of 1024 slots
    let params = LoadParams { ninfer: Some(1024), ..LoadParams::default() };
    let refused = runtime.load(&chain.build(), &params).unwrap_err();
    assert_eq!(refused.code, Code::Resource);
    assert!(refused.details().contains("Failed to alloc DEVICE memory: 16777216000"), "{refused}");
    assert_eq!(sim.snapshot().unwrap().devices[0].device_memory_in_use(), 0);
    assert_eq!(runtime.groups(), []);
    let id = runtime.load(&chain.build(), &LoadParams::default()).unwrap();
    runtime.unload(id).unwrap();
    runtime.shut_down();
}

#[test]
fn models_of_a_lost_device_fail_and_others_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let sim = sim(dir.path());
    let runtime = runtime(&sim, &[]).unwrap();
    let neff = Chain::new("copy", &[Node::Copy(4)]).build();
    let ids = [(); 2].map(|()| runtime.load(&neff, &LoadParams::default()).unwrap());
    sim.update(|state| {
        state.devices[0].state = Some(DeviceState::Invalid);
        Ok(())
    })
    .unwrap();
    let state = |id| runtime.model_info(id).unwrap().state;
    until("the first has failed", || state(ids[0]) == ModelState::Failed);
    let failure = runtime.infer(request(ids[0], 1)).failure.unwrap();
    assert_eq!(failure.code, Code::FailedState);
    assert!(failure.details().contains("device neuron0 does not respond"), "{failure}");
    assert_eq!(runtime.infer(request(ids[1], 1)).failure, None);
    runtime.shut_down();
}

/// Of a core of two physical ones, each shows what it did itself.
#[test]
fn physical_cores_are_shown_each() {
    let dir = tempfile::tempdir().unwrap();
    let kind = InstanceType::find("trn2.3xlarge").unwrap();
    let sim = Sim::open_or_create(&Places::only(dir.path()), "lab", kind).unwrap();
    let cores = Cores::new(kind, &[]).unwrap();
    assert_eq!((cores.count(), cores.lnc()), (4, 2));
    let host = SimHost::attach(sim.clone(), &cores, "a test").unwrap();
    let backend = Box::new(Software::default());
    let settings = Settings { timeout_sec: 60, ..Settings::default() };
    let runtime = Runtime::new(cores, backend, Box::new(host), settings, Arc::new(Quiet)).unwrap();
    let load = |cores| {
        let neff = Chain::new("copy", &[Node::Copy(cores)]).build();
        runtime.load(&neff, &LoadParams::default()).unwrap()
    };
    // logical cores 0 with both of its own, 1 with the first alone, 2 and 3
    let models = [2, 1, 3].map(load);
    for model in models {
        assert_eq!(runtime.infer(request(model, 1)).failure, None);
    }
    runtime.publish();
    let shown = |core: usize, which: u32| {
        let nds::Entry::InUse(store) = nds::parse(&entry(&sim, 0), 8).unwrap() else {
            panic!("no datastore")
        };
        store.cores[core].counters.get(&which).copied().unwrap_or(0)
    };
    let busy: Vec<bool> = (0..8).map(|core| shown(core, id::TIME_IN_USE) > 0).collect();
    assert_eq!(busy, [true, true, true, false, true, true, true, false]);
    for core in 0..8 {
        assert!(shown(core, id::CORE_TIME) > 0, "{core} is held");
        let wanted = u64::from([0, 2, 4].contains(&core));
        assert_eq!(shown(core, id::COMPLETED), wanted, "{core}");
    }
    assert_eq!(shown(0, id::TIME_IN_USE), shown(1, id::TIME_IN_USE));
    // a NEFF of the real compiler for two physical cores
    runtime.unload_all();
    let file = std::fs::read(neuron_tests::fixture("profiles/matmul-small.neff")).unwrap();
    let model = runtime.load(&file, &LoadParams::default()).unwrap();
    let ones = rtd_runtime::Data::new([0x00, 0x3c].repeat(128 * 256));
    let input = |name: &str| (name.to_owned(), rtd_runtime::Input::Inline(ones.clone()));
    let inputs = ["x", "y"].map(input).into();
    let asked = rtd_runtime::Request { model, inputs, outputs: Vec::new() };
    assert_eq!(runtime.infer(asked).failure, None);
    runtime.publish();
    let macs = [0, 1].map(|core| shown(core, id::MAC_COUNT));
    assert!(macs[0] > 0 && macs[1] > 0, "{macs:?}");
    let logical = runtime.core_snapshot(0).unwrap().counter(id::MAC_COUNT);
    assert_eq!(macs[0] + macs[1], logical);
    runtime.shut_down();
    assert!(Cores::new(kind, &[]).unwrap().with_lnc(3).is_err());
    let single = Cores::new(InstanceType::find("trn1.2xlarge").unwrap(), &[]).unwrap();
    assert!(single.with_lnc(2).is_err());
}
