//! Selects options of a list: natively if the device can, otherwise by opening the list and
//! pressing options.

mod list;

use crate::act::action_target::{ActionTarget, Actionability};
use crate::act::choice::list::{
    displayed_choice, filter_of, lists, on, only_list, opens_a_list, options_of, says, several,
};
use crate::act::fields::press_action;
use crate::act::input::{FailedAttempts, InputPosition};
use crate::act::outcome::ActionOutput;
use crate::act::{context_rule, input, locate};
use crate::api::target::Target;
use crate::command::args::ActionOptions;
use crate::command::context::Cx;
use crate::observe::{capture, resolve, waiting};
use serde_json::json;
use std::time::Duration;
use stickpin_device::{Action, Error, ErrorCode, Result};
use stickpin_refs::Ref;
use stickpin_session::Origin;
use stickpin_tree::{Handle, NodeId, NodeRef, States, Tree, quote, quote_first};
use tokio::time::Instant;

/// How long a list may take to show its options, or the new choice.
const LIST_TIMEOUT: Duration = Duration::from_millis(1000);

/// The maximum number of options that a message names.
const MAX_NAMED_OPTIONS: usize = 10;

/// An option that was found in a list.
struct OptionMatch {
    name: String,
    /// The value by which the option was found; `None` if it was found by its name.
    value: Option<String>,
    /// The option to press; `None` when it is already selected and needs no press.
    press: Option<Ref>,
    /// Whether the option was selected before.
    was_selected: bool,
    /// Whether the list accepts several options.
    multi_select: bool,
}

impl OptionMatch {
    /// Returns whether a node of a later capture is this option.
    fn is(&self, option: NodeRef<'_>) -> bool {
        option.name() == self.name && self.value.as_ref().is_none_or(|value| option.value() == value)
    }
}

/// The list to select from.
struct SelectionList {
    /// The target that finds the list again. A ref if possible, because the popup of a list may
    /// have the same name as the list.
    target: Target,
    ready: ActionTarget,
    /// Whether the list was pressed, or text was filled into it, to show its options.
    opened: bool,
    /// The lists that existed before this list was opened; they belong to other elements.
    earlier_lists: Option<Vec<Handle>>,
}

/// Whether a list shows the requested choice. Ordered: the outcome of several options is the worst
/// one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SelectionState {
    Shown,
    /// The list does not reveal its selection.
    Unknown,
    NotShown,
}

/// Selects exactly the given options of a list.
///
/// # Errors
/// Returns errors from resolving the target and from the guards. Also returns `INVALID_ARGS` when
/// the target is not a list or does not accept that many options, `ELEMENT_NOT_FOUND` with the
/// available options, `AMBIGUOUS_MATCH` when several options match, and `FILL_MISMATCH` when the
/// list shows another choice afterwards.
pub(crate) async fn choose(
    cx: &mut Cx,
    target: &Target,
    options: &[String],
    opts: ActionOptions,
) -> Result<(ActionTarget, ActionOutput)> {
    if options.is_empty() {
        return Err(Error::invalid_args("`select` needs at least one option")
            .hint("for example: `stickpin select @e6 Austria`"));
    }
    let action = |ready: &ActionTarget| {
        Ok(Some(Action::Select { target: ready.element_handle()?, options: options.to_vec() }))
    };
    let (ready, performed) =
        input::aim_and_send_if(cx, target, Actionability::InView, opts, InputPosition::First, action).await?;
    let performed = performed.unwrap_or_default();
    let named: Vec<String> = options.iter().map(|o| quote(o)).collect();
    let mut acted = ActionOutput::new("selected", format!("{} in {}", named.join(", "), ready.description));
    if performed.handled {
        // A multi-select list reports an empty value if no option is selected or the list shows no
        // value.
        acted.value = performed.value.filter(|value| !value.is_empty());
        return Ok((ready, acted));
    }
    let mut list =
        SelectionList { target: named_again(cx, target, &ready)?, ready, opened: false, earlier_lists: None };
    let chosen = choose_by_presses(cx, &mut list, options, opts).await;
    if let (Err(_), Some(older), Some(opener)) = (&chosen, &list.earlier_lists, list.ready.handle) {
        fold(cx, &list.ready, opener, older).await;
    }
    chosen.map(|()| (list.ready, acted))
}

