//! `scripts/slurm-run` on a real Slurm with two nodes on this machine: the result equals that of a
//! single machine, whatever happens to its tasks.

use crate::common::{
    assert_code, assert_error_at, assert_same_run, code, is_longer, patched_rtl, program, project,
    run, text, wait_until,
};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// A cluster that ends when dropped.
struct Cluster {
    folder: TempDir,
}

impl Cluster {
    /// Starts a cluster, or returns why it cannot.
    fn start() -> Result<Self, String> {
        for tool in ["slurmctld", "slurmd", "munged", "sbatch"] {
            let found = Command::new("sh").args(["-c", &format!("command -v {tool}")]).output();
            if !found.is_ok_and(|output| output.status.success()) {
                return Err(format!(
                    "there is no {tool}: apt-get install slurmctld slurmd slurm-client munge"
                ));
            }
        }
        if !rustix::process::geteuid().is_root() {
            return Err("a cluster is started by root only".to_owned());
        }
        let cluster = Self { folder: TempDir::new().expect("a folder") };
        let output = cluster.tool("start").arg(cluster.root()).output().expect("bash runs");
        match output.status.success() {
            true => Ok(cluster),
            false => Err(format!("it does not start: {}", text(&output))),
        }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("cluster")
    }

    fn tool(&self, name: &str) -> Command {
        let mut command = Command::new(project().join("tests/slurm").join(name));
        command.env("SLURM_CONF", self.root().join("slurm.conf"));
        command
    }

    /// The output of a Slurm command.
    fn slurm(&self, command: &[&str]) -> String {
        let conf = self.root().join("slurm.conf");
        let output = Command::new(command[0]).args(&command[1..]).env("SLURM_CONF", conf).output();
        text(&output.expect("it is installed")).trim().to_owned()
    }

    fn submit(&self, program: &Path, options: &[&str], arguments: &[&str]) -> Command {
        let mut command = Command::new(project().join("scripts/slurm-run"));
        command
            .current_dir(project())
            .env("SLURM_CONF", self.root().join("slurm.conf"))
            .env("COSIM", program)
            .args(options)
            .args(["--poll", "0.2"])
            .arg("--")
            .args(arguments);
        command
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.tool("stop").arg(self.root()).output();
    }
}

/// A small in-memory folder.
struct Small(PathBuf);

