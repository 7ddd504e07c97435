//! Setting a field to a value: the field decides how. What `check`, `select` and `form` share.

use crate::act::{How, Reach, Ready};
use crate::after::Acted;
use crate::commands::fill;
use crate::cx::Cx;
use crate::device::{Action, Button, Modifiers};
use crate::error::{Error, ErrorCode, Result};
use crate::target::Target;
use serde_json::json;
use std::time::Duration;
use stickpin_refs::Ref;
use stickpin_session::Origin;
use stickpin_tree::{Attr, NodeId, NodeRef, Role, States, Tree, quote};
use tokio::time::Instant;

/// How long a control may take to show its new state.
const RESPONSE: Duration = Duration::from_millis(500);

/// How a field takes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldKind {
    /// As text.
    Text,
    /// As on or off.
    Check(bool),
    /// As one of its options.
    Choice,
}

impl Cx {
    /// How the field of a target takes this value; nothing is sent.
    ///
    /// # Errors
    /// Of resolving; `INVALID_ARGS` when it takes no value, or not this one.
    pub(crate) async fn field_kind(
        &mut self,
        target: &Target,
        value: &str,
        how: How,
    ) -> Result<(FieldKind, Ready)> {
        let ready = self.ready(target, Reach::There, how).await?;
        let role = ready.found.as_ref().map(|f| f.meaning.role());
        let editable = ready.before.as_ref().is_some_and(|b| b.editable);
        let kind = match role {
            Some(
                Role::Checkbox | Role::Radio | Role::Switch | Role::MenuItemCheckbox | Role::MenuItemRadio,
            ) => match value.to_ascii_lowercase().as_str() {
                "true" | "on" | "yes" | "1" => FieldKind::Check(true),
                "false" | "off" | "no" | "0" => FieldKind::Check(false),
                _ => {
                    return Err(Error::new(
                        ErrorCode::InvalidArgs,
                        format!("{} is checked by true or false, not by {}", ready.words, quote(value)),
                    ));
                }
            },
            Some(Role::Combobox | Role::ListBox) if !editable => FieldKind::Choice,
            _ => {
                self.editable(&ready)?;
                FieldKind::Text
            }
        };
        Ok((kind, ready))
    }

    /// Sets a field.
    ///
    /// # Errors
    /// As `fill`, `check` and `select`.
    pub(crate) async fn set_field(
        &mut self,
        target: &Target,
        value: &str,
        how: How,
    ) -> Result<(Ready, Acted)> {
        match self.field_kind(target, value, how).await?.0 {
            FieldKind::Text => fill::fill(self, target, value, how).await,
            FieldKind::Check(on) => self.set_checked(target, on, how).await,
            FieldKind::Choice => self.choose(target, &[value.to_owned()], how).await,
        }
    }

    /// Makes a box, switch or toggle be on or off.
    ///
    /// # Errors
    /// Of resolving and the guards; `INVALID_ARGS` when it is none; `FILL_MISMATCH` when it does not follow.
    pub(crate) async fn set_checked(
        &mut self,
        target: &Target,
        on: bool,
        how: How,
    ) -> Result<(Ready, Acted)> {
        let ready = self.ready(target, Reach::There, how).await?;
        if is_checked(&ready)? == Some(on) {
            return Ok(already(ready, on));
        }
        let word = if on { "checked" } else { "unchecked" };
        let ready = self.ready(target, Reach::Pointer, how).await?;
        // It may have turned when the pointer arrived: a press would turn it back.
        let now = self.read_again(&ready).await?.or_else(|| ready.before.clone());
        let was = is_checked(&Ready { before: now, ..ready.clone() })?;
        if was == Some(on) {
            return Ok(already(ready, on));
        }
        self.before(&ready).await?;
        self.perform_on(&press(&ready), &ready).await?;
        let mut follows = self.follows(target, &ready, on).await?;
        if !follows && was.is_none() {
            // What is partly on goes on first, and off then.
            let again = self.ready(target, Reach::Pointer, how).await?;
            if is_checked(&again)? == Some(!on) {
                self.perform_on(&press(&again), &again).await?;
                follows = self.follows(target, &again, on).await?;
            }
        }
        if !follows {
            let still = if on { "not checked" } else { "checked" };
            return Err(Error::new(
                ErrorCode::FillMismatch,
                format!("{} is still {still} after it was pressed", ready.words),
            )
            .hint("the app may refuse it; stickpin snapshot -i shows its state")
            .dispatched(self.dispatched()));
        }
        let acted = Acted::new(word, &ready.words);
        Ok((ready, acted))
    }

