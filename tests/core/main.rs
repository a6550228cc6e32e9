//! Tests of the library with real blocks, whose types and models it does not contain.

mod judge;
mod progress;
mod provable;
mod raw_pins;
mod weights;
