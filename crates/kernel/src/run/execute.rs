//! The execution of one command, with everything that all commands have in common. A batch runs
//! each of its steps with [`execute_nested`].

use crate::act::context_rule;
use crate::api::request::Response;
use crate::api::spec::{Effect, Lane, Scope};
use crate::command::begun::Begun;
use crate::command::context::Cx;
use crate::command::entry::{Entry, ErasedOutput, Prepared};
use crate::host::SessionSlot;
use crate::observe::navigation;
use crate::recording;
use crate::run::authority::{self, Admitted};
use crate::run::respond;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use stickpin_device::{Error, Result};

/// Checks the session out if necessary and runs the command. A logged command with a checkout also
/// writes its log records and publishes the status.
pub(crate) async fn execute(
    entry: &'static Entry,
    prepared: Prepared,
    slot: Option<Arc<SessionSlot>>,
    cx: &mut Cx,
) -> Result<Box<dyn ErasedOutput>> {
    let mut admitted = None;
    if let Some(slot) = slot {
        match entry.spec.lane {
            Lane::Beside => cx.slot = Some(slot),
            lane => {
                if entry.spec.logged {
                    admitted = authority::admit(cx, prepared.effect).await?;
                }
                cx.check_out(slot, lane.into()).await?;
            }
        }
    }
    // A command that is not logged leaves no trace: it consumes no notices and publishes no status.
    if !entry.spec.logged {
        cx.check()?;
        check_capabilities(entry, cx)?;
        return prepared.run(cx).await;
    }
    let result = run(entry, prepared, admitted, cx).await;
    if entry.spec.lane != Lane::Beside {
        publish(cx, None);
    }
    result
}

/// Runs a command as part of another command, with an envelope of its own.
pub(crate) async fn execute_nested(cx: &mut Cx, entry: &'static Entry, prepared: Prepared) -> Response {
    let outer = std::mem::take(&mut cx.envelope);
    let before = cx.dispatched.swap(false, Ordering::Relaxed);
    let slot = match entry.spec.scope {
        Scope::Session => cx.host.slot(&cx.session_name).map(Some),
        Scope::Host => Ok(None),
    };
    let result = match slot {
        // Boxed: a batch is itself a command, so its future would otherwise contain itself.
        Ok(slot) => Box::pin(execute(entry, prepared, slot, cx)).await,
        Err(e) => Err(e),
    };
    let mut response = respond::respond(entry, cx, result);
    // Only the outer response carries the state directory.
    response.state_dir = None;
    cx.envelope = outer;
    cx.envelope.turns.append(&mut response.turns);
    cx.dispatched.fetch_or(before, Ordering::Relaxed);
    response
}

/// Runs a logged command after the checkout of its session, if the command needs a checkout.
async fn run(
    entry: &'static Entry,
    mut prepared: Prepared,
    admitted: Option<Admitted>,
    cx: &mut Cx,
) -> Result<Box<dyn ErasedOutput>> {
    cx.check()?;
    if entry.spec.lane != Lane::Beside {
        publish(cx, Some(entry.spec.name));
    }
    if !entry.spec.despite_dialog
        && let Ok(live) = cx.open_session()
        && let Some(dialog) = live.device.dialog()
    {
        return Err(crate::observe::capture::dialog_error(&dialog));
    }
    check_capabilities(entry, cx)?;
    // A command that does not act on the page works in any tab.
    let (effect, mut input) = (prepared.effect, std::mem::take(&mut prepared.input));
    let acts = effect == Effect::Mutates && !entry.spec.despite_dialog;
    match navigation::process_ended_tabs(cx) {
        Some(moved) if acts => return Err(ended_tab_error(&moved)),
        Some(moved) => cx.warn(format!("Note: {moved}.")),
        None => {}
    }
    authority::begin(cx, entry, admitted, &input)?;
    if effect == Effect::Mutates
        && let Ok(live) = cx.open_session()
    {
        live.begin_action();
    }
    recording::record_question_targets(cx, entry, effect, &mut input);
    let result = prepared.run(cx).await;
    // An assertion that did not hold is not recorded.
    let held = result.as_ref().is_ok_and(|output| effect == Effect::Mutates || output.exit() == 0);
    let step = if held { recording::step(cx, entry, effect, &input) } else { None };
    let result = match result {
        Err(mut e) if cx.dispatched() != stickpin_device::Dispatched::No => {
            e.dispatched = cx.dispatched();
            context_rule::report_failed_effects(cx, &e).await;
            Err(e)
        }
        result => result,
    };
    navigation::warn_ended_tabs(cx);
    navigation::warn_device_notices(cx);
    keep_receipt(cx);
    match step {
        Some(step) if cx.envelope.begun.is_none() => authority::record(cx, entry, &input, step),
        step => authority::end(cx, result.as_ref().err(), step),
    }
    result
}

/// Stores the receipt of a command for watchers of the session.
fn keep_receipt(cx: &mut Cx) {
    let seq = cx.envelope.begun.as_ref().map(Begun::seq);
    let lines: Vec<_> = cx.envelope.receipt.iter().map(|line| (line.text.clone(), line.is_error)).collect();
    if let Ok(live) = cx.open_session() {
        live.watch.add(seq, lines);
    }
}

/// Checks that the device supports what the command needs.
fn check_capabilities(entry: &Entry, cx: &mut Cx) -> Result<()> {
    let Ok(live) = cx.open_session() else { return Ok(()) };
    let can = live.device.capabilities();
    match entry.spec.needs.iter().all(|need| can.contains(need)) {
        true => Ok(()),
        false => Err(stickpin_device::unsupported(live.device.info().kind, entry.spec.name)),
    }
}

/// Creates the error for a command whose tab is gone. The command is not run in another tab
/// instead.
fn ended_tab_error(moved: &str) -> Error {
    Error::device_not_found(format!("{moved}; the command was not run"))
        .hint("run `stickpin snapshot -i` to see the current tab, or `stickpin tab list` to list the tabs")
}

/// Publishes the current status to readers.
fn publish(cx: &mut Cx, running: Option<&'static str>) {
    let now = (cx.host.config.clock)();
    let Some(slot) = cx.slot.clone() else { return };
    slot.status.send_modify(|status| {
        if let Ok(live) = cx.open_session() {
            live.publish(status);
        }
        status.running = running;
        status.used = Some(now);
    });
}
