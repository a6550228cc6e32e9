//! Answers of Yosys and ABC, kept by content so that the same question is not asked twice.
//!
//! A key holds everything that an answer depends on: the question, the command, and the programs. So an entry is never
//! out of date. This module looks answers up and counts them; `formal` decides which of them may be kept, and
//! [`store`] holds the files.

pub mod store;

use cosim_base::program;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use store::{Key, Store};

/// The answers that a command may use. Clones share their counters.
#[derive(Debug, Clone, Default)]
pub struct Answers(Option<Arc<Session>>);

/// One process's use of the store.
#[derive(Debug)]
struct Session {
    store: Store,
    /// Which programs answer.
    programs: String,
    asked: AtomicU64,
    found: AtomicU64,
    has_warned: AtomicBool,
}

impl Answers {
    /// No answer is looked up or kept.
    pub fn none() -> Self {
        Self::default()
    }

    /// The answers of some programs in a store. `programs` identifies them: another version may answer otherwise.
    pub fn new(store: Store, programs: String) -> Self {
        Self(Some(Arc::new(Session {
            store,
            programs,
            asked: AtomicU64::new(0),
            found: AtomicU64::new(0),
            has_warned: AtomicBool::new(false),
        })))
    }

    /// How many questions were looked up, and how many of their answers were found.
    pub fn counts(&self) -> [u64; 2] {
        let count = |session: &Arc<Session>| {
            [&session.asked, &session.found].map(|counter| counter.load(Ordering::Relaxed))
        };
        self.0.as_ref().map_or([0; 2], count)
    }

    /// The kept answer to a question; `None` if it must be asked. `read` returns `None` for bytes that are no answer.
    ///
    /// `parts` are all that the answer depends on, but for the programs.
    pub fn look_up<T>(
        &self,
        parts: &[&[u8]],
        read: impl FnOnce(&[u8]) -> Option<T>,
    ) -> CacheLookup<'_, T> {
        let Some(session) = &self.0 else { return CacheLookup::Missing(PendingAnswer(None)) };
        let key = Key::new([session.programs.as_bytes()].into_iter().chain(parts.iter().copied()));
        session.asked.fetch_add(1, Ordering::Relaxed);
        match session.store.get(&key).and_then(|value| read(&value)) {
            Some(answer) => {
                session.found.fetch_add(1, Ordering::Relaxed);
                CacheLookup::Found(answer)
            }
            None => CacheLookup::Missing(PendingAnswer(Some((session, key)))),
        }
    }
}

/// The result of looking up a question.
pub enum CacheLookup<'a, T> {
    /// The kept answer.
    Found(T),
    /// There is none; a new one may be put here.
    Missing(PendingAnswer<'a>),
}

/// Where a new answer belongs.
pub struct PendingAnswer<'a>(Option<(&'a Session, Key)>);

impl PendingAnswer<'_> {
    /// Keeps an answer. A failure is a warning, once per process: the next command asks again.
    pub fn keep(&self, value: &[u8]) {
        let Some((session, key)) = &self.0 else { return };
        if let Err(error) = session.store.put(key, value)
            && !session.has_warned.swap(true, Ordering::Relaxed)
        {
            program::say(format_args!(
                "warning: cannot write to {}, so answers of ABC are not cached: {error}; set \
                 COSIM_CACHE to another folder",
                session.store.folder().display()
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    fn text(bytes: &[u8]) -> Option<String> {
        String::from_utf8(bytes.to_vec()).ok()
    }

    fn found(answers: &Answers, parts: &[&[u8]]) -> Option<String> {
        match answers.look_up(parts, text) {
            CacheLookup::Found(answer) => Some(answer),
            CacheLookup::Missing(_) => None,
        }
    }

    fn keep(answers: &Answers, parts: &[&[u8]], value: &str) {
        let CacheLookup::Missing(slot) = answers.look_up(parts, text) else { panic!("it is kept") };
        slot.keep(value.as_bytes());
    }

    #[test]
    fn an_answer_is_that_of_its_question_its_command_and_its_programs() {
        let folder = TempDir::new().unwrap();
        let of =
            |version: &str| Answers::new(Store::new(folder.path(), u64::MAX), version.to_owned());
        let answers = of("ABC 1");
        keep(&answers, &[b"graph", b"pdr -T 2"], "proved");
        assert_eq!(found(&answers, &[b"graph", b"pdr -T 2"]).as_deref(), Some("proved"));
        assert_eq!(found(&answers, &[b"other", b"pdr -T 2"]), None);
        assert_eq!(found(&answers, &[b"graph", b"pdr -T 3"]), None);
        assert_eq!(found(&of("ABC 2"), &[b"graph", b"pdr -T 2"]), None);
        assert_eq!(found(&Answers::none(), &[b"graph", b"pdr -T 2"]), None);
        assert_eq!(answers.counts(), [4, 1]);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_no_failure() {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let answers = Answers::new(Store::new(file.join("answers"), u64::MAX), String::new());
        keep(&answers, &[b"graph"], "proved");
        assert_eq!(found(&answers, &[b"graph"]), None);
    }
}
