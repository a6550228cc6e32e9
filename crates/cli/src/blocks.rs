//! Crates of blocks: new ones, what builds and trusts them, and commands on their blocks.

pub mod bench;
pub mod build_models;
pub mod cache;
pub mod cargo;
pub mod doctor;
pub mod library;
pub mod list;
pub mod located;
pub mod new;
pub mod trust;
