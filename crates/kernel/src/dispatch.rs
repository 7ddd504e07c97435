//! From a request to a response. The only builder of [`Response`].

use crate::api::form::Form;
use crate::api::render;
use crate::api::render::{Show, Text};
use crate::api::request::{Detail, Format, RefsEnvelope, Render, Request, Response};
use crate::api::secret;
use crate::api::secret::Secret;
use crate::api::spec::Scope;
use crate::command::context::{Cx, Envelope};
use crate::command::entry::{Entry, Prepared, Produced};
use crate::host::Host;
use crate::host::queue;
use crate::registry::{self};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use stickpin_device::{Dispatched, Error, ErrorCode, Result};
use stickpin_refs::Ref;
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
            prepared.map_or(UNKNOWN, |prepared| self.given(&*prepared).unwrap_or_else(|| prepared.deadline()))
        };
        self.timeout_ms.map_or_else(own, Duration::from_millis).saturating_add(GRACE)
    }

    /// The time that the caller gave it.
    fn given(&self, prepared: &dyn Prepared) -> Option<Duration> {
        let asked = self.timeout_ms.map(Duration::from_millis);
        // A run of a script has a time of its own; what it gives its steps is how long they wait.
        asked.or_else(|| if self.replayed { None } else { prepared.bound() })
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
                    let e = Error::new(ErrorCode::Internal, format!("`{name}` ended in a bug of ours"));
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
        let given = request.given(&*prepared);
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
        };
        let hangs = prepared.deadline();
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

impl Cx {
    /// Runs a command as a part of another one, with an envelope of its own.
    pub(crate) async fn nested(&mut self, command: &str, input: Map<String, Value>) -> Response {
        let prepared = registry::lookup(command).and_then(|entry| Ok((entry, entry.prepare(input)?)));
        let (entry, prepared) = match prepared {
            Ok(prepared) => prepared,
            Err(e) => return failed(command, &self.render, e),
        };
        let outer = std::mem::take(&mut self.envelope);
        let before = self.dispatched.swap(false, Ordering::Relaxed);
        let desk = match entry.spec.scope {
            Scope::Session => self.host.desk(&self.session_name).map(Some),
            Scope::Host => Ok(None),
        };
        let result = match desk {
            // Boxed: a batch is itself a command, and its future would hold itself.
            Ok(desk) => Box::pin(crate::run::execute::step(entry, prepared, desk, self)).await,
            Err(e) => Err(e),
        };
        let mut response = respond(entry, self, result);
        // Said once, by the whole.
        response.state_dir = None;
        self.envelope = outer;
        self.dispatched.fetch_or(before, Ordering::Relaxed);
        response
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
    prepared: Box<dyn Prepared>,
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
    Error::new(ErrorCode::Timeout, message)
        .hint("stickpin snapshot -i says what became of it; the session waits for it, and ends if the app never answers")
        .dispatched(Dispatched::Unknown)
}

fn no_answer(deadline: Duration, dispatched: Dispatched) -> Error {
    let ms = deadline.as_millis();
    if dispatched != Dispatched::No {
        let message = format!("the input was sent; what became of it could not be read within {ms} ms");
        return Error::new(ErrorCode::Timeout, message).hint("stickpin snapshot -i says what became of it");
    }
    Error::new(ErrorCode::Timeout, format!("the app did not answer within {ms} ms")).hint(
        "it may be busy: try again, or with a longer --timeout; if it never answers: stickpin open it again",
    )
}

fn respond(entry: &Entry, cx: &mut Cx, result: Result<Box<dyn Produced>>) -> Response {
    let mut response = Response { command: entry.spec.name.to_owned(), ..Response::default() };
    // What the device says now: this command may have opened or answered it. Else what is known without asking.
    let dialog = cx.live().ok().map(|live| live.device.dialog());
    if let Some(desk) = &cx.desk {
        response.session = Some(desk.name.clone());
        response.state_dir = Some(cx.host.config.state_dir.clone());
        response.dialog = dialog.unwrap_or_else(|| desk.status.borrow().dialog.clone());
    }
    let mut envelope = std::mem::take(&mut cx.envelope);
    response.receipt = std::mem::take(&mut envelope.receipt);
    response.image = envelope.image.take();
    response.refs = refs(cx, &mut envelope);
    response.refs_generation = response.refs.as_ref().and_then(|r| r.generation);
    response.reference = (cx.render.detail == Detail::Full).then_some(envelope.reference).flatten();
    response.warning = (!envelope.warnings.is_empty()).then(|| envelope.warnings.join(" "));
    fill(&mut response, &cx.render, result);
    add_what_was_seen(&mut response, entry);
    let mut secrets: Vec<Secret> = cx.caller.secrets.values().cloned().collect();
    secrets.extend(cx.live().map(|live| live.secrets.clone()).unwrap_or_default());
    secret::hide(&mut response, &secrets);
    if let Ok(live) = cx.live() {
        live.lost |= response.error.as_ref().is_some_and(|e| e.code == ErrorCode::BackendLost);
    }
    cx.leave();
    response
}

fn fill(response: &mut Response, render: &Render, result: Result<Box<dyn Produced>>) {
    let wants = |f: Format| render.format == f || render.format == Format::Both;
    let output = match result {
        Ok(output) => output,
        Err(e) => {
            response.exit = e.code.exit();
            response.text = wants(Format::Text).then(|| render::error(&e));
            response.error = Some(e);
            return;
        }
    };
    if wants(Format::Json) {
        match output.json() {
            Ok(json) => response.output = Some(json),
            Err(e) => {
                let e = Error::new(ErrorCode::Internal, format!("the output cannot be written as JSON: {e}"));
                return fill(response, render, Err(e));
            }
        }
    }
    if wants(Format::Text) {
        let mut text = Text::new(render);
        output.text(&mut text);
        response.text = Some(text.finish());
    }
    response.error = output.failure();
    response.ok = response.error.is_none();
    response.exit = response.error.as_ref().map_or_else(|| output.exit(), |e| e.code.exit());
}

/// The receipt and a dialog that waits, under the text of the output. Errors among what was seen stand in the envelope
/// only: a command line has another stream for them.
fn add_what_was_seen(response: &mut Response, entry: &Entry) {
    let Some(text) = &mut response.text else { return };
    let seen = response.receipt.iter().filter(|line| !crate::observe::receipt::is_error(line)).cloned();
    // What may run beside a dialog speaks of it itself.
    let dialog = response
        .dialog
        .iter()
        .filter(|_| !entry.spec.despite_dialog && response.error.is_none())
        .map(|dialog| format!("{} waits: stickpin alert accept, or dismiss", dialog.words()));
    for line in seen.chain(dialog) {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&line);
    }
}

