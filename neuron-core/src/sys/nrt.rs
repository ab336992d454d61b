//! A libnrt that was opened while the program runs (neuron-rtd.md §4).
//!
//! Models, tensors and sets are owned here: each is freed once, and lives as
//! long as what uses it. A set owns its tensors and is borrowed exclusively by
//! an execution, so that nobody else copies to or from them meanwhile.
//!
//! That a file has functions of these names with the published types is the
//! word of whoever names the file; C has no way to check it. So is the rest of
//! what such a library does.

use std::ffi::{CString, c_char, c_int, c_void};
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::library::Library;
use crate::uapi::nrt::{
    API_MAJOR, InstanceInfo, MARKER, Status, TensorInfo, TensorInfoArray, Version, framework, text,
    usage,
};

/// Most tensors of a model that are taken for possible.
const MOST_TENSORS: u64 = 65_536;

macro_rules! functions {
    ($($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions that are called.
        #[derive(Debug, Clone, Copy)]
        struct Functions {
            $($name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Functions {
            /// Finds them all; else tells the first that is missing.
            fn find(library: &Library) -> Result<Self, String> {
                Ok(Self {
                    $($name: {
                        let name = stringify!($name);
                        let symbol = CString::new(name).ok().and_then(|n| library.symbol(&n));
                        let symbol = symbol.ok_or_else(|| name.to_owned())?;
                        // SAFETY: a symbol of this name is the function that the
                        // published header declares, with this type.
                        unsafe {
                            std::mem::transmute::<
                                NonNull<c_void>,
                                unsafe extern "C" fn($($argument),*) $(-> $result)?,
                            >(symbol)
                        }
                    },)*
                })
            }
        }
    };
}

functions! {
    nrt_get_version: fn(*mut Version, usize) -> Status;
    nrt_init: fn(u32, *const c_char, *const c_char) -> Status;
    nrt_close: fn();
    nrt_get_total_vnc_count: fn(*mut u32) -> Status;
    nrt_get_visible_vnc_count: fn(*mut u32) -> Status;
    nrt_get_instance_info: fn(*mut InstanceInfo, usize) -> Status;
    nrt_load: fn(*const c_void, usize, i32, i32, *mut *mut c_void) -> Status;
    nrt_unload: fn(*mut c_void) -> Status;
    nrt_get_model_vnc_count: fn(*const c_void, *mut u32) -> Status;
    nrt_get_model_tensor_info: fn(*mut c_void, *mut *mut TensorInfoArray) -> Status;
    nrt_free_model_tensor_info: fn(*mut TensorInfoArray) -> Status;
    nrt_tensor_allocate: fn(u32, c_int, usize, *const c_char, *mut *mut c_void) -> Status;
    nrt_tensor_free: fn(*mut *mut c_void);
    nrt_tensor_write: fn(*mut c_void, *const c_void, usize, usize) -> Status;
    nrt_tensor_read: fn(*const c_void, *mut c_void, usize, usize) -> Status;
    nrt_allocate_tensor_set: fn(*mut *mut c_void) -> Status;
    nrt_destroy_tensor_set: fn(*mut *mut c_void);
    nrt_add_tensor_to_tensor_set: fn(*mut c_void, *const c_char, *mut c_void) -> Status;
    nrt_execute: fn(*mut c_void, *const c_void, *mut c_void) -> Status;
    nrt_profile_start: fn(*mut c_void, *const c_char) -> Status;
    nrt_profile_stop: fn(*const c_char) -> Status;
}

/// Why a file cannot be used as libnrt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// There is no such file.
    #[error("there is no {}", .0.display())]
    Missing(PathBuf),
    /// The loader refuses it.
    #[error("{} cannot be loaded: {reason}", .path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// What the loader says.
        reason: String,
    },
    /// It has not got every function.
    #[error("{} is no libnrt of API {API_MAJOR}: it has no {symbol}", .path.display())]
    Incomplete {
        /// The file.
        path: PathBuf,
        /// The first that is missing.
        symbol: String,
    },
    /// It is of another version, or does not say of which.
    #[error("{} is libnrt {version}, a {API_MAJOR}.x is needed", .path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: String,
    },
}

/// An open libnrt.
#[derive(Debug)]
pub struct Nrt {
    functions: Functions,
    path: PathBuf,
    version: Version,
    ours: bool,
    open: AtomicBool,
    /// `None` once the runtime has been opened: its threads run code of the
    /// library, so that it is never closed.
    library: Option<Library>,
}

