//! Helpers of the end-to-end tests: the program, folders, and RTL with bugs.
#![allow(clippy::disallowed_macros, reason = "the only place that asks Cargo for the program")]

use cosim::blocks::{dll::Dll, qp::Qp, recv::Recv, rx::Rx, thread2::Thread2};
use cosim_block::rtl::Rtl;
use cosim_core::checks::Checks;
use cosim_core::error::{Error, codes};
use cosim_core::harness::{BlockInfo, Explain, Parameters};
use cosim_core::verilated::ModelKind;
use cosim_rtl::backend::{RtlModels as _, View};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use verilated_build::Kept;

pub fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The cache of compiled models for tests, so that they do not use the user's cache.
pub fn models() -> PathBuf {
    below_build("models")
}

/// The text of a file. The path may be relative to the project.
pub fn source(name: impl AsRef<Path>) -> String {
    let path = project().join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

pub fn build_output() -> PathBuf {
    Path::new(env!("OUT_DIR")).with_file_name("output")
}

/// A folder for tests inside the build folder.
pub fn below_build(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

pub fn model<B: Explain>(
    rtl: &Rtl,
    parameters: &Parameters,
    view: View,
) -> Result<ModelKind<B::Inputs, B::Outputs>, Error> {
    let kept = Kept::new(models(), u64::MAX);
    rtl.build(BlockInfo::from_block::<B>(), parameters, view, &kept)?.load::<B>(parameters)
}

/// The program, with its cache and what it remembers of a user inside the build folder. This is the
/// only place that starts it: clippy refuses the `env!` elsewhere.
pub fn program() -> std::process::Command {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_cosim"));
    command.env("COSIM_CACHE", models()).env("COSIM_STATE", below_build("state"));
    command.env(QUICKLY.0, QUICKLY.1).current_dir(project());
    command
}

/// The checks of a block, run with the tested program.
pub fn checks(block: &str) -> Checks {
    let program = env!("CARGO_BIN_EXE_cosim");
    let all = [
        Checks::for_block::<Thread2>(program),
        Checks::for_block::<Dll>(program),
        Checks::for_block::<Qp>(program),
        Checks::for_block::<Recv>(program),
        Checks::for_block::<Rx>(program),
    ];
    let found = all.into_iter().find(|checks| checks.info().name == block);
    found.unwrap_or_else(|| panic!("no block {block}")).models(models())
}

pub fn cargo() -> std::process::Command {
    std::process::Command::new(env!("CARGO"))
}

/// The file of the top module of `thread2`.
pub const THREAD2_TOP: &str = "ReqRecvCore_Thread_2.v";

/// Compiler flags for models. Most run a few thousand cycles, so compiling dominates.
pub const QUICKLY: (&str, &str) = ("CXXFLAGS", "-O0");

/// The build folder for crates outside of the repository: the project's own, which contains the
/// registry dependencies. Only our own crates are built again.
pub fn outside() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("a build folder").to_owned()
}

/// The program of a crate outside of the repository, which hands over to the tested `cosim`.
pub fn program_outside(name: &str) -> std::process::Command {
    let mut command = std::process::Command::new(outside().join("debug").join(name));
    command.env("COSIM_TOOL", env!("CARGO_BIN_EXE_cosim")).env("COSIM_CACHE", models());
    command
}

/// Cargo in a crate outside of the repository.
pub fn cargo_outside(folder: &Path) -> std::process::Command {
    // Use the locked versions of our dependencies, because others may be unavailable offline.
    let lock = folder.join("Cargo.lock");
    if !lock.exists() {
        fs::copy(project().join("Cargo.lock"), lock).expect("a copy");
    }
    has_our_features(&folder.join("Cargo.toml"));
    let mut command = cargo();
    command
        // Reuse the dependencies built with these settings. The tests run little code of these
        // crates.
        .args(["--config", "profile.dev.opt-level=0", "--config", "profile.dev.debug=false"])
        .args(["--config", "profile.dev.lto='off'"])
        // With this variable set, Cargo would rebuild everything.
        .env_remove("RUSTC_BOOTSTRAP")
        // Its build counts as time of the test.
        .env_remove("COSIM_TIMES")
        .env(QUICKLY.0, QUICKLY.1)
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", outside())
        .env("CARGO_NET_OFFLINE", "true")
        .env("CARGO_TERM_COLOR", "never")
        .env("COSIM_CACHE", models())
        .env("COSIM_TOOL", env!("CARGO_BIN_EXE_cosim"));
    command
}

/// Marks a manifest with our dev-dependencies.
const OURS: &str = "# Features of the tests.";

/// Adds our dev-dependencies to a crate, so that Cargo selects the same features for shared
/// dependencies and does not rebuild them.
fn has_our_features(manifest: &Path) {
    let ours = source("Cargo.toml");
    let (_, tests) = ours.split_once("[dev-dependencies]\n").expect("dependencies of tests");
    let (tests, _) = tests.split_once("\n[").expect("a table behind them");
    // What the workspace says of a crate, as the fields of a table.
    let shared = |name: &str| {
        let fields = ours.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
        let fields = fields.expect("a crate of the workspace").split("  #").next().expect("fields");
        match fields.strip_prefix('"') {
            Some(_) => format!("version = {fields}"),
            None => fields.trim_matches(['{', '}', ' ']).to_owned(),
        }
    };
    let theirs = fs::read_to_string(manifest).expect("a manifest");
    if theirs.contains(OURS) {
        return;
    }
    let line = |line: &str| {
        let (name, own) = line.split_once(['.', ' '])?;
        let fields =
            own.trim_matches(['=', '{', '}', ' ']).replace("workspace = true", &shared(name));
        let is_new = !fields.contains("path =") && !theirs.contains(&format!("\n{name} = "));
        is_new.then(|| format!("{name} = {{ {fields} }}"))
    };
    let lines: Vec<String> = tests.lines().filter_map(line).collect();
    let theirs = &match theirs.contains("\nresolver = ") {
        true => theirs.clone(),
        false => theirs.replacen("[workspace]\n", "[workspace]\nresolver = \"1\"\n", 1),
    };
    let lines = format!("[dependencies]\n{OURS}\n{}\n", lines.join("\n"));
    fs::write(manifest, theirs.replacen("[dependencies]\n", &lines, 1)).expect("a manifest");
}

/// The output of the program with `arguments`, for `thread2` unless they name a block.
pub fn run<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Output {
    program().args(of_a_block(arguments)).output().expect("the program runs")
}

/// Adds `--block thread2` to the arguments of a command that needs a block, unless they name one.
pub fn of_a_block<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Vec<OsString> {
    let mut words: Vec<OsString> =
        arguments.into_iter().map(|word| word.as_ref().to_owned()).collect();
    let needs_one = ["run", "watch", "mutate", "prove", "bench"];
    let is_needed = words.first().is_some_and(|first| needs_one.iter().any(|one| first == one));
    let names_one = ["--block", "--case", "--plan", "--help"];
    let is_named = |word: &OsString| names_one.iter().any(|name| word == name);
    if is_needed && !words.iter().any(is_named) {
        words.splice(1..1, ["--block".into(), "thread2".into()]);
    }
    words
}

/// Standard output and standard error.
pub fn text(output: &Output) -> String {
    let streams = [&output.stdout, &output.stderr];
    streams.map(|stream| String::from_utf8_lossy(stream).into_owned()).join("\n")
}

#[track_caller]
pub fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("killed: {}", text(output)))
}

