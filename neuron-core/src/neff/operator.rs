//! Names of the operators that CPU nodes of our own files use (our choice: the
//! original's are native code in `cpu.so`, whose form is not published). The
//! builder writes these names, the runtime runs what they stand for.

/// The same bytes.
pub const IDENTITY: &str = "identity";
/// The same numbers in the type of the output.
pub const CAST: &str = "cast";
/// Axes in the order of the attribute `axes`, by default reversed.
pub const TRANSPOSE: &str = "transpose";
/// The sum of two tensors.
pub const ADD: &str = "add";
/// Negative numbers become 0.
pub const RELU: &str = "relu";
/// Shares by e^x over the last axis; the attribute `axis` may say so.
pub const SOFTMAX: &str = "softmax";

/// Every operator and what it does.
pub const OPERATORS: &[(&str, &str)] = &[
    (IDENTITY, "the same bytes"),
    (CAST, "the same numbers in the type of the output"),
    (TRANSPOSE, "axes in the order of the attribute axes, by default reversed"),
    (ADD, "the sum of two fp32 tensors of one shape"),
    (RELU, "fp32, negative numbers become 0"),
    (SOFTMAX, "fp32, over the last axis"),
];
