//! A buffer in HBM: a variable of a NEFF, kept in pages that exist once
//! something other than zero was written. A copy shares its pages until one
//! side writes to them. Pages that nobody has any more are kept, some of them,
//! for the next that are written: the host takes longer to give memory than to
//! fill it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::fault::Fault;

const PAGE: usize = 64 << 10;

/// Most pages that are kept: 64 MiB.
const MOST: usize = 1 << 10;

static SPARE: Mutex<Vec<Arc<[u8]>>> = Mutex::new(Vec::new());

/// A page with these bytes, which are as many as it has.
fn page(bytes: &[u8]) -> Arc<[u8]> {
    let spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    if let Some(mut page) = spare
        && let Some(into) = Arc::get_mut(&mut page).filter(|into| into.len() == bytes.len())
    {
        into.copy_from_slice(bytes);
        return page;
    }
    Arc::from(bytes)
}

/// A page to be written whole: what is in it is not told.
fn any_page(size: usize) -> Arc<[u8]> {
    let spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    spare.filter(|page| page.len() == size).unwrap_or_else(|| Arc::from(vec![0; size]))
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let pages = std::mem::take(&mut self.pages).into_values();
        let own = |page: &Arc<[u8]>| page.len() == PAGE && Arc::strong_count(page) == 1;
        let mut own = pages.filter(own).peekable();
        if own.peek().is_none() {
            return;
        }
        let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MOST.saturating_sub(spare.len());
        spare.extend(own.take(room));
    }
}

/// Whether all bytes are 0: a line of the host's cache at a time, without
/// branches in it.
fn is_zero(bytes: &[u8]) -> bool {
    bytes.chunks(64).all(|line| line.iter().fold(0, |all, byte| all | byte) == 0)
}

/// Bytes that read as zero until they are written.
#[derive(Debug, Clone, Default)]
pub struct Buffer {
    size: u64,
    pages: BTreeMap<u64, Arc<[u8]>>,
}

impl Buffer {
    /// An empty buffer of `size` bytes. It takes no memory yet.
    pub fn new(size: u64) -> Self {
        Self { size, pages: BTreeMap::new() }
    }

    /// Bytes of it.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Bytes of a page: all of them, or as many as the buffer ends with.
    fn room(&self, page: u64) -> usize {
        let left = self.size.saturating_sub(page.saturating_mul(PAGE as u64));
        usize::try_from(left).map_or(PAGE, |left| left.min(PAGE))
    }

    /// The first byte of a range that lies in the buffer.
    pub(crate) fn check(&self, offset: i64, length: usize) -> Result<u64, Fault> {
        let range = || {
            let start = u64::try_from(offset).ok()?;
            let end = start.checked_add(u64::try_from(length).ok()?)?;
            (end <= self.size).then_some(start)
        };
        range().ok_or_else(|| {
            let size = self.size;
            Fault::address(format!("{length} bytes at {offset} of a buffer of {size} bytes"))
        })
    }

    /// Copies bytes out.
    ///
    /// # Errors
    ///
    /// When the range leaves the buffer.
    pub fn read(&self, offset: i64, out: &mut [u8]) -> Result<(), Fault> {
        let mut at = self.check(offset, out.len())?;
        let mut rest = out;
        while !rest.is_empty() {
            let (page, inside) = place(at);
            let count = rest.len().min(PAGE - inside);
            let (now, later) = rest.split_at_mut(count);
            match self.pages.get(&page).and_then(|bytes| bytes.get(inside..inside + count)) {
                Some(bytes) => now.copy_from_slice(bytes),
                None => now.fill(0),
            }
            at += count as u64;
            rest = later;
        }
        Ok(())
    }

    /// Copies bytes in.
    ///
    /// # Errors
    ///
    /// When the range leaves the buffer; nothing is written then.
    pub fn write(&mut self, offset: i64, bytes: &[u8]) -> Result<(), Fault> {
        let mut at = self.check(offset, bytes.len())?;
        let mut rest = bytes;
        while !rest.is_empty() {
            let (number, inside) = place(at);
            let (now, later) = rest.split_at(rest.len().min(PAGE - inside));
            match self.pages.get_mut(&number) {
                Some(bytes) if now.len() < PAGE => {
                    let bytes = Arc::make_mut(bytes);
                    if let Some(into) = bytes.get_mut(inside..inside + now.len()) {
                        into.copy_from_slice(now);
                    }
                }
                Some(bytes) => match Arc::get_mut(bytes) {
                    Some(bytes) => bytes.copy_from_slice(now),
                    None => *bytes = page(now),
                },
                None if is_zero(now) => {}
                None if now.len() == PAGE => {
                    self.pages.insert(number, page(now));
                }
                None => {
                    let mut bytes = vec![0; self.room(number)];
                    if let Some(into) = bytes.get_mut(inside..inside + now.len()) {
                        into.copy_from_slice(now);
                    }
                    self.pages.insert(number, Arc::from(bytes));
                }
            }
            at += now.len() as u64;
            rest = later;
        }
        Ok(())
    }

