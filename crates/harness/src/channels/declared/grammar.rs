//! All combinations of the clauses of a channel. That they compile is the test.

use super::pins;
use crate::harness::{CaseRng, Parameters};

pins!(Inputs {
    vs: 20 u32, ks: 16 u16, c: 1 u8,
    w0: 1 u8, w1: 1 u8, w2: 1 u8, w3: 1 u8, w4: 1 u8, w5: 1 u8, w6: 1 u8, w7: 1 u8, w8: 1 u8, w9: 1 u8, w10: 1 u8, w11: 1 u8, w12: 1 u8, w13: 1 u8, w14: 1 u8, w15: 1 u8, w16: 1 u8, w17: 1 u8, w18: 1 u8, w19: 1 u8,
    k0: 1 u8, k1: 1 u8, k2: 1 u8, k3: 1 u8, k4: 1 u8, k5: 1 u8, k6: 1 u8, k7: 1 u8, k8: 1 u8, k9: 1 u8, k10: 1 u8, k11: 1 u8, k12: 1 u8, k13: 1 u8, k14: 1 u8, k15: 1 u8,
} padding 1);
pins!(Outputs { rs: 4 u8, os: 6 u8, r: 1 u8, v: 1 u8, } padding 0);

/// The declaration with something at the end of each source and of each sink.
macro_rules! grammar {
    ($module:ident: [$($from:ident)?] [$($source:tt)*] [$($sink:tt)*]) => {
        #[allow(dead_code)]
        mod $module {
            #[allow(unused_imports)]
            use super::*;

            #[allow(dead_code)]
            fn drawn<T: Default>(_: &Weights, _: &Parameters, _: &mut CaseRng) -> T {
                T::default()
            }

            crate::channels! {
                pins Inputs, Outputs;
                clocks c;
                source a0: A0 {} on w0 $($from A0)? $($source)*;
                source a1: A1 {} on w1 at c $($from A1)? $($source)*;
                source a2: A2 {} on w2, r $($from A2)? $($source)*;
                source a3: A3 {} on w3, r at c $($from A3)? $($source)*;
                source a4: A4 {} on w4, !r $($from A4)? $($source)*;
                source a5: A5 {} on w5, !r at c $($from A5)? $($source)*;
                source a6: A6 {} on w6, rs[2] $($from A6)? $($source)*;
                source a7: A7 {} on w7, rs[2] at c $($from A7)? $($source)*;
                source a8: A8 {} on w8, !rs[3] $($from A8)? $($source)*;
                source a9: A9 {} on w9, !rs[3] at c $($from A9)? $($source)*;
                source a10: A10 {} on !w10 $($from A10)? $($source)*;
                source a11: A11 {} on !w11 at c $($from A11)? $($source)*;
                source a12: A12 {} on !w12, r $($from A12)? $($source)*;
                source a13: A13 {} on !w13, r at c $($from A13)? $($source)*;
                source a14: A14 {} on !w14, !r $($from A14)? $($source)*;
                source a15: A15 {} on !w15, !r at c $($from A15)? $($source)*;
                source a16: A16 {} on !w16, rs[2] $($from A16)? $($source)*;
                source a17: A17 {} on !w17, rs[2] at c $($from A17)? $($source)*;
                source a18: A18 {} on !w18, !rs[3] $($from A18)? $($source)*;
                source a19: A19 {} on !w19, !rs[3] at c $($from A19)? $($source)*;
                source a20: A20 {} on vs[0] $($from A20)? $($source)*;
                source a21: A21 {} on vs[1] at c $($from A21)? $($source)*;
                source a22: A22 {} on vs[2], r $($from A22)? $($source)*;
                source a23: A23 {} on vs[3], r at c $($from A23)? $($source)*;
                source a24: A24 {} on vs[4], !r $($from A24)? $($source)*;
                source a25: A25 {} on vs[5], !r at c $($from A25)? $($source)*;
                source a26: A26 {} on vs[6], rs[2] $($from A26)? $($source)*;
                source a27: A27 {} on vs[7], rs[2] at c $($from A27)? $($source)*;
                source a28: A28 {} on vs[8], !rs[3] $($from A28)? $($source)*;
                source a29: A29 {} on vs[9], !rs[3] at c $($from A29)? $($source)*;
                source a30: A30 {} on !vs[10] $($from A30)? $($source)*;
                source a31: A31 {} on !vs[11] at c $($from A31)? $($source)*;
                source a32: A32 {} on !vs[12], r $($from A32)? $($source)*;
                source a33: A33 {} on !vs[13], r at c $($from A33)? $($source)*;
                source a34: A34 {} on !vs[14], !r $($from A34)? $($source)*;
                source a35: A35 {} on !vs[15], !r at c $($from A35)? $($source)*;
                source a36: A36 {} on !vs[16], rs[2] $($from A36)? $($source)*;
                source a37: A37 {} on !vs[17], rs[2] at c $($from A37)? $($source)*;
                source a38: A38 {} on !vs[18], !rs[3] $($from A38)? $($source)*;
                source a39: A39 {} on !vs[19], !rs[3] at c $($from A39)? $($source)*;
                sink b0: B0 {} on v $($sink)*;
                sink b1: B1 {} on v at c $($sink)*;
                sink b2: B2 {} on v, k0 $($sink)*;
                sink b3: B3 {} on v, k1 at c $($sink)*;
                sink b4: B4 {} on v, !k2 $($sink)*;
                sink b5: B5 {} on v, !k3 at c $($sink)*;
                sink b6: B6 {} on v, ks[0] $($sink)*;
                sink b7: B7 {} on v, ks[1] at c $($sink)*;
                sink b8: B8 {} on v, !ks[2] $($sink)*;
                sink b9: B9 {} on v, !ks[3] at c $($sink)*;
                sink b10: B10 {} on !v $($sink)*;
                sink b11: B11 {} on !v at c $($sink)*;
                sink b12: B12 {} on !v, k4 $($sink)*;
                sink b13: B13 {} on !v, k5 at c $($sink)*;
                sink b14: B14 {} on !v, !k6 $($sink)*;
                sink b15: B15 {} on !v, !k7 at c $($sink)*;
                sink b16: B16 {} on !v, ks[4] $($sink)*;
                sink b17: B17 {} on !v, ks[5] at c $($sink)*;
                sink b18: B18 {} on !v, !ks[6] $($sink)*;
                sink b19: B19 {} on !v, !ks[7] at c $($sink)*;
                sink b20: B20 {} on os[4] $($sink)*;
                sink b21: B21 {} on os[4] at c $($sink)*;
                sink b22: B22 {} on os[4], k8 $($sink)*;
                sink b23: B23 {} on os[4], k9 at c $($sink)*;
                sink b24: B24 {} on os[4], !k10 $($sink)*;
                sink b25: B25 {} on os[4], !k11 at c $($sink)*;
                sink b26: B26 {} on os[4], ks[8] $($sink)*;
                sink b27: B27 {} on os[4], ks[9] at c $($sink)*;
                sink b28: B28 {} on os[4], !ks[10] $($sink)*;
                sink b29: B29 {} on os[4], !ks[11] at c $($sink)*;
                sink b30: B30 {} on !os[5] $($sink)*;
                sink b31: B31 {} on !os[5] at c $($sink)*;
                sink b32: B32 {} on !os[5], k12 $($sink)*;
                sink b33: B33 {} on !os[5], k13 at c $($sink)*;
                sink b34: B34 {} on !os[5], !k14 $($sink)*;
                sink b35: B35 {} on !os[5], !k15 at c $($sink)*;
                sink b36: B36 {} on !os[5], ks[12] $($sink)*;
                sink b37: B37 {} on !os[5], ks[13] at c $($sink)*;
                sink b38: B38 {} on !os[5], !ks[14] $($sink)*;
                sink b39: B39 {} on !os[5], !ks[15] at c $($sink)*;
            }
        }
    };
}
grammar!(plain: [] [] []);
grammar!(with_more: [] [drawn by drawn] [unless |_, _| None]);
grammar!(with_burst: [from] [drawn by drawn] []);

