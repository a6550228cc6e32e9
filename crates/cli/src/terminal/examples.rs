//! Two examples for the help of each command.

use clap::Command;

/// The examples: a command, its arguments, and their effect. A nested command follows its parent,
/// as in "cover merge".
const EXAMPLES: [(&str, &str, &str); 66] = [
    ("run", "--rtl my-rtl --max-failures 10", "Test your RTL; stop after 10 failures"),
    (
        "run",
        "--block all --seed random --time 10m --history runs.jsonl",
        "Test all blocks for 10 minutes each with a new seed; record the runs",
    ),
    ("replay", "vectors --expect-recorded", "Check that each vector does what it records"),
    ("replay", "runs/latest --rtl my-rtl", "Replay all failures of a run on the corrected RTL"),
    ("shrink", "failure.json --rtl my-rtl", "Write failure.shrunk.json"),
    ("shrink", "failure.json --budget 1000000 --out small.json", "Limit the time of the search"),
    ("explain", "1 --rtl my-rtl", "Print the first failure of the latest run, decoded"),
    ("explain", "failure.json --fixes spec --format json", "Print JSON for one profile"),
    ("export", "failure.json -o testbench", "Write a testbench of one vector"),
    ("export", "failure.json --cocotb -o test", "Write a cocotb test of one vector"),
    ("bench", "--block all", "Measure every profile of every block"),
    ("bench", "--rtl my-rtl --fixes spec", "Measure your RTL in one profile"),
    ("cache", "", "Show the folders and sizes of the cache"),
    ("cache", "clear", "Remove everything that no process uses"),
    ("cover merge", "runs/a runs/b -o coverage.json", "Merge the coverage of two runs"),
    ("cover merge", "a.json b.json -o merged.json", "Merge two databases"),
    ("cover report", "runs/latest", "Print the uncovered bins of a run"),
    (
        "cover report",
        "runs/a runs/b --format lcov -o coverage.info",
        "Write code coverage for genhtml",
    ),
    ("cover rank", "runs/latest", "List the cases that suffice for the coverage"),
    ("cover rank", "runs/latest -o smoke", "Write these cases as vectors"),
    ("cover close", "runs/latest", "Find vectors and proofs for what no case hit"),
    ("cover close", "--check runs/close-qp", "Prove the proofs of a result again"),
    ("error", "", "List all codes"),
    ("error", "E0213", "Explain one code"),
    ("list", "", "List every block"),
    ("list", "--block qp --format json", "List one block as JSON"),
    ("resume", "runs/latest", "Run the remaining cases"),
    ("resume", "runs/latest --threads 4", "Run them with 4 threads"),
    ("schema", "vector", "Print the schema of vectors"),
    ("schema", "results", "Print the schema of results.json"),
    ("merge", "shards/1 shards/2 -o merged", "Merge a run of two shards"),
    ("merge", "shards/1 shards/2 -o merged --force", "Replace an earlier result"),
    ("mutate", "--mutants 100 --cases 20", "Grade the testbench with 100 mutants"),
    ("mutate", "--only 17 --seed 1", "Explain how mutant 17 is found"),
    ("prove", "--rtl my-rtl", "Prove all properties of your RTL"),
    (
        "prove",
        "--only fifo --accept-bounded 20",
        "Prove some properties; accept 20 cycles without a counterexample",
    ),
    ("diff", "main:rtl rtl", "Compare the RTL of a branch with that of this folder"),
    (
        "diff",
        "built-in my-rtl --legal-only --time 2m",
        "Compare for legal traffic only, for 2 minutes",
    ),
    ("compare", "runs/before runs/latest", "Print which failures are new or gone"),
    ("compare", "before after --out compare.html", "Also write a page"),
    (
        "signoff",
        "runs/latest runs/mutants runs/proof --out signoff.html",
        "Write the matrix of rules as a page",
    ),
    (
        "signoff",
        "runs/latest --vectors vectors/qp --bugs tests/bad_rtl/qp --csv signoff.csv",
        "Count vectors and planted bugs, too, for a spreadsheet",
    ),
    ("new", "my-block rtl --top my_top", "Generate a crate from the RTL in rtl"),
    (
        "new",
        "my-block -f rtl.f --top my_top --clock clk_i --reset rst_n=0",
        "Read a file list; name clock and reset",
    ),
    ("watch", "--rtl my-rtl --cases 20", "Run 20 cases per scenario at each save"),
    ("watch", "--rtl my-rtl --problems", "Also print failures as an editor reads them"),
    ("report", "runs/latest", "Regenerate the page of one run"),
    ("report", "runs/latest --history runs.jsonl", "Add the trends of a history"),
    ("open", "", "Open the page of the latest run"),
    ("open", "runs/latest --waves mr_data", "Show the waves of a failure"),
    ("trust", "", "Let commands build and run the crate of this folder"),
    ("trust", "--revoke", "Ask again before it is built"),
    ("doc", "", "Open the book in a browser"),
    ("doc", "agents", "Open it at the pages of the agents"),
    ("doctor", "", "Show what is missing on this machine"),
    ("doctor", "--format json", "Print it for a script"),
    ("completions", "bash", "Print completions for bash"),
    ("completions", "zsh", "Print completions for zsh"),
    ("man", "", "Print the page of the program"),
    ("man", "--out man1", "Write a page per command"),
    ("history add", "runs.jsonl runs/latest", "Record one run"),
    ("history add", "runs.jsonl runs/a runs/b", "Record several runs"),
    ("history report", "runs.jsonl", "Write runs.jsonl.html"),
    ("history report", "runs.jsonl --block qp --out qp.html", "Write a page of one block"),
    ("history show", "runs.jsonl", "Show runs and failures"),
    ("history show", "runs.jsonl --block qp --format json", "Print all of one block as JSON"),
];

/// Adds examples with the program's name to the help of each command.
pub fn add(cli: Command, program: &str) -> Command {
    EXAMPLES.chunk_by(|(path, ..), (next, ..)| path == next).fold(cli, |cli, examples| {
        let lines = examples.iter().map(|(path, arguments, does)| {
            let words = format!("{program} {path} {arguments}");
            format!("\n  {}\n      {does}", words.trim_end())
        });
        let help = format!("Examples:{}", lines.collect::<String>());
        let path = examples[0].0;
        match path.split_once(' ') {
            None => cli.mut_subcommand(path, |command| command.after_help(help)),
            Some((outer, inner)) => cli.mut_subcommand(outer, |command| {
                command.mut_subcommand(inner, |command| command.after_help(help))
            }),
        }
    })
}

/// All example command lines, each with the path of its command.
#[cfg(test)]
pub fn all_examples() -> impl Iterator<Item = (&'static str, String)> {
    EXAMPLES.iter().map(|(path, arguments, _)| (*path, format!("{path} {arguments}")))
}