    /// Fills the whole buffer, page by page: `read` puts the bytes that begin at
    /// an offset into a page, which saves a copy of them.
    ///
    /// # Errors
    ///
    /// What `read` says; then the buffer holds a part.
    pub(crate) fn fill<E>(
        &mut self,
        mut read: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        for number in 0..self.size.div_ceil(PAGE as u64) {
            let (at, room) = (number * PAGE as u64, self.room(number));
            if let Some(own) = self.pages.get_mut(&number).and_then(Arc::get_mut) {
                read(at, own)?;
                continue;
            }
            let mut page = any_page(room);
            // a page that was kept is nobody else's
            let Some(bytes) = Arc::get_mut(&mut page) else { continue };
            read(at, bytes)?;
            if self.pages.contains_key(&number) || bytes.iter().any(|byte| *byte != 0) {
                self.pages.insert(number, page);
            }
        }
        Ok(())
    }

    /// All bytes.
    ///
    /// # Errors
    ///
    /// When the host cannot hold that many.
    pub fn to_vec(&self) -> Result<Vec<u8>, Fault> {
        let mut out = Vec::new();
        let fits = usize::try_from(self.size).ok().filter(|n| out.try_reserve_exact(*n).is_ok());
        let size =
            fits.ok_or_else(|| Fault::address(format!("{} bytes are too many", self.size)))?;
        for (number, bytes) in &self.pages {
            let start = usize::try_from(*number).unwrap_or(usize::MAX).saturating_mul(PAGE);
            out.resize(start.min(size), 0);
            out.extend_from_slice(bytes.get(..PAGE.min(size - out.len())).unwrap_or_default());
        }
        out.resize(size, 0);
        Ok(out)
    }
}

/// Page, and byte in the page.
fn place(at: u64) -> (u64, usize) {
    let page = PAGE as u64;
    (at / page, (at % page) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_cross_pages_and_gaps_read_as_zero() {
        let mut buffer = Buffer::new(1 << 40);
        let data: Vec<u8> = (0..200_000u32).map(|i| i as u8).collect();
        buffer.write(PAGE as i64 - 7, &data).unwrap();
        let mut out = vec![9; data.len() + 20];
        buffer.read(PAGE as i64 - 17, &mut out).unwrap();
        assert_eq!(&out[..10], [0; 10]);
        assert_eq!(&out[10..][..data.len()], data);
        assert_eq!(buffer.pages.len(), 5);
        buffer.write(1 << 30, &vec![0; 3 * PAGE]).unwrap();
        assert_eq!(buffer.pages.len(), 5);
        let copy = buffer.clone();
        for (at, len) in [(PAGE as i64, 3), (2 * PAGE as i64, PAGE)] {
            buffer.write(at, &vec![77; len]).unwrap();
            let (mut old, mut new) = (vec![0; len], vec![0; len]);
            copy.read(at, &mut old).unwrap();
            buffer.read(at, &mut new).unwrap();
            let start = at as usize + 7 - PAGE;
            assert_eq!((old, new), (data[start..][..len].to_vec(), vec![77; len]));
        }
        // gaps, and the last page in part
        let size = 5 * PAGE + 9;
        let mut buffer = Buffer::new(size as u64);
        for (at, value) in [(PAGE as i64 + 3, 1), (3 * PAGE as i64 - 2, 2), (size as i64 - 4, 3)] {
            buffer.write(at, &[value; 4]).unwrap();
        }
        let mut read = vec![9; size];
        buffer.read(0, &mut read).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), read);
        assert_eq!(read.iter().map(|byte| u32::from(*byte)).sum::<u32>(), 24);
        // the whole, over pages of its own, shared ones and none
        let old = buffer.clone();
        for value in [7, 0, 9] {
            let wanted: Vec<u8> = (0..size).map(|at| value * (at % 11) as u8).collect();
            let filled = buffer.fill(|at, page| {
                page.copy_from_slice(&wanted[at as usize..][..page.len()]);
                if value == 9 && at > 0 { Err(at) } else { Ok(()) }
            });
            assert_eq!(filled, if value == 9 { Err(PAGE as u64) } else { Ok(()) });
            if value != 9 {
                assert_eq!(buffer.to_vec().unwrap(), wanted);
            }
        }
        assert_eq!(old.to_vec().unwrap(), read);
        let buffer = Buffer::new(1 << 40);
        assert!(buffer.read((1 << 40) - 1, &mut [0; 2]).is_err());
        assert!(buffer.clone().write(-1, &[0]).is_err());
        assert!(Buffer::new(u64::MAX).to_vec().is_err());
    }
}
