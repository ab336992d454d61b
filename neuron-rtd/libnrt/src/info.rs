//! Arrays of tensor facts that are lent to the caller.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use neuron_core::neff::dtype;
use neuron_core::uapi::nrt::{Status, TensorInfo, TensorInfoArray, field, usage};
use rtd_runtime::TensorInfo as Port;

use crate::call::Fault;

/// An array that the caller has, with the shapes that it points to.
#[derive(Debug)]
struct Lent {
    _words: Vec<u64>,
    _shapes: Vec<Vec<u32>>,
}

/// Arrays by their address.
static LENT: LazyLock<Mutex<HashMap<usize, Lent>>> = LazyLock::new(Mutex::default);

/// Makes the array of a model's tensors, inputs first. It lives until
/// [`give_back`].
pub(crate) fn lend(ports: &[Port]) -> Result<*mut TensorInfoArray, Fault> {
    const WORD: usize = size_of::<u64>();
    const ROW: usize = size_of::<TensorInfo>() / WORD;
    const _: () = assert!(size_of::<TensorInfo>().is_multiple_of(WORD));
    const _: () = assert!(align_of::<TensorInfo>() == WORD);
    let mut words = vec![0_u64; 1 + ports.len() * ROW];
    let mut shapes: Vec<Vec<u32>> = Vec::new();
    let start = words.as_mut_ptr();
    // SAFETY: there is at least one word.
    unsafe { start.write(u64::try_from(ports.len()).unwrap_or(u64::MAX)) };
    for (index, port) in ports.iter().enumerate() {
        let sizes = port.shape.as_deref().unwrap_or_default();
        // a size that is not known is shown as 0
        let mut shape: Vec<u32> =
            sizes.iter().map(|size| u32::try_from(*size).unwrap_or(0)).collect();
        let size = usize::try_from(port.bytes)
            .map_err(|_| Fault::new(Status::FAILURE, format!("{} is too large", port.name)))?;
        let info = TensorInfo {
            name: field(&port.name),
            usage: if port.output { usage::OUTPUT } else { usage::INPUT },
            size,
            dtype: port.dtype.as_deref().map_or(0, |word| dtype(word).0),
            shape: shape.as_mut_ptr(),
            ndim: u32::try_from(shape.len()).unwrap_or(0),
        };
        shapes.push(shape);
        // SAFETY: row `index` begins after the count, and there are words for
        // as many rows as ports.
        let row = unsafe { start.add(1 + index * ROW) };
        // SAFETY: the row has the size of a `TensorInfo` and the alignment of a word.
        unsafe { row.cast::<TensorInfo>().write(info) };
    }
    let mut lent = LENT.lock().unwrap_or_else(PoisonError::into_inner);
    // moving vectors into the table moves none of their elements
    lent.insert(start.addr(), Lent { _words: words, _shapes: shapes });
    Ok(start.cast())
}

/// Frees an array.
pub(crate) fn give_back(array: *const TensorInfoArray) -> Result<(), Fault> {
    crate::pointer::given(array, "the tensor info")?;
    let mut lent = LENT.lock().unwrap_or_else(PoisonError::into_inner);
    let found = lent.remove(&array.addr());
    found.map(|_| ()).ok_or_else(|| {
        let text = format!("{array:p} is no tensor info that this library gave");
        Fault::new(Status::INVALID_HANDLE, text)
    })
}
