//! Restricts a worker, which runs foreign code.
//!
//! RTL under test can call `$system`, `$fopen`, `$c` and DPI functions. Before it loads a model, a
//! worker drops all rights that a simulation does not need: it writes files in one folder only,
//! starts no program, has no network, and sends no signal to other processes. Reading stays
//! allowed, for models and `$readmemh`. A refused call fails with an error, and the simulation
//! continues.
//!
//! Landlock restricts files, programs, the network and signals, as far as the kernel's version
//! supports it. seccomp restricts system calls. Each works without the other: without Landlock,
//! seccomp refuses to open any file for writing.

use crate::engine::PROGRAMS;
use cosim_base::error::{Error, codes};
use cosim_base::files::find_program;
use landlock::{
    ABI, Access, AccessFs, AccessNet, LandlockStatus, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus, Scope,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::process;
use std::thread;

/// Whether workers are restricted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sandbox {
    /// As far as the kernel supports it.
    #[default]
    On,
    /// Not at all.
    Off,
}

/// The restrictions of a worker that are in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ActiveSandbox {
    /// None, as requested by the user.
    Off,
    /// Those that the kernel supports.
    On {
        /// Landlock's ABI version; 0 without Landlock.
        landlock: u32,
        /// Whether system calls are restricted.
        seccomp: bool,
    },
}

impl ActiveSandbox {
    /// The warning to print if a requested sandbox has no effect.
    pub fn warning(self) -> Option<&'static str> {
        (self == Self::On { landlock: 0, seccomp: false }).then_some(
            "models run without a sandbox, because this kernel has neither Landlock nor seccomp: \
             the RTL has all of your permissions; accept that with --no-sandbox",
        )
    }
}

impl fmt::Display for ActiveSandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("none (--no-sandbox)"),
            Self::On { landlock: 0, seccomp: false } => {
                f.write_str("none (not supported by the kernel)")
            }
            Self::On { landlock: 0, seccomp: true } => f.write_str("seccomp"),
            Self::On { landlock, seccomp: false } => write!(f, "Landlock {landlock}"),
            Self::On { landlock, seccomp: true } => write!(f, "Landlock {landlock}, seccomp"),
        }
    }
}

/// Restricts this process irrevocably. Only the calling thread and threads it starts later are
/// restricted, so call it before starting others. Files may be written only at `writable`, a list
/// of folders or devices. If models are `simulated`, the process may start Icarus, which inherits
/// the restrictions, and no other program.
///
/// # Errors
/// [`Error::Environment`] if the kernel has a restriction and refuses to apply it.
pub fn enter(writable: &[PathBuf], simulated: bool) -> Result<ActiveSandbox, Error> {
    let landlock = restrict_files(writable, simulated)?;
    // Landlock distinguishes files by path, which a system call filter cannot.
    let may_write = landlock > 0 || !writable.is_empty();
    let seccomp = restrict_calls(may_write, simulated)?;
    Ok(ActiveSandbox::On { landlock, seccomp })
}

/// The restrictions that this machine supports; `None` if the kernel refuses to apply them.
pub fn available() -> Option<ActiveSandbox> {
    // The restrictions end with the thread.
    thread::Builder::new().spawn(|| enter(&[], false)).ok()?.join().ok()?.ok()
}

fn failed(what: &str) -> impl Fn(String) -> Error {
    move |reason| {
        Error::Environment(
            codes::SANDBOX,
            format!(
                "cannot set up the sandbox of the model's process ({what}): {reason}; --no-sandbox \
                 runs the model without it"
            ),
        )
    }
}

/// Applies Landlock. Returns its ABI version, or 0 if the kernel has none.
fn restrict_files(writable: &[PathBuf], simulated: bool) -> Result<u32, Error> {
    let status =
        landlocked(writable, simulated).map_err(|error| failed("Landlock")(error.to_string()))?;
    Ok(match status {
        (RulesetStatus::NotEnforced, _) => 0,
        (_, LandlockStatus::Available { effective_abi, .. }) => effective_abi as u32,
        _ => 0,
    })
}

