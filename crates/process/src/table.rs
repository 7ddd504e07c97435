//! The running processes: their parents, states and CPU time. On platforms without `/proc`, no
//! processes are reported.

use rustix::process::{Pid, getpgid};
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::time::{Duration, Instant};

/// The unit of processes' CPU time. `USER_HZ`, the number of these units per second, is 100.
const TICK: Duration = Duration::from_millis(10);

/// A process counts as busy if it worked for at least 1/`BUSY_PART` of a period.
const BUSY_PART: u32 = 3;

/// The maximum number of bytes that are read from a file about a process. The kernel limits
/// arguments to less.
const MAX_FILE: u64 = 16 << 20;

/// The maximum number of processes that are checked on the way from a process to its ancestor.
const MAX_GENERATIONS: usize = 64;

/// The content of `/proc/PID/stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessStat {
    /// `R` if runnable, `D` if waiting for a disk, `Z` if ended but not reaped.
    pub state: char,
    /// The id of the parent process.
    pub parent: u32,
    /// The CPU time in clock ticks, without that of child processes.
    pub ticks: u64,
    /// The start time in clock ticks since boot.
    pub start: u64,
}

impl ProcessStat {
    /// Reads the stat file of a process. Returns `None` if there is no such process or the file is
    /// unreadable.
    #[must_use]
    pub fn of(pid: u32) -> Option<Self> {
        Self::parse(&String::from_utf8_lossy(&read(pid, "stat").ok()?))
    }

    fn parse(stat: &str) -> Option<Self> {
        // The program name may contain any characters, so only the fields after it are split.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().take(20).collect();
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        let (state, parent) = (fields.first()?.chars().next()?, fields.get(1)?.parse().ok()?);
        Some(Self { state, parent, ticks: number(11)? + number(12)?, start: number(19)? })
    }
}

/// Reads a file about a process. Because the size of such a file is unknown, [`std::fs::read`]
/// would begin with reads of 32 bytes: a dozen calls instead of two.
pub(crate) fn read(pid: u32, name: &str) -> std::io::Result<Vec<u8>> {
    let mut content = Vec::with_capacity(4096);
    File::open(format!("/proc/{pid}/{name}"))?.take(MAX_FILE).read_to_end(&mut content)?;
    Ok(content)
}

/// All processes at one point in time.
#[derive(Debug)]
pub struct ProcessTable(HashMap<u32, ProcessStat>);

impl ProcessTable {
    /// Reads all processes.
    #[must_use]
    pub fn now() -> Self {
        Self(pids().filter_map(|pid| Some((pid, ProcessStat::of(pid)?))).collect())
    }

    /// Returns a process and its descendants.
    pub fn below(&self, ancestor: u32) -> impl Iterator<Item = u32> {
        let above = |pid| self.0.get(&pid).map(|stat| stat.parent);
        self.0.keys().copied().filter(move |&pid| is_below(pid, ancestor, above))
    }

    /// Returns the CPU time of a process and its descendants in clock ticks.
    #[must_use]
    pub fn ticks(&self, ancestor: u32) -> u64 {
        self.below(ancestor).map(|pid| self.0[&pid].ticks).sum()
    }
}

/// Returns the ids of all processes.
pub(crate) fn pids() -> impl Iterator<Item = u32> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Finds a process by its id or by its program's name. Returns the id and the name.
#[must_use]
pub fn find_running(name: &str) -> Option<(u32, String)> {
    let program = |pid: u32| std::fs::read_to_string(format!("/proc/{pid}/comm")).ok();
    let named = |pid: u32| Some((pid, program(pid)?.trim_end().to_owned()));
    name.parse().map_or_else(|_| pids().filter_map(named).find(|(_, program)| program == name), named)
}

/// Returns whether a process is the leader of a group, a descendant of the leader, or a member of
/// the group. Descendants usually remain in the group after the leader has ended.
#[must_use]
pub fn belongs_to(pid: u32, leader: u32) -> bool {
    let group = || getpgid(Pid::from_raw(i32::try_from(pid).ok()?)).ok();
    is_below(pid, leader, |pid| ProcessStat::of(pid).map(|stat| stat.parent))
        || group().is_some_and(|group| u32::try_from(group.as_raw_nonzero().get()) == Ok(leader))
}

fn is_below(pid: u32, ancestor: u32, parent: impl Fn(u32) -> Option<u32>) -> bool {
    std::iter::successors(Some(pid), |&pid| parent(pid).filter(|&above| above > 1))
        .take(MAX_GENERATIONS)
        .any(|pid| pid == ancestor)
}

/// The CPU time of a process, sampled repeatedly.
#[derive(Debug)]
pub struct ProcessorTime {
    pid: Option<u32>,
    ticks: u64,
    at: Instant,
}