/// Checks the exit code. A failure shows what the command printed.
#[track_caller]
pub fn assert_code(output: &Output, expected: i32) {
    assert_eq!(code(output), expected, "{}", text(output));
}

/// Checks that the command failed with this error, such as `E0213`, and the exit code of that
/// error.
#[track_caller]
pub fn assert_error(output: &Output, number: &str) {
    let expected = codes::Code::find(number).unwrap_or_else(|| panic!("no error {number}"));
    let printed = text(output);
    assert_eq!(code(output), i32::from(expected.exit()), "{number}: {printed}");
    let mark = format!("error[{number}]: ");
    let has_it =
        String::from_utf8_lossy(&output.stderr).lines().any(|line| line.starts_with(&mark));
    assert!(has_it, "expected {number}: {printed}");
    assert!(!printed.contains("panicked"), "{printed}");
}

/// Like [`assert_error`]; the message must also contain all of `words`, such as a place or a name.
#[track_caller]
pub fn assert_error_at(output: &Output, number: &str, words: &[&str]) {
    assert_error(output, number);
    assert_contains(&String::from_utf8_lossy(&output.stderr), words);
}

/// A JSON file. The path may be relative to the project.
pub fn json(path: impl AsRef<Path>) -> Value {
    let path = path.as_ref();
    serde_json::from_str(&source(path)).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

pub fn members<'a>(list: &'a Value, name: &str) -> Vec<&'a str> {
    let list = list.as_array().unwrap_or_else(|| panic!("no list: {list}")).iter();
    list.map(|one| one[name].as_str().unwrap_or_else(|| panic!("no {name}: {one}"))).collect()
}

