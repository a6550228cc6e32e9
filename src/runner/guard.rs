//! Work on models outside the pool, with a watchdog.

use crate::error::Error;
use crate::harness::Watch;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// How often the watchdog looks.
const TICK: Duration = Duration::from_millis(50);

/// Runs `work` on a thread of its own, which is lost if a model in it does not return for `stuck_after`;
/// the watch is cancelled as soon as `interrupted` is set.
///
/// # Errors
/// [`Error::Stuck`] if the thread is lost, or broke off.
pub fn guarded<T: Send + 'static>(
    stuck_after: Duration,
    interrupted: &AtomicBool,
    work: impl FnOnce(&Watch) -> T + Send + 'static,
) -> Result<T, Error> {
    let watch = Arc::new(Watch::default());
    let (sender, results) = mpsc::channel();
    let given = Arc::clone(&watch);
    thread::spawn(move || {
        // Nobody listens any more if the thread was given up.
        let _ = sender.send(work(&given));
    });
    let mut seen = (None, Instant::now());
    loop {
        match results.recv_timeout(TICK) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::Stuck("the work on the model broke off".to_owned()));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if interrupted.load(Ordering::Relaxed) {
            watch.cancel();
        }
        let progress = watch.progress();
        if progress.is_none() || progress != seen.0 {
            seen = (progress, Instant::now());
        } else if seen.1.elapsed() > stuck_after {
            let message = format!("the model did not return for {} s", stuck_after.as_secs());
            return Err(Error::Stuck(message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::thread2::Thread2;
    use crate::harness::{self, Block, Dut, Echo, Parameters, Stimulus};
    use verilated::Error as ModelError;

    const SOON: Duration = Duration::from_millis(200);
    const PARAMETERS: Parameters = Parameters::of::<Thread2>(0);

    fn cycles(count: usize) -> Stimulus<Thread2> {
        Stimulus::cycles(vec![Thread2::reset_inputs(); count])
    }

    /// A DUT whose first edge takes that long.
    struct Sleeper(Echo<Thread2>, Duration);

    impl Dut<Thread2> for Sleeper {
        fn settle(
            &mut self,
            inputs: &<Thread2 as Block>::Inputs,
            outputs: &mut <Thread2 as Block>::Outputs,
        ) -> Result<(), ModelError> {
            Dut::settle(&mut self.0, inputs, outputs)
        }

        fn edge(&mut self) -> Result<(), ModelError> {
            thread::sleep(std::mem::take(&mut self.1));
            Dut::edge(&mut self.0)
        }
    }

    fn run(wait: Duration, watch: &Watch) -> crate::harness::Outcome {
        let dut = &mut Sleeper(Echo::new(&PARAMETERS), wait);
        harness::run::<Thread2>(&cycles(9), &PARAMETERS, dut, watch)
    }

    #[test]
    fn a_model_that_does_not_return_is_given_up() {
        let result = guarded(SOON, &AtomicBool::new(false), |watch| {
            run(Duration::from_secs(3600), watch).cycles
        });
        assert!(matches!(result, Err(Error::Stuck(_))), "{result:?}");
    }

    #[test]
    fn what_is_no_case_may_take_its_time() {
        let result = guarded(SOON, &AtomicBool::new(false), |watch| {
            thread::sleep(3 * SOON);
            run(Duration::ZERO, watch).cycles
        });
        assert_eq!(result.ok(), Some(10));
    }

    #[test]
    fn an_interruption_reaches_the_work() {
        let result = guarded(SOON, &AtomicBool::new(true), |watch| {
            while !watch.is_cancelled() {
                thread::sleep(Duration::from_millis(1));
            }
            "ended"
        });
        assert_eq!(result.ok(), Some("ended"));
    }

    #[test]
    fn a_panic_is_an_error() {
        let result = guarded(SOON, &AtomicBool::new(false), |_| -> u8 { panic!("for the test") });
        assert!(matches!(result, Err(Error::Stuck(_))), "{result:?}");
    }
}
