//! Tests of the library with real blocks, whose types and models it does not contain.

mod driven;
mod judge;
mod progress;
mod provable;
mod raw_pins;
mod shrink;
mod stimulus;
mod weights;