#[track_caller]
pub fn assert_contains(text: &str, words: &[&str]) {
    for words in words {
        assert!(text.contains(words), "expected `{words}`: {text}");
    }
}

/// The schema that `cosim schema` prints.
pub fn schema(name: &str) -> jsonschema::Validator {
    let output = run(["schema", name]);
    let schema = serde_json::from_slice(&output.stdout).expect("a schema");
    jsonschema::validator_for(&schema).expect("a schema")
}

fn rtl_files() -> Vec<PathBuf> {
    let entries = fs::read_dir(project().join("rtl")).expect("rtl/ is there");
    let folders = entries.map(|entry| fs::read_dir(entry.expect("a folder").path()));
    let entries = folders.flat_map(|folder| folder.expect("a folder for each block"));
    entries.map(|entry| entry.expect("a file").path()).collect()
}

/// Copies the RTL with its folders into a new folder.
pub fn copy_rtl(to: &Path) {
    for path in rtl_files() {
        let copy = to.join(path.strip_prefix(project().join("rtl")).expect("it is below rtl/"));
        fs::create_dir_all(copy.parent().expect("a folder")).expect("a folder");
        fs::copy(&path, copy).expect("a copy");
    }
}

/// Sets who may read, write and execute a file.
pub fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A program that is a shell script.
pub fn script(path: &Path, text: &str) -> PathBuf {
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    set_mode(path, 0o755);
    path.to_owned()
}

/// The files in a folder with this ending, sorted.
pub fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == ending))
        .collect();
    files.sort();
    files
}

pub fn blocks() -> impl DoubleEndedIterator<Item = &'static str> {
    cosim::PROGRAM.blocks.iter().map(|block| block.info().name)
}

pub fn vectors_of(block: &str) -> Vec<PathBuf> {
    files(&project().join("vectors").join(block), "json")
}

/// The first vector of a block in the repository.
pub fn vector_of(block: &str) -> String {
    vectors_of(block)[0].display().to_string()
}

/// The path of a vector in the repository, such as `qp/c1-reset-to-init`.
pub fn corpus(name: &str) -> String {
    project().join(format!("vectors/{name}.json")).display().to_string()
}

/// The patches in a folder of `tests`, as [`Place::with_patch`] takes them.
pub fn patches(folder: &str) -> Vec<String> {
    let patches = files(&project().join("tests").join(folder), "patch");
    let stems = patches.iter().filter_map(|patch| patch.file_stem());
    stems.map(|name| format!("{folder}/{}", name.display())).collect()
}

/// Waits until `is_so` while a process runs.
#[track_caller]
pub fn wait_until(child: &mut Child, mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        let ended = child.try_wait().expect("a child");
        assert!(ended.is_none(), "it ended before: {ended:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Sends ^C to a program, which must exit with 130. Returns what it printed to pipes.
#[track_caller]
pub fn interrupted(child: Child) -> String {
    kill_process(Pid::from_child(&child), Signal::INT).expect("a child");
    let output = child.wait_with_output().expect("a child");
    assert_code(&output, 130);
    text(&output)
}

/// Whether a file has more than `bytes`.
pub fn is_longer(path: &Path, bytes: u64) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.len() > bytes)
}

/// A case, as documented in `docs/reference/results.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseResult {
    pub verdict: String,
    pub cycles: u64,
    pub packets: u64,
}

