//! Records commands that succeed while their session is being recorded.

use crate::api::spec::Effect;
use crate::api::target::Target;
use crate::command::args::ActionOptions;
use crate::command::context::Cx;
use crate::command::entry::Entry;
use crate::host::recording::{NewStep, RecordedCommand, RecordedTarget};
use crate::observe::resolve::ResolvedTarget;
use crate::observe::{capture, resolve};
use serde_json::{Map, Value};
use stickpin_device::{Error, Result};
use stickpin_session::Origin;
use stickpin_tree::{Selector, States};

/// Checks that a target resolved to the element that a replay expects. If the session is being
/// recorded, also names the target for the recording. Called before anything is sent.
///
/// # Errors
/// Returns `REPLAY_DIVERGENCE` when the target does not have the expected meaning. Returns
/// `AMBIGUOUS_MATCH` when the session is being recorded and no selector matches only the target.
/// While recording, also returns errors from capturing the app and from resolving a ref in that
/// capture.
pub(crate) async fn check_and_record_target(
    cx: &mut Cx,
    target: &Target,
    found: &ResolvedTarget,
    opts: ActionOptions,
) -> Result<()> {
    let key = match target {
        Target::Ref(r) => r.without_pin().to_string(),
        other => other.to_string(),
    };
    if let Some(expected) = cx.expect.iter().find(|e| e.target == key)
        && !found.meaning.reads_as(&expected.meaning)
    {
        return Err(Error::replay_divergence(format!(
            "`{key}` is {}, but was {} when it was recorded",
            found.meaning, expected.meaning
        ))
        .details(serde_json::json!({
            "target": key, "expected": expected.meaning, "found": found.meaning.to_string()
        })));
    }
    let replayed = cx.replayed;
    if cx.open_session()?.recorder.as_ref().is_none_or(|r| !r.takes(replayed)) {
        return Ok(());
    }
    let mut node = found.node;
    if let Target::Ref(r) = target {
        capture::capture_app(cx, Origin::Internal).await?;
        node = if opts.allow_changed {
            resolve::resolve_changed_ref(cx, *r)?
        } else {
            resolve::resolve_after_capture(cx, *r)?
        }
        .node;
    }
    let tree = cx.tree()?;
    let named = node.and_then(|node| {
        let records = cx.open_session().ok()?.session.records(&tree);
        Some((Selector::unique_for(&records, node)?, tree.node(node).is(States::PROTECTED)))
    });
    let Some((selector, secret)) = named else {
        return Err(Error::ambiguous_match(format!(
            "{} cannot be recorded: no selector was found that matches only this element",
            found.describe()
        ))
        .hint(
            "add a distinctive text or `data-testid` to the element or its row, or run `stickpin record stop` to act without recording",
        ));
    };
    let witness = RecordedTarget {
        target: key,
        selector: selector.to_string(),
        meaning: found.meaning.to_string(),
        secret,
    };
    cx.envelope.recorded_targets.retain(|w| w.target != witness.target);
    cx.envelope.recorded_targets.push(witness);
    Ok(())
}

/// Names the refs of a query for the recording, before the query is evaluated: an element that is
/// absent afterwards can no longer be named.
pub(crate) fn record_question_targets(
    cx: &mut Cx,
    entry: &'static Entry,
    effect: Effect,
    input: &mut Map<String, Value>,
) {
    let (client, replayed) = (cx.client_id(), cx.replayed);
    let Ok(live) = cx.open_session() else { return };
    let kept = live.recorder.as_ref().is_some_and(|r| r.keeps(entry, effect, replayed));
    if !kept || effect == Effect::Mutates {
        return;
    }
    let Ok(tree) = cx.tree() else { return };
    let Ok(live) = cx.open_session() else { return };
    let mut named = Vec::new();
    crate::api::target_rewrite::rewrite_targets(entry, input, &mut |target| {
        let Ok(Target::Ref(r)) = target.parse() else { return None };
        let node = live.session.resolve(&client, r.token()).ok()?.node?;
        named.push(RecordedTarget {
            target: r.without_pin().to_string(),
            selector: Selector::unique_for(&live.session.records(&tree), node)?.to_string(),
            meaning: String::new(),
            secret: false,
        });
        None
    });
    cx.envelope.recorded_targets.extend(named);
}

