//! Finds the files of user RTL with Verilator, in a temporary folder.

use super::super::data::{self, REVISION, SearchFolder};
use super::super::given::{Folder, Named, UserRtl, folder_of};
use super::super::messages::{self, ASKING_TOP};
use super::super::{TARGET, verilator};
use super::names::Names;
use super::{
    AssertionFile, BUILT_IN, Examined, FILES, FileRead, TopRequest, assertion_module, candidates,
    design_wrapper, identity, words,
};
use cosim_base::error::{Error, codes};
use cosim_block::rtl::Rtl;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use tempfile::TempDir;
use verilated_build::compile;
use verilated_build::sources::{self, Declarations};
use verilated_build::{
    DataFile, DataNames, Design, Elaboration, Error as BuildError, Module, Opened, Preprocessed,
    SourceFile,
};
use verilated_files::foreign::{ForeignName, lay_out};
use verilated_runtime::Verilator;

/// Whether Verilator rejected the RTL.
fn is_rejected(error: &Error) -> bool {
    error.code() == codes::VERILATOR_REJECTED
}

fn is_built_in(name: &Path) -> bool {
    name.starts_with(BUILT_IN)
}

/// The temporary folder in which Verilator examines an RTL.
struct ExaminedFolder {
    names: Names,
    named: Named,
    /// The folder that names are relative to.
    folder: PathBuf,
    /// The searched folders, by name, and whether the user gave them explicitly.
    searched: Vec<(PathBuf, bool)>,
    /// The sources of the user, by name.
    sources: Vec<PathBuf>,
    /// [`UserRtl::revision`].
    revision: Option<PathBuf>,
    /// Those sources that the top seems to need.
    needed: Vec<PathBuf>,
    /// The given files of assertions, by name.
    assertions: Vec<PathBuf>,
    /// What the sources declare, in the order in which they are read.
    declared: Vec<(PathBuf, Declarations)>,
    design: Design,
    /// [`TopRequest::hint`].
    hint: String,
    top: String,
    verilator: Verilator,
    /// Results of the preprocessor, by everything that they depend on.
    preprocessed: Mutex<BTreeMap<String, Arc<Preprocessed>>>,
    /// Results of Verilator that nobody has used yet, in the same way.
    elaborated: Mutex<BTreeMap<String, Result<Elaboration, BuildError>>>,
    _temporary: TempDir,
}

pub fn examine(wanted: &TopRequest<'_>, rtl: &Rtl) -> Result<Examined, Error> {
    let given = UserRtl::find(rtl)?;
    // A model of other RTL is compiled.
    if !rtl.is_usual() {
        compile::identify_soon(TARGET);
    }
    let mut folder = ExaminedFolder::new(wanted, &given)?;
    folder.order(wanted)?;
    folder.ask_ahead();
    let first = folder.preprocess(&folder.sources)?;
    folder.search_includers_first(&first);
    let elaboration = folder.elaborate_needed(wanted, &first)?;
    let (sources, elaboration) = folder.reachable(elaboration)?;
    let preprocessed = folder.preprocess(&with_modules(&sources, &elaboration))?;
    folder.check_includes(&preprocessed)?;
    folder.check_modules(&sources, &elaboration)?;
    check_given(wanted, rtl, &given, &folder, &elaboration)?;
    folder.answer(wanted, sources, elaboration, &preprocessed)
}

/// The sources, followed by the files in which Verilator found further modules.
fn with_modules(sources: &[PathBuf], elaboration: &Elaboration) -> Vec<PathBuf> {
    let mut all = sources.to_vec();
    for module in elaboration.modules.iter().filter(|module| module.name != ASKING_TOP) {
        if !all.contains(&module.file) {
            all.push(module.file.clone());
        }
    }
    all
}