/// All cases of a `results.json` by name.
pub fn cases(results: &Value) -> BTreeMap<String, CaseResult> {
    let run = &results["run"];
    let texts = |name: &str| -> Vec<String> {
        let list = run[name].as_array().expect("a list");
        list.iter().map(|text| text.as_str().expect("a text").to_owned()).collect()
    };
    let (profiles, scenarios) = (texts("profiles"), texts("scenarios"));
    let block = run["block"].as_str().expect("a block");
    let shards = run["shard"].as_str().expect("a shard").split('/').nth(1).expect("I/N");
    let step: usize = shards.parse().expect("a number");
    let name = |place: usize| {
        let columns = profiles.len() * scenarios.len();
        let (index, column) = (place / columns, place % columns);
        let (profile, scenario) = (column / scenarios.len(), column % scenarios.len());
        format!("{block}/{}/{}/{index}", profiles[profile], scenarios[scenario])
    };
    let number = |value: &Value| value.as_u64().expect("a number");
    let mut cases = BTreeMap::new();
    let mut groups = BTreeMap::new();
    for entry in results["cases"].as_array().expect("cases") {
        if let Some(verdict) = entry["verdict"].as_str() {
            let place = number(&entry["place"]) as usize;
            assert_eq!(entry["name"], name(place), "name and place agree");
            groups.insert(number(&entry["group"]), verdict.to_owned());
            let (cycles, packets) = (number(&entry["cycles"]), number(&entry["packets"]));
            let result = CaseResult { verdict: verdict.to_owned(), cycles, packets };
            assert!(cases.insert(name(place), result).is_none(), "{entry} is there twice");
            continue;
        }
        let from = number(&entry["from"]) as usize;
        let [cycles, packets] =
            ["cycles", "packets"].map(|name| entry[name].as_array().expect("a list"));
        assert_eq!(cycles.len(), packets.len());
        let failed = entry["groups"].as_array();
        assert!(failed.is_none_or(|failed| failed.len() == cycles.len()));
        for (at, (cycles, packets)) in cycles.iter().zip(packets).enumerate() {
            let verdict = match failed {
                Some(failed) => groups[&number(&failed[at])].clone(),
                None => "match".to_owned(),
            };
            let result = CaseResult { verdict, cycles: number(cycles), packets: number(packets) };
            let name = name(from + at * step);
            assert!(cases.insert(name, result).is_none(), "{entry} is there twice");
        }
    }
    cases
}

/// The output of a command that a page or a summary shows, typed in a folder.
pub fn typed_in(folder: &Path, command: &str) -> Output {
    let program = program();
    let set = program.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let mut bash = std::process::Command::new("bash");
    bash.envs(set).arg("-c").arg(command).current_dir(folder).output().expect("bash runs")
}

/// Python with the packages that tests use to read our files: a virtual environment in the build
/// folder, created once.
///
/// # Panics
/// If it cannot be created, with instructions.
pub fn python() -> std::process::Command {
    const PACKAGES: [&str; 7] = [
        "check-jsonschema==0.39.0",
        "cocotb==2.1.0",
        "junitparser==4.0.2",
        "kubernetes-validate==1.37.0",
        "pyucis==0.2.0.22787133465",
        "selenium==4.38.0",
        "xmlschema==4.3.1",
    ];
    // Of this one only the file of axe, so without Playwright and its browser.
    const AXE: &str = "axe-playwright-python==0.1.8";
    let folder = below_build("python");
    fs::create_dir_all(&folder).expect("a folder");
    let lock = fs::File::create(folder.join("lock")).expect("a lock");
    lock.lock().expect("the lock");
    let (python, done) =
        (folder.join("venv/bin/python"), folder.join(PACKAGES.join(" ") + " " + AXE));
    if !done.exists() {
        let run = |program: &Path, arguments: &[&str]| {
            let output = std::process::Command::new(program).args(arguments).output();
            let output = output.expect("Python: apt-get install python3-venv");
            assert!(output.status.success(), "{arguments:?}: {}", text(&output));
        };
        let venv = folder.join("venv").display().to_string();
        run(Path::new("python3"), &["-m", "venv", "--clear", &venv]);
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        run(&python, &[&install[..], &PACKAGES].concat());
        run(&python, &[&install[..], &["--no-deps", AXE]].concat());
        fs::write(done, "").expect("a mark");
    }
    std::process::Command::new(python)
}

/// What a browser shows of the page of a folder. `words` filter its lists.
pub fn looked_at(folder: &Path, words: &str) -> Value {
    looked_at_page(&folder.join("report.html"), &[words])
}

