//! Runs the command that a request names, and returns the response.

pub(crate) mod builder;
pub(crate) mod host;

use crate::api::request::{Request, Response};
use crate::api::secret::Secret;
use crate::api::spec::Scope;
use crate::command::context::{Cx, Envelope};
use crate::command::definition::TimeLimits;
use crate::command::entry::{Entry, ErasedOutput, Prepared};
use crate::dispatch::host::Host;
use crate::host::queue;
use crate::registry;
use crate::run::respond::{respond, respond_failed};
use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use stickpin_device::{Dispatched, Error, Result};
use stickpin_session::log::CommandId;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long a command may continue after its deadline. After that, a command without a device
/// operation in progress is abandoned. A command with such an operation may continue until
/// [`RunDeadlines::hung`]; then it counts as hung, and its session is lost.
const GRACE: Duration = Duration::from_millis(500);

/// The deadline that a client assumes for a request whose command or input the registry refuses.
const DEFAULT_DEADLINE: Duration = Duration::from_secs(30);

impl Request {
    /// Removes the secrets that this command does not use, before the request leaves the client.
    /// Returns all original secrets for [`Response::hide_secrets`].
    pub fn keep_used_secrets(&mut self) -> Vec<Secret> {
        let all = std::mem::take(&mut self.caller.secrets);
        if all.is_empty() {
            return Vec::new();
        }
        let mut used = BTreeSet::new();
        if let Some(entry) = registry::find(&self.command) {
            entry.visit_commands(&self.input, &mut |form, input| {
                let named = form.fields().iter().filter(|field| field.is_secret_name);
                used.extend(named.filter_map(|field| input.get(&field.name)?.as_str().map(str::to_owned)));
            });
        }
        if !used.is_empty() {
            self.caller.secret_names = all.keys().cloned().collect();
        }
        let values = all.values().cloned().collect();
        self.caller.secrets = all.into_iter().filter(|(name, _)| used.contains(name)).collect();
        values
    }

    /// Returns the maximum time that a working host needs to respond to this request, without
    /// transport time.
    #[must_use]
    pub fn max_response_time(&self) -> Duration {
        let own = || {
            let prepared = registry::lookup(&self.command)
                .and_then(|entry| entry.prepare(self.input.clone(), registry::commands()));
            prepared.map_or(DEFAULT_DEADLINE, |Prepared { time, .. }| {
                self.caller_timeout(time).unwrap_or(time.deadline)
            })
        };
        self.timeout_ms.map_or_else(own, Duration::from_millis).saturating_add(GRACE)
    }

    /// Returns whether a client repeats this request if the daemon exits while the command is
    /// running.
    #[must_use]
    pub fn reconnects(&self) -> bool {
        registry::find(&self.command).is_some_and(|entry| entry.spec.reconnects)
    }

    /// Returns the time within which the caller must get a response; `None` if only the command's
    /// own deadline applies.
    fn caller_timeout(&self, time: TimeLimits) -> Option<Duration> {
        let asked = self.timeout_ms.map(Duration::from_millis);
        // A script run has its own timeout. The timeouts of the steps limit only their waits.
        asked.or(if self.replayed { None } else { time.response_limit })
    }
}

impl Host {
    /// Runs one command. When `cancel` is cancelled or the returned future is dropped, the command
    /// ends at the next point where nothing is half done.
    pub async fn call(&self, request: Request, cancel: CancellationToken) -> Response {
        self.call_reporting(request, cancel, None).await
    }

    /// Runs one command as [`Self::call`] does, and sends the command's id to `begun` as soon as
    /// the beginning of the command is in the session log. Sends nothing for a command that is not
    /// logged.
    pub async fn call_reporting(
        &self,
        request: Request,
        cancel: CancellationToken,
        begun: Option<oneshot::Sender<CommandId>>,
    ) -> Response {
        let render = request.render.clone();
        let name = request.command.clone();
        let token = cancel.child_token();
        // The command runs in its own task: a caller that goes away must not interrupt an input.
        let stop_when_dropped = token.clone().drop_guard();
        let host = self.clone();
        let (overdue, is_overdue) = oneshot::channel();
        let mut task = tokio::spawn(async move {
            let _running = RunningCount::begin(&host);
            host.serve(request, token, overdue, begun).await
        });
        let response = tokio::select! {
            biased;
            ended = &mut task => match ended {
                Ok(response) => response,
                Err(e) => {
                    tracing::error!(command = name, "panicked: {e}");
                    let bug = Error::internal(format!("internal error in `{name}` (this is a bug in stickpin)"));
                    let bug = bug.hint("see the log; `stickpin daemon status` prints the path of the daemon's log").caused_by(e);
                    respond_failed(&name, &render, bug.dispatched(Dispatched::Unknown))
                }
            },
            // The task keeps the session until its device operation is complete.
            Ok(deadline) = is_overdue => respond_failed(&name, &render, input_pending_error(&name, deadline)),
        };
        drop(stop_when_dropped.disarm());
        response
    }

