//! The timeout for opening an app, and the events that end it early.
//!
//! One timeout covers all steps, because any step may take long on a busy machine. Known failures
//! end it immediately: a program of a private display that ends, an app that exits with an error, a
//! caller that goes away.

use hashbrown::HashMap;
use std::time::Duration;
use stickpin_device::{CancellationToken, Error, Result};
use tokio::time::Instant;

/// The timeout for the whole opening. Shorter than the timeout of the command, so that the error
/// names what was waited for.
pub(crate) const OPENING: Duration = Duration::from_secs(45);

/// An opening in progress.
#[derive(Debug, Clone)]
pub(crate) struct Opening {
    /// The deadline.
    pub(crate) until: Instant,
    pub(crate) cancel: CancellationToken,
}

impl Opening {
    /// Starts the timeout.
    pub(crate) fn begin(cancel: &CancellationToken) -> Self {
        Self { until: Instant::now() + OPENING, cancel: cancel.clone() }
    }

    /// Whether the deadline has not passed and the caller has not gone away.
    pub(crate) fn is_in_time(&self) -> bool {
        Instant::now() < self.until && !self.cancel.is_cancelled()
    }

    /// Runs one step until it is done, the caller goes away, or something that the step needs has
    /// ended.
    ///
    /// # Errors
    /// Returns the error of the step or of `fallen`, or `TIMEOUT` when cancelled.
    pub(crate) async fn run_step<T>(
        &self,
        part: impl Future<Output = Result<T>>,
        fallen: impl Future<Output = Error>,
    ) -> Result<T> {
        tokio::select! {
            biased;
            // Check this first, because the reason for an end is more informative than a missing
            // answer.
            fallen = fallen => Err(fallen),
            done = part => done,
            () = self.cancel.cancelled() => Err(Error::timeout("opening was cancelled before it finished")),
        }
    }
}

/// A snapshot of all processes: the parent and the CPU time in ticks of each.
#[derive(Debug)]
pub(crate) struct Processes(HashMap<u32, (u32, u64)>);

impl Processes {
    /// Takes a snapshot.
    pub(crate) fn now() -> Self {
        Self(pids().filter_map(|pid| stat(pid).map(|(parent, ticks, _)| (pid, (parent, ticks)))).collect())
    }

    /// Returns a process and its descendants.
    fn below(&self, ancestor: u32) -> impl Iterator<Item = (u32, u64)> {
        let above = |pid| self.0.get(&pid).map(|&(parent, _)| parent);
        let below = move |pid: u32| is_below_in(pid, ancestor, above);
        self.0.iter().map(|(&pid, &(_, ticks))| (pid, ticks)).filter(move |&(pid, _)| below(pid))
    }

    /// Returns the CPU time of a process and its descendants.
    pub(crate) fn worked(&self, ancestor: u32) -> u64 {
        self.below(ancestor).map(|(_, ticks)| ticks).sum()
    }
}

/// Returns what an app without a window on the accessibility bus lacks, judging by the libraries
/// that its processes have loaded.
pub(crate) fn lacks(leader: u32) -> Option<&'static str> {
    let maps = |(pid, _)| lacking(&std::fs::read_to_string(format!("/proc/{pid}/maps")).ok()?);
    Processes::now().below(leader).find_map(maps)
}

/// Returns what an app lacks, judging by the libraries of its process (`/proc/PID/maps`).
fn lacking(maps: &str) -> Option<&'static str> {
    if maps.contains("/libawt_xawt.so") && !maps.contains("/libatk-wrapper.so") {
        return Some(
            "this Java app lacks the accessibility bridge: run `apt install libatk-wrapper-java`, and start \
             the app with -Djavax.accessibility.assistive_technologies=org.GNOME.Accessibility.AtkWrapper",
        );
    }
    let gtk2 = maps.contains("/libgtk-x11-2.0.so");
    (gtk2 && !maps.contains("/libatk-bridge.so")).then_some(
        "this GTK 2 app needs accessibility modules: run `apt install libatk-adaptor libgail-common`, and open \
         the app with `--private` or with GTK_MODULES=gail:atk-bridge",
    )
}

/// Finds a process by its number or the name of its program. Returns both.
pub(crate) fn runs(name: &str) -> Option<(u32, String)> {
    let program = |pid: u32| std::fs::read_to_string(format!("/proc/{pid}/comm")).ok();
    let named = |pid: u32| Some((pid, program(pid)?.trim_end().to_owned()));
    name.parse().map_or_else(|_| pids().filter_map(named).find(|(_, program)| program == name), named)
}

/// Returns the ids of all processes.
fn pids() -> impl Iterator<Item = u32> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Logs an error of the cleanup after a failed opening, whose own error is reported instead.
pub(crate) fn unsaid(ended: Result<()>) {
    if let Err(e) = ended {
        tracing::debug!("a process started for it could not be ended: {e}");
    }
}

