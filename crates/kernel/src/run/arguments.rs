//! The arguments of a command in the two forms that the session log stores, both without secrets:
//! as the caller gave them, and resolved.

use crate::api::command_definition::CommandDefinition;
use crate::api::request::Caller;
use crate::api::schema::Field;
use crate::api::secret::Secret;
use crate::api::target::Target;
use crate::api::target_rewrite;
use crate::command::begun::CommandRedactor;
use crate::command::context::Cx;
use serde_json::{Map, Value};
use stickpin_coordinator::NewCommand;
use stickpin_session::log::{Arguments, Redacted, RefPin};
use stickpin_tree::{Selector, States};

/// Describes a command for the session log.
pub(super) fn new_command(
    cx: &mut Cx,
    definition: &CommandDefinition,
    input: &Map<String, Value>,
    redactor: &CommandRedactor,
) -> NewCommand {
    let args_raw = Arguments::new(input, redactor);
    let (resolved, ref_pins) = resolve_arguments(cx, definition, input);
    NewCommand {
        verb: definition.spec.name.to_owned(),
        args_resolved: match resolved == *input {
            true => args_raw.clone(),
            false => Arguments::new(&resolved, redactor),
        },
        args_raw,
        summary: Redacted::new(definition.summarize_for(input, redactor), redactor),
        ref_pins,
    }
}

/// Returns the arguments with absolute paths, and with a selector for the meaning of each ref in
/// place of the ref. An argument that cannot be resolved stays unchanged; the command reports why.
/// Also returns the refs with their pins.
fn resolve_arguments(
    cx: &mut Cx,
    definition: &CommandDefinition,
    input: &Map<String, Value>,
) -> (Map<String, Value>, Vec<RefPin>) {
    let mut resolved = input.clone();
    for field in definition.fields() {
        if let Some(value) = resolved.get_mut(&field.name) {
            resolve_paths(&cx.caller, field, value);
        }
    }
    let client = cx.client_id();
    let live = cx.open_session().ok();
    let mut pins = Vec::new();
    target_rewrite::rewrite_targets(definition, &mut resolved, &mut |target| {
        let Ok(Target::Ref(r)) = target.parse() else { return None };
        let token = r.token();
        pins.push(RefPin { r#ref: r.without_pin().to_string(), pin: token.pin.map(|pin| pin.get()) });
        let found = live.as_ref()?.session.resolve(&client, token).ok()?;
        Some(Selector::for_meaning(&found.meaning).to_string())
    });
    (resolved, pins)
}

fn resolve_paths(caller: &Caller, field: &Field, value: &mut Value) {
    let absolute = |written: &str| match (field.is_path, field.is_openable) {
        (true, _) => caller.resolve_path(written).ok(),
        (false, true) => caller.resolve_opened(written).ok().flatten(),
        (false, false) => None,
    };
    match value {
        Value::String(written) => {
            if let Some(path) = absolute(written) {
                *written = path.to_string_lossy().into_owned();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| resolve_paths(caller, field, item)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
    }
}

/// Returns the redactor that keeps the secrets of a command out of the log. `acts` states whether
/// the command may type.
pub(super) fn redactor(
    cx: &mut Cx,
    definition: &CommandDefinition,
    input: &Map<String, Value>,
    acts: bool,
) -> CommandRedactor {
    let mut secrets: Vec<Secret> = cx.caller.secrets.values().cloned().collect();
    secrets.extend(cx.open_session().map(|live| live.secrets.clone()).unwrap_or_default());
    let mut typed = Vec::new();
    if acts && may_type_secret(cx, definition, input) {
        let fields = definition.fields().iter();
        let free = fields.filter(|field| field.is_free_text || field.nested_targets.is_some());
        typed.extend(free.map(|field| field.name.clone()));
    }
    CommandRedactor { secrets, typed }
}

/// Returns whether a command's text may be typed into a field that hides its content. Returns
/// `false` only if the tree has no such field, or if the command has targets and all of them are
/// refs to other elements.
fn may_type_secret(cx: &mut Cx, definition: &CommandDefinition, input: &Map<String, Value>) -> bool {
    // Before the first snapshot, the content of the app is unknown.
    let Ok(tree) = cx.tree() else { return true };
    if !tree.nodes().any(|node| node.is(States::PROTECTED)) {
        return false;
    }
    let client = cx.client_id();
    let Ok(live) = cx.open_session() else { return true };
    let is_plain = |target: Option<Target>| match target {
        Some(Target::Ref(r)) => {
            let found = live.session.resolve(&client, r.token()).ok().and_then(|found| found.node);
            found.is_some_and(|node| !tree.node(node).is(States::PROTECTED))
        }
        _ => false,
    };
    let targets = targets(definition, input);
    targets.is_empty() || !targets.into_iter().all(is_plain)
}

/// Returns the targets of an input in order; `None` for a target that cannot be parsed.
fn targets(definition: &CommandDefinition, input: &Map<String, Value>) -> Vec<Option<Target>> {
    let mut targets = Vec::new();
    let mut input = input.clone();
    target_rewrite::rewrite_targets(definition, &mut input, &mut |target| {
        targets.push(target.parse().ok());
        None
    });
    targets
}