impl ExaminedFolder {
    fn new(wanted: &TopRequest<'_>, given: &UserRtl) -> Result<Self, Error> {
        let temporary =
            TempDir::with_prefix("cosim-").map_err(Error::write("a temporary folder"))?;
        let ask = (
            PathBuf::from(format!("{ASKING_TOP}.sv")),
            format!("module {ASKING_TOP}; {} endmodule\n", wanted.ask),
        );
        let own = wanted
            .own
            .iter()
            .map(|(name, text)| (Path::new(BUILT_IN).join(name), (*text).to_owned()));
        let own: Vec<(PathBuf, String)> = own.chain([ask]).collect();
        let named = own.iter().map(|(name, text)| (name.as_path(), text.as_bytes()));
        let folder = lay_out(&temporary.path().join(FILES), named)?;
        let built_in = folder.join(BUILT_IN);
        fs::create_dir_all(&built_in).map_err(Error::write(&built_in))?;

        let mut names = Names::default();
        let mut links: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
        let mut link = |path: &Path| -> Result<PathBuf, Error> {
            if let Some(name) = links.get(path) {
                return Ok(name.clone());
            }
            let name = names.link(path, &folder)?;
            links.insert(path.to_owned(), name.clone());
            Ok(name)
        };
        let mut searched = Vec::new();
        for Folder { path, is_explicit } in &given.folders {
            searched.push((link(path)?, *is_explicit));
        }
        let mut named = |path: &PathBuf| -> Result<PathBuf, Error> {
            Ok(link(folder_of(path))?.join(path.file_name().unwrap_or_default()))
        };
        let sources: Vec<PathBuf> =
            given.sources.iter().map(&mut named).collect::<Result<_, _>>()?;
        let assertions = given.assertions.iter().map(&mut named).collect::<Result<_, _>>()?;
        let libraries = given.libraries.iter().map(&mut named).collect::<Result<_, _>>()?;
        let design = Design {
            top: ASKING_TOP.to_owned(),
            wrapper: wanted.wrapper.map(design_wrapper),
            libraries,
            // The user's macros come last, so that they override built-in ones.
            defines: wanted
                .defines
                .iter()
                .copied()
                .map(str::to_owned)
                .chain(given.defines.clone())
                .collect(),
            extensions: given.extensions.clone(),
            options: wanted.options.to_vec(),
            folder: Some(folder.clone()),
            ..Design::default()
        };
        let verilator = verilator()?;
        let needed = sources.clone();
        let (hint, top) = (wanted.hint.to_owned(), wanted.top.to_owned());
        Ok(Self {
            names,
            named: given.named.clone(),
            folder,
            searched,
            sources,
            revision: given.revision.clone(),
            needed,
            assertions,
            declared: Vec::new(),
            design,
            hint,
            top,
            verilator,
            preprocessed: Mutex::default(),
            elaborated: Mutex::default(),
            _temporary: temporary,
        })
    }

    /// The design that instantiates the top, with these sources. Built-in folders are searched
    /// last.
    fn design(&self, sources: &[PathBuf]) -> Design {
        let mut design = self.design.clone();
        design.sources = sources.to_vec();
        // Behind what declares packages, and with the time scale of the last file.
        design.sources.push(format!("{ASKING_TOP}.sv").into());
        design.include = self.searched.iter().map(|(name, _)| name.clone()).collect();
        design.include.push(BUILT_IN.into());
        design
    }

    /// Sorts the sources by dependency. Adds built-in packages if the top needs them and the user
    /// gave none: Verilator searches for modules, but not for packages.
    fn order(&mut self, wanted: &TopRequest<'_>) -> Result<(), Error> {
        let (mut all, mut includers) = (Vec::new(), BTreeSet::new());
        for name in &self.sources {
            let text = fs::read(self.folder.join(name));
            let text = text.map_err(|error| Error::unreadable(&self.names.typed(name), &error))?;
            let text = String::from_utf8_lossy(&text);
            all.push(Declarations::scan_text(&text));
            if sources::includes(&text).next().is_some() {
                includers.extend(name.parent());
            }
        }
        let own = wanted.own.iter().map(|(name, text)| (name, Declarations::scan_text(text)));
        let (headers, own): (Vec<_>, Vec<_>) = own.partition(|(_, own)| own.is_bare());
        let headers: Vec<Declarations> = headers.into_iter().map(|(_, header)| header).collect();
        let given = all.len();
        let mut names = self.sources.clone();
        for (name, own) in own {
            if all[..given].iter().any(|given| given.overlaps(&own)) {
                continue;
            }
            // A package beside a user file takes precedence over a built-in one, as for modules.
            let file = Path::new(name).file_name().unwrap_or_default();
            let beside = self.searched.iter().map(|(folder, _)| folder.join(file));
            let mut beside = beside.filter_map(|name| {
                let text = fs::read(self.folder.join(&name)).ok()?;
                Some((name, Declarations::scan_text(&String::from_utf8_lossy(&text))))
            });
            let is_it =
                |(_, found): &(PathBuf, Declarations)| own.is_read_first() && found.overlaps(&own);
            let beside = beside.find(is_it);
            let (name, found) = beside.unwrap_or_else(|| (Path::new(BUILT_IN).join(name), own));
            names.push(name);
            all.push(found);
        }
        // Mostly what the preprocessor says later.
        search_first(&mut self.searched, &includers);
        let needed = sources::needed(&all, wanted.top, &headers);
        let order = sources::order(&all);
        let in_order = |is_in: &dyn Fn(usize) -> bool| -> Vec<PathBuf> {
            let is_package = |place| needed.contains(&place) && all[place].is_read_first();
            let is_in =
                |place: &usize| if *place < given { is_in(*place) } else { is_package(*place) };
            order.iter().filter(|place| is_in(place)).map(|place| names[*place].clone()).collect()
        };
        let sources = in_order(&|_| true);
        let declared = order.iter().map(|place| (names[*place].clone(), all[*place].clone()));
        self.declared = declared.collect();
        self.needed = in_order(&|place| needed.contains(&place));
        self.sources = sources;
        Ok(())
    }

