//! Block `picorv32`: the RISC-V core of that name, verified against an instruction-set model as
//! transactions on its memory port. `README.md` says what is specified where.

mod coverage;
mod environment;
mod follower;
mod generator;
mod instructions;
pub mod isa;
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

const fn switch(name: &'static str, default: u64, about: &'static str) -> Parameter {
    Parameter { name, default, least: 0, most: 1, power_of_two: false, about }
}

impl Block for Picorv32 {
    const NAME: &'static str = "picorv32";
    const TITLE: &'static str = "picorv32, a RISC-V core: RV32IMC on its native memory port";
    const RTL: LinkedRtl<rtl::Inputs, rtl::Outputs> = rtl::RTL;
    const PARAMETERS: &'static [Parameter] = &[
        switch("COMPRESSED_ISA", 1, "1: instructions of 16 bits"),
        switch("BARREL_SHIFTER", 0, "1: shifts take one cycle"),
        switch("ENABLE_FAST_MUL", 0, "1: multiplications take one cycle"),
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
    const TRANSACTION_OUTPUTS: &'static [&'static str] = &[
        "trap",
        "mem_valid",
        "mem_instr",
        "mem_addr",
        "mem_wdata",
        "mem_wstrb",
        "mem_la_read",
        "mem_la_write",
        "mem_la_addr",
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
        let address = outputs.mem_addr.get();
        // Without ready the word is noise.
        let word = (inputs.mem_ready.get() == 1).then_some(inputs.mem_rdata.get() as u32);
        let (kind, content) = match (channel, outputs.mem_wstrb.get()) {
            ("mem", 0) if outputs.mem_instr.get() == 1 => ("fetch", word.map(instructions)),
            ("mem", 0) => ("load", word.map(|word| format!("{word:#x}"))),
            ("mem", strobes) => {
                let written = outputs.mem_wdata.get();
                ("store", Some(format!("{written:#x}, bytes {strobes:04b}")))
            }
            _ => return None,
        };
        let content = content.map_or(String::new(), |content| format!(": {content}"));
        Some(format!("{kind} {address:#x}{content}"))
    }

    fn in_flight(environment: &environment::Environment<'_>) -> Vec<String> {
        environment.in_flight()
    }
}

/// The instructions of a word. It may begin with the second half of one; the port does not say so.
fn instructions(word: u32) -> String {
    let half = |half: u32| match half & 3 {
        3 => format!("{half:#06x} ..."),
        _ => instructions::disassemble(half, true),
    };
    match word & 3 {
        3 => instructions::disassemble(word, true),
        _ => format!("{}; {}", half(word & 0xffff), half(word >> 16)),
    }
}
