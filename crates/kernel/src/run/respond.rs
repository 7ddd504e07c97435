//! Builds the kernel's [`Response`]s.

use crate::api::command_definition::CommandDefinition;
use crate::api::render::{Show, Text};
use crate::api::request::{Detail, Format, RefsEnvelope, Render, Response};
use crate::api::secret::Secret;
use crate::command::context::{Cx, Envelope};
use crate::command::entry::{Entry, ErasedOutput, erase_output};
use crate::observe::changes;
use serde::Serialize;
use stickpin_device::{Error, ErrorCode, Result};
use stickpin_refs::Ref;

/// Builds the response of a command that ran in this context, and gives the session's checkout
/// back.
pub(crate) fn respond(entry: &Entry, cx: &mut Cx, result: Result<Box<dyn ErasedOutput>>) -> Response {
    let mut response = Response { command: entry.spec.name.to_owned(), ..Response::default() };
    // The current dialog: this command may have opened or answered it. Without a session, use the
    // last published one.
    let dialog = cx.open_session().ok().map(|live| live.device.dialog());
    if let Some(slot) = &cx.slot {
        response.session = Some(slot.name.clone());
        response.state_dir = Some(cx.host.config.state_dir.clone());
        response.dialog = dialog.unwrap_or_else(|| slot.status.borrow().dialog.clone());
    }
    let mut envelope = std::mem::take(&mut cx.envelope);
    for (at, line) in envelope.receipt.drain(..).enumerate() {
        response.receipt_errors.extend(line.is_error.then_some(at));
        response.receipt.push(line.text);
    }
    response.image = envelope.image.take();
    response.log_status = envelope.log_status.take();
    response.turns = std::mem::take(&mut envelope.turns);
    response.refs = refs(cx, &mut envelope);
    response.refs_generation = response.refs.as_ref().and_then(|r| r.generation);
    response.reference = (cx.render.detail == Detail::Full).then_some(envelope.reference).flatten();
    response.warning = (!envelope.warnings.is_empty()).then(|| envelope.warnings.join(" "));
    fill(&mut response, &cx.render, result);
    add_what_was_seen(&mut response, entry);
    let mut secrets: Vec<Secret> = cx.caller.secrets.values().cloned().collect();
    secrets.extend(cx.open_session().map(|live| live.secrets.clone()).unwrap_or_default());
    response.hide_secrets(&secrets);
    if let Ok(live) = cx.open_session() {
        live.lost |= response.error.as_ref().is_some_and(|e| e.code == ErrorCode::BackendLost);
    }
    cx.check_in();
    response
}

fn fill(response: &mut Response, render: &Render, result: Result<Box<dyn ErasedOutput>>) {
    let wants = |f: Format| render.format == f || render.format == Format::Both;
    let output = match result {
        Ok(output) => output,
        Err(e) => {
            response.exit = e.code.exit();
            response.text = wants(Format::Text).then(|| Text::of_error(&e));
            response.error = Some(e);
            return;
        }
    };
    if wants(Format::Json) {
        match output.json() {
            Ok(json) => response.output = Some(json),
            Err(e) => {
                let e = Error::internal(format!("the output cannot be serialized as JSON: {e}"));
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

/// Appends the receipt and a pending dialog to the text. Error lines stay in the envelope, because
/// the command line prints them to another stream.
fn add_what_was_seen(response: &mut Response, entry: &Entry) {
    let Some(text) = &mut response.text else { return };
    let errors = &response.receipt_errors;
    let seen = response.receipt.iter().enumerate().filter(|(at, _)| !errors.contains(at));
    let seen = seen.map(|(_, line)| line.clone());
    // Commands that run despite a dialog report it themselves.
    let dialog =
        response.dialog.iter().filter(|_| !entry.spec.despite_dialog && response.error.is_none()).map(
            |dialog| {
                format!("{} is waiting: answer it with `alert accept` or `alert dismiss`", dialog.describe())
            },
        );
    for line in seen.chain(dialog) {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&line);
    }
}

impl Response {
    /// Builds the response of a command that ran outside any host and has no handler in the kernel.
    pub fn outside_host<T: Serialize + Show + Send + 'static>(
        definition: &CommandDefinition,
        render: &Render,
        result: Result<T>,
    ) -> Self {
        let mut response = Self { command: definition.spec.name.to_owned(), ..Self::default() };
        fill(&mut response, render, result.map(erase_output));
        response
    }
}

/// Builds the response to a request that never reached a session.
pub(crate) fn respond_failed(command: &str, render: &Render, e: Error) -> Response {
    let mut response = Response { command: command.to_owned(), ..Response::default() };
    fill(&mut response, render, Err(e));
    response
}

/// Builds the part of the envelope about refs; `None` when no ref was issued, renewed or ended.
fn refs(cx: &mut Cx, envelope: &mut Envelope) -> Option<RefsEnvelope> {
    if envelope.issued.is_empty() && envelope.ended.is_empty() && envelope.base.is_none() {
        return None;
    }
    let (lifetime, generation) = match cx.open_session() {
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

/// Converts refs to inclusive number ranges.
fn ranges(refs: &mut Vec<Ref>) -> Vec<(u32, u32)> {
    refs.sort_unstable();
    refs.dedup();
    changes::consecutive_ranges(refs).into_iter().map(|(first, last)| (first.get(), last.get())).collect()
}
