//! Entry points of the fuzz targets and property tests: the real readers on
//! any bytes.

use super::arg::AppsInfo;
use super::nds;
use super::nds_ext::Block;

/// `DEVICE_GET_ALL_APPS_INFO` as a driver may answer it.
pub fn apps(bytes: &[u8]) {
    let _ = AppsInfo::parse(bytes);
}

/// A datastore entry as a process may have written it; shorter input stands
/// for the first bytes of one.
pub fn datastore(bytes: &[u8]) {
    let _ = nds::parse(bytes, 8);
    let mut entry = bytes.to_vec();
    entry.resize(nds::SIZE, 0);
    let _ = nds::parse(&entry, 8);
    let _ = Block::decode(&entry);
}