/// Returns whether a text argument of an assertion equals the content of a field that hides it.
fn tells_secret(cx: &mut Cx, entry: &'static Entry, input: &Map<String, Value>) -> bool {
    let Ok(tree) = cx.tree() else { return false };
    let hidden = tree.nodes().filter(|n| n.is(States::PROTECTED) && !n.value().is_empty());
    let mut told = entry.fields().iter().filter(|f| f.is_free_text && entry.spec.asserts);
    let hidden: Vec<&str> = hidden.map(|n| n.value()).collect();
    told.any(|f| input.get(&f.name).and_then(Value::as_str).is_some_and(|text| hidden.contains(&text)))
}

/// Returns whether text typed at the focus goes into a field that hides its content, according to
/// the last capture.
fn focus_is_secret(cx: &mut Cx) -> bool {
    let tree = cx.tree().ok();
    tree.is_some_and(|tree| tree.nodes().any(|n| n.is(States::FOCUSED) && n.is(States::PROTECTED)))
}

/// Returns the step that a successful command contributes to the recording of its session, if any.
pub(crate) fn step(
    cx: &mut Cx,
    entry: &'static Entry,
    effect: Effect,
    input: &Map<String, Value>,
) -> Option<NewStep> {
    let seen = std::mem::take(&mut cx.envelope.recorded_targets);
    let replayed = cx.replayed;
    let recorder = cx.open_session().ok()?.recorder.as_mut()?;
    if replayed && effect != Effect::Reads && recorder.is_repairing() {
        recorder.resume_script();
        return Some(NewStep::ScriptResumed);
    }
    if !recorder.keeps(entry, effect, replayed) || tells_secret(cx, entry, input) {
        return None;
    }
    let mut input = input.clone();
    // Targets in the order of the input. Recorded targets under other names belong to refs that the
    // command itself put in place of selectors.
    let mut targets = Vec::new();
    let mut unnamed = None;
    crate::api::target_rewrite::rewrite_targets(entry, &mut input, &mut |target| {
        let plain = stickpin_refs::strip(target).to_owned();
        let as_kept = plain.parse::<Target>().map_or_else(|_| plain.clone(), |t| t.to_string());
        let same = |w: &&RecordedTarget| w.target == plain || w.target == as_kept;
        match seen.iter().find(same) {
            Some(w) => targets.push(RecordedTarget { target: plain.clone(), ..w.clone() }),
            None if matches!(plain.parse(), Ok(Target::Ref(_))) => unnamed = Some(plain.clone()),
            None => {}
        }
        Some(plain)
    });
    if let Some(unnamed) = unnamed.filter(|_| effect == Effect::Reads) {
        cx.warn(format!("Not recorded: no selector distinguishes {unnamed} from similar elements."));
        return None;
    }
    let typed = entry.fields().iter().any(|f| f.is_free_text) && targets.is_empty();
    let secret = targets.iter().any(|w| w.secret) || (typed && focus_is_secret(cx));
    let variable = input.get("recordAs").and_then(Value::as_str).map(str::to_owned);
    input.retain(|name, _| !entry.fields().iter().any(|f| f.unrecorded && f.name == *name));
    let command = RecordedCommand { definition: entry, input, targets, secret, variable };
    match cx.host.config.script_writer.lines(&command) {
        Ok(lines) => Some(NewStep::Lines(lines)),
        Err(e) => {
            cx.warn(format!("The step could not be recorded: {e}."));
            None
        }
    }
}

/// Warns that a step of the recording is not in the log.
pub(crate) fn warn_unlogged(cx: &mut Cx, e: &Error) {
    cx.warn(format!(
        "The recorded step could not be saved to disk: {e}. The step will be missing if the session is lost before `stickpin record stop` runs."
    ));
}