    /// Elaborates all sources. If Verilator rejects them, elaborates those that the top seems to
    /// need: a folder may hold testbenches for other simulators. The last attempt omits included
    /// files.
    fn elaborate_needed(
        &mut self,
        wanted: &TopRequest<'_>,
        first: &Preprocessed,
    ) -> Result<Elaboration, Error> {
        let real = |name: &PathBuf| fs::canonicalize(self.folder.join(name)).ok();
        let included: BTreeSet<_> =
            first.includes.iter().filter_map(|include| real(&include.file)).collect();
        let is_alone = |name: &&PathBuf| real(name).is_none_or(|path| !included.contains(&path));
        let alone: Vec<PathBuf> = self.needed.iter().filter(is_alone).cloned().collect();
        let mut elaboration = self.elaborate(&self.sources);
        let refusal = |error: &Error| is_rejected(error) || matches!(error, Error::Usage(..));
        let is_refused = |elaboration: &Result<_, Error>| elaboration.as_ref().is_err_and(refusal);
        let fragments = self.declared.iter().filter(|(_, declared)| declared.is_fragment());
        let fragments: Vec<PathBuf> = fragments.map(|(name, _)| name.clone()).collect();
        let is_whole = |name: &&PathBuf| !fragments.contains(name);
        let whole: Vec<PathBuf> = self.needed.iter().filter(is_whole).cloned().collect();
        let of_fragment = |error: &Error| {
            let text = error.to_string();
            let first = text.lines().find(|line| line.starts_with("%Error")).unwrap_or_default();
            let at = |name| format!(" {}:", self.names.typed(name).display());
            fragments.iter().any(|name| first.contains(&at(name)))
        };
        // What is wrong with those that are needed is what a user wants to know.
        for (fewer, reason) in [(self.needed.clone(), true), (whole, false), (alone, false)] {
            if is_refused(&elaboration) && !fewer.is_empty() && fewer.len() < self.sources.len() {
                let again = self.elaborate(&fewer);
                if again.is_ok() || reason || elaboration.as_ref().is_err_and(of_fragment) {
                    elaboration = again;
                    self.sources = fewer;
                }
            }
        }
        // The error of what is really needed says most, unless the program's own files are what is
        // missed.
        if is_refused(&elaboration)
            && let Some((sources, found)) = self.elaborate_found(wanted)
            && (found.is_ok() || wanted.own.is_empty() && sources.len() < self.sources.len())
        {
            elaboration = found;
            self.sources = sources;
        }
        if elaboration.as_ref().is_err_and(is_rejected)
            && let Some(error) = self.something_else(wanted)
        {
            return Err(error);
        }
        match elaboration {
            Err(error)
                if refusal(&error)
                    && let Some(missing) = self.no_top(wanted, &error) =>
            {
                Err(missing)
            }
            other => other,
        }
    }