impl ProcessorTime {
    /// Takes the first sample. If there is no process, `is_busy` is always false.
    #[must_use]
    pub fn of(pid: Option<u32>) -> Self {
        let ticks = pid.and_then(ProcessStat::of).map_or(0, |stat| stat.ticks);
        Self { pid, ticks, at: Instant::now() }
    }

    /// Returns whether the process worked for a substantial part of the time since the last call,
    /// or is now runnable or waiting for a disk.
    pub fn is_busy(&mut self) -> bool {
        let Some(ProcessStat { ticks, state, .. }) = self.pid.and_then(ProcessStat::of) else { return false };
        let (since, done) = (self.at.elapsed(), ticks.saturating_sub(self.ticks));
        (self.ticks, self.at) = (ticks, Instant::now());
        let done = TICK * u32::try_from(done).unwrap_or(u32::MAX / 1024);
        matches!(state, 'R' | 'D') || done > TICK && done * BUSY_PART >= since
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn processor_time_covers_a_process_and_its_children() {
        let stat = "4 (a) b) S 3 4 4 0 -1 0 1 2 3 4 70 5 8 9 20 0 1 0 77 0";
        let parsed = ProcessStat { state: 'S', parent: 3, ticks: 75, start: 77 };
        assert_eq!(ProcessStat::parse(stat), Some(parsed));
        assert_eq!(ProcessStat::parse("4 (a) S 3"), None);
        let all = [(1, (0, 100)), (3, (1, 10)), (4, (3, 75)), (5, (4, 1)), (6, (1, 1000))];
        let all = all.map(|(pid, (parent, ticks))| (pid, ProcessStat { parent, ticks, ..parsed }));
        let all = ProcessTable(all.into_iter().collect());
        assert_eq!((all.ticks(3), all.ticks(4), all.ticks(7)), (86, 76, 0));
    }

    #[test]
    fn this_process_is_below_its_parent_and_has_worked() {
        let (own, parent) = (std::process::id(), std::os::unix::process::parent_id());
        assert!(belongs_to(own, parent) && belongs_to(own, own) && !belongs_to(parent, own));
        let all = ProcessTable::now();
        assert!(all.0.contains_key(&own) && all.ticks(parent) >= all.ticks(own));
    }

    /// A shell starts a program and then ends; the program stays as an orphan process.
    #[test]
    fn what_a_process_left_behind_is_of_it() {
        use std::os::unix::process::CommandExt;
        let mut shell = Command::new("sh");
        shell.args(["-c", "sleep 60 & echo $!"]).process_group(0).stdout(Stdio::piped());
        let mut shell = shell.spawn().unwrap();
        let (leader, mut said) = (shell.id(), shell.stdout.take().unwrap());
        assert!(shell.wait().unwrap().success());
        let mut pid = Vec::new();
        while pid.last() != Some(&b'\n') {
            let mut byte = [0];
            std::io::Read::read_exact(&mut said, &mut byte).unwrap();
            pid.push(byte[0]);
        }
        let pid: u32 = String::from_utf8(pid).unwrap().trim().parse().unwrap();
        let below = is_below(pid, leader, |pid| ProcessStat::of(pid).map(|stat| stat.parent));
        let found = (below, belongs_to(pid, leader), belongs_to(std::process::id(), leader));
        crate::kill_one(pid);
        assert_eq!(found, (false, true, false));
    }

    #[test]
    fn a_process_is_found_by_its_number_and_by_its_program() {
        let own = std::process::id();
        let (pid, program) = find_running(&own.to_string()).unwrap();
        assert!(pid == own && !program.is_empty() && !program.contains('\n'), "{program:?}");
        assert_eq!(find_running(&program).unwrap().1, program);
        assert_eq!((find_running("4294967295"), find_running("no such program")), (None, None));
    }

    #[test]
    fn a_process_that_works_is_busy_and_one_that_sleeps_is_not() {
        let run = |line: &str| Command::new("sh").args(["-c", line]).spawn().unwrap();
        let (mut worker, mut sleeper) = (run("while :; do :; done"), run("exec sleep 60"));
        let (mut works, mut sleeps) =
            (ProcessorTime::of(Some(worker.id())), ProcessorTime::of(Some(sleeper.id())));
        let stat = |pid| ProcessStat::of(pid).unwrap();
        let begun = stat(worker.id()).ticks;
        while stat(worker.id()).ticks < begun + 20 {
            std::thread::yield_now();
        }
        while stat(sleeper.id()).state != 'S' {
            std::thread::yield_now();
        }
        let is_busy = works.is_busy();
        let _ = sleeps.is_busy();
        let is_asleep = !sleeps.is_busy();
        for child in [&mut worker, &mut sleeper] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert!(is_busy && is_asleep);
        assert!(!ProcessorTime::of(None).is_busy());
    }
}