impl Nrt {
    /// Opens a file and checks its version; nothing is initialised.
    ///
    /// # Errors
    ///
    /// Why it cannot be used.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        if !path.exists() {
            return Err(OpenError::Missing(path.to_owned()));
        }
        let refused = |reason| OpenError::Refused { path: path.to_owned(), reason };
        let library = Library::open(path).map_err(refused)?;
        let functions = Functions::find(&library)
            .map_err(|symbol| OpenError::Incomplete { path: path.to_owned(), symbol })?;
        let mut version = Version::default();
        // SAFETY: the struct of this size is borrowed exclusively for the call,
        // and every bit pattern is a valid value of it.
        let status = unsafe { (functions.nrt_get_version)(&raw mut version, size_of::<Version>()) };
        if !status.is_success() || version.major != API_MAJOR {
            let version = if status.is_success() {
                version.to_string()
            } else {
                format!("of an unknown version ({status})")
            };
            return Err(OpenError::Version { path: path.to_owned(), version });
        }
        let ours = CString::new(MARKER).is_ok_and(|name| library.symbol(&name).is_some());
        let (path, open) = (path.to_owned(), AtomicBool::new(false));
        Ok(Self { functions, path, version, ours, open, library: Some(library) })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its version.
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// Whether it is the library of this project, which serves simulated
    /// instances.
    pub fn is_ours(&self) -> bool {
        self.ours
    }

    /// Initialises the runtime, once per process, for no framework. It is closed
    /// when this and everything made from it is dropped.
    ///
    /// # Errors
    ///
    /// The status of `nrt_init`.
    pub fn init(&mut self) -> Result<(), Status> {
        // SAFETY: both strings are ended by a zero.
        let status =
            unsafe { (self.functions.nrt_init)(framework::NONE, c"".as_ptr(), c"".as_ptr()) };
        told(status)?;
        std::mem::forget(self.library.take());
        self.open.store(true, Relaxed);
        Ok(())
    }

    /// Cores of the machine, and of this process.
    ///
    /// # Errors
    ///
    /// The status of the library.
    pub fn cores(&self) -> Result<(u32, u32), Status> {
        let (mut total, mut visible) = (0, 0);
        // SAFETY: a number that is borrowed exclusively for the call.
        told(unsafe { (self.functions.nrt_get_total_vnc_count)(&raw mut total) })?;
        // SAFETY: as above.
        told(unsafe { (self.functions.nrt_get_visible_vnc_count)(&raw mut visible) })?;
        Ok((total, visible))
    }

    /// What machine it is.
    ///
    /// # Errors
    ///
    /// The status of the library.
    pub fn instance(&self) -> Result<InstanceInfo, Status> {
        let mut info = InstanceInfo::default();
        let size = size_of::<InstanceInfo>();
        // SAFETY: a struct of this size that is borrowed exclusively for the call.
        told(unsafe { (self.functions.nrt_get_instance_info)(&raw mut info, size) })?;
        Ok(info)
    }

    /// Loads a NEFF on the cores from `core` on.
    ///
    /// # Errors
    ///
    /// The status of the library.
    pub fn load(self: &Arc<Self>, neff: &[u8], core: i32) -> Result<Model, Status> {
        let mut handle = null_mut();
        let (bytes, size) = (neff.as_ptr().cast(), neff.len());
        // SAFETY: the bytes are borrowed for the call, the handle exclusively.
        told(unsafe { (self.functions.nrt_load)(bytes, size, core, -1, &raw mut handle) })?;
        let handle = NonNull::new(handle).ok_or(Status::FAILURE)?;
        Ok(Model { nrt: Arc::clone(self), handle })
    }
}

impl Drop for Nrt {
    fn drop(&mut self) {
        if self.open.load(Relaxed) {
            // SAFETY: initialised, and everything made from it is dropped, as it
            // holds this.
            unsafe { (self.functions.nrt_close)() };
        }
    }
}

fn told(status: Status) -> Result<(), Status> {
    if status.is_success() { Ok(()) } else { Err(status) }
}

/// An input or output of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorFact {
    /// Name.
    pub name: String,
    /// Whether it is an output.
    pub output: bool,
    /// Bytes.
    pub bytes: usize,
}