    /// The error for a top that no file declares.
    fn no_top(&self, wanted: &TopRequest<'_>, error: &Error) -> Option<Error> {
        let is_declared = self.declared.iter().any(|(_, file)| file.declares(wanted.top));
        let confirms = error.to_string().contains(&format!("module: '{}'", wanted.top));
        // A file of its name may declare it by a macro, and a library anything.
        let endings = || self.design.extensions.iter().map(String::as_str).chain([".v", ".sv"]);
        let is_beside = |(folder, _): &(PathBuf, bool)| {
            let file = |ending| self.folder.join(folder).join(format!("{}{ending}", wanted.top));
            endings().any(|ending| file(ending).is_file())
        };
        let is_elsewhere =
            || !self.design.libraries.is_empty() || self.searched.iter().any(is_beside);
        if is_declared || !wanted.own.is_empty() || (!confirms && is_elsewhere()) {
            return None;
        }
        let mut known: Vec<&str> =
            self.declared.iter().flat_map(|(_, file)| file.modules()).collect();
        known.sort_unstable();
        known.dedup();
        Some(Error::Usage(
            codes::TOP_MISSING,
            format!(
                "--top: the RTL has no module {}{}",
                wanted.top,
                candidates(wanted.top, "modules", &known)
            ),
        ))
    }

    /// Elaborates the file of the top and what Verilator then misses, file by file. A word of a
    /// comment or a macro may be the name of a module of another design in the same folder, so
    /// [`sources::needed`] takes too many files of a large project.
    fn elaborate_found(
        &self,
        wanted: &TopRequest<'_>,
    ) -> Option<(Vec<PathBuf>, Result<Elaboration, Error>)> {
        const MOST_ATTEMPTS: usize = 200;
        let is_macros = |place: &usize| {
            let declared = &self.declared[*place].1;
            declared.is_bare() && !declared.is_fragment()
        };
        let mut chosen: BTreeSet<usize> = (0..self.declared.len()).filter(is_macros).collect();
        let mut missing = vec![wanted.top.to_owned()];
        let mut last = None;
        for _ in 0..MOST_ATTEMPTS {
            let before = chosen.len();
            while let Some(missed) = missing.pop() {
                let is_it = |(_, declared): &&(PathBuf, Declarations)| declared.declares(&missed);
                let is_known = |place: &usize| self.declared[*place].1.declares(&missed);
                if chosen.iter().any(is_known) {
                    continue;
                }
                let Some(found) = self.declared.iter().find(is_it) else { continue };
                if let Some(error) = self.duplicate_module(&missed) {
                    return Some((Vec::new(), Err(error)));
                }
                chosen.extend(self.declared.iter().position(|(file, _)| *file == found.0));
                // Packages and interfaces come before what uses them, and Verilator names one that
                // it misses last.
                let first = self.declared.iter().filter(|(_, declared)| declared.is_read_first());
                missing.extend(first.flat_map(|(_, other)| other.used_by(&found.1)));
            }
            if chosen.len() == before {
                // What is missing then is what a user wants to know.
                return last;
            }
            let sources: Vec<PathBuf> =
                chosen.iter().map(|place| self.declared[*place].0.clone()).collect();
            let elaboration = self.elaborate(&sources);
            let Some(error) = elaboration.as_ref().err().filter(|error| is_rejected(error)) else {
                // Verilator also finds modules by the names of files.
                let modules = elaboration.iter().flat_map(|found| &found.modules);
                let twice = modules.filter_map(|module| self.duplicate_module(&module.name)).next();
                return Some((sources, twice.map_or(elaboration, Err)));
            };
            let messages = error.to_string();
            let unknown = messages.lines().filter_map(|line| {
                let (_, name) = line
                    .split_once("Cannot find file containing module: '")
                    .or_else(|| line.split_once("Cannot find file containing interface: '"))
                    .or_else(|| line.split_once("Package/class '"))?;
                name.split('\'').next().map(str::to_owned)
            });
            missing.extend(unknown);
            if missing.is_empty() {
                return Some((sources, elaboration));
            }
            last = Some((sources, elaboration));
        }
        last
    }

    /// The error for a module that two sources declare differently: which one is meant is for the
    /// user to say.
    fn duplicate_module(&self, module: &str) -> Option<Error> {
        let text = |name: &PathBuf| fs::read(self.folder.join(name)).unwrap_or_default();
        let mut all = self.declared.iter().filter(|(_, declared)| declared.declares(module));
        let first = all.next()?;
        let second = all.find(|(other, _)| text(other) != text(&first.0))?;
        let place = |(name, declared): &(PathBuf, Declarations)| {
            let line = declared.line_of(module).map_or_else(String::new, |line| format!(":{line}"));
            format!("{}{line}", name.display())
        };
        let (first, second) = (place(first), place(second));
        Some(self.names.plain(BuildError::Twice { module: module.to_owned(), first, second }))
    }

