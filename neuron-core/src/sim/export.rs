//! Writes the tree of a simulated instance out as plain files.
//!
//! The result is a root for `kernel:ROOT`: the files, the nodes' answers, the
//! processes' datastores and command lines.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::tree::Entry;
use super::view::View;
use crate::driver::{Answer, Files as _, Nodes as _, Recording};
use crate::uapi::arg::{
    AppsInfo, DeviceBasicInfo, DeviceBdfExt, DeviceInfo, GetAppsInfo, NeuronAppInfo, Plain as _,
};
use crate::uapi::nds_ext::Extent;
use crate::{Error, Result};

/// Writes the instance below `root`, which must not exist or be empty.
///
/// # Errors
///
/// A root that holds something already; files that cannot be written.
pub fn export(view: &View, root: &Path) -> Result<()> {
    std::fs::create_dir_all(root).map_err(Error::io("create", root))?;
    let mut content = std::fs::read_dir(root).map_err(Error::io("list", root))?;
    if content.next().is_some() {
        return Err(Error::content(root, "is not empty; choose a directory that is"));
    }
    directory(view, "", root)?;
    nodes(view, root)
}

fn directory(view: &View, path: &str, target: &Path) -> Result<()> {
    let entries = view.entries(path).map_err(Error::io("list", view.display(path)))?;
    for (name, entry) in entries {
        let inner = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
        let target = target.join(&name);
        match entry {
            Entry::Dir => {
                std::fs::create_dir_all(&target).map_err(Error::io("create", &target))?;
                directory(view, &inner, &target)?;
            }
            Entry::Link(to) => symlink(to, &target).map_err(Error::io("link", &target))?,
            // A leaf that cannot be read has no content to write, and a node
            // is stood for by an empty file, as in the captured trees.
            Entry::File(mode, content) => file(&target, mode, content.unwrap_or_default())?,
            Entry::Node(_) => file(&target, 0o644, "")?,
        }
    }
    Ok(())
}

fn file(target: &Path, mode: u32, content: impl AsRef<[u8]>) -> Result<()> {
    std::fs::write(target, content)
        .and_then(|()| std::fs::set_permissions(target, PermissionsExt::from_mode(mode)))
        .map_err(Error::io("write", target))
}

/// `ioctl.json`, `nds` and `proc`.
fn nodes(view: &View, root: &Path) -> Result<()> {
    let mut recording = Recording { format: 1, nodes: BTreeMap::new() };
    for (number, device) in (0_u32..).zip(&view.state().devices) {
        if device.gone {
            continue;
        }
        recording.nodes.insert(number, answers(view, number).map_err(Error::io("read", root))?);
        for process in &device.processes {
            let pid = process.id.pid;
            if process.datastore {
                let attached = view.attach(number).map_err(Error::io("read", root))?;
                let mut bytes = Vec::new();
                attached
                    .datastore(pid, Extent::Whole, &mut bytes)
                    .map_err(Error::io("read", root))?;
                let dir = root.join("nds");
                std::fs::create_dir_all(&dir).map_err(Error::io("create", &dir))?;
                file(&dir.join(format!("neuron{number}.{pid}")), 0o644, bytes)?;
            }
            let command = view.read(&format!("proc/{pid}/cmdline")).unwrap_or_default();
            let dir = root.join(format!("proc/{pid}"));
            std::fs::create_dir_all(&dir).map_err(Error::io("create", &dir))?;
            file(&dir.join("cmdline"), 0o444, command)?;
        }
    }
    // Plain data: serialising cannot fail.
    let text = serde_json::to_string_pretty(&recording).unwrap_or_default();
    file(&root.join("ioctl.json"), 0o644, text)
}

fn answers(view: &View, number: u32) -> std::io::Result<BTreeMap<String, Answer>> {
    let free = view.open_free(number)?;
    let arch = free.arch()?;
    let basic = DeviceBasicInfo { architecture: arch, revision: 1 };
    let bdf = free.bdf(0)?;
    let bdf = DeviceBdfExt {
        nd_index: number,
        domain: bdf.domain.into(),
        bus_number: bdf.bus.into(),
        slot: bdf.slot,
        func: bdf.function,
    };
    let mut all = BTreeMap::from([
        (String::from("DEVICE_BASIC_INFO"), Answer::of(&basic.to_bytes())),
        (String::from("DEVICE_BDF_EXT"), Answer::of(&bdf.to_bytes())),
    ]);
    let Ok(attached) = view.attach(number) else { return Ok(all) };
    let mut info = DeviceInfo { architecture: arch, revision: 1, ..DeviceInfo::ZERO };
    for (slot, id) in info.connected_devices.iter_mut().zip(attached.connected()?) {
        *slot = id;
        info.connected_device_count += 1;
    }
    let users = attached.users()?;
    let count = u32::try_from(users.len()).unwrap_or(0);
    let header = GetAppsInfo {
        apps_info_flags: 0xf,
        capacity: AppsInfo::MAX_PROCESSES,
        size: count,
        ..GetAppsInfo::ZERO
    };
    let mut bytes = header.to_bytes().to_vec();
    for user in users {
        let entry = NeuronAppInfo {
            pid: i32::try_from(user.pid).unwrap_or(0),
            host_mem_size: user.host_memory,
            device_mem_size: user.device_memory,
            ..NeuronAppInfo::ZERO
        };
        bytes.extend(entry.to_bytes());
    }
    all.insert(String::from("DEVICE_INFO"), Answer::of(&info.to_bytes()));
    all.insert(String::from("DEVICE_GET_ALL_APPS_INFO"), Answer::of(&bytes));
    Ok(all)
}