#[test]
fn each_handshake_is_read_from_its_pin_and_polarity() {
    let (mut inputs, mut outputs) = (Inputs::default(), Outputs::default());
    // w0, !w10, vs[0] and !vs[10]; without ready, and with r, !r, rs[2], !rs[3].
    let valid = |pins: &Inputs| {
        [
            plain::A0::valids(pins),
            plain::A10::valids(pins),
            plain::A20::valids(pins),
            plain::A30::valids(pins),
        ]
    };
    assert_eq!(valid(&inputs), [0, 1, 0, 1]);
    (inputs.w0, inputs.w10) = (true.into(), true.into());
    inputs.vs = verilated::Bits::new(1 << 10 | 1);
    assert_eq!(valid(&inputs), [1, 0, 1, 0]);
    let ready = |pins: &Outputs| {
        [
            plain::A0::is_ready(pins),
            plain::A2::is_ready(pins),
            plain::A4::is_ready(pins),
            plain::A6::is_ready(pins),
            plain::A8::is_ready(pins),
        ]
    };
    assert_eq!(ready(&outputs), [true, false, true, false, true]);
    (outputs.r, outputs.rs) = (true.into(), verilated::Bits::new(0b1100));
    assert_eq!(ready(&outputs), [true, true, false, true, false]);
    // v, !v, os[4], !os[5]; without ready, and with k0, !k2, ks[0], !ks[2].
    let offered = |pins: &Outputs| {
        [
            plain::B0::is_valid(pins),
            plain::B10::is_valid(pins),
            plain::B20::is_valid(pins),
            plain::B30::is_valid(pins),
        ]
    };
    assert_eq!(offered(&outputs), [false, true, false, true]);
    (outputs.v, outputs.os) = (true.into(), verilated::Bits::new(0b11_0000));
    assert_eq!(offered(&outputs), [true, false, true, false]);
    let taken = |pins: &Inputs| {
        [
            plain::B0::is_ready(pins),
            plain::B2::is_ready(pins),
            plain::B4::is_ready(pins),
            plain::B6::is_ready(pins),
            plain::B8::is_ready(pins),
        ]
    };
    assert_eq!(taken(&inputs), [true, false, true, false, true]);
    (inputs.k0, inputs.k2, inputs.ks) = (true.into(), true.into(), verilated::Bits::new(0b101));
    assert_eq!(taken(&inputs), [true, true, false, true, false]);
    assert!(plain::A0::is_clocked(&inputs) && !plain::A1::is_clocked(&inputs));
}
