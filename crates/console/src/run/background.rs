//! Commands that serve alongside the prompt until the console ends, such as `watch`.

use parking_lot::Mutex;
use serde_json::{Map, Value};
use stickpin_client::{Call, ClientCommand, Progress};
use stickpin_kernel::{CancellationToken, Response};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::{JoinError, JoinHandle};

/// The commands that run in the background.
#[derive(Debug, Default)]
pub(crate) struct Background {
    ending: CancellationToken,
    running: Mutex<Vec<JoinHandle<Response>>>,
}

impl Background {
    /// Starts a command. Returns the command's response if the command ends before it serves;
    /// otherwise, returns the command's first lasting line as a response. After that, cancelling
    /// `call` no longer ends the command.
    pub(crate) async fn start(
        &self,
        command: &'static dyn ClientCommand,
        input: Map<String, Value>,
        mut call: Call,
        mut progress: UnboundedReceiver<Progress>,
    ) -> Response {
        let cancel = std::mem::replace(&mut call.cancel, self.ending.child_token());
        let stop = call.cancel.clone();
        let mut task = tokio::spawn(async move { command.run(input, call).await });
        let mut is_cancelled = false;
        loop {
            tokio::select! {
                Some(shown) = progress.recv() => if shown.lasting && !is_cancelled {
                    self.running.lock().push(task);
                    let command = command.definition().spec.name.to_owned();
                    return Response { ok: true, command, text: Some(shown.line), ..Response::default() };
                },
                ended = &mut task => return of_task(ended),
                () = cancel.cancelled(), if !is_cancelled => {
                    is_cancelled = true;
                    stop.cancel();
                }
            }
        }
    }

    /// Removes the commands that have ended by themselves, and returns their responses.
    pub(crate) async fn ended(&self) -> Vec<Response> {
        let ended: Vec<_> = self.running.lock().extract_if(.., |task| task.is_finished()).collect();
        responses(ended).await
    }

    /// Ends all commands and returns their responses.
    pub(crate) async fn end(&self) -> Vec<Response> {
        self.ending.cancel();
        let all = std::mem::take(&mut *self.running.lock());
        responses(all).await
    }
}

/// Returns the response of a task that was never aborted. A panic is resumed in the caller.
fn of_task(ended: Result<Response, JoinError>) -> Response {
    ended.unwrap_or_else(|e| std::panic::resume_unwind(e.into_panic()))
}

async fn responses(tasks: Vec<JoinHandle<Response>>) -> Vec<Response> {
    let mut responses = Vec::new();
    for task in tasks {
        responses.push(of_task(task.await));
    }
    responses
}