/// The response of a command that ran apart from any host: [`crate::api::form::Form`] without a handler of ours.
pub fn answered<T: Serialize + Show + Send + 'static>(
    form: &Form,
    render: &Render,
    result: Result<T>,
) -> Response {
    let mut response = Response { command: form.spec.name.to_owned(), ..Response::default() };
    fill(&mut response, render, result.map(crate::command::entry::produced));
    response
}

/// A response to what never came to a session.
fn failed(command: &str, render: &Render, e: Error) -> Response {
    let mut response = Response { command: command.to_owned(), ..Response::default() };
    fill(&mut response, render, Err(e));
    response
}

/// The refs envelope; none when nothing was issued, renewed or ended.
fn refs(cx: &mut Cx, envelope: &mut Envelope) -> Option<RefsEnvelope> {
    if envelope.issued.is_empty() && envelope.ended.is_empty() && envelope.base.is_none() {
        return None;
    }
    let (lifetime, generation) = match cx.live() {
        Ok(live) => (live.session.lifetime().to_owned(), live.session.generation().map(|g| g.get())),
        Err(_) => Default::default(),
    };
    let gives = !envelope.issued.is_empty() || envelope.base.is_some();
    Some(RefsEnvelope {
        generation: generation.filter(|_| gives),
        base: envelope.base,
        full: envelope.full && generation.is_some(),
        issued: ranges(&mut envelope.issued),
        ended: ranges(&mut envelope.ended),
        lifetime,
    })
}

/// Numbers as ranges, ends included.
fn ranges(refs: &mut Vec<Ref>) -> Vec<(u32, u32)> {
    refs.sort_unstable();
    refs.dedup();
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for n in refs.iter().map(|r| r.get()) {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == n => *last = n,
            _ => ranges.push((n, n)),
        }
    }
    ranges
}
