//! Commands that this process runs: `replay`, `test`. They talk with the daemon as often as they need; what they say on
//! the way goes where errors go, and a person can stop them.

use crate::env::Env;
use crate::output::Streams;
use crate::{daemon, parse, place};
use serde_json::{Map, Value};
use std::sync::Arc;
use stickpin_client::{AllowAll, Call, ClientCommand, Progress, SocketClient};
use stickpin_cmdline::Options;
use stickpin_kernel::{CancellationToken, Error, ErrorCode, Response, Result};
use tokio::sync::mpsc;

/// What a shell says of a program that was interrupted (128 and the number of the signal).
const INTERRUPTED: u8 = 130;

/// How many characters the bar has.
const BAR: usize = 24;

/// Runs one, and says what to exit with.
pub(crate) fn run(
    command: &'static dyn ClientCommand,
    input: Map<String, Value>,
    options: &Options,
    env: &Env,
    streams: &mut Streams<'_>,
) -> u8 {
    match answer(command, input, options, env, streams) {
        Ok(Some(response)) => streams.respond(&response, options.json),
        Ok(None) => INTERRUPTED,
        Err(error) => streams.fail(command.form().spec.name, error, options.json),
    }
}

/// Its answer; none if it was stopped twice.
fn answer(
    command: &'static dyn ClientCommand,
    input: Map<String, Value>,
    options: &Options,
    env: &Env,
    streams: &mut Streams<'_>,
) -> Result<Option<Response>> {
    let place = place(options, env)?;
    stickpin_client::runtime()?.block_on(async {
        let (progress, mut heard) = mpsc::unbounded_channel();
        let cancel = CancellationToken::new();
        let call = Call {
            client: Arc::new(SocketClient::new(place, daemon::start(env))),
            caller: env.caller(None),
            session: parse::session(options, env),
            render: options.render(),
            variables: env.variables.clone(),
            progress,
            policy: Arc::new(AllowAll),
            cancel: cancel.clone(),
        };
        let mut interrupts = interrupts()?;
        let mut running = command.run(input, call);
        let response = loop {
            tokio::select! {
                biased;
                Some(progress) = heard.recv() => show(&progress, env.terminal, streams),
                Some(()) = interrupts.recv() => {
                    if cancel.is_cancelled() {
                        break None;
                    }
                    cancel.cancel();
                }
                response = &mut running => break Some(response),
            }
        };
        while let Ok(progress) = heard.try_recv() {
            show(&progress, env.terminal, streams);
        }
        if env.terminal {
            streams.beside("\r\u{1b}[K");
        }
        Ok(response)
    })
}

/// Hears whoever wants this to end: a person at the terminal, or who started it.
fn interrupts() -> Result<mpsc::UnboundedReceiver<()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (tell, heard) = mpsc::unbounded_channel();
    for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
        let mut signal =
            signal(kind).map_err(|e| Error::new(ErrorCode::Io, format!("signals cannot be heard: {e}")))?;
        let tell = tell.clone();
        tokio::spawn(async move { while signal.recv().await.is_some() && tell.send(()).is_ok() {} });
    }
    Ok(heard)
}

/// A line that lasts is printed; the bar stands below, where somebody sees it.
fn show(progress: &Progress, terminal: bool, streams: &mut Streams<'_>) {
    if progress.lasting {
        let clear = if terminal { "\r\u{1b}[K" } else { "" };
        streams.beside(&format!("{clear}{}\n", progress.line));
    }
    if terminal {
        let done = (BAR * progress.done).checked_div(progress.total).unwrap_or(0);
        let line = if progress.lasting { "" } else { &progress.line };
        let bar = format!("{}{}", "█".repeat(done), "░".repeat(BAR.saturating_sub(done)));
        let shown: String =
            format!("{bar} {}/{} {line}", progress.done, progress.total).chars().take(78).collect();
        streams.beside(&format!("\r\u{1b}[K{shown}"));
    }
}
