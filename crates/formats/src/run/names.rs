//! Names of the files of failures.

/// Ending of the explanation of a failure, which lies beside its vector.
pub const EXPLAINED: &str = "explained.json";
/// Number of vectors written per signature; further cases are only counted.
pub const VECTORS_PER_GROUP: u64 = 20;
