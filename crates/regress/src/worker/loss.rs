//! Decides what follows when a worker is lost: repeat the work, record a verdict, or end the
//! command.
//!
//! RTL that ends its process or never returns gets a verdict. If something else ended the worker,
//! the loss says nothing about the RTL: the work is repeated alone in a fresh process, and that
//! result counts.

use cosim_base::error::Error;
use cosim_harness::harness::Verdict;

/// How often a worker may be killed from outside with the same work. The limit ends the command
/// when memory is short, since each repetition would be killed again.
const MAX_KILLED: u32 = 3;

/// How a worker died that sent what it was not asked for.
pub const CORRUPTED: &str = "process corrupted its channel to the program";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loss {
    /// The process ended by itself, as the text says.
    Died(String),
    /// A signal that people and batch systems send ended it. RTL can send such a signal to itself,
    /// too.
    Signalled(String),
    /// SIGKILL ended it. The sandbox prevents RTL from sending SIGKILL to itself.
    Killed(String),
    /// The supervisor ended it because it made no progress.
    Hung,
}

impl Loss {
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

/// The losses of workers with one item of work.
#[derive(Debug, Clone, Default)]
pub struct Losses {
    /// Whether the last worker had no other work before.
    is_alone: bool,
    killed: u32,
    signalled: bool,
    hung: bool,
    /// How a worker died that had processed other work before.
    died: Option<String>,
    /// Losses that led to a repetition and may have another cause than the RTL.
    doubtful: Vec<Loss>,
}

impl Losses {
    /// No losses, and a worker that processes nothing else.
    pub fn single_task() -> Self {
        Self { is_alone: true, ..Self::default() }
    }

    pub fn any(&self) -> bool {
        self.killed > 0 || self.signalled || self.hung || self.died.is_some()
    }

    /// How a worker died that had processed other work before. If this item does not end the next
    /// worker, earlier work damaged the process.
    pub fn died(self) -> Option<String> {
        self.died
    }

    /// The losses whose cause is not the RTL. `has_result` says whether the last repetition had a
    /// result: a loss that repeats is the RTL's.
    pub fn to_others(&self, has_result: bool) -> impl Iterator<Item = &Loss> {
        self.doubtful.iter().filter(move |loss| has_result || matches!(loss, Loss::Killed(_)))
    }

    /// Records a loss. Returns the verdict, or `None` if the work must be repeated alone in a fresh
    /// process.
    ///
    /// # Errors
    /// [`Error::WorkersKilled`] if the worker was killed too often.
    pub fn add(&mut self, loss: Loss) -> Result<Option<Verdict>, Error> {
        let was_alone = std::mem::replace(&mut self.is_alone, true);
        let is_verdict = match &loss {
            Loss::Killed(how) => {
                self.killed += 1;
                if self.killed >= MAX_KILLED {
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
        assert_eq!(
            Losses::single_task().add(died()).unwrap(),
            crashed("process exited with code 1")
        );
        let mut losses = Losses::default();
        assert_eq!(losses.add(died()).unwrap(), None);
        assert_eq!(losses.add(died()).unwrap(), crashed("process exited with code 1"));
        assert_eq!(losses.died().as_deref(), Some("process exited with code 1"));
    }

    #[test]
    fn a_repeated_hang_is_a_verdict() {
        let mut losses = Losses::single_task();
        assert_eq!(losses.add(Loss::Hung).unwrap(), None);
        assert!(losses.to_others(true).eq([&Loss::Hung]), "a repetition that ends well decides");
        assert_eq!(losses.add(Loss::Hung).unwrap(), hang());
        assert_eq!(losses.to_others(false).count(), 0);
        assert_eq!(losses.died(), None);
    }

    #[test]
    fn a_repeated_signal_is_a_verdict() {
        let signalled = || Loss::Signalled("process killed by SIGTERM".to_owned());
        let mut losses = Losses::single_task();
        assert_eq!(losses.add(signalled()).unwrap(), None);
        assert_eq!(losses.add(signalled()).unwrap(), crashed("process killed by SIGTERM"));
    }

    #[test]
    fn too_many_kills_end_the_command() {
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
