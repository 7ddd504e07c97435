//! The calls that a run makes to the client: the lines of its script, and additional queries.

use super::{CLOSE, Runner};
use crate::divergence::{self, Divergence};
use crate::plan::Step;
use crate::position::Position;
use crate::report::model;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::time::Duration;
use stickpin_client::Call;
use stickpin_kernel::{Caller, CancellationToken, Error, Expectation, Format, Render, Request, Response};

/// The time limit for an app to become quiet before a visibility check or a picture.
const QUIET_TIMEOUT: Duration = Duration::from_secs(1);

impl Runner<'_> {
    /// Returns the request for a step, without expectations.
    pub(super) fn step_request(&self, step: &Step) -> Request {
        let mut request = self.request(step.line.entry.spec.name, step.line.input.clone());
        request.timeout_ms = step.line.options.timeout_ms;
        request.turn = step.line.options.turn;
        request.render = Render { format: Format::Both, ..step.line.options.render() };
        if let Some(session) = &step.line.options.session {
            let prefix = self.options.session.as_ref().filter(|_| self.options.isolate_sessions);
            request.session =
                Some(prefix.map_or_else(|| session.clone(), |prefix| format!("{prefix}-{session}")));
        }
        request
    }

    fn request(&self, command: &str, input: Map<String, Value>) -> Request {
        request(command, input, self.options.session.clone(), &self.options.caller)
    }

    /// Sends a request for a step of the script, and cancels it at the run's deadline.
    pub(super) async fn send(&mut self, request: Request) -> Response {
        let stop = self.options.cancel.child_token();
        let remaining = self.options.deadline.map(|most| most.saturating_sub(self.started.elapsed()));
        let mut call = self.client.call(request, stop.clone());
        let response = tokio::select! {
            response = &mut call => response,
            () = tokio::time::sleep(remaining.unwrap_or_default()), if remaining.is_some() => {
                stop.cancel();
                call.await
            }
        };
        self.state.record_refs(&response);
        response
    }

    /// Sends a query to a step's session, even after the deadline. Refs in the answer do not count
    /// as given to the script.
    pub(super) async fn query(
        &mut self,
        step: &Step,
        command: &str,
        input: Value,
        render: Option<&Render>,
    ) -> Response {
        let mut request = self.step_request(step);
        request.command = command.to_owned();
        request.input = input.as_object().cloned().unwrap_or_default();
        request.timeout_ms = None;
        if let Some(render) = render {
            request.render = Render { format: Format::Both, ..render.clone() };
        }
        self.client.call(request, self.options.cancel.clone()).await
    }

    /// Waits until the app is quiet, for a limited time.
    pub(super) async fn wait_until_quiet(&mut self, step: &Step) {
        let timeout = u64::try_from(QUIET_TIMEOUT.as_millis()).unwrap_or(u64::MAX);
        // The run continues even if the app is not quiet or not open.
        let _ = self.query(step, "wait stable", json!({ "timeout": timeout }), None).await;
    }

    /// Adds to a step's report the changes that the step caused, and a picture. Parts that fail are
    /// left out, because a report must not make a run fail.
    pub(super) async fn observe_step(&mut self, step: &Step, folder: &Path, report: &mut model::Step) {
        if step.line.entry.spec.name == CLOSE {
            return;
        }
        self.wait_until_quiet(step).await;
        let changes = self.query(step, "snapshot", json!({ "interactive": true, "diff": true }), None).await;
        // Before the first step, there is nothing to compare with.
        report.changes = changes.text.filter(|_| changes.ok && !self.steps.is_empty());
        let path = folder.join(format!("{}.png", self.steps.len() + 1));
        // If the folder cannot be created, writing the picture fails too, and the picture is left
        // out.
        let _ = std::fs::create_dir_all(folder);
        let screenshot = self.query(step, "screenshot", json!({ "path": path, "boxes": true }), None).await;
        report.picture = screenshot.output.filter(|_| screenshot.ok).and_then(|mut taken| {
            let refs = taken["boxes"].take();
            Some(model::Picture {
                path,
                width: taken["width"].as_u64()?.try_into().ok()?,
                height: taken["height"].as_u64()?.try_into().ok()?,
                refs: serde_json::from_value(refs).ok()?,
            })
        });
    }

    /// Describes a failed step: the elements most similar to its target, and the screen with fresh
    /// refs.
    pub(super) async fn describe_divergence(&mut self, step: &Step, error: Error) -> Divergence {
        let mut suggestions = Vec::new();
        for (reason, selector) in divergence::relaxed_selectors(step) {
            if suggestions.len() == divergence::MAX_SUGGESTIONS {
                break;
            }
            let found = self.query(step, "find", json!({ "query": selector.to_string() }), None).await;
            divergence::add_suggestions(&mut suggestions, reason, found.output.as_ref());
            self.state.refs_for_caller(found);
        }
        // The snapshot comes last, so that it renews the refs found before.
        let render = &self.options.render.clone();
        let screen = self.query(step, "snapshot", json!({ "interactive": true }), Some(render)).await;
        let text = screen.text.clone().filter(|_| screen.ok);
        self.state.refs_for_caller(screen);
        Divergence {
            step: step.number,
            at: step.at.clone(),
            line: step.shown.clone(),
            expected: step.expected.clone(),
            error,
            screen: text,
            suggestions,
            resume: Some(divergence::Resume::new(
                self.plan,
                Position { step: step.number, rounds: self.rounds.clone() },
            )),
        }
    }
}

/// Returns the recorded meaning of each target.
pub(super) fn expectations(step: &Step) -> Vec<Expectation> {
    let mut found = Vec::new();
    let mut expected = step.expected.iter();
    step.line.entry.rewrite_targets(&mut step.line.input.clone(), &mut |target| {
        if let Some(meaning) = expected.next() {
            // The kernel's spelling of the target, independent of white space and quotes in the
            // script.
            let target = target
                .parse::<stickpin_kernel::Target>()
                .map_or_else(|_| target.to_owned(), |t| t.to_string());
            found.push(Expectation { target, meaning: meaning.clone() });
        }
        None
    });
    found
}

/// Creates a request for a run.
fn request(command: &str, input: Map<String, Value>, session: Option<String>, caller: &Caller) -> Request {
    Request {
        input,
        session,
        render: Render { format: Format::Both, ..Render::default() },
        replayed: true,
        ..Request::new(command, caller.clone())
    }
}

/// Sends a command outside a run. Ignores cancellation, because this function also cleans up after
/// a run that was cancelled.
pub(crate) async fn send_uncancelled(
    call: &Call,
    command: &str,
    input: Value,
    session: Option<&str>,
) -> Response {
    let input = input.as_object().cloned().unwrap_or_default();
    let request = request(command, input, session.map(str::to_owned), &call.caller);
    call.client.call(request, CancellationToken::new()).await
}