fn landlocked(
    writable: &[PathBuf],
    simulated: bool,
) -> Result<(RulesetStatus, LandlockStatus), Box<dyn std::error::Error>> {
    // An older kernel enforces the subset that it knows.
    let writing = AccessFs::from_write(ABI::V5);
    let ruleset = Ruleset::default()
        .handle_access(writing | AccessFs::Execute)?
        .handle_access(AccessNet::from_all(ABI::V4))?
        .scope(Scope::from_all(ABI::V6))?
        .create()?;
    let nothing = PathBeneath::new(PathFd::new("/dev/null")?, AccessFs::WriteFile);
    let mut ruleset = ruleset.add_rule(nothing)?;
    for path in writable {
        let access = if path.is_dir() { writing } else { AccessFs::WriteFile.into() };
        ruleset = ruleset.add_rule(PathBeneath::new(PathFd::new(path)?, access))?;
    }
    let programs = if simulated { simulators() } else { Vec::new() };
    for path in programs {
        ruleset = ruleset.add_rule(PathBeneath::new(PathFd::new(path)?, AccessFs::Execute))?;
    }
    let status = ruleset.restrict_self()?;
    Ok((status.ruleset, status.landlock))
}

/// The files executed to run simulators: their programs and the dynamic loaders.
fn simulators() -> Vec<PathBuf> {
    let programs = PROGRAMS.into_iter().filter_map(find_program);
    let is_loader = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"ld-"))
    };
    let folders = ["/lib", "/lib64"].into_iter().flat_map(fs::read_dir);
    let loaders = folders.flatten().flatten().map(|entry| entry.path()).filter(is_loader);
    programs.chain(loaders).collect()
}

/// Applies the system call filters. Returns whether the kernel supports them.
fn restrict_calls(may_write: bool, simulated: bool) -> Result<bool, Error> {
    let Ok(arch) = TargetArch::try_from(ARCH) else { return Ok(false) };
    let error = |error: seccompiler::Error| failed("seccomp")(error.to_string());
    let errno = |errno: i32| SeccompAction::Errno(errno.unsigned_abs());
    let filters = [
        (refused(may_write, simulated), errno(libc::EPERM)),
        // The C library then falls back to older calls, whose arguments a filter can inspect.
        (unknown(), errno(libc::ENOSYS)),
        // With this filter, SIGKILL means that another process ended the worker. A worker that
        // starts programs needs SIGKILL to end them.
        (deadly(), SeccompAction::KillProcess),
    ];
    let filters = filters.into_iter().take(if simulated { 2 } else { 3 });
    for (rules, action) in filters {
        let rules = rules.map_err(|error| failed("seccomp")(error.to_string()))?;
        let filter =
            SeccompFilter::new(with_other_numbers(rules), SeccompAction::Allow, action, arch);
        let program: BpfProgram =
            filter.and_then(TryInto::try_into).map_err(seccompiler::Error::from).map_err(error)?;
        match apply_filter(&program) {
            Ok(()) => {}
            // EINVAL: the kernel was built without seccomp.
            Err(seccompiler::Error::Seccomp(_) | seccompiler::Error::Prctl(_)) => return Ok(false),
            Err(other) => return Err(error(other)),
        }
    }
    Ok(true)
}

/// Rules by system call number. A call matches if any rule does; an empty list always matches.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// On x86-64, some kernels also accept calls under their x32 numbers.
fn with_other_numbers(mut rules: Rules) -> Rules {
    const X32: i64 = 0x4000_0000;
    if cfg!(target_arch = "x86_64") {
        let others: Rules =
            rules.iter().map(|(number, rules)| (number | X32, rules.clone())).collect();
        rules.extend(others);
        rules.extend((512..=547).map(|number| (number | X32, Vec::new())));
    }
    rules
}

type Compiled<T> = Result<T, seccompiler::BackendError>;

/// A rule on the low 32 bits of one argument.
fn when(argument: u8, operator: SeccompCmpOp, value: u32) -> Compiled<SeccompRule> {
    let condition =
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value.into())?;
    SeccompRule::new(vec![condition])
}

