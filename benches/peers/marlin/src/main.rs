//! The peer in marlin: `peer-marlin RTL VERILATOR FOLDER CYCLES`. Builds the model in the folder if
//! it is not there, and prints, as its last line, the checksum of all outputs.

use marlin::verilator::{VerilatorRuntime, VerilatorRuntimeOptions, WideIn, WideOut};
use marlin::verilog::prelude::*;
use std::env;
use std::error::Error;

// The macro wants a literal path and looks for included files nowhere but in the working directory,
// so the runner preprocesses the RTL to here.
#[verilog(src = "../.work/rtl/ReqRecvCore_Thread_2.v", name = "ReqRecvCore_Thread_2")]
struct Top;

/// Has the macro run again when the RTL changes.
const _: &str = include_str!("../../.work/rtl/ReqRecvCore_Thread_2.v");

/// See `plain/bench.cpp`.
const MODULUS: u64 = 0xffff_ffff;

/// splitmix64
struct Generator(u64);

impl Generator {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// One draw for each 64 bits of a wide port.
    fn wide<const WORDS: usize>(&mut self, width: u32) -> WideIn<WORDS> {
        let mut words = [0; WORDS];
        for pair in words.chunks_mut(2) {
            let word = self.draw();
            pair[0] = word as u32;
            if let Some(high) = pair.get_mut(1) {
                *high = (word >> 32) as u32;
            }
        }
        if width % 32 != 0 {
            words[WORDS - 1] &= (1 << (width % 32)) - 1;
        }
        WideIn::new(words)
    }
}

/// Takes bits for a narrow port.
fn take(bits: &mut u64, width: u32) -> u64 {
    let value = *bits & ((1 << width) - 1);
    *bits >>= width;
    value
}

fn drive(top: &mut Top<'_>, generator: &mut Generator) {
    top.fetch_cxt_egress_head = generator.wide(416);
    top.fetch_cxt_egress_data = generator.wide(488);
    top.wqe_resp_head = generator.wide(576);
    top.wqe_resp_data = generator.wide(128);
    top.cq_resp_head = generator.wide(96);
    top.eq_resp_head = generator.wide(96);
    let bits = &mut generator.draw();
    top.fetch_cxt_egress_valid = take(bits, 1) as u8;
    top.fetch_cxt_egress_start = take(bits, 1) as u8;
    top.fetch_cxt_egress_last = take(bits, 1) as u8;
    top.fetch_mr_ingress_ready = take(bits, 1) as u8;
    top.wqe_req_ready = take(bits, 1) as u8;
    top.wqe_resp_valid = take(bits, 1) as u8;
    top.wqe_resp_start = take(bits, 1) as u8;
    top.wqe_resp_last = take(bits, 1) as u8;
    top.cache_offset_dout = take(bits, 8) as u8;
    top.cache_owned_dout = take(bits, 8) as u8;
    top.rq_offset_dout = take(bits, 24) as u32;
    top.cq_req_ready = take(bits, 1) as u8;
    top.cq_resp_valid = take(bits, 1) as u8;
    top.eq_req_ready = take(bits, 1) as u8;
    top.eq_resp_valid = take(bits, 1) as u8;
}

/// The words of 32 bits of a port, added up.
trait Sum {
    fn sum(&self) -> u64;
}

impl<const WORDS: usize> Sum for WideOut<WORDS> {
    fn sum(&self) -> u64 {
        self.value().iter().map(|word| u64::from(*word)).sum()
    }
}

impl Sum for u64 {
    fn sum(&self) -> u64 {
        (self >> 32) + (self & 0xffff_ffff)
    }
}

macro_rules! narrow {
    ($($word:ty)*) => {
        $(impl Sum for $word {
            fn sum(&self) -> u64 {
                u64::from(*self)
            }
        })*
    };
}

narrow!(u8 u16 u32);

fn read(top: &Top<'_>) -> u64 {
    macro_rules! sum {
        ($($port:ident)*) => { 0 $(+ top.$port.sum())* };
    }
    sum!(
        fetch_cxt_egress_ready fetch_mr_ingress_valid fetch_mr_ingress_head fetch_mr_ingress_data
        fetch_mr_ingress_start fetch_mr_ingress_last wqe_req_valid wqe_req_head wqe_req_start wqe_req_last
        wqe_resp_ready cache_offset_wen cache_offset_addr cache_offset_din cache_owned_wen cache_owned_addr
        cache_owned_din rq_offset_wen rq_offset_addr rq_offset_din cq_req_valid cq_req_head cq_resp_ready
        eq_req_valid eq_req_head eq_resp_ready
    )
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [rtl, verilator, folder, cycles] = &arguments[..] else {
        return Err("usage: peer-marlin RTL VERILATOR FOLDER CYCLES".into());
    };
    let cycles: u64 = cycles.parse()?;
    let options = VerilatorRuntimeOptions::default().verilator_executable(verilator.into());
    let none: [&str; 0] = [];
    let runtime = VerilatorRuntime::new2(folder, &[rtl], &none, [], options)?;
    let config = VerilatedModelConfig::default().verilator_optimization(3);
    let mut top = runtime.create_model::<Top>(&config)?;

    let mut generator = Generator(1);
    let mut checksum = 0;
    for cycle in 0..cycles {
        top.clk = 0;
        top.rst = u8::from(cycle == 0);
        drive(&mut top, &mut generator);
        top.eval();
        checksum = (2 * checksum + read(&top)) % MODULUS;
        top.clk = 1;
        top.eval();
    }
    println!("{checksum}");
    Ok(())
}
