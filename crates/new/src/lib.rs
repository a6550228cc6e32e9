//! Crates for new blocks, from the ports of their RTL: `cosim new`.

mod agents;
mod channels;
mod names;
mod resets;
mod skeleton;
mod wrapper;

pub use agents::{Interfaces, Protocol};
pub use channels::{Channel, Channels};
pub use names::toml_string;
pub use resets::{Reset, is_reset_name};
pub use skeleton::{CrateName, GeneratedCrate, GivenParameter, Skeleton};
pub use wrapper::is_clock_name;
