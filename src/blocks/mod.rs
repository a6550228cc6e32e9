//! The blocks. A new one is added here, in `build.rs` and in `lib.rs`.

pub mod dll;
pub mod qp;
pub mod thread2;

#[cfg(test)]
mod tests {
    use cosim_core::harness::{Block, CaseRng, Drive, Scenario, Traffic as _, undriven};
    use proptest::prelude::*;
    use rand::SeedableRng;
    use serde_json::Value;

    /// Pointers to the numbers of a value.
    fn numbers(value: &Value, at: &str, found: &mut Vec<String>) {
        match value {
            Value::Number(_) => found.push(at.to_owned()),
            Value::Array(list) => {
                (0..list.len()).for_each(|i| numbers(&list[i], &format!("{at}/{i}"), found));
            }
            Value::Object(map) => {
                map.iter().for_each(|(name, part)| numbers(part, &format!("{at}/{name}"), found));
            }
            _ => {}
        }
    }

    /// A built-in scenario with other numbers, if it is one that can be read.
    fn changed<B: Block>(which: usize, changes: &[(usize, u64)]) -> Option<Scenario<B::Weights>> {
        let scenarios = B::scenarios();
        let mut json = serde_json::to_value(&scenarios[which % scenarios.len()]).unwrap();
        let mut places = Vec::new();
        numbers(&json["weights"], "/weights", &mut places);
        for (place, number) in changes {
            *json.pointer_mut(&places[place % places.len()]).unwrap() = Value::from(*number);
        }
        // As text: what a file says is what is checked.
        serde_json::from_str(&json.to_string()).ok()
    }

    fn draws_what_is_legal<B: Block>(scenario: &Scenario<B::Weights>, packets: u32, seed: u64) {
        for profile in B::PROFILES {
            let mut rng = CaseRng::seed_from_u64(seed);
            let stimulus = B::stimulus(&scenario.weights, &profile.parameters, packets, &mut rng);
            match stimulus.drive {
                Drive::Traffic(traffic) => assert_eq!(traffic.check(), Ok(()), "{scenario:?}"),
                Drive::Cycles(cycles) => assert!(!cycles.is_empty(), "{scenario:?}"),
            }
        }
    }

    /// Edges of the numbers' types and of what they mean, which single draws would hardly meet.
    fn number() -> impl Strategy<Value = u64> {
        let edges = vec![0, 1, 2, 100, 101, 255, 256, 4095, 65_535, u64::MAX];
        prop_oneof![proptest::sample::select(edges), 0..=100_u64, any::<u16>().prop_map(u64::from)]
    }

    fn changes() -> impl Strategy<Value = Vec<(usize, u64)>> {
        proptest::collection::vec((any::<usize>(), number()), 0..6)
    }

    #[test]
    fn every_built_in_scenario_can_be_read_again() {
        fn check<B: Block>() {
            for which in 0..B::scenarios().len() {
                assert!(changed::<B>(which, &[]).is_some(), "{} {which}", B::NAME);
            }
        }
        check::<super::thread2::Thread2>();
        check::<super::dll::Dll>();
        check::<super::qp::Qp>();
    }

    #[test]
    fn environments_drive_every_pin() {
        fn check<B: Block>() {
            for (scenario, profile) in B::scenarios()
                .iter()
                .flat_map(|scenario| B::PROFILES.iter().map(move |p| (scenario, p)))
            {
                for seed in 0..4 {
                    let mut rng = CaseRng::seed_from_u64(seed);
                    let parameters = &profile.parameters;
                    let stimulus = B::stimulus(&scenario.weights, parameters, 40, &mut rng);
                    let Drive::Traffic(traffic) = stimulus.drive else { continue };
                    let found = undriven::<B, B::Environment<'_>>(&traffic, parameters, 20_000);
                    assert_eq!(found, None, "{} {} {seed}", profile.name, scenario.name);
                }
            }
        }
        check::<super::thread2::Thread2>();
        check::<super::dll::Dll>();
        check::<super::qp::Qp>();
    }

    // So few are refused that cases that are too often refused would fail these tests.
    proptest! {
        #![proptest_config(ProptestConfig { cases: 150, max_global_rejects: 900, ..Default::default() })]

        #[test]
        fn any_scenario_of_thread2_that_can_be_read_draws_legal_traffic(
            which: usize, changes in changes(), packets in 1_u32..8, seed: u64,
        ) {
            let scenario = changed::<super::thread2::Thread2>(which, &changes);
            prop_assume!(scenario.is_some());
            draws_what_is_legal::<super::thread2::Thread2>(&scenario.unwrap(), packets, seed);
        }

        #[test]
        fn any_scenario_of_dll_that_can_be_read_draws_legal_traffic(
            which: usize, changes in changes(), packets in 1_u32..4, seed: u64,
        ) {
            let scenario = changed::<super::dll::Dll>(which, &changes);
            prop_assume!(scenario.is_some());
            draws_what_is_legal::<super::dll::Dll>(&scenario.unwrap(), packets, seed);
        }

        #[test]
        fn any_scenario_of_qp_that_can_be_read_draws_legal_traffic(
            which: usize, changes in changes(), packets in 1_u32..8, seed: u64,
        ) {
            let scenario = changed::<super::qp::Qp>(which, &changes);
            prop_assume!(scenario.is_some());
            draws_what_is_legal::<super::qp::Qp>(&scenario.unwrap(), packets, seed);
        }
    }
}
