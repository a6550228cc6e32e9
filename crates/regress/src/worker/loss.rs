//! Decides what follows when a worker is lost: repeat the work, record a verdict, or end the
//! command.
//!
//! RTL that ends its process or never returns gets a verdict. If something else ended the worker,
//! the loss says nothing about the RTL: the work is repeated alone in a fresh process, and that
//! result counts.

use cosim_base::error::Error;
use cosim_harness::harness::Verdict;

/// How often a worker may be killed from outside with the same work. The work is not repeated for ever: where memory is
/// short, it would be killed each time.
const MOST_KILLED: u32 = 3;

/// How a worker was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loss {
    /// It ended by itself, as the text says.
    Died(String),
    /// It was ended by a signal that people and batch systems send. RTL can send it to itself, too.
    Signalled(String),
    /// It was ended by SIGKILL. The sandbox keeps RTL from sending that to itself.
    Killed(String),
    /// It made no progress for too long, and was ended.
    Hung,
}

impl Loss {
    /// The loss in words.
    pub fn how(&self) -> &str {
        match self {
            Self::Died(how) | Self::Signalled(how) | Self::Killed(how) => how,
            Self::Hung => "process made no progress",
        }
    }
}

impl From<Loss> for Verdict {
    fn from(loss: Loss) -> Self {
        match loss {
            Loss::Died(message) | Loss::Signalled(message) | Loss::Killed(message) => {
                Self::Crashed { cycle: None, message }
            }
            Loss::Hung => Self::Hang { cycle: None, state: "unknown".to_owned() },
        }
    }
}

/// The workers that were lost with one piece of work.
#[derive(Debug, Clone, Default)]
pub struct Losses {
    /// Whether the last worker had no other work before.
    is_alone: bool,
    killed: u32,
    signalled: bool,
    hung: bool,
    /// How a worker died that had done other work before.
    died: Option<String>,
    /// The losses that led to a repetition and may have nothing to do with the RTL.
    doubtful: Vec<Loss>,
}

impl Losses {
    /// None yet, and the worker does nothing else.
    pub fn alone() -> Self {
        Self { is_alone: true, ..Self::default() }
    }

    /// Whether a worker was lost.
    pub fn any(&self) -> bool {
        self.killed > 0 || self.signalled || self.hung || self.died.is_some()
    }

    /// How a worker died that had done other work before. If its work does not end the next one, the RTL has damaged its
    /// process earlier.
    pub fn died(self) -> Option<String> {
        self.died
    }

    /// The losses to something else than the RTL, if the last repetition had a result or not: one that comes again is the
    /// RTL's.
    pub fn to_others(&self, has_result: bool) -> impl Iterator<Item = &Loss> {
        self.doubtful.iter().filter(move |loss| has_result || matches!(loss, Loss::Killed(_)))
    }

    /// Takes note of a loss. Returns the verdict; none if the work is to be done again, alone in a fresh process.
    ///
    /// # Errors
    /// [`Error::Environment`] if the worker was killed too often.
    pub fn add(&mut self, loss: Loss) -> Result<Option<Verdict>, Error> {
        let was_alone = std::mem::replace(&mut self.is_alone, true);
        let is_verdict = match &loss {
            Loss::Killed(how) => {
                self.killed += 1;
                if self.killed >= MOST_KILLED {
                    return Err(Error::WorkersKilled { times: self.killed, how: how.clone() });
                }
                false
            }
            Loss::Signalled(_) => std::mem::replace(&mut self.signalled, true),
            Loss::Hung => std::mem::replace(&mut self.hung, true),
            Loss::Died(_) if was_alone => true,
            Loss::Died(how) => {
                self.died = Some(how.clone());
                false
            }
        };
        if is_verdict {
            return Ok(Some(loss.into()));
        }
        if !matches!(loss, Loss::Died(_)) {
            self.doubtful.push(loss);
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn died() -> Loss {
        Loss::Died("process exited with code 1".to_owned())
    }

    fn killed() -> Loss {
        Loss::Killed("process killed by SIGKILL".to_owned())
    }

    fn crashed(message: &str) -> Option<Verdict> {
        Some(Verdict::Crashed { cycle: None, message: message.to_owned() })
    }

    fn hang() -> Option<Verdict> {
        Some(Verdict::Hang { cycle: None, state: "unknown".to_owned() })
    }

    #[test]
    fn a_worker_that_dies_alone_is_a_verdict() {
        assert_eq!(Losses::alone().add(died()).unwrap(), crashed("process exited with code 1"));
        let mut losses = Losses::default();
        assert_eq!(losses.add(died()).unwrap(), None);
        assert_eq!(losses.add(died()).unwrap(), crashed("process exited with code 1"));
        assert_eq!(losses.died().as_deref(), Some("process exited with code 1"));
    }

    #[test]
    fn a_hang_is_a_verdict_when_it_comes_again() {
        let mut losses = Losses::alone();
        assert_eq!(losses.add(Loss::Hung).unwrap(), None);
        assert!(losses.to_others(true).eq([&Loss::Hung]), "a repetition that ends well decides");
        assert_eq!(losses.add(Loss::Hung).unwrap(), hang());
        assert_eq!(losses.to_others(false).count(), 0);
        assert_eq!(losses.died(), None);
    }

    #[test]
    fn a_signal_is_a_verdict_when_it_comes_again() {
        let signalled = || Loss::Signalled("process killed by SIGTERM".to_owned());
        let mut losses = Losses::alone();
        assert_eq!(losses.add(signalled()).unwrap(), None);
        assert_eq!(losses.add(signalled()).unwrap(), crashed("process killed by SIGTERM"));
    }

    #[test]
    fn a_worker_that_is_killed_again_and_again_ends_the_command() {
        let mut losses = Losses::default();
        assert_eq!(losses.add(killed()).unwrap(), None);
        assert_eq!(losses.add(killed()).unwrap(), None);
        assert_eq!(losses.add(killed()).unwrap_err().code().exit(), 3);
    }

    #[test]
    fn the_repetition_after_a_kill_decides() {
        let mut losses = Losses::default();
        assert_eq!(losses.add(killed()).unwrap(), None);
        assert!(losses.any());
        assert_eq!(losses.add(died()).unwrap(), crashed("process exited with code 1"));
    }
}
