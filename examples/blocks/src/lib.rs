//! Blocks that the guides and the pages of the agents show.

pub mod apb;
pub mod async_fifo;
pub mod axi4;
pub mod axi_lite;
pub mod receiver;
pub mod stream;
pub mod timer;
pub mod wishbone;