/// Closes a list that was opened for a failed selection, because an open list intercepts the next
/// input. A failure is only logged: the original error is more useful.
async fn fold(cx: &mut Cx, list: &ActionTarget, opener: Handle, older: &[Handle]) {
    let _under_way = cx.begin_operation();
    let folded = match cx.device() {
        Ok(device) => device.close_popup(opener, older).await,
        Err(e) => Err(e),
    };
    match folded {
        Ok(folded) => tracing::debug!(folded, "{} was opened", list.description),
        Err(e) => tracing::debug!("{} was opened and is still open: {e}", list.description),
    }
}

/// Selects as a person does: opens the list if necessary and presses its options.
async fn choose_by_presses(
    cx: &mut Cx,
    list: &mut SelectionList,
    options: &[String],
    opts: ActionOptions,
) -> Result<()> {
    let named: Vec<String> = options.iter().map(|o| quote(o)).collect();
    let before = read_choice(cx, list).await?;
    let mut chosen = Vec::new();
    for option in options {
        let choice = find_option(cx, list, option, opts).await?;
        let ready = &list.ready;
        if options.len() > 1 && !choice.multi_select {
            return Err(Error::invalid_args(format!(
                "{} accepts one option, not {}",
                ready.description,
                options.len()
            ))
            .dispatched(cx.dispatched()));
        }
        if let Some(r) = choice.press {
            press_option(cx, r, opts).await?;
        }
        chosen.push(choice);
    }
    if chosen.iter().all(|c| c.multi_select) {
        drop_others(cx, list, &chosen, opts).await?;
    }
    match comes_to_show(cx, list, &chosen, &before).await? {
        SelectionState::Shown => Ok(()),
        SelectionState::Unknown => {
            cx.warn(format!("{} does not show which option is chosen.", list.ready.description));
            Ok(())
        }
        SelectionState::NotShown => {
            let now = read_choice(cx, list).await?;
            let ready = &list.ready;
            let reads = if now.is_empty() { String::new() } else { format!("; it reads {}", quote(&now)) };
            Err(Error::fill_mismatch(format!(
                "{} does not show {} after the choice{reads}",
                ready.description,
                named.join(", ")
            ))
            .hint("the app may have refused the choice; run `stickpin snapshot -i` to see what is chosen")
            .details(json!({ "value": now }))
            .dispatched(cx.dispatched()))
        }
    }
}

/// Returns the target that finds the list again while options are selected.
fn named_again(cx: &mut Cx, target: &Target, list: &ActionTarget) -> Result<Target> {
    let Some(found) = &list.found else { return Ok(target.clone()) };
    match found.target_ref {
        Some(r) => Ok(Target::Ref(stickpin_refs::RefToken::plain(r.without_pin()).into())),
        None => locate::pin_selector_to_ref(cx, target, found),
    }
}

async fn press_option(cx: &mut Cx, r: Ref, opts: ActionOptions) -> Result<()> {
    // This command found the option just now.
    cx.envelope.pinned_selectors.push(r);
    let target = Target::Ref(stickpin_refs::RefToken::plain(r).into());
    press_further(cx, &target, opts).await
}

/// Presses an element after the first input of a `select`.
async fn press_further(cx: &mut Cx, target: &Target, opts: ActionOptions) -> Result<()> {
    let action = |ready: &ActionTarget| Ok(Some(press_action(ready)));
    input::aim_and_send_if(cx, target, Actionability::Pointer, opts, InputPosition::Further, action)
        .await
        .map(drop)
}

/// Returns the node of a list in a tree that was just captured.
async fn list_in(cx: &mut Cx, tree: &Tree, list: &SelectionList) -> Result<NodeId> {
    // Without handles, an address from an earlier capture is of no use.
    match list.ready.handle.and_then(|h| tree.find_handle(h)) {
        Some(node) => Ok(node.id()),
        None => match resolve::resolve_in_stored_tree(cx, &list.target).await {
            // An open list may hide everything else, including its opener.
            Err(e) if e.code == ErrorCode::StaleRef => only_list(tree).ok_or(e),
            found => found,
        },
    }
}