impl Small {
    fn mount(folder: &Path) -> Option<Self> {
        fs::create_dir(folder).expect("a folder");
        let mount = ["-t", "tmpfs", "-o", "size=100k", "none"];
        let status = Command::new("mount").args(mount).arg(folder).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success()).then(|| Self(folder.to_owned()))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// A wrapper of the program that runs a line first.
fn stand_in(path: &Path, line: &str) -> PathBuf {
    let real = program();
    let script = format!("#!/bin/bash\n{line}\nexec {:?} \"$@\"\n", real.get_program());
    fs::write(path, script).expect("a script");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("an executable one");
    path.to_owned()
}

fn whole(folder: &Path, arguments: &[&str]) -> Output {
    let out = folder.to_str().unwrap();
    run(["run", "--quiet", "--out", out].iter().chain(arguments))
}

/// One cluster for all tests, one after another, because it uses fixed ports.
#[test]
#[ignore = "slow: a Slurm cluster"]
fn a_run_on_a_cluster_equals_the_run_on_one_machine() {
    let cluster = match Cluster::start() {
        Ok(cluster) => cluster,
        Err(reason) => {
            eprintln!("skipped: slurm::a_run_on_a_cluster...: {reason}");
            return;
        }
    };
    let folder = TempDir::new().unwrap();
    let program = stand_in(&folder.path().join("cosim"), "");
    green(&cluster, folder.path(), &program);
    red_with_a_node_that_is_killed(&cluster, folder.path());
    a_shard_that_is_lost_for_good(&cluster, folder.path());
    a_full_folder(&cluster, folder.path(), &program);
    a_grading(&cluster, folder.path());
}

const GREEN: [&str; 6] = ["--block", "qp,dll", "--cases", "8", "--packets", "3"];

fn green(cluster: &Cluster, folder: &Path, program: &Path) {
    let [alone, out] = ["green-alone", "green"].map(|name| folder.join(name));
    assert_eq!(code(&whole(&alone, &GREEN)), 0);
    // The same run from a plan.
    let plan = folder.join("green.toml");
    let listed = "format = \"cosim-plan\"\nversion = 1\n[[run]]\nblocks = [\"qp\", \"dll\"]\ncases = 8\npackets = 3\n";
    fs::write(&plan, listed).unwrap();
    let plan = plan.to_str().unwrap();
    let options = ["--shards", "3", "--plan", plan, "--out", out.to_str().unwrap()];
    let output = cluster.submit(program, &options, &[]).output().unwrap();
    assert_code(&output, 0);
    for block in ["qp", "dll"] {
        assert_same_run(&alone.join(block), &out.join("run").join(block));
    }
    // Invalid arguments are reported before anything is submitted.
    let bad = folder.join("bad");
    let options = ["--shards", "3", "--out", bad.to_str().unwrap()];
    let output = cluster.submit(program, &options, &["--block", "none"]).output().unwrap();
    assert_error_at(&output, "E0102", "`none`");
}

/// The first attempt of each task ends in the middle of its part.
const DIES_ONCE: &str = r#"
if [ "$1" = mutate ] && [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then
  out=${@: -1}
  if mkdir "BELOW/died-$SLURM_ARRAY_TASK_ID" 2>/dev/null; then
    REAL "$@" &
    until grep -q cases_run "$out/mutate.json.partial" || ! kill -0 $!; do sleep 0.01; done
    kill -9 $!
    exit 1
  fi
fi 2>/dev/null"#;

fn a_grading(cluster: &Cluster, folder: &Path) {
    if Command::new("yosys").arg("-V").output().is_err() {
        eprintln!("skipped: slurm::a_grading: there is no yosys: apt-get install yosys");
        return;
    }
    let real = program().get_program().to_str().unwrap().to_owned();
    let line = DIES_ONCE.replace("REAL", &real).replace("BELOW", folder.to_str().unwrap());
    let program = stand_in(&folder.join("dies-once"), &line);
    let [alone, out] = ["grading-alone", "grading"].map(|name| folder.join(name));
    let few = ["--mutants", "40", "--cases", "12", "--no-judge"];
    let graded = [&["--block", "recv", "--fixes", "repaired"][..], &few].concat();
    let mut whole = crate::common::program();
    whole.env("CXXFLAGS", "-O0").args(["mutate", "--quiet", "--out"]).arg(&alone).args(&graded);
    assert_eq!(code(&whole.output().unwrap()), 0);
    let options = ["mutate", "--shards", "2", "--out", out.to_str().unwrap()];
    let mut command = cluster.submit(&program, &options, &graded);
    assert_code(&command.env("CXXFLAGS", "-O0").output().unwrap(), 0);
    let [left, right] =
        [&alone, &out.join("run")].map(|out| fs::read(out.join("mutate.json")).unwrap());
    assert!(left == right, "the parts do not make the whole");
}

/// On the killed node, tasks stop in the middle of their cases.
const STANDS_STILL: &str = r#"
if [ "${SLURMD_NODENAME:-}" = node1 ] && [ -z "${SLURM_RESTART_COUNT:-}" ]; then
  REAL "$@" &
  while kill -0 $! && [ "$(stat -c %s "${@: -1}/run.journal" || echo 0)" -lt 20000 ]; do sleep 0.01; done
  kill -STOP $!
  wait
fi 2>/dev/null"#;

fn red_with_a_node_that_is_killed(cluster: &Cluster, folder: &Path) {
    let real = program().get_program().to_str().unwrap().to_owned();
    let program = stand_in(&folder.join("stands-still"), &STANDS_STILL.replace("REAL", &real));
    let patch = files_of("tests/bad_rtl/qp").remove(0);
    let wrong = patched_rtl(&patch);
    let rtl = wrong.path().join("rtl");
    let arguments = ["--block", "qp", "--rtl", rtl.to_str().unwrap(), "--cases", "500"];
    let arguments =
        [&arguments[..], &["--threads", "1", "--no-shrink", "--no-waves", "--packets", "60"]]
            .concat();
    let [alone, out] = ["red-alone", "red"].map(|name| folder.join(name));
    assert_eq!(code(&whole(&alone, &arguments)), 1);
    let options = ["--shards", "4", "--out", out.to_str().unwrap()];
    let mut command = cluster.submit(&program, &options, &arguments);
    let mut child: Child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The other node has finished its tasks.
    let entries = |name: &str| fs::read_dir(out.join(name)).into_iter().flatten().flatten();
    wait_until(&mut child, || {
        let journals = entries("work").map(|entry| entry.path().join("run.journal"));
        entries("shards").count() == 2
            && journals.filter(|path| is_longer(path, 19_999)).count() == 2
    });
    let kill = cluster.tool("kill-node").arg(cluster.root()).arg("node1").status();
    assert!(kill.unwrap().success());
    cluster.slurm(&["scontrol", "update", "nodename=node1", "state=down", "reason=killed"]);
    let conf = cluster.root().join("slurm.conf");
    cluster.slurm(&["slurmd", "-f", conf.to_str().unwrap(), "-N", "node1"]);
    cluster.slurm(&["scontrol", "update", "nodename=node1", "state=resume"]);
    let output = child.wait_with_output().unwrap();
    assert_code(&output, 1);
    assert!(text(&output).contains("FAIL  qp, seed 1: "), "{}", text(&output));
    assert_same_run(&alone, &out.join("run"));
    // Completed cases did not run again.
    let logs = (1..=4).map(|index| fs::read_to_string(log(&out, index)).unwrap());
    let logs: Vec<String> = logs.collect();
    let resumed = |log: &String| {
        log.contains("had ended before") && !log.contains(": 0 cases had ended before")
    };
    assert!(logs.iter().any(resumed), "{logs:?}");
}

/// The newest log of a task.
fn log(out: &Path, index: u32) -> PathBuf {
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut logs = fs::read_dir(out.join("log")).unwrap().map(|entry| entry.unwrap().path());
    logs.find(|path| name(path).starts_with(&format!("{index}-"))).expect("a log")
}

fn files_of(folder: &str) -> Vec<PathBuf> {
    let mut files = crate::common::files(&project().join(folder), "patch");
    files.sort();
    files
}

fn a_shard_that_is_lost_for_good(cluster: &Cluster, folder: &Path) {
    let dies = "case \" $* \" in *' --shard 2/3 '*) echo this one dies; kill -9 $$ ;; esac";
    let program = stand_in(&folder.join("dies"), dies);
    let out = folder.join("lost");
    let options = ["--shards", "3", "--retries", "1", "--out", out.to_str().unwrap()];
    let output = cluster.submit(&program, &options, &GREEN).output().unwrap();
    let printed = text(&output);
    assert_eq!(code(&output), 1, "{printed}");
    assert!(printed.contains("shard 2/3 left no result in 2 tries"), "{printed}");
    assert!(printed.contains("this one dies"), "{printed}");
    assert!(printed.contains("FAIL  1 of 3 shards are missing"), "{printed}");
    assert!(!out.join("run").exists(), "nothing passes for a result");
}

fn a_full_folder(cluster: &Cluster, folder: &Path, program: &Path) {
    let Some(small) = Small::mount(&folder.join("small")) else {
        eprintln!("skipped: slurm::a_full_folder: no file system can be mounted here");
        return;
    };
    let out = small.0.join("out");
    let options = ["--shards", "3", "--retries", "0", "--out", out.to_str().unwrap()];
    let arguments = ["--block", "qp", "--cases", "200", "--packets", "3"];
    let output = cluster.submit(program, &options, &arguments).output().unwrap();
    let printed = text(&output);
    assert!([1, 3].contains(&code(&output)), "{printed}");
    assert!(printed.contains("left no result in 1 tries"), "{printed}");
    assert!(printed.contains("shards are missing"), "{printed}");
    assert!(!out.join("run/results.json").exists(), "nothing passes for a result");
}
