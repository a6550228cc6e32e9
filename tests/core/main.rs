//! What the library does with real blocks, whose types and models it does not have itself.

mod driven;
mod judge;
mod raw_pins;
mod shrink;
mod stimulus;
mod weights;
