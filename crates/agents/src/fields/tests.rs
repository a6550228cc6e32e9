//! A port with fields holds the values of its steps.

use super::*;
use crate::testing::{pins, rng};

pins!(I { other: 8 u8, port: 100 [u32; 4], });
pins!(O { unused: 1 u8, });

cosim_harness::layout! {
    /// The fields of the port.
    pub struct Fields in verilated::Bits<100, [u32; 4]> {
        /// A flag.
        flag [99 : 99],
        /// A field of three words.
        wide [98 : 36],
        /// Behind reserved bits.
        low [4 : 1],
    }
}

type Driver<'a> = FieldDriver<'a, I, O, Fields>;

const PORT: Pin<I> = Pin::named("", "port");

/// The fields in each of some cycles.
fn driven(traffic: &FieldTraffic<Fields>, cycles: usize) -> Vec<(u64, u64, u64)> {
    let (mut driver, mut inputs) = (Driver::new(PORT, traffic), I::default());
    let mut cycle = |_| {
        driver.drive(false, &mut Noise::new(1), &mut inputs);
        let Fields { flag, wide, low } = Fields::decode(&{ inputs.port });
        driver.clock(false, &inputs, &O::default());
        (flag.get(), wide.get(), low.get())
    };
    let all = (0..cycles).map(&mut cycle).collect();
    assert_eq!(driver.in_flight(), None);
    all
}

#[test]
fn fields_hold_their_values() {
    let text = r#"{ "steps": [
        { "hold_cycles": 1, "fields": [{ "field": "wide", "value": "0x4000000080000001" }] },
        { "fields": [{ "field": "flag", "value": "0x1" }, { "field": "low", "value": "0x9" }] }
    ] }"#;
    let traffic: FieldTraffic<Fields> = serde_json::from_str(text).unwrap();
    assert_eq!(traffic.check(), Ok(()));
    let wide = 0x4000_0000_8000_0001;
    let expected = [(0, wide, 0), (0, wide, 0), (1, 0, 9), (0, 0, 0)];
    assert_eq!(driven(&traffic, 4), expected);
    let words = Driver::new(PORT, &traffic).in_flight().unwrap();
    assert_eq!(words, "wide is 0x4000000080000001 for 2 more cycles, 1 steps to come");
}

#[test]
fn wrong_fields_are_refused() {
    for (from, to, path) in
        [("low", "lower", "steps[0].fields[0].field"), ("0xf", "0x10", "steps[0].fields[0].value")]
    {
        let text = r#"{ "steps": [{ "fields": [{ "field": "low", "value": "0xf" }] }] }"#;
        let read = |text: &str| serde_json::from_str::<FieldTraffic<Fields>>(text).unwrap();
        assert_eq!(read(text).check(), Ok(()));
        assert_eq!(read(&text.replace(from, to)).check().unwrap_err().path, path);
    }
}

#[test]
fn drawn_traffic_is_legal_and_uses_every_field() {
    let weights = FieldWeights::default();
    let traffic: FieldTraffic<Fields> = DrawnTraffic::draw(
        &weights,
        &PORT,
        CasePlan { operations: 40, reset: Percent::new(5), rng: &mut rng(1) },
    );
    assert_eq!((traffic.check(), traffic.steps.len()), (Ok(()), 160));
    for (name, _) in Fields::FIELDS {
        let has = |step: &&FieldStep| step.fields.iter().any(|known| known.field == *name);
        assert!((1..160).contains(&traffic.steps.iter().filter(has).count()), "{name}");
    }
}