/// Whether a process is the leader of a group, a descendant of the leader, or in the group, where
/// descendants remain after the leader has ended.
pub(crate) fn is_of(pid: u32, leader: u32) -> bool {
    let group = || rustix::process::getpgid(rustix::process::Pid::from_raw(i32::try_from(pid).ok()?)).ok();
    is_below_in(pid, leader, |pid| stat(pid).map(|(parent, ..)| parent))
        || group().is_some_and(|group| u32::try_from(group.as_raw_nonzero().get()) == Ok(leader))
}

fn is_below_in(pid: u32, ancestor: u32, parent: impl Fn(u32) -> Option<u32>) -> bool {
    // The maximum depth.
    std::iter::successors(Some(pid), |&pid| parent(pid).filter(|&above| above > 1))
        .take(64)
        .any(|pid| pid == ancestor)
}

/// Returns the CPU time of a process in ticks, and its state: `R` when runnable, `D` when waiting
/// for a disk.
pub(crate) fn worked(pid: u32) -> Option<(u64, char)> {
    stat(pid).map(|(_, ticks, state)| (ticks, state))
}

/// Returns the parent of a process, its CPU time and its state (`/proc/PID/stat`, fields 4, 14 and
/// 15, and 3).
fn stat(pid: u32) -> Option<(u32, u64, char)> {
    parsed(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

fn parsed(stat: &str) -> Option<(u32, u64, char)> {
    // The name before these fields may contain any characters.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().take(13).collect();
    let ticks = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some((fields.get(1)?.parse().ok()?, ticks(11)? + ticks(12)?, fields.first()?.chars().next()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stickpin_device::ErrorCode;

    #[test]
    fn processor_time_covers_a_process_and_its_children() {
        let stat = "4 (a) b) S 3 4 4 0 -1 0 1 2 3 4 70 5 8 9 20 0";
        assert_eq!(parsed(stat), Some((3, 75, 'S')));
        assert_eq!(parsed("4 (a) S 3"), None);
        let all = [(1, (0, 100)), (3, (1, 10)), (4, (3, 75)), (5, (4, 1)), (6, (1, 1000))];
        let all = Processes(all.into_iter().collect());
        assert_eq!((all.worked(3), all.worked(4), all.worked(7)), (86, 76, 0));
    }

    #[test]
    fn this_process_is_below_its_parent_and_has_worked() {
        let (own, parent) = (std::process::id(), std::os::unix::process::parent_id());
        assert!(is_of(own, parent) && is_of(own, own) && !is_of(parent, own));
        let all = Processes::now();
        assert!(all.0.contains_key(&own) && all.worked(parent) >= all.worked(own));
    }

    #[test]
    fn gtk_2_app_without_bridge_is_found_by_its_libraries() {
        let line = |library: &str| format!("7f52-7f53 r--p 00000000 fe:00 32 /usr/lib/{library}\n");
        let gtk2 = line("libgtk-x11-2.0.so.0.2400.33");
        assert!(lacking(&gtk2).unwrap().contains("apt install libatk-adaptor"));
        assert_eq!(lacking(&(gtk2 + &line("gtk-2.0/modules/libatk-bridge.so"))), None);
        assert_eq!(lacking(&line("libgtk-3.so.0.2406.32")), None);
        let java = line("jvm/java-17-openjdk-amd64/lib/libawt_xawt.so");
        assert!(lacking(&java).unwrap().contains("apt install libatk-wrapper-java"));
        assert_eq!(lacking(&(java + &line("jni/libatk-wrapper.so.6"))), None);
        assert_eq!(lacks(std::process::id()), None);
    }

    /// A shell that starts a program and ends leaves an orphan process.
    #[tokio::test]
    async fn what_a_process_left_behind_is_of_it() {
        use std::os::unix::process::CommandExt;
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "sleep 60 & echo $!"]).process_group(0).stdout(std::process::Stdio::piped());
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
        let below = is_below_in(pid, leader, |pid| stat(pid).map(|(parent, ..)| parent));
        let found = (below, is_of(pid, leader), is_of(std::process::id(), leader));
        let raw = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        rustix::process::kill_process(raw, rustix::process::Signal::KILL).unwrap();
        assert_eq!(found, (false, true, false));
    }

    #[test]
    fn a_process_is_found_by_its_number_and_by_its_program() {
        let own = std::process::id();
        let (pid, program) = runs(&own.to_string()).unwrap();
        assert!(pid == own && !program.is_empty() && !program.contains('\n'), "{program:?}");
        assert_eq!(runs(&program).unwrap().1, program);
        assert_eq!((runs("4294967295"), runs("no such program")), (None, None));
    }

    #[tokio::test]
    async fn a_part_ends_with_what_it_needs_and_with_its_caller() {
        let cancel = CancellationToken::new();
        let opening = Opening::begin(&cancel);
        let never = std::future::pending::<Error>;
        let done = opening.run_step(async { Ok(7) }, never()).await;
        assert_eq!(done.unwrap(), 7);
        let fell = async { Error::new(ErrorCode::BackendLost, "Xvfb has ended") };
        let error = opening.run_step(std::future::pending::<Result<()>>(), fell).await.unwrap_err();
        assert_eq!(error.message, "Xvfb has ended");
        cancel.cancel();
        let error = opening.run_step(std::future::pending::<Result<()>>(), never()).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::Timeout);
    }
}