/// What a browser shows of a page.
pub fn looked_at_page(page: &Path, words: &[&str]) -> Value {
    let script = project().join("tests/e2e/data/look_at_report.py");
    let output = python().arg(script).arg(page).args(words).output().unwrap();
    assert!(
        output.status.success(),
        "Chromium is needed (apt-get install chromium chromium-driver): {}",
        text(&output)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Checks properties of every page: both themes, phones, screen readers, no network access, links
/// that lead somewhere, and nothing that needs JavaScript without it.
#[track_caller]
pub fn assert_is_for_anyone(seen: &Value) {
    let nothing = Value::from(Vec::<Value>::new());
    for name in ["axe", "network", "console"] {
        assert_eq!(seen[name], nothing, "{name}");
    }
    assert_eq!(seen["too wide"], serde_json::json!([0, 0, 0, 0]));
    assert_eq!(seen["theme"], serde_json::json!(["rgb(255, 255, 255)", "rgb(13, 17, 23)"]));
    assert_eq!(seen["header stays"], true);
    let keyboard = seen["keyboard"].as_object().unwrap();
    assert!(keyboard.len() >= 3 && keyboard.values().all(|works| works == true), "{keyboard:?}");
    assert_eq!((&seen["files"]["missing"], &seen["anchors"]["missing"]), (&nothing, &nothing));
    assert_eq!(seen["without script"]["buttons"], 0);
    assert!(seen["without script"]["headings"].as_u64().unwrap() > 0, "{seen}");
    for (name, list) in seen["lists"].as_object().unwrap() {
        let order = |place: usize| list["orders"][place][0].as_str();
        assert_eq!([order(0), order(1)], [Some("ascending"), Some("descending")], "{name}");
    }
}

pub fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = walkdir::WalkDir::new(folder).into_iter().map(|entry| entry.unwrap().into_path());
    let content =
        |path: PathBuf| (path.strip_prefix(folder).unwrap().to_owned(), fs::read(&path).unwrap());
    paths.filter(|path| path.is_file()).map(content).collect()
}

/// A temporary folder in which commands are typed. Paths in them are relative to it.
pub struct Place {
    folder: TempDir,
    /// The crate below the folder in which commands are typed, if any. Its program runs them.
    name: String,
}

impl Place {
    /// An empty folder.
    pub fn new() -> Self {
        Self { folder: TempDir::new().expect("a temporary folder"), name: String::new() }
    }

    pub fn of_crate(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    pub fn with_files(texts: &[(&str, &str)]) -> Self {
        let place = Self::new();
        texts.iter().for_each(|(name, text)| place.write(name, text));
        place
    }

    /// A folder that has the RTL of all blocks, each in a folder of `rtl`.
    pub fn with_rtl() -> Self {
        let place = Self::new();
        copy_rtl(&place.path("rtl"));
        place
    }

    /// A folder that has the RTL of all blocks, with a bug of `tests/bad_rtl`, in `rtl`.
    pub fn with_bug(bug: &str) -> Self {
        Self::with_patch(&format!("bad_rtl/{bug}"))
    }

    /// A folder that has the RTL of all blocks, with a patch of `tests`, in `rtl`.
    pub fn with_patch(patch: &str) -> Self {
        let place = Self::with_rtl();
        let mut command = std::process::Command::new("patch");
        command.args(["-p1", "--silent", "--fuzz=0", "--input"]);
        command.arg(project().join(format!("tests/{patch}.patch"))).current_dir(place.path(""));
        let output = command.output().expect("patch is installed by scripts/test");
        assert!(output.status.success(), "{patch} does not apply: {}", text(&output));
        place
    }

    /// A folder that has the RTL of all blocks in one folder `rtl`, with `from` replaced by `to` in
    /// one file.
    pub fn with_change(file: &str, from: &str, to: &str) -> Self {
        let place = Self::new();
        for path in rtl_files() {
            let name = path.file_name().expect("a name").display();
            place.write(&format!("rtl/{name}"), &source(&path));
        }
        place.edit(&format!("rtl/{file}"), from, to);
        place
    }

    /// [`Place::with_change`] of an output of `thread2`: an acknowledge without bypass.
    pub fn without_bypass() -> Self {
        Self::with_change(THREAD2_TOP, "mr_bypass = 1'b1", "mr_bypass = 1'b0")
    }

    /// [`Place::with_change`] of `thread2`, which is never ready for a packet.
    pub fn never_ready() -> Self {
        let [ready, never] = ["1", "0"].map(|bit| format!("fetch_cxt_egress_ready = 1'b{bit}"));
        Self::with_change(THREAD2_TOP, &ready, &never)
    }

    /// Links the program as `bin/cosim`.
    pub fn link_program(&self) {
        fs::create_dir(self.path("bin")).expect("a folder");
        self.link(program().get_program(), "bin/cosim");
    }

    /// A file or folder below.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(&self.name).join(name)
    }

    /// [`set_mode`] of a file or folder below.
    pub fn set_mode(&self, name: &str, mode: u32) {
        set_mode(&self.path(name), mode);
    }

    pub fn has_file(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// Writes a file, and the folders around it.
    pub fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().expect("a folder")).expect("a folder");
        fs::write(self.path(name), text).expect("a file");
    }

    /// Removes a file or a folder.
    #[track_caller]
    pub fn remove(&self, name: &str) {
        let path = self.path(name);
        let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        removed.unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    /// Makes a link of this name to a file or folder.
    pub fn link(&self, target: impl AsRef<Path>, name: &str) {
        symlink(target, self.path(name)).expect("a link");
    }

    pub fn text(&self, name: &str) -> String {
        source(self.path(name))
    }

    pub fn json(&self, name: &str) -> Value {
        json(self.path(name))
    }

    pub fn results(&self, run: impl Display) -> Value {
        self.json(&format!("{run}/results.json"))
    }

    /// Runs `cosim` with the words of a line, for `thread2` unless they name a block.
    #[track_caller]
    pub fn run(&self, line: &str) -> Output {
        self.command(line).output().expect("it runs")
    }

    /// The command of [`Place::run`]. A line may begin with variables, as in a shell.
    pub fn command(&self, line: &str) -> std::process::Command {
        let mut variables = shlex::split(line).expect("quotes in pairs");
        let first = variables.iter().take_while(|word| word.contains('=')).count();
        let words = variables.split_off(first);
        let (mut command, words) = match &*self.name {
            "" => (program(), of_a_block(words)),
            name => (program_outside(name), words.into_iter().map(OsString::from).collect()),
        };
        command.envs(variables.iter().filter_map(|word| word.split_once('=')));
        command.current_dir(self.path("")).args(words);
        command
    }

    /// [`Place::run`], whose exit code must be `code`. Returns what is printed.
    #[track_caller]
    pub fn exits(&self, code: i32, line: &str) -> String {
        let output = self.run(line);
        assert_code(&output, code);
        text(&output)
    }

    /// [`Place::exits`], which must print all of `words`.
    #[track_caller]
    pub fn prints(&self, code: i32, words: &[&str], line: &str) -> String {
        let printed = self.exits(code, line);
        assert_contains(&printed, words);
        printed
    }

    /// [`Place::run`], which must fail with this error and name `words`.
    #[track_caller]
    pub fn fails(&self, number: &str, words: &str, line: &str) {
        assert_error_at(&self.run(line), number, &[words]);
    }

    /// [`Place::fails`] for the end of a line in each row, which must write no file.
    #[track_caller]
    pub fn refuses(&self, line: &str, rows: &[(&str, &str, &str)]) {
        let before = self.names("");
        for (number, words, end) in rows {
            self.fails(number, words, &format!("{line} {end}"));
            assert_eq!(self.names(""), before, "{line} {end} wrote something");
        }
    }

    /// [`Place::exits`] with JSON, which is returned.
    #[track_caller]
    pub fn json_of(&self, code: i32, line: &str) -> Value {
        let output = self.run(&format!("{line} --format json"));
        assert_code(&output, code);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output)))
    }

    /// [`typed_in`] this folder, whose exit code must be `code`. Returns what is printed.
    #[track_caller]
    pub fn typed(&self, code: i32, command: &str) -> String {
        let output = typed_in(&self.path(""), command);
        assert_code(&output, code);
        text(&output)
    }

    pub fn commit(&self, tag: &str) {
        for line in ["add -A", &format!("commit -qm {tag}"), &format!("tag {tag}")] {
            self.git(line);
        }
    }

    /// Runs `git` with the words of a line.
    #[track_caller]
    pub fn git(&self, line: &str) -> String {
        let mut git = std::process::Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@example.com"]);
        let words = shlex::split(line).expect("quotes in pairs");
        let output = git.args(words).current_dir(self.path("")).output().expect("git runs");
        assert_code(&output, 0);
        text(&output)
    }

    /// Starts [`Place::command`] without its output.
    pub fn start(&self, line: &str) -> Child {
        let mut command = self.command(line);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs")
    }

    /// Starts [`Place::command`] with pipes for its output.
    pub fn start_with_pipes(&self, line: &str) -> Child {
        let mut command = self.command(line);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs")
    }

    /// The names in a folder, sorted. `""` is the place itself.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).into_iter().flatten().flatten();
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }

    /// Replaces `from`, which must be there, by `to` once.
    #[track_caller]
    pub fn edit(&self, name: &str, from: &str, to: &str) {
        let text = self.text(name);
        assert!(text.contains(from), "{name} has no `{from}`");
        self.write(name, &text.replacen(from, to, 1));
    }

    /// [`Place::edit`] of a record, with a valid checksum. Replaces `from` wherever it is.
    #[track_caller]
    pub fn edit_record(&self, name: &str, from: &str, to: &str) {
        let text = self.text(name);
        assert!(text.contains(from), "{name} has no `{from}`");
        self.write_record(name, &text.replace(from, to));
    }

    /// Writes a record with a valid checksum. For a `coverage.json`, also updates the checksum that
    /// the `results.json` beside it records.
    pub fn write_record(&self, name: &str, text: &str) {
        const KEY: &str = "\n\"checksum\": \"";
        let (before, _) = text.rsplit_once(KEY).expect("a checksum");
        let before = format!("{before}\n");
        let now = blake3::hash(before.as_bytes()).to_hex();
        self.write(name, &format!("{before}{}{now}\"\n}}\n", &KEY[1..]));
        let results = name.replace("coverage.json", "results.json");
        if results != name && self.has_file(&results) {
            let text = self.text(&results);
            let (before, behind) =
                text.split_once("\n\"coverage\": \"").expect("a checksum of coverage");
            let (_, behind) = behind.split_once('"').expect("its end");
            self.write_record(&results, &format!("{before}\n\"coverage\": \"{now}\"{behind}"));
        }
    }

    /// Checks that two runs have the same reproducible files.
    #[track_caller]
    pub fn same_run(&self, whole: &str, other: &str) {
        let [left, right] = [whole, other].map(|run| {
            let mut files = contents(&self.path(run));
            let timed = ["timing.json", "report.html", "run.lock"];
            files.retain(|path, _| !timed.iter().any(|name| path.ends_with(name)));
            files
        });
        assert!(left.keys().eq(right.keys()), "{:?} {:?}", left.keys(), right.keys());
        for (name, content) in left {
            assert!(content == right[&name], "{} is another one in {other}", name.display());
        }
    }

    /// Yosys behind lines of a shell script, as a variable for [`Place::command`].
    pub fn yosys(&self, before: &str) -> String {
        let real = std::env::var("YOSYS").unwrap_or_else(|_| "yosys".to_owned());
        let path = script(&self.path("yosys"), &format!("{before}\nexec {real} \"$@\""));
        format!("YOSYS={}", path.display())
    }

    /// A second solver that is missing, or gives no answer, as a variable for [`Place::command`].
    pub fn without_solver(&self, is_missing: bool) -> String {
        let path = match is_missing {
            true => PathBuf::from("/nowhere/cadical"),
            false => script(&self.path("cadical"), "exit 0"),
        };
        format!("CADICAL={}", path.display())
    }

    /// The vector of the first failure of a run.
    #[track_caller]
    pub fn vector(&self, run: &str) -> String {
        let results = self.results(run);
        format!("{run}/{}", results["failures"][0]["vector"].as_str().unwrap())
    }

    /// The vectors of failures in a run directory.
    pub fn vectors(&self, run: &str) -> Vec<String> {
        let names = files(&self.path(run).join("failures"), "json");
        names.iter().map(|path| path.display().to_string()).collect()
    }
}