/// A loaded model, unloaded when it is dropped.
#[derive(Debug)]
pub struct Model {
    nrt: Arc<Nrt>,
    handle: NonNull<c_void>,
}

// SAFETY: libnrt's calls may be made from any thread, also on one model at once
// (§4.2, nrt_execute).
unsafe impl Send for Model {}
// SAFETY: as above.
unsafe impl Sync for Model {}

impl Model {
    /// Cores that it uses.
    ///
    /// # Errors
    ///
    /// The status of the library.
    pub fn cores(&self) -> Result<u32, Status> {
        let mut count = 0;
        let handle = self.handle.as_ptr();
        // SAFETY: a loaded model, and a number that is borrowed exclusively.
        told(unsafe { (self.nrt.functions.nrt_get_model_vnc_count)(handle, &raw mut count) })?;
        Ok(count)
    }

    /// Its inputs and outputs.
    ///
    /// # Errors
    ///
    /// The status of the library; [`Status::FAILURE`] for an answer that cannot be.
    pub fn tensors(&self) -> Result<Vec<TensorFact>, Status> {
        let functions = &self.nrt.functions;
        let mut array: *mut TensorInfoArray = null_mut();
        let handle = self.handle.as_ptr();
        // SAFETY: a loaded model, and a pointer that is borrowed exclusively.
        told(unsafe { (functions.nrt_get_model_tensor_info)(handle, &raw mut array) })?;
        let array = NonNull::new(array).ok_or(Status::FAILURE)?;
        let start = array.as_ptr().cast::<u8>();
        // SAFETY: the library gave an array, which begins with its count.
        let count = unsafe { start.cast::<u64>().read() };
        let mut found = Vec::new();
        let rows = start.wrapping_add(offset_of!(TensorInfoArray, tensors)).cast::<TensorInfo>();
        for index in 0..usize::try_from(count.min(MOST_TENSORS)).unwrap_or(0) {
            // SAFETY: the rows follow the count, and there are `count` of them; each of which holds numbers and a
            // pointer that is not followed.
            let row = unsafe { rows.wrapping_add(index).read() };
            let (name, output) = (text(&row.name), row.usage == usage::OUTPUT);
            found.push(TensorFact { name, output, bytes: row.size });
        }
        // SAFETY: given by the library, and freed once.
        told(unsafe { (functions.nrt_free_model_tensor_info)(array.as_ptr()) })?;
        if count > MOST_TENSORS { Err(Status::FAILURE) } else { Ok(found) }
    }

    /// Runs once.
    ///
    /// # Errors
    ///
    /// The status of the library. After [`Status::EXEC_COMPLETED_WITH_NUM_ERR`]
    /// the outputs are there.
    pub fn execute(&self, inputs: &mut TensorSet, outputs: &mut TensorSet) -> Result<(), Status> {
        let (from, to) = (inputs.handle.as_ptr(), outputs.handle.as_ptr());
        // SAFETY: a loaded model and two sets whose tensors live, all borrowed for
        // the call, the sets exclusively.
        told(unsafe { (self.nrt.functions.nrt_execute)(self.handle.as_ptr(), from, to) })
    }

    /// Asks for a profile of the next executions.
    ///
    /// # Errors
    ///
    /// The status of the library; [`Status::INVALID`] for a path with a zero.
    pub fn profile_start(&self, file: &Path) -> Result<(), Status> {
        let name = path(file)?;
        let start = self.nrt.functions.nrt_profile_start;
        // SAFETY: a loaded model, and a string that is ended by a zero.
        told(unsafe { start(self.handle.as_ptr(), name.as_ptr()) })
    }

    /// Writes the profile.
    ///
    /// # Errors
    ///
    /// As for [`Self::profile_start`].
    pub fn profile_stop(&self, file: &Path) -> Result<(), Status> {
        let name = path(file)?;
        // SAFETY: a string that is ended by a zero.
        told(unsafe { (self.nrt.functions.nrt_profile_stop)(name.as_ptr()) })
    }
}

fn path(path: &Path) -> Result<CString, Status> {
    use std::os::unix::ffi::OsStrExt as _;
    CString::new(path.as_os_str().as_bytes()).map_err(|_| Status::INVALID)
}

impl Drop for Model {
    fn drop(&mut self) {
        // SAFETY: loaded, not used by anybody else any more, and unloaded once. A
        // model that cannot be unloaded goes with the process.
        let _ = unsafe { (self.nrt.functions.nrt_unload)(self.handle.as_ptr()) };
    }
}

