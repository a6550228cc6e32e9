//! Tests of the library with real blocks, whose types and models it does not contain.

mod driven;
mod judge;
mod provable;
mod progress;
mod raw_pins;
mod shrink;
mod stimulus;
mod weights;
