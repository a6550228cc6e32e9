//! Commands on finished runs.

pub mod compare;
pub mod history;
pub mod report;
