//! Register contents before reset as Verilog assignments, equal to those of a compiled model.

use serde::Serialize;
use verilated::BeforeReset;
use verilated_build::Register;

#[derive(Debug, Serialize)]
pub struct BeforeResetText {
    /// Describes the contents.
    pub words: String,
    /// The value of each bit, if all bits are equal.
    pub fill: &'static str,
    pub loops: Vec<String>,
    pub registers: Vec<RegisterText>,
}

#[derive(Debug, Serialize)]
pub struct RegisterText {
    path: String,
    width: u32,
    /// Variable, lowest and highest index of each dimension.
    loops: Vec<(String, i64, i64)>,
    /// The loop variables as an index expression.
    index: String,
    /// Index and value of each element, for random contents.
    values: Vec<(String, String)>,
}

impl BeforeResetText {
    pub fn new(before_reset: BeforeReset, registers: &[Register]) -> Self {
        let (words, fill, seed) = match before_reset {
            BeforeReset::Zeros => ("zeros".to_owned(), "1'b0", None),
            BeforeReset::Ones => ("ones".to_owned(), "1'b1", None),
            BeforeReset::Random(seed) => {
                (format!("random bits from the seed {seed}"), "1'bx", Some(u64::from(seed)))
            }
        };
        let most = registers.iter().map(|register| register.dimensions.len()).max().unwrap_or(0);
        let loops: Vec<String> = (0..most).map(|depth| format!("cosim_i{depth}")).collect();
        let text = |register: &Register| {
            let loops = loops.iter().zip(&register.dimensions);
            let loops: Vec<_> =
                loops.map(|(variable, (low, high))| (variable.clone(), *low, *high)).collect();
            RegisterText {
                path: register.path.clone(),
                width: register.width,
                index: loops.iter().map(|(variable, ..)| format!("[{variable}]")).collect(),
                loops,
                values: seed.map(|seed| random(register, seed)).unwrap_or_default(),
            }
        };
        Self { words, fill, registers: registers.iter().map(text).collect(), loops }
    }
}

/// Random element values of a register; `verilated_shim.hpp` computes the same.
fn random(register: &Register, seed: u64) -> Vec<(String, String)> {
    let mut elements = vec![(String::new(), named(&register.kept_as))];
    for (low, high) in &register.dimensions {
        let inner = |(index, name): (String, u64)| {
            let places = (*low..=*high).zip(0..);
            let element =
                move |(at, place): (i64, u64)| (format!("{index}[{at}]"), element(name, place));
            places.map(element).collect::<Vec<_>>()
        };
        elements = elements.into_iter().flat_map(inner).collect();
    }
    let width = register.width;
    elements.into_iter().map(|(index, name)| (index, value(width, seed, name))).collect()
}

/// The random hex value of a register or of one of its elements.
fn value(width: u32, seed: u64, name: u64) -> String {
    let drawn = |width: u32, name: u64| split_mix(seed ^ name) & (u64::MAX >> (64 - width));
    if width <= 64 {
        return format!("{:x}", drawn(width, name));
    }
    let words = (0..width.div_ceil(32)).rev();
    words
        .map(|word| {
            let left = (width - 32 * word).min(32);
            let digits = left.div_ceil(4) as usize;
            format!("{:0digits$x}", drawn(left, element(name, u64::from(word))))
        })
        .collect()
}

fn element(name: u64, index: u64) -> u64 {
    split_mix(name.wrapping_add(index))
}

/// The first number of SplitMix64.
fn split_mix(seed: u64) -> u64 {
    let state = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The hash of a register name: FNV-1a over its letters and digits.
fn named(path: &str) -> u64 {
    let letters = path.bytes().filter(u8::is_ascii_alphanumeric);
    letters.fold(0xcbf2_9ce4_8422_2325, |hash, letter| {
        (hash ^ u64::from(letter)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