#[derive(Debug)]
struct Tensor {
    name: String,
    bytes: usize,
    handle: NonNull<c_void>,
}

/// A set with its tensors, all freed when it is dropped.
#[derive(Debug)]
pub struct TensorSet {
    nrt: Arc<Nrt>,
    handle: NonNull<c_void>,
    tensors: Vec<Tensor>,
}

// SAFETY: nothing of it belongs to a thread, and it is used exclusively.
unsafe impl Send for TensorSet {}

impl TensorSet {
    /// An empty set.
    ///
    /// # Errors
    ///
    /// The status of the library.
    pub fn new(nrt: &Arc<Nrt>) -> Result<Self, Status> {
        let mut handle = null_mut();
        // SAFETY: a pointer that is borrowed exclusively for the call.
        told(unsafe { (nrt.functions.nrt_allocate_tensor_set)(&raw mut handle) })?;
        let handle = NonNull::new(handle).ok_or(Status::FAILURE)?;
        Ok(Self { nrt: Arc::clone(nrt), handle, tensors: Vec::new() })
    }

    /// Allocates a tensor and puts it in.
    ///
    /// # Errors
    ///
    /// The status of the library; [`Status::INVALID`] for a name with a zero.
    pub fn add(
        &mut self,
        name: &str,
        placement: u32,
        core: i32,
        bytes: usize,
    ) -> Result<(), Status> {
        let functions = &self.nrt.functions;
        let text = CString::new(name).map_err(|_| Status::INVALID)?;
        let mut handle = null_mut();
        let allocate = functions.nrt_tensor_allocate;
        // SAFETY: a string that is ended by a zero, and a pointer that is borrowed
        // exclusively for the call.
        told(unsafe { allocate(placement, core, bytes, text.as_ptr(), &raw mut handle) })?;
        let handle = NonNull::new(handle).ok_or(Status::FAILURE)?;
        // owned from here on, whatever comes
        self.tensors.push(Tensor { name: name.to_owned(), bytes, handle });
        let (set, tensor) = (self.handle.as_ptr(), handle.as_ptr());
        // SAFETY: both were given by the library; the tensor lives as long as the set.
        told(unsafe { (functions.nrt_add_tensor_to_tensor_set)(set, text.as_ptr(), tensor) })
    }

    fn find(&self, name: &str) -> Result<&Tensor, Status> {
        self.tensors.iter().rev().find(|tensor| tensor.name == name).ok_or(Status::INVALID)
    }

    /// Writes a whole tensor.
    ///
    /// # Errors
    ///
    /// The status of the library; [`Status::INVALID`] for an unknown name or
    /// another count of bytes.
    pub fn write(&mut self, name: &str, data: &[u8]) -> Result<(), Status> {
        let tensor = self.find(name)?;
        if data.len() != tensor.bytes {
            return Err(Status::INVALID);
        }
        let (handle, from) = (tensor.handle.as_ptr(), data.as_ptr().cast());
        // SAFETY: a tensor of this set, and as many bytes as the slice has.
        told(unsafe { (self.nrt.functions.nrt_tensor_write)(handle, from, 0, data.len()) })
    }

    /// Reads a whole tensor.
    ///
    /// # Errors
    ///
    /// The status of the library; [`Status::INVALID`] for an unknown name.
    pub fn read(&mut self, name: &str) -> Result<Vec<u8>, Status> {
        let tensor = self.find(name)?;
        let mut data = vec![0_u8; tensor.bytes];
        let (handle, to) = (tensor.handle.as_ptr(), data.as_mut_ptr().cast());
        // SAFETY: a tensor of this set, and a vector of as many bytes.
        told(unsafe { (self.nrt.functions.nrt_tensor_read)(handle, to, 0, tensor.bytes) })?;
        Ok(data)
    }
}

impl Drop for TensorSet {
    fn drop(&mut self) {
        let mut set = self.handle.as_ptr();
        // SAFETY: given by the library, and destroyed once, before its tensors.
        unsafe { (self.nrt.functions.nrt_destroy_tensor_set)(&raw mut set) };
        for tensor in &self.tensors {
            let mut handle = tensor.handle.as_ptr();
            // SAFETY: given by the library, and freed once.
            unsafe { (self.nrt.functions.nrt_tensor_free)(&raw mut handle) };
        }
    }
}