/// Returns the choice that a list shows, as text.
async fn read_choice(cx: &mut Cx, list: &SelectionList) -> Result<String> {
    let tree = capture::capture_app(cx, Origin::Internal).await?;
    let node = list_in(cx, &tree, list).await?;
    Ok(displayed_choice(tree.node(node)))
}

/// Deselects the options that were not requested, in a multi-select list.
async fn drop_others(
    cx: &mut Cx,
    list: &SelectionList,
    chosen: &[OptionMatch],
    opts: ActionOptions,
) -> Result<()> {
    let tree = capture::capture_app(cx, Origin::Internal).await?;
    let node = list_in(cx, &tree, list).await?;
    let others = options_of(&tree, node, list.earlier_lists.as_deref()).into_iter().filter(|&o| {
        let option = tree.node(o);
        on(option) && !chosen.iter().any(|c| c.is(option))
    });
    let others: Vec<NodeId> = others.collect();
    for r in capture::issue(cx, &others)? {
        press_option(cx, r, opts).await?;
    }
    Ok(())
}

/// Waits until the list shows the requested choice, for at most [`LIST_TIMEOUT`].
async fn comes_to_show(
    cx: &mut Cx,
    list: &SelectionList,
    chosen: &[OptionMatch],
    before: &str,
) -> Result<SelectionState> {
    let until = Instant::now() + LIST_TIMEOUT;
    loop {
        if cx.device()?.dialog().is_some() {
            // The app asks for confirmation first; the client sees the outcome after answering.
            return Ok(SelectionState::Unknown);
        }
        let tree = capture::capture_app(cx, Origin::Internal).await?;
        let took = match list_in(cx, &tree, list).await {
            Ok(node) => {
                let options = options_of(&tree, node, list.earlier_lists.as_deref());
                chosen.iter().map(|c| took(&tree, node, &options, c, before)).max()
            }
            // The list disappeared with the choice, like an editor that closes on selection.
            Err(e) if matches!(e.code, ErrorCode::ElementNotFound | ErrorCode::StaleRef) => None,
            Err(e) => return Err(e),
        };
        let left = until.saturating_duration_since(Instant::now());
        match took {
            None => return Ok(SelectionState::Unknown),
            Some(SelectionState::Shown) => return Ok(SelectionState::Shown),
            Some(took) if left.is_zero() => return Ok(took),
            Some(_) => {}
        }
        waiting::wait_for_change(cx, left).await?;
    }
}

