//! What the parts of a case cost: `cargo bench`. The ratio that counts is `cosim bench`.

use cosim::blocks::thread2::Thread2;
use cosim_core::harness::{self, Block, CaseRng, Parameters, Stimulus, Watch};
use cosim_core::verilated::BeforeReset;
use divan::Bencher;
use rand::SeedableRng;

const PARAMETERS: Parameters = Parameters::with_fixes::<Thread2>(0xff);
const PACKETS: u32 = 64;

fn main() {
    divan::main();
}

fn stimulus(scenario: &str) -> Stimulus<Thread2> {
    let scenarios = Thread2::scenarios();
    let scenario = scenarios.iter().find(|other| other.name == scenario).expect("a scenario");
    Stimulus::<Thread2>::draw(
        &scenario.weights,
        &PARAMETERS,
        PACKETS,
        &mut CaseRng::seed_from_u64(1),
    )
}

#[divan::bench(args = ["default", "long-messages", "chaos"])]
fn generate(bencher: Bencher, scenario: &str) {
    bencher.bench(|| stimulus(scenario));
}

#[divan::bench]
fn create_model(bencher: Bencher) {
    let kind = Thread2::RTL.linked(&PARAMETERS).expect("a linked model");
    bencher.bench(|| kind.create(BeforeReset::Ones));
}

#[divan::bench(args = ["default", "long-messages", "chaos"])]
fn lock_step(bencher: Bencher, scenario: &str) {
    let kind = Thread2::RTL.linked(&PARAMETERS).expect("a linked model");
    let stimulus = stimulus(scenario);
    bencher.with_inputs(|| kind.create(BeforeReset::Ones).expect("a model")).bench_values(
        |mut model| harness::run::<Thread2>(&stimulus, &PARAMETERS, &mut model, &Watch::default()),
    );
}
