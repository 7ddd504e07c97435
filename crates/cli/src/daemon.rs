//! `daemon status|start|stop`. `status` and `stop` work with a daemon of any version.

use crate::env::Env;
use crate::output::Streams;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::time::Duration;
use stickpin_client::{Connection, Start};
use stickpin_kernel::{Response, Result};
use stickpin_wire::StateDir;
use stickpin_wire::rpc::Stop;

/// Timeout for a starting daemon to announce itself.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// Timeout for a daemon to stop; closing browsers takes time.
const STOP_TIMEOUT: Duration = Duration::from_secs(20);

/// Returns how to start this program as a daemon.
#[must_use]
pub fn start(env: &Env) -> Start {
    let args = ["daemon", "run"].map(OsString::from).to_vec();
    Start {
        program: env.program.clone(),
        args,
        env: env.of_daemon,
        removed_env: env.private.clone(),
        timeout: START_TIMEOUT,
    }
}

/// Prints the daemon's status. The absence of a daemon is also a status, not an error.
pub(crate) fn status(state_dir: &StateDir, json: bool, streams: &mut Streams<'_>) -> Result<u8> {
    let Some(mut connection) = Connection::find(state_dir)? else {
        let text = format!("no daemon is running for {}", state_dir.path().display());
        return Ok(respond("daemon status", text, json!({"running": false}), json, streams));
    };
    let status = connection.status()?;
    let sessions = match status.sessions.as_slice() {
        [] => "no session is open".to_owned(),
        names => format!("open: {}", names.join(", ")),
    };
    let text = format!(
        "stickpin {} has been running as process {} for {} s; {sessions}; running commands: {}\nstate dir {}\nsocket    {}\nlog       {}",
        status.version,
        status.pid,
        status.uptime_ms / 1000,
        status.running,
        status.state_dir.display(),
        status.socket.display(),
        state_dir.log().display(),
    );
    let mut output = json!(status);
    let commands = std::mem::replace(&mut output["running"], true.into());
    output["commands"] = commands;
    Ok(respond("daemon status", text, output, json, streams))
}

/// Starts the daemon if it is not running.
pub(crate) fn ensure(state_dir: &StateDir, env: &Env, json: bool, streams: &mut Streams<'_>) -> Result<u8> {
    let connection = Connection::find_or_start(state_dir, &start(env))?;
    let pid = connection.welcome().pid;
    let text = format!("the daemon is running as process {pid}");
    Ok(respond("daemon start", text, json!({"pid": pid}), json, streams))
}

/// Stops the daemon and waits until it has ended.
pub(crate) fn stop(state_dir: &StateDir, force: bool, json: bool, streams: &mut Streams<'_>) -> Result<u8> {
    let Some(mut connection) = Connection::find(state_dir)? else {
        let text = format!("no daemon is running for {}", state_dir.path().display());
        return Ok(respond("daemon stop", text, json!({"stopped": false}), json, streams));
    };
    let stopping = connection.stop(Stop { force })?;
    connection.wait_for_end(STOP_TIMEOUT)?;
    let closed_sessions = match stopping.sessions.as_slice() {
        [] => String::new(),
        names => format!(", closed {}", names.join(", ")),
    };
    let text = format!("stopped process {}{closed_sessions}", stopping.pid);
    let output = json!({"stopped": true, "pid": stopping.pid, "sessions": stopping.sessions});
    Ok(respond("daemon stop", text, output, json, streams))
}

fn respond(command: &str, text: String, output: Value, json: bool, streams: &mut Streams<'_>) -> u8 {
    let (text, output) = if json { (None, Some(output)) } else { (Some(text), None) };
    let response = Response { ok: true, command: command.to_owned(), text, output, ..Response::default() };
    streams.respond(&response, json)
}
