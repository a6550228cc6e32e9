//! `scripts/slurm-run` on a real Slurm with two nodes on this machine: the result equals that of a
//! single machine, whatever happens to its tasks.

use crate::common::{
    Place, assert_code, assert_contains, assert_error_at, code, is_longer, program, project, text,
    wait_until,
};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A cluster that ends when dropped, in a place with wrong RTL.
struct Cluster(Place);

impl Cluster {
    /// Starts a cluster, or returns why it cannot.
    fn start() -> Result<Self, String> {
        let tools = "command -v slurmctld && command -v slurmd && command -v munged && \
                     command -v sbatch";
        if !Command::new("sh").args(["-c", tools]).output().unwrap().status.success() {
            return Err("apt-get install slurmctld slurmd slurm-client munge".to_owned());
        }
        if !rustix::process::geteuid().is_root() {
            return Err("a cluster is started by root only".to_owned());
        }
        let cluster = Self(Place::with_bug("qp/01-reset-keeps-states"));
        let output = cluster.tool(project().join("tests/slurm/start")).arg(cluster.root()).output();
        let output = output.expect("bash runs");
        match output.status.success() {
            true => Ok(cluster),
            false => Err(format!("it does not start: {}", text(&output))),
        }
    }

    fn root(&self) -> PathBuf {
        self.0.path("cluster")
    }

    fn tool(&self, path: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(path);
        command.current_dir(self.0.path("")).env("SLURM_CONF", self.root().join("slurm.conf"));
        command
    }

    fn submit(&self, program: &Path, options: &str, arguments: &str) -> Command {
        let mut command = self.tool(project().join("scripts/slurm-run"));
        command.env("COSIM", program).args(options.split(' ')).args(["--poll", "0.2", "--"]);
        command.args(arguments.split_whitespace());
        command
    }

    /// A wrapper of the program that runs lines of `bash` first.
    fn stand_in(&self, name: &str, lines: &str) -> PathBuf {
        let real = program();
        let real = real.get_program().to_str().unwrap();
        let lines = lines.replace("REAL", real);
        self.0.write(name, &format!("#!/bin/bash\n{lines}\nexec '{real}' \"$@\"\n"));
        self.0.set_mode(name, 0o755);
        self.0.path(name)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.tool(project().join("tests/slurm/stop")).arg(self.root()).output();
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
    let program = cluster.stand_in("cosim", "");
    green(&cluster, &program);
    red_with_a_node_that_is_killed(&cluster);
    runs_without_a_result(&cluster, &program);
    a_grading(&cluster);
}

const GREEN: &str = "--block qp,dll --cases 8 --packets 3";

fn green(cluster: &Cluster, program: &Path) {
    let place = &cluster.0;
    place.exits(0, &format!("run --quiet --out green-alone {GREEN}"));
    // The same run from a plan.
    let run = "[[run]]\nblocks = [\"qp\", \"dll\"]\ncases = 8\npackets = 3\n";
    place.write("green.toml", &format!("format = \"cosim-plan\"\nversion = 1\n{run}"));
    let options = "--shards 3 --plan green.toml --out green";
    assert_code(&cluster.submit(program, options, "").output().unwrap(), 0);
    place.same_run("green-alone", "green/run");
    // Invalid arguments are reported before anything is submitted.
    let mut bad = cluster.submit(program, "--shards 3 --out bad", "--block none");
    assert_error_at(&bad.output().unwrap(), "E0102", &["`none`"]);
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

fn a_grading(cluster: &Cluster) {
    if Command::new("yosys").arg("-V").output().is_err() {
        eprintln!("skipped: slurm::a_grading: there is no yosys: apt-get install yosys");
        return;
    }
    let place = &cluster.0;
    let below = place.path("").display().to_string();
    let program = cluster.stand_in("dies-once", &DIES_ONCE.replace("BELOW", &below));
    let graded = "--block recv --fixes repaired --mutants 40 --cases 12 --no-judge";
    place.exits(0, &format!("mutate --quiet --out grading-alone {graded}"));
    let mut command = cluster.submit(&program, "mutate --shards 2 --out grading", graded);
    assert_code(&command.env("CXXFLAGS", "-O0").output().unwrap(), 0);
    let [left, right] =
        ["-alone", "/run"].map(|of| place.text(&format!("grading{of}/mutate.json")));
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

fn red_with_a_node_that_is_killed(cluster: &Cluster) {
    let place = &cluster.0;
    let program = cluster.stand_in("stands-still", STANDS_STILL);
    let options = "--block qp --rtl rtl --cases 500 --threads 1 --no-shrink --no-waves";
    let arguments = format!("{options} --packets 60");
    place.exits(1, &format!("run --quiet --out red-alone {arguments}"));
    let mut command = cluster.submit(&program, "--shards 4 --out red", &arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The other node has finished its tasks.
    let is_halted =
        |task: &String| is_longer(&place.path(&format!("red/work/{task}/run.journal")), 19_999);
    wait_until(&mut child, || {
        let halted = place.names("red/work").into_iter().filter(is_halted).count();
        place.names("red/shards").len() == 2 && halted == 2
    });
    let mut kill = cluster.tool(project().join("tests/slurm/kill-node"));
    assert!(kill.arg(cluster.root()).arg("node1").status().unwrap().success());
    let restart = "scontrol update nodename=node1 state=down reason=killed
        slurmd -f \"$SLURM_CONF\" -N node1
        scontrol update nodename=node1 state=resume";
    cluster.tool("sh").args(["-c", restart]).output().expect("a shell");
    let output = child.wait_with_output().unwrap();
    assert_code(&output, 1);
    assert_contains(&text(&output), &["FAIL  qp, seed 1: "]);
    place.same_run("red-alone", "red/run");
    // Completed cases did not run again.
    let is_resumed = |log: String| {
        let log = place.text(&format!("red/log/{log}"));
        log.contains("had ended before") && !log.contains(": 0 cases had ended before")
    };
    assert!(place.names("red/log").into_iter().any(is_resumed));
}

/// Nothing passes for a result if the tasks of a shard are always killed, or in a full folder.
fn runs_without_a_result(cluster: &Cluster, program: &Path) {
    let dies = "case \" $* \" in *' --shard 2/3 '*) echo this one dies; kill -9 $$ ;; esac";
    let dies = cluster.stand_in("dies", dies);
    let small = Small::mount(&cluster.0.path("small"));
    if small.is_none() {
        eprintln!("skipped: slurm::runs_without_a_result: no file system can be mounted here");
    }
    let full = ["left no result in 1 tries", "shards are missing"];
    let lost = ["shard 2/3 left no result in 2 tries", "this one dies", "FAIL  1 of 3 shards are"];
    for (program, out, retries, arguments, codes, expected) in [
        (&*dies, "lost", 1, GREEN, &[1][..], &lost[..]),
        (program, "small/out", 0, "--block qp --cases 200 --packets 3", &[1, 3], &full),
    ] {
        if out.starts_with("small") && small.is_none() {
            continue;
        }
        let options = format!("--shards 3 --retries {retries} --out {out}");
        let output = cluster.submit(program, &options, arguments).output().unwrap();
        assert!(codes.contains(&code(&output)), "{}", text(&output));
        assert_contains(&text(&output), expected);
        assert!(!cluster.0.has_file(&format!("{out}/run/results.json")));
    }
}