    /// The error for RTL without any module that the block needs.
    fn something_else(&self, wanted: &TopRequest<'_>) -> Option<Error> {
        let is_needed = self.needed.iter().any(|name| !is_built_in(name));
        let first = self.sources.iter().find(|name| !is_built_in(name))?;
        let is_whole = self.design.libraries.is_empty() && !wanted.own.is_empty();
        (!is_needed && is_whole)
            .then(|| declares_none(wanted, &self.names.typed(first), &[wanted.top]))
    }

    /// Asks Verilator at once what is asked of nearly every RTL: its start takes most of the time.
    fn ask_ahead(&self) {
        let ask = |sources: &Vec<PathBuf>, place: usize| {
            let design = self.design(sources);
            let out = self.folder.join(format!("answer-{place}"));
            let answer = design.elaborate(&self.verilator, &out);
            let mut known = self.elaborated.lock().unwrap_or_else(PoisonError::into_inner);
            known.insert(format!("{design:?}"), answer);
        };
        let is_less = !self.needed.is_empty() && self.needed.len() < self.sources.len();
        let lists = [Some(&self.sources), is_less.then_some(&self.needed)];
        thread::scope(|scope| {
            for (place, sources) in lists.into_iter().flatten().enumerate() {
                // What fails is asked again by who needs it, also if there is no thread.
                let thread = || thread::Builder::new();
                let _ = thread().spawn_scoped(scope, || drop(self.preprocess(sources)));
                let _ = thread().spawn_scoped(scope, move || ask(sources, place));
            }
        });
    }

    fn elaborate(&self, sources: &[PathBuf]) -> Result<Elaboration, Error> {
        let out = self.folder.join("answer");
        let design = self.design(sources);
        let mut known = self.elaborated.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.remove(&format!("{design:?}"));
        let answer = known.unwrap_or_else(|| design.elaborate(&self.verilator, &out));
        answer.map_err(|error| {
            if let BuildError::Verilate { output, .. } = &error
                && let Some(misfit) =
                    self.design.wrapper.as_ref().and_then(|own| own.misfit(output))
            {
                return misfit.into();
            }
            self.names.plain(match error {
                BuildError::Verilate { top: _, output } if !self.sources.is_empty() => {
                    let output = messages::without_asking_top(&output, &self.top);
                    let advice = messages::advice(&output, &self.hint, &self.verilator);
                    let output = format!("{}\n{advice}", output.trim_end());
                    BuildError::Verilate { top: "the user RTL".to_owned(), output }
                }
                other => other,
            })
        })
    }

    /// Runs the preprocessor once per list of sources: starting Verilator is the slow part.
    fn preprocess(&self, sources: &[PathBuf]) -> Result<Arc<Preprocessed>, Error> {
        let design = self.design(sources);
        let key = format!("{design:?}");
        let known = || self.preprocessed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known().get(&key) {
            return Ok(Arc::clone(known));
        }
        let answer = design.preprocess(&self.verilator).map_err(|error| self.names.plain(error))?;
        let answer = Arc::new(answer);
        known().insert(key, Arc::clone(&answer));
        Ok(answer)
    }

    /// Searches folders with including files first: a header beside its includer takes precedence.
    fn search_includers_first(&mut self, preprocessed: &Preprocessed) {
        let folders: BTreeSet<&Path> =
            preprocessed.includes.iter().filter_map(|include| include.from.parent()).collect();
        search_first(&mut self.searched, &folders);
    }

