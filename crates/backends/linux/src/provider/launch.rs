//! Launches an app, and waits until it registers on the accessibility bus, ends, or shows a window
//! without registering.

use crate::app::app_lost;
use crate::bus::{AccessibilityBus, BusError, RegisteredApp};
use crate::provider::config::no_registry;
use crate::provider::installed::Launch;
use crate::provider::opening::Opening;
use crate::screen::Screen;
use crate::toolkit::missing_bridge;
use parking_lot::Mutex;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use stickpin_device::{Error, Result};
use stickpin_process::{ProcessTable, belongs_to};
use stickpin_tree::quote;
use stickpin_x11desk::{Window, windows};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep};

/// The interval at which a started app is checked for registration.
const LOOK: Duration = Duration::from_millis(50);
/// The interval at which a started app is checked for CPU time and windows.
const WORK: Duration = Duration::from_secs(1);

/// How long an idle app may show a window before it registers.
const UNREGISTERED: Duration = Duration::from_secs(5);
/// How long a working app may show a window before it registers.
const UNREGISTERED_BUSY: Duration = Duration::from_secs(20);

/// The number of bytes that are kept from the end of an app's stderr.
const STDERR: usize = 4096;

/// The end of an app's stderr.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stderr(Arc<Mutex<Vec<u8>>>);

impl Stderr {
    /// Reads until all writers have closed the pipe, because an app would block on a full pipe.
    pub(crate) fn read(mut from: impl AsyncRead + Unpin + Send + 'static) -> Self {
        let kept = Self::default();
        let own = kept.clone();
        tokio::spawn(async move {
            let mut buffer = vec![0; STDERR];
            while let Ok(read @ 1..) = from.read(&mut buffer).await {
                let mut kept = own.0.lock();
                kept.extend(&buffer[..read]);
                let over = kept.len().saturating_sub(STDERR);
                kept.drain(..over);
            }
        });
        kept
    }

    /// Returns the last line that is not blank, as the end of a sentence; empty if there is no such
    /// line.
    pub(crate) fn last_line(&self) -> String {
        let kept = self.0.lock();
        let text = String::from_utf8_lossy(&kept);
        let last = text.lines().rev().find(|line| !line.trim().is_empty());
        last.map_or_else(String::new, |line| format!("; its last line on stderr: {}", quote(line.trim())))
    }
}

impl Opening<'_> {
    /// Starts an app and waits until it has registered with a window, or shows one without
    /// registering. Returns the process with the app, or with the error for an inaccessible app.
    pub(crate) async fn launch(
        &self,
        desktop: &AccessibilityBus,
        screen: &Screen,
        launch: &Launch,
    ) -> Result<(Child, Result<RegisteredApp>)> {
        let until = self.until;
        AccessibilityBus::switch_on(&self.config.addresses(screen.private.as_ref()), until).await;
        let before = desktop.running(until).await.map_err(no_registry)?;
        let program = quote(&launch.program);
        let unstarted = |e| Error::device_not_found(format!("cannot start {program}: {e}"));
        let mut child = self.command(screen, launch)?.spawn().map_err(unstarted)?;
        let stderr = child.stderr.take().map(Stderr::read).unwrap_or_default();
        let started = Instant::now();
        // A child that was not waited for has an id.
        let own = child.id().ok_or_else(|| app_lost(&format!("{program} has no process id")))?;
        let is_own = |app: &RegisteredApp| app.pid.is_some_and(|pid| belongs_to(pid, own));
        // Stop waiting for an app without a window as soon as it is idle.
        let (mut worked, mut worked_at, mut looked_at) = (0, started, started);
        let mut shown: Option<(Instant, String)> = None;
        loop {
            // Check this first: if the program has handed over to a running app, that app is
            // searched for afterwards.
            let ended = child
                .try_wait()
                .map_err(|e| app_lost(&format!("cannot tell whether {program} is running: {e}")))?;
            let handed_over = ended.is_some_and(|status| status.success());
            let running = match desktop.running(until).await {
                // The deadline passed before the registry answered; the app's state is reported
                // below.
                Err(BusError::Silent(_)) if Instant::now() >= until => Vec::new(),
                running => running.map_err(no_registry)?,
            };
            if let Some(app) = find_launched(&running, &before, is_own, screen.own, handed_over) {
                return Ok((child, Ok(app.clone())));
            }
            // An app that hands over to a running process exits successfully and immediately.
            if let Some(status) = ended.filter(|status| !status.success()) {
                // The last output of the app may still be in the pipe.
                sleep(LOOK).await;
                let what = format!("{program} exited before it showed a window ({status})");
                return Err(app_lost(&format!("{what}{}", stderr.last_line())));
            }
            let now = Instant::now();
            if now >= looked_at + WORK {
                looked_at = now;
                let work = ProcessTable::now().ticks(own);
                if work > worked {
                    (worked, worked_at) = (work, now);
                }
                let window = window_of(screen, own).await?;
                shown = window.map(|window| (shown.map_or(now, |(at, _)| at), window));
            }
            if let Some((at, window)) = &shown {
                let idle = now >= (*at).max(worked_at) + UNREGISTERED;
                if idle || now >= *at + UNREGISTERED_BUSY || now >= until {
                    let what = format!(
                        "{program} shows {window}, but is not on the accessibility bus, so its content cannot be read{}",
                        stderr.last_line()
                    );
                    let hint = inaccessible_hint(&self.request.what, screen.own, missing_bridge(own));
                    return Ok((child, Err(Error::unsupported(what).hint(hint))));
                }
            }
            if now >= until.min(worked_at + self.request.ready_timeout) {
                let unknown = "use `--attach` if the app is already running, or run `stickpin doctor` to check whether accessibility is on";
                let seconds = started.elapsed().as_secs();
                let what = format!("{program} showed no window within {seconds} s{}", stderr.last_line());
                let error = Error::timeout(what);
                return Err(error.hint(missing_bridge(own).unwrap_or(unknown)));
            }
            sleep(LOOK).await;
        }
    }

    /// Builds the command with its environment.
    fn command(&self, screen: &Screen, launch: &Launch) -> Result<Command> {
        let mut command = match &screen.private {
            Some(private) => private.command(Path::new(&launch.program)),
            None => {
                let mut command = Command::new(&launch.program);
                self.home.make()?;
                self.home.apply(&mut command);
                command
            }
        };
        // The caller's working directory may no longer exist.
        command.current_dir(if self.cwd.is_dir() { &self.cwd } else { Path::new("/") });
        command.args(&launch.arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        Ok(command)
    }
}

