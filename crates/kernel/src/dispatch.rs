//! From a request to a response.

use crate::api::request::{Request, Response};
use crate::api::secret::Secret;
use crate::api::spec::Scope;
use crate::command::context::{Cx, Envelope};
use crate::command::definition::Time;
use crate::command::entry::{Entry, Prepared, Produced};
use crate::host::Host;
use crate::host::queue;
use crate::registry;
use crate::run::respond::{failed, respond};
use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use stickpin_device::{Dispatched, Error, Result};
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long a command may go on after its deadline. Who reads then is given up; who acts hangs, and its session is lost.
const GRACE: Duration = Duration::from_millis(500);

/// What a command has when neither it nor its caller says how long it may take.
const UNKNOWN: Duration = Duration::from_secs(30);

impl Request {
    /// Takes out the values that this command does not use, before it is sent anywhere. All that there were come back: for
    /// [`hide_secrets`](crate::hide_secrets).
    pub fn keep_used_secrets(&mut self) -> Vec<Secret> {
        let all = std::mem::take(&mut self.caller.secrets);
        if all.is_empty() {
            return Vec::new();
        }
        let mut used = BTreeSet::new();
        if let Some(entry) = registry::find(&self.command) {
            crate::targets::each(entry, &self.input, &mut |form, input| {
                let named = form.fields().iter().filter(|field| field.secret);
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

    /// When a host that works has answered at the latest, besides the way there and back.
    #[must_use]
    pub fn longest(&self) -> Duration {
        let own = || {
            let prepared =
                registry::lookup(&self.command).and_then(|entry| entry.prepare(self.input.clone()));
            prepared.map_or(UNKNOWN, |Prepared { time, .. }| self.given(time).unwrap_or(time.deadline))
        };
        self.timeout_ms.map_or_else(own, Duration::from_millis).saturating_add(GRACE)
    }

    /// The time that the caller gave it.
    fn given(&self, time: Time) -> Option<Duration> {
        let asked = self.timeout_ms.map(Duration::from_millis);
        // A run of a script has a time of its own; what it gives its steps is how long they wait.
        asked.or(if self.replayed { None } else { time.bound })
    }
}

impl Host {
    /// Runs one command. When `cancel` is set or the returned future is dropped, the command ends at the next
    /// point where nothing is half done.
    pub async fn call(&self, request: Request, cancel: CancellationToken) -> Response {
        let render = request.render.clone();
        let name = request.command.clone();
        let token = cancel.child_token();
        // The command runs in a task of its own: a caller that goes away must not take a half-done input along.
        let stop_when_dropped = token.clone().drop_guard();
        let host = self.clone();
        let (overdue, is_overdue) = oneshot::channel();
        let mut task = tokio::spawn(async move {
            let _running = Running::begin(&host);
            host.serve(request, token, overdue).await
        });
        let response = tokio::select! {
            biased;
            ended = &mut task => match ended {
                Ok(response) => response,
                Err(e) => {
                    tracing::error!(command = name, "panicked: {e}");
                    let e = Error::internal(format!("`{name}` ended in a bug of ours"));
                    let e = e.hint("the daemon's log has the particulars").dispatched(Dispatched::Unknown);
                    failed(&name, &render, e)
                }
            },
            // The task keeps the session until its input is through.
            Ok(deadline) = is_overdue => failed(&name, &render, not_taken(&name, deadline)),
        };
        drop(stop_when_dropped.disarm());
        response
    }

    async fn serve(
        &self,
        mut request: Request,
        token: CancellationToken,
        overdue: oneshot::Sender<Duration>,
    ) -> Response {
        let entry = match registry::lookup(&request.command) {
            Ok(entry) => entry,
            Err(e) => return failed(&request.command, &request.render, e),
        };
        let prepared = match entry.prepare(std::mem::take(&mut request.input)) {
            Ok(prepared) => prepared,
            Err(e) => return failed(entry.spec.name, &request.render, e),
        };
        let given = request.given(prepared.time);
        let session_name = request.session.unwrap_or_else(|| request.caller.own_session.clone());
        if let Err(e) = crate::api::name::check(&session_name) {
            return failed(entry.spec.name, &request.render, e);
        }
        let mut cx = Cx {
            host: Arc::clone(&self.inner),
            session_name,
            caller: request.caller,
            render: request.render,
            since: request.since,
            expect: request.expect,
            replayed: request.replayed,
            cancel: token,
            desk: None,
            loan: None,
            envelope: Envelope::default(),
            closing: watch::Sender::new(CancellationToken::new()),
            dispatched: AtomicBool::new(false),
            underway: Arc::default(),
            looked: false,
            fresh: Vec::new(),
        };
        let hangs = prepared.time.deadline;
        let answer = given.unwrap_or(hangs);
        let times = Times { answer, hangs: hangs.max(answer) };
        let result = run(entry, prepared, times, overdue, &mut cx).await;
        respond(entry, &mut cx, result)
    }
}

/// A command counts as running until this is dropped, also by a panic.
struct Running<'h>(&'h Host);

impl<'h> Running<'h> {
    fn begin(host: &'h Host) -> Self {
        host.inner.running.fetch_add(1, Ordering::Relaxed);
        Self(host)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.inner.running.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How long a command may take.
#[derive(Debug, Clone, Copy)]
struct Times {
    /// Until its caller has to be answered.
    answer: Duration,
    /// Until an input that is under way counts as hanging.
    hangs: Duration,
}

/// Runs a command to its end, or until it hangs. `overdue` tells the caller that its time is up while an input is under
/// way: the input goes on.
async fn run(
    entry: &'static Entry,
    prepared: Prepared,
    times: Times,
    overdue: oneshot::Sender<Duration>,
    cx: &mut Cx,
) -> Result<Box<dyn Produced>> {
    let began = Instant::now();
    let desk = match entry.spec.scope {
        Scope::Session => Some(cx.host.desk(&cx.session_name)?),
        Scope::Host => None,
    };
    let mut closing = cx.closing.subscribe();
    let (token, underway) = (cx.cancel.clone(), Arc::clone(&cx.underway));
    let result = {
        let mut work = pin!(crate::run::execute::step(entry, prepared, desk, cx));
        tokio::select! {
            biased;
            result = &mut work => Ok(result),
            why = stop(&mut closing, began + times.answer) => {
                // A caller that goes away sets the token too, but only a deadline starts the grace: someone who
                // stops reading a large page must not lose the session by it.
                token.cancel();
                match tokio::time::timeout(GRACE, &mut work).await {
                    Ok(result) => Ok(result),
                    Err(_) if !underway.load(Ordering::Relaxed) => Err(why),
                    Err(_) if matches!(why, Stop::Late) && times.answer < times.hangs => {
                        // Nobody hears it where the caller has gone away.
                        let _ = overdue.send(times.answer);
                        tokio::select! {
                            biased;
                            result = &mut work => Ok(result),
                            _ = stop(&mut closing, began + times.hangs) => Err(Stop::Hung),
                        }
                    }
                    Err(_) => Err(Stop::Hung),
                }
            }
        }
    };
    result.unwrap_or_else(|why| {
        let e = match why {
            Stop::Late => no_answer(times.answer, cx.dispatched()),
            Stop::Closed => queue::lost(&cx.session_name),
            Stop::Hung => {
                // Dropping the loan is what ends the session.
                drop(cx.loan.take());
                queue::lost(&cx.session_name)
            }
        };
        Err(e.dispatched(cx.dispatched()))
    })
}

/// Waits until a command has to be given up.
async fn stop(closing: &mut watch::Receiver<CancellationToken>, until: Instant) -> Stop {
    loop {
        let closed = closing.borrow_and_update().clone();
        tokio::select! {
            () = tokio::time::sleep_until(until) => return Stop::Late,
            () = closed.cancelled() => return Stop::Closed,
            // It entered or left a session. Its end is seen by who polls this beside it.
            entered = closing.changed() => if entered.is_err() { std::future::pending().await },
        }
    }
}

/// Why a command was given up.
#[derive(Debug, Clone, Copy)]
enum Stop {
    /// It read for longer than its time.
    Late,
    /// Its session was closed.
    Closed,
    /// It left something half done.
    Hung,
}

/// The error of an input that is under way when its time is up.
fn not_taken(command: &str, deadline: Duration) -> Error {
    let ms = deadline.as_millis();
    let message = format!(
        "`{command}` was sent, and the app has not taken it within {ms} ms; it may still take effect"
    );
    Error::timeout(message)
        .hint("stickpin snapshot -i says what became of it; the session waits for it, and ends if the app never answers")
        .dispatched(Dispatched::Unknown)
}

fn no_answer(deadline: Duration, dispatched: Dispatched) -> Error {
    let ms = deadline.as_millis();
    if dispatched != Dispatched::No {
        let message = format!("the input was sent; what became of it could not be read within {ms} ms");
        return Error::timeout(message).hint("stickpin snapshot -i says what became of it");
    }
    Error::timeout(format!("the app did not answer within {ms} ms")).hint(
        "it may be busy: try again, or with a longer --timeout; if it never answers: stickpin open it again",
    )
}
