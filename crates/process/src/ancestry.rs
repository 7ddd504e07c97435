//! The processes that started a process.

use crate::table::{self, ProcessStat};

/// A process in an ancestry: the process in question, or one of its ancestors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ancestor {
    /// The process id.
    pub pid: u32,
    /// The start time in clock ticks since boot: field 22 of `/proc/PID/stat`.
    pub start: u64,
    /// The command line.
    pub args: Vec<String>,
}

/// Returns a process and its ancestors, nearest first: at most `max` processes in all. Ends early
/// if a process is gone or belongs to another namespace. Empty on platforms without `/proc`.
#[must_use]
pub fn ancestry(pid: u32, max: usize) -> Vec<Ancestor> {
    let mut found = Vec::new();
    let mut next = Some(pid);
    while let Some(pid) = next.filter(|&pid| pid > 0 && found.len() < max) {
        let Some(ProcessStat { parent, start, .. }) = ProcessStat::of(pid) else { break };
        let args = table::read(pid, "cmdline").unwrap_or_default();
        let args = args.split(|b| *b == 0).filter(|arg| !arg.is_empty());
        let args = args.map(|arg| String::from_utf8_lossy(arg).into_owned()).collect();
        found.push(Ancestor { pid, start, args });
        next = Some(parent);
    }
    found
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use crate::Process;

    #[test]
    fn ancestry_begins_with_the_process_and_its_parent() {
        let us = std::process::id();
        let chain = ancestry(us, 20);
        assert_eq!(chain[0].pid, us);
        assert_eq!(chain[1].pid, std::os::unix::process::parent_id());
        assert_eq!(chain[0].start.to_string(), Process::find(us).unwrap().started);
        assert!(chain[0].args[0].contains("stickpin_process"), "{:?}", chain[0].args);
        assert_eq!(ancestry(us, 1).len(), 1);
        assert_eq!(ancestry(0, 20), []);
    }
}
