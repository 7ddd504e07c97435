//! Registration through a harness's own commands, for harnesses that rewrite their configuration
//! while they are running.

use crate::decide::{Decision, Intent};
use crate::edit::lookup;
use crate::error::TargetError;
use crate::harness::SERVER_NAME;
use crate::setup::Setup;
use crate::shape::{STATE_DIR_VARIABLE, same};
use serde_json::Value;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use stickpin_tree::quote;

/// The time limit of one command.
const LIMIT: Duration = Duration::from_secs(30);
/// The interval between checks of whether a command has ended.
const INTERVAL: Duration = Duration::from_millis(10);
/// The time limit for reading the output of an ended command, whose children may still hold the
/// pipe open.
const OUTPUT_LIMIT: Duration = Duration::from_secs(1);
/// The maximum number of bytes of a failed command's error output in a message.
const MOST_OUTPUT: u64 = 4096;

/// Adds, replaces or removes the user's entry with the harness's own command.
pub(crate) fn carry_out(
    setup: &Setup,
    program: &Path,
    decision: &Decision,
    intent: Intent<'_>,
) -> Result<(), TargetError> {
    if decision.is_destructive() {
        call(setup, program, &["mcp", "remove", "-s", "user", SERVER_NAME])?;
    }
    let (Decision::Set { .. }, Intent::Install(server)) = (decision, intent) else { return Ok(()) };
    let variable = server.state_dir.map(|path| format!("{STATE_DIR_VARIABLE}={path}"));
    let mut args = vec!["mcp", "add", "-s", "user", SERVER_NAME];
    if let Some(variable) = &variable {
        args.extend(["-e", variable]);
    }
    args.extend(["--", server.command, "mcp"]);
    call(setup, program, &args)
}

/// Checks that the configuration now contains the installed entry, or no longer contains the
/// removed one.
pub(crate) fn verify(
    program: &Path,
    root: &Value,
    decision: &Decision,
    intent: Intent<'_>,
) -> Result<(), TargetError> {
    let wrong = |problem: &str| {
        Err(TargetError::Program {
            command: format!("{} mcp", program.display()),
            problem: problem.to_owned(),
        })
    };
    match (decision, intent) {
        (Decision::Set { slot, .. }, Intent::Install(server)) => {
            let entry = lookup(root, slot.pointer);
            let is_ours = |entry| slot.shapes.iter().any(|shape| same(&(shape.build)(&server), entry));
            if entry.is_some_and(is_ours) { Ok(()) } else { wrong("did not store the requested entry") }
        }
        (Decision::Remove(removed), _)
            if removed.iter().any(|(slot, _)| lookup(root, slot.pointer).is_some()) =>
        {
            wrong("did not remove the entry")
        }
        _ => Ok(()),
    }
}

fn call(setup: &Setup, program: &Path, args: &[&str]) -> Result<(), TargetError> {
    let failed = |problem: String| TargetError::Program {
        command: format!("{} {}", program.display(), args.join(" ")),
        problem,
    };
    let mut command = Command::new(program);
    command.args(args).current_dir(&setup.home).env("HOME", &setup.home).envs(&setup.variables);
    for name in &setup.private {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|e| failed(format!("cannot be started: {e}")))?;
    let printed = read_errors(&mut child);
    match wait(&mut child).map_err(|e| failed(format!("cannot be waited for: {e}")))? {
        Some(status) if status.success() => Ok(()),
        Some(status) => {
            let printed = printed.recv_timeout(OUTPUT_LIMIT).unwrap_or_default();
            Err(failed(format!("failed ({status}): {}", quote(printed.trim()))))
        }
        None => Err(failed(format!("did not exit within {} s", LIMIT.as_secs()))),
    }
}

fn read_errors(child: &mut Child) -> mpsc::Receiver<String> {
    let (tell, printed) = mpsc::channel();
    if let Some(errors) = child.stderr.take() {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            // The output that was read so far is still useful.
            let _ = errors.take(MOST_OUTPUT).read_to_end(&mut bytes);
            // There is no receiver if the command succeeded.
            let _ = tell.send(String::from_utf8_lossy(&bytes).into_owned());
        });
    }
    printed
}

/// Waits for a command to end; `None` if it was killed at the time limit.
fn wait(child: &mut Child) -> std::io::Result<Option<ExitStatus>> {
    let began = Instant::now();
    while began.elapsed() < LIMIT {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        std::thread::sleep(INTERVAL);
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}