/// Finds an option of a list that is not native, opening the list if necessary.
///
/// # Errors
/// Returns `ELEMENT_NOT_FOUND` with the available options, `AMBIGUOUS_MATCH` when several options
/// match, `INVALID_ARGS` when the target is not a list, and errors from opening the list.
async fn find_option(
    cx: &mut Cx,
    list: &mut SelectionList,
    option: &str,
    opts: ActionOptions,
) -> Result<OptionMatch> {
    let mut pressed = false;
    let mut typed = false;
    let mut attempts = FailedAttempts::default();
    let mut until = Instant::now() + LIST_TIMEOUT;
    loop {
        let tree = capture::capture_app(cx, Origin::Internal).await?;
        context_rule::record_interim_effects(cx, &tree)?;
        let node = list_in(cx, &tree, list).await?;
        let options = options_of(&tree, node, list.earlier_lists.as_deref());
        let reads = |say: &dyn Fn(NodeRef<'_>) -> bool| -> Vec<NodeId> {
            options.iter().copied().filter(|&o| say(tree.node(o))).collect()
        };
        let mut matching = reads(&|o| o.name() == option);
        let by_value = matching.is_empty();
        if by_value {
            matching = reads(&|o| !o.value().is_empty() && o.value() == option);
        }
        match matching[..] {
            [] => {}
            [found] => {
                let was_on = on(tree.node(found));
                let several = several(&tree, node, found);
                // Pressing the current choice closes a single-choice list that this command opened.
                let stays = was_on && (!list.opened || several);
                let press = if stays { None } else { capture::issue(cx, &[found])?.pop() };
                return Ok(OptionMatch {
                    name: tree.node(found).name().to_owned(),
                    value: by_value.then(|| option.to_owned()),
                    press,
                    was_selected: was_on,
                    multi_select: several,
                });
            }
            ref many => {
                let named = capture::issue_described(
                    cx,
                    &tree,
                    &many[..many.len().min(crate::observe::resolve::MAX_CANDIDATES)],
                )?;
                let message = format!(
                    "{} has {} options that match {}",
                    list.ready.description,
                    many.len(),
                    quote(option)
                );
                let e = Error::ambiguous_match(message);
                return Err(crate::observe::resolve::add_candidates(e, "press one of:", &named, many.len()));
            }
        }
        let shown = tree.node(node);
        if options.is_empty() && !pressed {
            if !opens_a_list(shown) {
                let message = format!("{} is not a list of options", list.ready.description);
                return Err(Error::invalid_args(message).hint(
                    "run `stickpin snapshot -i` to list the elements; use `press` for other controls",
                ));
            }
            (pressed, list.opened) = (true, true);
            list.earlier_lists = Some(lists(&tree).filter_map(NodeRef::address).collect());
            let target = list.target.clone();
            press_further(cx, &target, opts).await?;
            continue;
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let narrows = !typed
                && if shown.is(States::EDITABLE) {
                    // An autocomplete lists options that match the typed text.
                    let fill = |ready: &ActionTarget| {
                        Ok(Some(Action::Fill { target: ready.element_handle()?, text: option.to_owned() }))
                    };
                    let target = list.target.clone();
                    input::aim_and_send_if(
                        cx,
                        &target,
                        Actionability::InView,
                        opts,
                        InputPosition::Further,
                        fill,
                    )
                    .await?;
                    true
                } else if let Some(field) = filter_of(&tree, node).filter(|_| list.opened) {
                    let fill = Action::Fill { target: field, text: option.to_owned() };
                    let ready = list.ready.clone();
                    match input::send_to_target(cx, &fill, &ready).await {
                        // The list was re-rendered, including its field.
                        Err(missed) => {
                            attempts.count_vanished(missed.into())?;
                            continue;
                        }
                        Ok(_) => true,
                    }
                } else {
                    false
                };
            if !narrows {
                return Err(missing(&tree, &options, &list.ready, option));
            }
            (typed, pressed, list.opened) = (true, true, true);
            until = Instant::now() + LIST_TIMEOUT;
            continue;
        }
        waiting::wait_for_change(cx, left).await?;
    }
}

/// Creates the error for a missing option, with the available options as its hint.
fn missing(tree: &Tree, options: &[NodeId], list: &ActionTarget, option: &str) -> Error {
    let all = || options.iter().map(|&o| tree.node(o).name());
    let names: Vec<String> = all().take(MAX_NAMED_OPTIONS).map(quote).collect();
    let there = match names.is_empty() {
        true => "no options appeared; run `stickpin snapshot -i` to see the list".to_owned(),
        false => format!("choose one of: {}", quote_first(all(), MAX_NAMED_OPTIONS)),
    };
    Error::element_not_found(format!("{} has no option {}", list.description, quote(option)))
        .hint(there)
        .details(json!({ "options": names }))
}

fn took(tree: &Tree, list: NodeId, options: &[NodeId], choice: &OptionMatch, before: &str) -> SelectionState {
    if choice.was_selected && choice.press.is_some() {
        return SelectionState::Shown;
    }
    let same: Vec<NodeRef<'_>> = options.iter().map(|&o| tree.node(o)).filter(|o| choice.is(*o)).collect();
    let now = displayed_choice(tree.node(list));
    if same.iter().any(|o| on(*o)) || says(&now, &choice.name) || now != before {
        return SelectionState::Shown;
    }
    let tells = same.iter().any(|o| o.states().intersects(States::SELECTABLE | States::CHECKABLE));
    if tells || !now.is_empty() { SelectionState::NotShown } else { SelectionState::Unknown }
}
