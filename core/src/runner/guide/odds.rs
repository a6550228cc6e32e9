//! What is to be expected, and of what. The four basic operations alone: a function of a library may differ in the last bit from machine to machine.

use crate::coverage::Group;

/// Hits after which one would believe as firmly in what is believed before.
const FIRMNESS: f64 = 0.3;

/// The rate at which something is to be expected that was expected at a rate and has not happened in so many cycles: of a rate
/// believed as firmly as after so many hits (the mean of a gamma distribution).
pub(super) fn rate(expected: f64, in_vain: f64) -> f64 {
    FIRMNESS / (FIRMNESS / expected + in_vain)
}

/// The chance that something happens in so many cycles that happens at this rate.
pub(super) fn chance(rate: f64, cycles: f64) -> f64 {
    rate * cycles / (1.0 + rate * cycles)
}

/// By bin, those of its group that differ from it in one value.
pub(super) fn beside(groups: &[Group]) -> Vec<Vec<u32>> {
    let mut all = Vec::new();
    for group in groups {
        let first = all.len();
        let sizes: Vec<usize> = group.axes.iter().map(|axis| axis.values.len()).collect();
        for bin in 0..group.bins() {
            let mut beside = Vec::new();
            let mut stride = 1;
            for size in sizes.iter().rev() {
                let value = bin / stride % size;
                let others = (0..*size).filter(|other| *other != value);
                beside.extend(
                    others.map(|other| (first + bin - value * stride + other * stride) as u32),
                );
                stride *= size;
            }
            all.push(beside);
        }
    }
    all
}