    /// Whether a control comes to show what it was set to. One that went away is not waited for.
    async fn follows(&mut self, target: &Target, ready: &Ready, on: bool) -> Result<bool> {
        let until = Instant::now() + RESPONSE;
        loop {
            if self.device()?.dialog().is_some() {
                // The app asks first; whoever answers will see.
                return Ok(true);
            }
            let Some(reading) = self.read_again(ready).await? else {
                tracing::debug!(%target, "gone after it was pressed");
                return Ok(true);
            };
            if reading.checked() == Some(on) && !reading.mixed() {
                return Ok(true);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            let cancel = self.cancel.clone();
            self.device()?.changed(left, &cancel).await?;
            self.check()?;
        }
    }

    /// Chooses options of a list: natively where the device can, else as a person does, by opening and pressing.
    ///
    /// # Errors
    /// Of resolving and the guards; `ELEMENT_NOT_FOUND` naming the options that there are; `FILL_MISMATCH`.
    pub(crate) async fn choose(
        &mut self,
        target: &Target,
        options: &[String],
        how: How,
    ) -> Result<(Ready, Acted)> {
        if options.is_empty() {
            return Err(Error::new(ErrorCode::InvalidArgs, "`select` needs at least one option")
                .hint("stickpin select @e6 Austria"));
        }
        let ready = self.ready(target, Reach::View, how).await?;
        let handle = ready.element()?;
        self.before(&ready).await?;
        let action = Action::Select { target: handle, options: options.to_vec() };
        let performed = self.perform_on(&action, &ready).await?;
        let mut acted = Acted::new("selected", format!("{} in {}", options.join(", "), ready.words));
        if performed.handled {
            acted.value = performed.value;
            return Ok((ready, acted));
        }
        for option in options {
            let Some(r) = self.option(target, &ready, option, how).await? else { continue };
            let option = self.ready(&plain(r), Reach::Pointer, how).await?;
            self.perform_on(&press(&option), &option).await?;
        }
        Ok((ready, acted))
    }

    /// The option of a list that is not native, to be pressed; the list is opened if it has to be. `None` when a press
    /// would turn it off: it is selected already.
    ///
    /// # Errors
    /// `ELEMENT_NOT_FOUND` naming the options that there are, `AMBIGUOUS_MATCH` when several read the same.
    async fn option(&mut self, target: &Target, list: &Ready, option: &str, how: How) -> Result<Option<Ref>> {
        let mut opened = false;
        let until = Instant::now() + RESPONSE;
        loop {
            let tree = self.look(Origin::Look).await?;
            // An address of an earlier capture is worth nothing where there are no handles.
            let by_handle = list.handle.and_then(|h| tree.find_handle(h)).map(|n| n.id());
            let node = match by_handle {
                Some(node) => node,
                None => self.in_stored_tree(target).await?,
            };
            let options = options_of(&tree, node);
            let reads = |say: &dyn Fn(NodeRef<'_>) -> bool| -> Vec<NodeId> {
                options.iter().copied().filter(|&o| say(tree.node(o))).collect()
            };
            let mut matching = reads(&|o| o.name() == option);
            if matching.is_empty() {
                matching = reads(&|o| o.value() == option);
            }
            match matching[..] {
                [] => {}
                [found] => {
                    let on = tree.node(found).states().intersects(States::SELECTED | States::CHECKED);
                    // A list of one choice that was opened is closed by pressing the choice again.
                    let stays = on && (!opened || several(&tree, node, found));
                    return Ok(if stays { None } else { self.issue(&[found])?.pop() });
                }
                ref many => {
                    let named = self.named(&tree, &many[..many.len().min(crate::resolve::CANDIDATES)])?;
                    let message = format!("{} has {} options {}", list.words, many.len(), quote(option));
                    let e = Error::new(ErrorCode::AmbiguousMatch, message);
                    return Err(crate::resolve::candidates(e, "press one of:", &named, many.len()));
                }
            }
            if options.is_empty() && !opened {
                if !opens_a_list(tree.node(node)) {
                    let message = format!("{} is no list of options", list.words);
                    return Err(Error::new(ErrorCode::InvalidArgs, message)
                        .hint("stickpin press presses it; stickpin snapshot -i lists what there is"));
                }
                opened = true;
                let ready = self.ready(target, Reach::Pointer, how).await?;
                self.perform_on(&press(&ready), &ready).await?;
                continue;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let names: Vec<String> =
                    options.iter().take(10).map(|&o| quote(tree.node(o).name())).collect();
                let there = if names.is_empty() {
                    "no options came up".to_owned()
                } else {
                    format!("there are {}", names.join(", "))
                };
                return Err(Error::new(
                    ErrorCode::ElementNotFound,
                    format!("{} has no option {}", list.words, quote(option)),
                )
                .hint(there)
                .details(json!({ "options": names })));
            }
            let cancel = self.cancel.clone();
            self.device()?.changed(left, &cancel).await?;
            self.check()?;
        }
    }
}

/// Whether a control is on; `None` when it is partly.
fn is_checked(ready: &Ready) -> Result<Option<bool>> {
    let Some((before, on)) = ready.before.as_ref().and_then(|b| Some((b, b.checked()?))) else {
        return Err(Error::new(
            ErrorCode::InvalidArgs,
            format!("{} is no checkbox, radio, switch or toggle", ready.words),
        )
        .hint("stickpin press acts on other controls"));
    };
    Ok((!before.mixed()).then_some(on))
}

fn already(ready: Ready, on: bool) -> (Ready, Acted) {
    let acted = Acted::new(if on { "already checked" } else { "already unchecked" }, &ready.words);
    (ready, acted)
}

/// Whether a press on it would show options; anything else is not pressed for a `select`.
fn opens_a_list(node: NodeRef<'_>) -> bool {
    matches!(node.role(), Role::Combobox | Role::ListBox)
        || node.states().intersects(States::HAS_POPUP | States::EXPANDABLE | States::EXPANDED)
}

/// The options that belong to a list: inside it, or inside what it controls.
fn options_of(tree: &Tree, list: NodeId) -> Vec<NodeId> {
    let is_option = |n: &stickpin_tree::NodeRef<'_>| n.role() == Role::Option && !n.is(States::HIDDEN);
    let list = tree.node(list);
    let inside: Vec<NodeId> = list.subtree().filter(is_option).map(|n| n.id()).collect();
    if !inside.is_empty() {
        return inside;
    }
    let controlled: Vec<&str> = list.attr(Attr::Controls).unwrap_or("").split_whitespace().collect();
    // An id means something in its own document only.
    let near = tree.nodes().filter(|n| n.document_index() == list.document_index());
    let popups = near.filter(|n| n.attr(Attr::Id).is_some_and(|id| controlled.contains(&id)));
    popups.flat_map(|p| p.subtree().filter(is_option).map(|n| n.id()).collect::<Vec<_>>()).collect()
}

/// Whether more than one option of a list can be selected.
fn several(tree: &Tree, list: NodeId, option: NodeId) -> bool {
    let multiple = |n: NodeRef<'_>| n.is(States::MULTISELECTABLE);
    multiple(tree.node(list))
        || tree.node(option).ancestors().find(|n| n.role() == Role::ListBox).is_some_and(multiple)
}

/// A press where something was aimed at.
pub(crate) fn press(ready: &Ready) -> Action {
    Action::Press {
        point: ready.point,
        target: ready.handle,
        button: Button::Left,
        count: 1,
        modifiers: Modifiers::default(),
        hold: Duration::ZERO,
    }
}

fn plain(r: Ref) -> Target {
    Target::Ref(stickpin_refs::RefToken::plain(r).into())
}