/// Calls that fail.
fn refused(may_write: bool, simulated: bool) -> Compiled<Rules> {
    use SeccompCmpOp::{Eq, MaskedEq, Ne};
    let mut rules: Rules = ALWAYS_REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    let own = process::id();
    // A worker that starts programs needs these calls.
    let of_processes = [
        // A new process, as opposed to a thread.
        (libc::SYS_clone, when(0, MaskedEq(libc::CLONE_THREAD as u64), 0)?),
        (libc::SYS_kill, when(0, Ne, own)?),
        (libc::SYS_tgkill, when(0, Ne, own)?),
        (libc::SYS_rt_sigqueueinfo, when(0, Ne, own)?),
        (libc::SYS_rt_tgsigqueueinfo, when(0, Ne, own)?),
        (libc::SYS_prlimit64, when(0, Ne, 0)?),
    ];
    let sometimes = [
        // RTL must not disable that the worker ends with its parent.
        (libc::SYS_prctl, when(0, Eq, libc::PR_SET_PDEATHSIG as u32)?),
        // Signals to the owner of a file.
        (libc::SYS_fcntl, when(1, Eq, libc::F_SETOWN as u32)?),
        (libc::SYS_fcntl, when(1, Eq, F_SETOWN_EX)?),
        // Injecting input into a terminal.
        (libc::SYS_ioctl, when(1, Eq, libc::TIOCSTI as u32)?),
        (libc::SYS_ioctl, when(1, Eq, libc::TIOCLINUX as u32)?),
    ];
    if !simulated {
        rules.extend(PROCESSES.iter().map(|call| (*call, Vec::new())));
    }
    let of_processes = of_processes.into_iter().filter(|_| !simulated);
    for (call, rule) in sometimes.into_iter().chain(of_processes) {
        rules.entry(call).or_default().push(rule);
    }
    if !may_write {
        rules.extend(WRITING.iter().map(|call| (*call, Vec::new())));
        for (call, flags) in OPENING {
            for (mask, value) in [
                (libc::O_ACCMODE, libc::O_WRONLY),
                (libc::O_ACCMODE, libc::O_RDWR),
                (libc::O_ACCMODE, libc::O_ACCMODE),
                (libc::O_CREAT, libc::O_CREAT),
                (libc::O_TRUNC, libc::O_TRUNC),
            ] {
                let rule = when(*flags, MaskedEq(mask as u64), value as u32)?;
                rules.entry(*call).or_default().push(rule);
            }
        }
    }
    Ok(rules)
}

/// Calls reported as missing, because their arguments lie in memory, which a filter cannot read.
fn unknown() -> Compiled<Rules> {
    Ok([libc::SYS_clone3, libc::SYS_openat2].map(|call| (call, Vec::new())).into())
}

/// Calls that end the process: SIGKILL to itself.
fn deadly() -> Compiled<Rules> {
    let kill = libc::SIGKILL.unsigned_abs();
    let mut rules = Rules::new();
    for (call, signal) in [
        (libc::SYS_kill, 1),
        (libc::SYS_tgkill, 2),
        (libc::SYS_rt_sigqueueinfo, 1),
        (libc::SYS_rt_tgsigqueueinfo, 2),
    ] {
        rules.insert(call, vec![when(signal, SeccompCmpOp::Eq, kill)?]);
    }
    Ok(rules)
}

/// `F_SETOWN_EX` of `fcntl`, which some C libraries lack.
const F_SETOWN_EX: u32 = 15;

/// Starting programs and processes.
const PROCESSES: &[i64] = &[
    libc::SYS_execve,
    libc::SYS_execveat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
];

/// The network, other processes, the machine, and file attributes that Landlock does not cover.
const ALWAYS_REFUSED: &[i64] = &[
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_tkill,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_send_signal,
    libc::SYS_setpriority,
    libc::SYS_ioprio_set,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_msgget,
    libc::SYS_semget,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_vhangup,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
];

/// Calls that change folders and files by name.
const WRITING: &[i64] = &[
    libc::SYS_truncate,
    libc::SYS_unlinkat,
    #[cfg(not(target_arch = "riscv64"))]
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_mkdirat,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_mknodat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_creat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mkdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rmdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_link,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_symlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mknod,
];

/// Calls that open files, with the index of their flags argument.
const OPENING: &[(i64, u8)] = &[
    (libc::SYS_openat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1),
];
