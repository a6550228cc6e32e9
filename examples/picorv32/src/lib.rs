//! Block `picorv32`: the RISC-V core of that name, whose instructions are compared with those of an
//! instruction-set model. `README.md` says what is specified where.

mod coverage;
mod environment;
mod formats;
mod generator;
mod instructions;
mod isa;
mod scenarios;
mod scoreboard;
mod stimulus;

#[allow(missing_docs, unsafe_code, clippy::all)]
pub mod rtl {
    //! Pins and models, generated from the RTL by the build script.
    cosim_core::rtl!("picorv32");
}

use cosim_core::harness::{
    Block, Explain, LinkedRtl, Parameter, Parameters, Profile, ResetPin, Untimed,
};

/// Index of the parameter that enables instructions of 16 bits.
pub const COMPRESSED_ISA: usize = 0;
const BARREL_SHIFTER: usize = 1;
const ENABLE_FAST_MUL: usize = 2;

/// The block.
#[derive(Debug, Clone, Copy)]
pub struct Picorv32;

impl Block for Picorv32 {
    const NAME: &'static str = "picorv32";
    const TITLE: &'static str = "picorv32, a RISC-V core: RV32IMC on its native memory port";
    const RTL: LinkedRtl<rtl::Inputs, rtl::Outputs> = rtl::RTL;
    const PARAMETERS: &'static [Parameter] = &[
        Parameter::new("COMPRESSED_ISA", 1, 0..=1, "1: instructions of 16 bits"),
        Parameter::new("BARREL_SHIFTER", 0, 0..=1, "1: shifts take one cycle"),
        Parameter::new("ENABLE_FAST_MUL", 0, 0..=1, "1: multiplications take one cycle"),
    ];
    const PROFILES: &'static [Profile] = &[
        Profile::new("imc", Parameters::with_fixes::<Self>(0)),
        Profile::new(
            "im-fast",
            Parameters::with_fixes::<Self>(0)
                .with(COMPRESSED_ISA, 0)
                .with(BARREL_SHIFTER, 1)
                .with(ENABLE_FAST_MUL, 1),
        ),
    ];
    const CASES: u64 = 100;
    const RESET: Option<ResetPin> = Some(ResetPin::low("resetn"));
    #[rustfmt::skip]
    const TRANSACTION_OUTPUTS: &'static [&'static str] = &[
        "trap", "mem_valid", "mem_instr", "mem_addr", "mem_wdata", "mem_wstrb", "mem_la_read",
        "mem_la_write", "mem_la_addr", "rvfi_valid", "rvfi_trap", "rvfi_insn", "rvfi_pc_rdata",
        "rvfi_pc_wdata", "rvfi_rd_addr", "rvfi_rd_wdata",
    ];

    type Inputs = rtl::Inputs;
    type Outputs = rtl::Outputs;
    type Golden = Untimed;
    type Traffic = stimulus::Traffic;
    type Environment<'a> = environment::Environment<'a>;
    type Scoreboard<'a> = scoreboard::Scoreboard;
    type Weights = scenarios::Weights;
    type Coverage = coverage::Coverage;
}

impl Explain for Picorv32 {
    fn words(channel: &str, inputs: &rtl::Inputs, outputs: &rtl::Outputs) -> Option<String> {
        let (address, strobes) = (outputs.mem_addr.get(), outputs.mem_wstrb.get());
        let text = |word: u64| instructions::disassemble(word as u32, true);
        Some(match outputs.mem_instr.is_high() {
            _ if channel == "rvfi" => {
                format!("{} at {:#x}", text(outputs.rvfi_insn.get()), outputs.rvfi_pc_rdata.get())
            }
            // Without ready the word is noise.
            true if inputs.mem_ready.is_high() => {
                format!("fetch {address:#x}: {}", text(inputs.mem_rdata.get()))
            }
            true => format!("fetch {address:#x}"),
            false if strobes == 0 => format!("load {address:#x}"),
            false => format!("store {address:#x}, bytes {strobes:04b}"),
        })
    }
}