    /// Drops sources that the design does not need, such as testbenches, if the design stays the
    /// same without them.
    fn reachable(&self, all: Elaboration) -> Result<(Vec<PathBuf>, Elaboration), Error> {
        let is_of = |module: &Module, source: &PathBuf| {
            module.file == *source && (!module.is_package || self.needed.contains(source))
        };
        let is_used = |source: &&PathBuf| all.modules.iter().any(|module| is_of(module, source));
        let used: Vec<PathBuf> = self.sources.iter().filter(is_used).cloned().collect();
        // Verilator does not report a package of constants, so also try the sources that the texts
        // need.
        let is_same = |few: &[Module], all: &[Module]| {
            let modules = |of: &[Module]| -> Vec<Module> {
                of.iter().filter(|module| !module.is_package).cloned().collect()
            };
            modules(few) == modules(all)
        };
        for few in [&used, &self.needed] {
            if few.len() < self.sources.len()
                && let Ok(elaboration) = self.elaborate(few)
                && is_same(&elaboration.modules, &all.modules)
            {
                let (less, more) = (self.preprocess(few)?, self.preprocess(&self.sources)?);
                // Macros of one file affect the next, so compare the preprocessed texts.
                if few.iter().all(|source| less.texts.get(source) == more.texts.get(source)) {
                    return Ok((few.clone(), elaboration));
                }
            }
        }
        Ok((self.sources.clone(), all))
    }

    /// A file with the same name but another text in another searched folder.
    fn rival(&self, name: &Path) -> Option<PathBuf> {
        let mut parts = name.components();
        let link = PathBuf::from(parts.next()?.as_os_str());
        let words = parts.as_path();
        let is_explicit = |name: &Path| {
            self.searched.iter().any(|(link, is_explicit)| link == name && *is_explicit)
        };
        if !self.searched.iter().any(|(known, _)| *known == link) || is_explicit(&link) {
            return None;
        }
        let text = fs::read(self.folder.join(name)).ok()?;
        let others = self.searched.iter().filter(|(other, explicit)| *other != link && !explicit);
        let mut paths = others.map(|(other, _)| other.join(words));
        paths.find(|path| fs::read(self.folder.join(path)).is_ok_and(|other| other != text))
    }

