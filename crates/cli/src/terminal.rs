//! The command line itself: options, help, configuration, colours and progress.

pub mod colour;
pub mod config;
pub mod doc;
pub mod error;
pub mod examples;
pub mod fit;
pub mod help;
pub mod options;
pub mod progress;
pub mod schema;
pub mod shell;