    async fn serve(
        &self,
        mut request: Request,
        token: CancellationToken,
        overdue: oneshot::Sender<Duration>,
        begun: Option<oneshot::Sender<CommandId>>,
    ) -> Response {
        let entry = match self.commands.lookup(&request.command) {
            Ok(entry) => entry,
            Err(e) => return respond_failed(&request.command, &request.render, e),
        };
        let prepared = match entry.prepare(std::mem::take(&mut request.input), &self.commands) {
            Ok(prepared) => prepared,
            Err(e) => return respond_failed(entry.spec.name, &request.render, e),
        };
        let given = request.caller_timeout(prepared.time);
        let session_name = request.session.unwrap_or_else(|| request.caller.own_session.clone());
        if let Err(e) = crate::api::session_name::check(&session_name) {
            return respond_failed(entry.spec.name, &request.render, e);
        }
        let mut cx = Cx {
            host: Arc::clone(&self.inner),
            commands: self.commands.clone(),
            session_name,
            caller: request.caller,
            render: request.render,
            since: request.since,
            expect: request.expect,
            replayed: request.replayed,
            expected_turn: request.turn,
            cancel: token,
            reader: None,
            slot: None,
            checkout: None,
            envelope: Envelope::default(),
            closing: watch::Sender::new(CancellationToken::new()),
            dispatched: AtomicBool::new(false),
            operation_pending: Arc::default(),
            checked_since_yield: false,
            batch_issued: Vec::new(),
            begun,
        };
        let hangs = prepared.time.deadline;
        let answer = given.unwrap_or(hangs);
        let times = RunDeadlines { answer, hung: hangs.max(answer) };
        let result = run(entry, prepared, times, overdue, &mut cx).await;
        respond(entry, &mut cx, result)
    }
}

/// Counts a command as running until this guard is dropped, even by a panic.
struct RunningCount<'h>(&'h Host);

impl<'h> RunningCount<'h> {
    fn begin(host: &'h Host) -> Self {
        host.inner.running.fetch_add(1, Ordering::Relaxed);
        Self(host)
    }
}

impl Drop for RunningCount<'_> {
    fn drop(&mut self) {
        self.0.inner.running.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The time limits of a running command.
#[derive(Debug, Clone, Copy)]
struct RunDeadlines {
    /// The time within which the caller must get a response.
    answer: Duration,
    /// The time after which a device operation in progress counts as hung.
    hung: Duration,
}

/// Runs a command until it ends or must be abandoned. `overdue` reports that the caller's time is
/// up while a device operation continues.
async fn run(
    entry: &'static Entry,
    prepared: Prepared,
    times: RunDeadlines,
    overdue: oneshot::Sender<Duration>,
    cx: &mut Cx,
) -> Result<Box<dyn ErasedOutput>> {
    let began = Instant::now();
    let slot = match entry.spec.scope {
        Scope::Session => Some(cx.host.slot(&cx.session_name)?),
        Scope::Host => None,
    };
    let mut closing = cx.closing.subscribe();
    let (token, underway) = (cx.cancel.clone(), Arc::clone(&cx.operation_pending));
    let result = {
        let mut work = pin!(crate::run::execute::execute(entry, prepared, slot, cx));
        tokio::select! {
            biased;
            result = &mut work => Ok(result),
            why = stop(&mut closing, began + times.answer) => {
                // A caller that goes away cancels the token too, but only a deadline or the end of
                // the session starts the grace period: a client that stops reading a large page
                // must not lose the session.
                token.cancel();
                match tokio::time::timeout(GRACE, &mut work).await {
                    Ok(result) => Ok(result),
                    Err(_) if !underway.load(Ordering::Relaxed) => Err(why),
                    Err(_) if matches!(why, AbandonReason::Late) && times.answer < times.hung => {
                        // There is no receiver if the caller has gone away.
                        let _ = overdue.send(times.answer);
                        tokio::select! {
                            biased;
                            result = &mut work => Ok(result),
                            _ = stop(&mut closing, began + times.hung) => Err(AbandonReason::Hung),
                        }
                    }
                    Err(_) => Err(AbandonReason::Hung),
                }
            }
        }
    };
    result.unwrap_or_else(|why| {
        let e = match why {
            AbandonReason::Late => no_response_error(times.answer, cx.dispatched()),
            AbandonReason::Closed => {
                let name = &cx.session_name;
                queue::ended_error(format!("session `{name}` was closed while the command was running"))
            }
            AbandonReason::Hung => {
                // Dropping the checkout ends the session.
                drop(cx.checkout.take());
                queue::ended_error(format!("the app of session `{}` no longer responds", cx.session_name))
            }
        };
        Err(e.dispatched(cx.dispatched()))
    })
}

/// Waits until a command must be cancelled, and returns the reason.
async fn stop(closing: &mut watch::Receiver<CancellationToken>, until: Instant) -> AbandonReason {
    loop {
        let closed = closing.borrow_and_update().clone();
        tokio::select! {
            () = tokio::time::sleep_until(until) => return AbandonReason::Late,
            () = closed.cancelled() => return AbandonReason::Closed,
            // The command entered or left a session. If the command ended, the caller of this
            // function notices.
            entered = closing.changed() => if entered.is_err() { std::future::pending().await },
        }
    }
}

/// The reason why a command was abandoned.
#[derive(Debug, Clone, Copy)]
enum AbandonReason {
    /// The command exceeded its time limit.
    Late,
    /// The session was closed.
    Closed,
    /// The command left an operation half done.
    Hung,
}

/// Creates the error for a device operation that is still in progress when time is up.
fn input_pending_error(command: &str, deadline: Duration) -> Error {
    let ms = deadline.as_millis();
    let message = format!(
        "the app did not finish processing `{command}` within {ms} ms; the command may still take effect"
    );
    Error::timeout(message)
        .hint("run `stickpin snapshot -i` to see the result; the session waits for the app and ends if the app never responds")
        .dispatched(Dispatched::Unknown)
}

fn no_response_error(deadline: Duration, dispatched: Dispatched) -> Error {
    let ms = deadline.as_millis();
    if dispatched != Dispatched::No {
        let message = format!("the input was sent, but its result could not be read within {ms} ms");
        return Error::timeout(message).hint("run `stickpin snapshot -i` to see the result");
    }
    Error::timeout(format!("the command did not finish within {ms} ms"))
        .hint("repeat the command with a longer `--timeout MS`; if the app never responds, open it again")
}