    fn check_includes(&self, preprocessed: &Preprocessed) -> Result<(), Error> {
        for include in &preprocessed.includes {
            let Some(rival) = self.rival(&include.file) else { continue };
            let is_beside = || {
                let words: PathBuf = include.file.components().skip(1).collect();
                let beside = include.from.parent()?.join(words);
                let real = |path: &Path| fs::canonicalize(self.folder.join(path)).ok();
                Some(real(&beside)? == real(&include.file)?)
            };
            if is_beside() != Some(true) {
                let [from, one, other] =
                    [&include.from, &include.file, &rival].map(|name| self.names.typed(name));
                return Err(Error::Usage(
                    codes::AMBIGUOUS_FILE,
                    format!(
                        "{} includes a file that could be {} or {}; choose the folder that comes \
                         first with -I, or leave one out",
                        from.display(),
                        one.display(),
                        other.display(),
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Rejects modules that Verilator found by name if another folder has a different file of that
    /// name.
    fn check_modules(&self, sources: &[PathBuf], elaboration: &Elaboration) -> Result<(), Error> {
        for module in &elaboration.modules {
            if sources.contains(&module.file) {
                continue;
            }
            if let Some(rival) = self.rival(&module.file) {
                let [one, other] = [&module.file, &rival].map(|name| self.names.typed(name));
                return Err(Error::Usage(
                    codes::AMBIGUOUS_FILE,
                    format!(
                        "module {} could be that of {} or of {}; name one of them with --rtl",
                        module.name,
                        one.display(),
                        other.display(),
                    ),
                ));
            }
        }
        Ok(())
    }

    /// The data files with these names, and their entries in the list of read files.
    fn data(
        &self,
        wanted: &TopRequest<'_>,
        names: &DataNames,
    ) -> Result<Vec<(DataFile, Option<FileRead>)>, Error> {
        let within = self.revision.as_deref();
        if let (Some(_), Some(opened)) = (within, names.computed.first()) {
            return Err(data::missing(opened, &self.names.typed(&opened.file), true));
        }
        let first = match within {
            Some(root) => {
                let folder = root.join(REVISION);
                SearchFolder { typed: folder.clone(), folder, is_explicit: false }
            }
            None => SearchFolder::working_directory(),
        };
        let mut places = vec![first];
        places.extend(self.searched.iter().map(|(name, is_explicit)| SearchFolder {
            folder: self.folder.join(name),
            typed: self.names.typed(name),
            is_explicit: *is_explicit,
        }));
        let mut files = Vec::new();
        for (name, opened) in &names.constant {
            let file = |text| DataFile { name: name.clone(), text };
            let own = wanted.data.iter().find(|(own, _)| own == name);
            if let Some(found) = data::find(name, &places, within)? {
                let path = found.path.display().to_string();
                files.push((file(Some(found.text)), Some(FileRead { path, built_in: false })));
            } else if let Some((_, text)) = own {
                let read = FileRead { path: name.clone(), built_in: true };
                files.push((file(Some((*text).into())), Some(read)));
            } else if let Some(opened) = opened {
                // A file that need not be there may be another one in the revision.
                if opened.is_required || within.is_some() {
                    let at = self.names.typed(&opened.file);
                    return Err(data::missing(opened, &at, within.is_some()));
                }
                files.push((file(None), None));
            }
        }
        Ok(files)
    }

    /// Whether a file may belong to the RTL: to that of a revision, only what is in its folder or
    /// in one that the user named with `-I`.
    fn is_of_revision(&self, path: &Path) -> bool {
        let Some(root) = &self.revision else { return true };
        let named = self.searched.iter().filter(|(_, is_explicit)| *is_explicit);
        let named = named.filter_map(|(name, _)| fs::canonicalize(self.folder.join(name)).ok());
        let Ok(real) = fs::canonicalize(path) else { return false };
        named.chain([root.clone()]).any(|folder| real.starts_with(folder))
    }

    /// The file of assertions of the block: a given one, else the program's own.
    fn assertions(&self, wanted: &TopRequest<'_>) -> Result<Option<AssertionFile>, Error> {
        let Some(block) = wanted.block else { return Ok(None) };
        let module = assertion_module(block);
        let file = format!("{module}.sv");
        let named = self.assertions.iter().filter(|name| name.ends_with(&file));
        let mut found: Option<AssertionFile> = None;
        for name in named {
            let path = self.names.typed(name);
            let text = fs::read_to_string(self.folder.join(name))
                .map_err(|error| Error::unreadable(&path, &error))?;
            match &found {
                Some(first) if first.text != text => {
                    let message = format!(
                        "the assertions of block {block} could be those of {} or of {}; leave one \
                         out",
                        first.path.display(),
                        path.display()
                    );
                    return Err(Error::Usage(codes::AMBIGUOUS_FILE, message));
                }
                Some(_) => {}
                None => {
                    let (module, name) = (module.clone(), name.clone());
                    found = Some(AssertionFile { module, path, text, is_of_rtl: true, name });
                }
            }
        }
        Ok(found.or_else(|| wanted.own_assertions(false)))
    }

    fn answer(
        self,
        wanted: &TopRequest<'_>,
        mut sources: Vec<PathBuf>,
        elaboration: Elaboration,
        preprocessed: &Preprocessed,
    ) -> Result<Examined, Error> {
        let top = elaboration.modules.iter().find(|module| module.name == wanted.top);
        let top = top.ok_or_else(|| {
            Error::Usage(
                codes::TOP_MISSING,
                format!("Verilator found no module {} in the user RTL", wanted.top),
            )
        })?;
        if !sources.contains(&top.file) && !self.design.libraries.contains(&top.file) {
            sources.push(top.file.clone());
        }
        let mut texts = Vec::new();
        let mut files = Vec::new();
        for name in &elaboration.files {
            let path = self.folder.join(name);
            // Some versions of Verilator also list names that they only searched for.
            if *name == Path::new(&format!("{ASKING_TOP}.sv")) || !path.is_file() {
                continue;
            }
            let typed = self.names.typed(name);
            // Verilator also searches its working directory, which is a temporary folder here. What
            // it finds above that folder belongs to nobody's RTL.
            let leaves = ForeignName::new(name).is_some_and(|name| name.ups > 0);
            if leaves && self.names.link_of(name).is_none() {
                let message = "is included but not in a folder of the RTL; name its folder with -I";
                return Err(Error::File {
                    code: codes::RTL_NOT_FOUND,
                    path: typed,
                    message: message.to_owned(),
                });
            }
            let built_in = is_built_in(name);
            if !built_in && !self.is_of_revision(&path) {
                let message = "is not in the folder that was taken from the revision; take a \
                               folder that contains it, or name its folder with -I";
                return Err(Error::File {
                    code: codes::RTL_NOT_FOUND,
                    path: typed,
                    message: message.to_owned(),
                });
            }
            let text: Arc<[u8]> =
                fs::read(&path).map_err(|error| Error::unreadable(&typed, &error))?.into();
            let shown =
                if built_in { Path::new(name.file_name().unwrap_or_default()) } else { &typed };
            files.push(FileRead { path: shown.display().to_string(), built_in });
            texts.push(SourceFile { name: name.clone(), text });
        }
        let named = |file: &'_ SourceFile| {
            let name = file.name.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name, Arc::clone(&file.text))
        };
        let mut hashed: Vec<(String, Arc<[u8]>)> = texts.iter().map(named).collect();
        let names = DataNames::from_design(preprocessed, &elaboration);
        let (data, read): (Vec<_>, Vec<_>) = self.data(wanted, &names)?.into_iter().unzip();
        hashed.extend(data.iter().filter_map(|file| Some((file.name.clone(), file.text.clone()?))));
        files.extend(read.into_iter().flatten());
        let of_user = files.iter().filter(|file| !file.built_in).map(|file| Path::new(&file.path));
        let left = of_user.filter(|path| self.named.is_left(path)).map(Path::to_owned).collect();
        let place = |opened: &Opened| {
            format!("{}:{}", self.names.typed(&opened.file).display(), opened.line)
        };
        let computed = names.computed.iter().map(place).collect();
        let assertions = self.assertions(wanted)?;
        let design = Design {
            top: wanted.top.to_owned(),
            sources: sources.clone(),
            // Only folders in which a file was found: other folders must not change the cache key.
            include: self
                .design(&sources)
                .include
                .into_iter()
                .filter(|folder| texts.iter().any(|file| file.name.starts_with(folder)))
                .collect(),
            folder: None,
            data,
            ..self.design.clone()
        };
        Ok(Examined {
            identity: identity(
                hashed.iter().map(|(n, t)| (n.as_str(), &**t)),
                &words(&design.defines, &design.options),
            ),
            parameters: top.parameters.clone(),
            computed,
            left,
            files,
            texts,
            design,
            assertions,
            names: self.names,
            expanded: Default::default(),
        })
    }
}

/// Moves these folders to the front, behind those that the user gave explicitly.
fn search_first(searched: &mut [(PathBuf, bool)], folders: &BTreeSet<&Path>) {
    searched.sort_by_key(|(name, is_explicit)| (!is_explicit, !folders.contains(name.as_path())));
}

/// Checks that the user RTL belongs to the block and that nothing built in replaces its top.
fn check_given(
    wanted: &TopRequest<'_>,
    rtl: &Rtl,
    given: &UserRtl,
    folder: &ExaminedFolder,
    elaboration: &Elaboration,
) -> Result<(), Error> {
    let modules = || elaboration.modules.iter().filter(|module| module.name != ASKING_TOP);
    let what = rtl.paths.iter().chain(&rtl.lists).next();
    // Files found beside a user file do not count: the user did not name them.
    let sources = folder.sources.iter().filter(|source| !is_built_in(source));
    let named = || sources.clone().chain(&folder.design.libraries);
    if let Some(path) = what
        && !modules().any(|module| named().any(|file| *file == module.file))
    {
        let mut names: Vec<&str> = modules().map(|module| module.name.as_str()).collect();
        names.dedup();
        return Err(declares_none(wanted, path, &names));
    }
    for name in elaboration.files.iter().filter(|name| is_built_in(name)) {
        let name = name.file_name().unwrap_or_default();
        let there = |folder: &Folder| Some(folder.path.join(name)).filter(|path| path.is_file());
        let below = given.files.iter().find(|file| file.file_name() == Some(name)).cloned();
        if let Some(path) = below.or_else(|| given.folders.iter().find_map(there)) {
            let message = format!(
                "is not the file that Verilator reads as {0}: it would read the built-in {0}; name \
                 the folder of your file with -I, or rename it",
                name.to_string_lossy()
            );
            return Err(Error::File { code: codes::AMBIGUOUS_FILE, path, message });
        }
    }
    Ok(())
}

/// The error for RTL that does not contain the block.
fn declares_none(wanted: &TopRequest<'_>, path: &Path, names: &[&str]) -> Error {
    let message =
        format!("declares none of the modules of {}; expected {}", wanted.what, names.join(", "));
    Error::File { code: codes::TOP_MISSING, path: path.to_owned(), message }
}
