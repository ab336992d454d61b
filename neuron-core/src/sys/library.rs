//! A shared object that is opened while the program runs.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr::NonNull;

/// Resolve everything now, so that a missing symbol is told here and not later.
const NOW: c_int = 2;

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlclose(library: *mut c_void) -> c_int;
    fn dlerror() -> *const c_char;
}

/// An open shared object, closed when it is dropped.
#[derive(Debug)]
pub(super) struct Library(NonNull<c_void>);

// SAFETY: the loader's calls may be made from any thread.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Library {
    /// Opens a file; its start-up code runs. A path without a slash is one below
    /// the current folder, the loader's own search is not used.
    ///
    /// # Errors
    ///
    /// What the loader says.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        let mut bytes = path.as_os_str().as_bytes().to_vec();
        if !bytes.contains(&b'/') {
            bytes.splice(0..0, *b"./");
        }
        let name = CString::new(bytes).map_err(|_| "the path has a zero in it".to_owned())?;
        // SAFETY: a string that a zero ends. What the library's start-up code does
        // is as trustworthy as the file that the user has named.
        let library = unsafe { dlopen(name.as_ptr(), NOW) };
        NonNull::new(library).map(Self).ok_or_else(complaint)
    }

    /// The address of a symbol, if it is there.
    pub(super) fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the library is open, the name is ended by a zero.
        NonNull::new(unsafe { dlsym(self.0.as_ptr(), name.as_ptr()) })
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: opened by `dlopen` and closed once. An error leaves it open,
        // which is harmless.
        let _ = unsafe { dlclose(self.0.as_ptr()) };
    }
}

/// What the loader's last error of this thread was, one line.
fn complaint() -> String {
    // SAFETY: no condition.
    let text = unsafe { dlerror() };
    if text.is_null() {
        return "the loader does not say why".to_owned();
    }
    // SAFETY: text of the loader, ended by a zero, and valid until its next call
    // on this thread.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_string_lossy().replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_has_symbols_and_other_files_are_refused() {
        let library = Library::open(Path::new("/lib/x86_64-linux-gnu/libm.so.6"));
        // elsewhere it lies elsewhere
        if let Ok(library) = library {
            assert!(library.symbol(c"cos").is_some());
            assert!(library.symbol(c"nrt_init").is_none());
        }
        let error = Library::open(Path::new("/nonexistent/libnrt.so.1")).unwrap_err();
        assert!(error.contains("/nonexistent/libnrt.so.1"), "{error}");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "no library").unwrap();
        let error = Library::open(file.path()).unwrap_err();
        assert!(!error.is_empty() && !error.contains('\n'), "{error}");
        let error = Library::open(Path::new("a\0b")).unwrap_err();
        assert!(error.contains("zero"), "{error}");
    }
}
