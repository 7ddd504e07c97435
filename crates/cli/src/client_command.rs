//! Commands that run in this process, such as `replay` and `test`. They may call the daemon
//! repeatedly, report progress on stderr, and can be interrupted.

use crate::env::Env;
use crate::output::Streams;
use crate::progress::ProgressView;
use crate::{Hooks, daemon, parse, prepared_state_dir};
use serde_json::{Map, Value};
use std::sync::Arc;
use stickpin_client::{AllowAll, Call, ClientCommand, SocketClient};
use stickpin_cmdline::Options;
use stickpin_kernel::{CancellationToken, Error, Result};
use tokio::signal::unix::SignalKind;
use tokio::sync::mpsc;

/// The exit code of an interrupted command: 128 plus the number of SIGINT, even after SIGTERM.
const INTERRUPTED: u8 = 130;

/// Runs a client command until it ends or is interrupted twice, and returns the exit code.
///
/// # Errors
/// Returns the errors of the state directory, of creating the runtime and of listening for signals.
pub(crate) fn run(
    command: &'static dyn ClientCommand,
    input: Map<String, Value>,
    options: &Options,
    env: &Env,
    hooks: Hooks,
    streams: &mut Streams<'_>,
) -> Result<u8> {
    let state_dir = prepared_state_dir(options, env, hooks, streams)?;
    let installation = env.installation(&state_dir);
    stickpin_client::runtime()?.block_on(async {
        let (progress, mut heard) = mpsc::unbounded_channel();
        let cancel = CancellationToken::new();
        let call = Call {
            client: Arc::new(SocketClient::new(state_dir, daemon::start(env))),
            caller: env.caller(None),
            session: parse::session(options, env),
            render: options.render(),
            variables: env.variables.clone(),
            progress,
            policy: Arc::new(AllowAll),
            installation: Arc::new(installation),
            cancel: cancel.clone(),
        };
        // A person's Ctrl-C, or the termination that the parent process requests.
        let mut interrupts = listen_for_signals(&[SignalKind::interrupt(), SignalKind::terminate()])?;
        let mut view = ProgressView::new(env);
        let mut run = command.run(input, call);
        let response = loop {
            tokio::select! {
                biased;
                Some(progress) = heard.recv() => view.show(&progress, streams),
                Some(()) = interrupts.recv() => {
                    if cancel.is_cancelled() {
                        break None;
                    }
                    cancel.cancel();
                }
                response = &mut run => break Some(response),
            }
        };
        while let Ok(progress) = heard.try_recv() {
            view.show(&progress, streams);
        }
        view.finish(streams);
        Ok(response.map_or(INTERRUPTED, |response| streams.respond(&response, options.json)))
    })
}

/// Listens for signals, each of which becomes one message.
pub(crate) fn listen_for_signals(kinds: &[SignalKind]) -> Result<mpsc::UnboundedReceiver<()>> {
    let (tell, heard) = mpsc::unbounded_channel();
    for kind in kinds {
        let mut signal = tokio::signal::unix::signal(*kind)
            .map_err(|e| Error::io(format!("cannot wait for signals: {e}")))?;
        let sender = tell.clone();
        tokio::spawn(async move { while signal.recv().await.is_some() && sender.send(()).is_ok() {} });
    }
    Ok(heard)
}