/// Returns the hint for an app that shows a window but is not accessible: to drive it in a desktop
/// session, with screenshots and points. `lacks` is what the app lacks, if that is known: a
/// sentence with a command.
fn inaccessible_hint(what: &str, own_display: bool, lacks: Option<&str>) -> String {
    let private = if own_display { " --private" } else { "" };
    let what = shlex::try_quote(what).unwrap_or(what.into());
    let points = format!(
        "run `stickpin open linux:desktop{private}`, then `stickpin open {what}`, and drive the app with `screenshot`, `press X,Y`, `type` and `key`"
    );
    lacks.map_or_else(String::new, |lacks| format!("{lacks}; or ")) + &points
}

/// Returns the description of a window of a process or its descendants; `None` if there is no
/// window or no display.
async fn window_of(screen: &Screen, own: u32) -> Result<Option<String>> {
    let Some(x11) = screen.x11_if_any().await? else { return Ok(None) };
    let windows = x11.run(windows::list_windows).await?;
    let is_own = |w: &&Window| !w.popup && w.pid.is_some_and(|pid| belongs_to(pid, own));
    Ok(windows.iter().find(is_own).map(Window::describe))
}

/// Returns the app that was started, if it is running and has a window. A new app of another
/// process counts if no other session is starting apps here (`alone`), or if it is the only new one
/// and the started process has `handed_over`.
fn find_launched<'a>(
    running: &'a [RegisteredApp],
    before: &[RegisteredApp],
    is_own: impl Fn(&RegisteredApp) -> bool,
    alone: bool,
    handed_over: bool,
) -> Option<&'a RegisteredApp> {
    let shows = |app: &&RegisteredApp| app.windows.is_some_and(|count| count > 0);
    let came = |app: &&RegisteredApp| !before.iter().any(|known| known.bus == app.bus);
    let own = running.iter().filter(shows).find(|app| is_own(app));
    let mut others = running.iter().filter(shows).filter(came);
    own.or_else(|| match (others.next(), others.next()) {
        (Some(app), _) if alone => Some(app),
        (Some(app), None) if handed_over => Some(app),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app(bus: &str, pid: u32, windows: Option<i32>) -> RegisteredApp {
        RegisteredApp { bus: bus.to_owned(), title: "Notes".to_owned(), pid: Some(pid), windows }
    }

    #[test]
    fn simultaneously_started_app_is_not_mistaken() {
        let before = [app(":1.1", 1, Some(1))];
        let (stranger, second) = (app(":1.2", 2, Some(1)), app(":1.3", 3, Some(1)));
        let (ours, starting) = (app(":1.7", 7, Some(1)), app(":1.7", 7, Some(0)));
        let found = |came: &[&RegisteredApp], alone, handed_over| {
            let running: Vec<RegisteredApp> = before.iter().chain(came.iter().copied()).cloned().collect();
            let is_own = |app: &RegisteredApp| app.pid == Some(7);
            super::find_launched(&running, &before, is_own, alone, handed_over).map(|app| app.bus.clone())
        };
        let is = |bus: &str| Some(bus.to_owned());
        assert_eq!(found(&[&stranger, &ours], false, false), is(":1.7"));
        assert_eq!(found(&[&stranger], false, false), None, "ours may still come");
        assert_eq!(found(&[&stranger, &starting], false, false), None, "it has no window yet");
        assert_eq!(found(&[&stranger], false, true), is(":1.2"), "ours has handed over to it");
        assert_eq!(found(&[&stranger, &second], false, true), None, "to which of them nobody knows");
        assert_eq!(found(&[&stranger], true, false), is(":1.2"), "nobody else starts any there");
        assert_eq!(found(&[], true, true), None, "what was there before is not it");
    }

    #[tokio::test]
    async fn stderr_tail_is_kept_and_the_pipe_is_drained() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "seq 1 200000 >&2; echo 'no \"display\"' >&2; echo >&2"]).stderr(Stdio::piped());
        let mut shell = shell.spawn().unwrap();
        let stderr = Stderr::read(shell.stderr.take().unwrap());
        assert!(shell.wait().await.unwrap().success(), "it never waits for somebody to read");
        while !stderr.last_line().contains("display") {
            tokio::task::yield_now().await;
        }
        assert_eq!(stderr.last_line(), r#"; its last line on stderr: "no \"display\"""#);
        assert_eq!(Stderr::default().last_line(), "");
    }

    #[test]
    fn hint_for_inaccessible_app_is_a_valid_shell_command() {
        for what in ["linux:xterm", "linux:sh -c 'a b'"] {
            let hint = inaccessible_hint(what, true, None);
            let words = shlex::split(&hint.replace('`', "")).unwrap();
            assert!(words.contains(&format!("{what},")), "{hint}");
        }
    }
}
