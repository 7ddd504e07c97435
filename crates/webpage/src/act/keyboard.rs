//! Fills and types text, sends key chords, and selects in native lists.

use crate::act::keys::{self, Key};
use crate::act::{code, ignore_gone_document, is_dialog_open, unknown};
use crate::agent::{FocusAnswer, PressVerdict, SelectAnswer, ValueAnswer};
use crate::read::guard;
use crate::read::guard::stopped_outcome;
use crate::read::page::{DocumentElement, Page, element_gone};
use crate::tab::{NONE, World};
use stickpin_device::{CancellationToken, Delivery, Error, ErrorCode, InputOutcome, Modifiers, Result};
use stickpin_devtools::protocol::{InsertText, KeyEvent};
use stickpin_tree::{Handle, quote};

/// The maximum number of characters typed key by key. The rest is inserted at once, as a person
/// would paste it.
const MAX_TYPED_KEYS: usize = 1000;

/// The maximum number of characters whose key events are in flight together.
const MAX_KEYS_IN_FLIGHT: usize = 32;

/// The maximum number of options that an error message lists.
const MAX_LISTED_OPTIONS: usize = 10;

/// Returns the down and up events for one key.
fn strokes(key: &Key, modifiers: u32) -> (KeyEvent, KeyEvent) {
    // With Control, Alt or Meta, a key is a command and types nothing.
    let text = (modifiers & 0b111 == 0 && !key.text.is_empty()).then(|| key.text.clone());
    let event = |kind| KeyEvent {
        r#type: kind,
        modifiers,
        key: key.key.clone(),
        code: key.code.clone(),
        windows_virtual_key_code: Some(key.virtual_key),
        location: Some(key.location),
        ..KeyEvent::default()
    };
    let down = KeyEvent {
        unmodified_text: text.clone(),
        commands: editing_command(key, modifiers),
        ..event(if text.is_some() { "keyDown" } else { "rawKeyDown" })
    };
    (KeyEvent { text, ..down }, event("keyUp"))
}

/// Returns the editing command for a chord on macOS, where the system rather than the page maps
/// chords to commands.
fn editing_command(key: &Key, modifiers: u32) -> Option<Vec<&'static str>> {
    const META: u32 = 4;
    if !cfg!(target_os = "macos") || modifiers & META == 0 {
        return None;
    }
    let command = match key.key.as_str() {
        "a" => "selectAll",
        "c" => "copy",
        "x" => "cut",
        "v" => "paste",
        "z" if modifiers & 8 != 0 => "redo",
        "z" => "undo",
        _ => return None,
    };
    Some(vec![command])
}

/// Sends one key with its modifiers held. Returns whether a dialog opened.
pub(crate) async fn press_key(page: &Page, modifiers: Modifiers, key: &Key) -> Result<bool> {
    let mut sent = Vec::new();
    let mut bits = 0;
    let mut held = Vec::new();
    for (name, bit) in keys::modifier_keys(modifiers) {
        bits |= bit;
        let (down, up) = strokes(&keys::key(name)?, bits);
        sent.push(page.tab.send(&down));
        held.push(page.tab.hold(KeyEvent { modifiers: bits & !bit, ..up }));
    }
    let (down, up) = strokes(key, bits);
    sent.push(page.tab.send(&down));
    held.push(page.tab.hold(up));
    while let Some(last) = held.pop() {
        sent.extend(last.release());
    }
    is_dialog_open(page.tab.deliver(sent).await)
}

pub(crate) async fn chord(page: &mut Page, modifiers: Modifiers, key: &str) -> Result<InputOutcome> {
    let mut key = keys::key(key)?;
    if modifiers.shift && key.text.len() == 1 {
        key = keys::apply_shift(key);
    }
    press_key(page, modifiers, &key).await.map(|_| InputOutcome::done())
}

pub(crate) async fn type_text(
    page: &mut Page,
    target: Option<Handle>,
    text: &str,
    cancel: &CancellationToken,
) -> Result<InputOutcome> {
    let mut guard_verdict = None;
    if let Some(target) = target {
        let DocumentElement { world, id } = page.located_element(target)?;
        if !guard::are_outer_guards_intact(page, target).await? {
            return Ok(stopped_outcome(true));
        }
        let guard = page.guards.for_input(target);
        guard_verdict = guard.is_some().then(|| world.clone());
        let focused: Option<FocusAnswer> =
            page.tab.call(&world, "focus", (id, guard)).await.map_err(unknown)?;
        let focused = focused.ok_or_else(element_gone)?;
        if focused.changed {
            return Ok(stopped_outcome(true));
        }
        if !focused.focused {
            return Err(no_focus());
        }
        if focused.fill == "code" {
            code::caret_to_end(page).await?;
        }
    }
    let cut = text.char_indices().nth(MAX_TYPED_KEYS).map_or(text.len(), |(at, _)| at);
    let (typed, rest) = text.split_at(cut);
    let mut characters = typed.chars().peekable();
    while characters.peek().is_some() {
        if cancel.is_cancelled() {
            return Err(unknown(Error::new(ErrorCode::Timeout, "typing was cancelled")));
        }
        let mut keys = Vec::new();
        let mut inserted = Vec::new();
        for character in characters.by_ref().take(MAX_KEYS_IN_FLIGHT) {
            let key = match character {
                '\r' => continue,
                '\n' => keys::key("Enter")?,
                '\t' => keys::key("Tab")?,
                c => keys::character(c),
            };
            if key.code.is_none() {
                // No key types this character; an input method would insert it.
                inserted.push(page.tab.send(&InsertText { text: character.into() }));
                continue;
            }
            let shift = u32::from(keys::needs_shift(character)) << 3;
            let (down, up) = strokes(&key, shift);
            keys.push(page.tab.send(&down));
            keys.extend(page.tab.hold(up).release());
        }
        page.tab.deliver(keys).await.map_err(unknown)?;
        page.tab.deliver(inserted).await.map_err(unknown)?;
    }
    if !rest.is_empty() {
        let insert = InsertText { text: rest.replace('\r', "") };
        page.tab.deliver(vec![page.tab.send(&insert)]).await.map_err(unknown)?;
    }
    let delivery = match guard_verdict {
        Some(world) => text_landed(page, &world).await?,
        None => Delivery::Unknown,
    };
    Ok(InputOutcome::done().delivery(delivery))
}

/// Returns where text landed: [`Delivery::Elsewhere`] or [`Delivery::Changed`] if the document
/// stopped some of it, otherwise [`Delivery::Unknown`]. Ends the tracking of the text.
pub(crate) async fn text_landed(page: &Page, world: &World) -> Result<Delivery> {
    let verdict = ignore_gone_document(page.tab.call::<Option<PressVerdict>>(world, "endText", NONE).await)?;
    Ok(verdict.flatten().map_or(Delivery::Unknown, PressVerdict::delivery))
}

pub(crate) async fn fill(page: &mut Page, target: Handle, text: &str) -> Result<InputOutcome> {
    let DocumentElement { world, id } = page.located_element(target)?;
    if !guard::are_outer_guards_intact(page, target).await? {
        return Ok(stopped_outcome(true));
    }
    let guard = page.guards.for_input(target);
    let field: Option<FocusAnswer> = page.tab.call(&world, "focusField", (id, guard)).await?;
    let field = field.ok_or_else(element_gone)?;
    if field.changed {
        return Ok(stopped_outcome(true));
    }
    if let Some(why) = field.why {
        let message = format!("the element cannot be filled: {why}");
        return Err(match why.is_disabled() {
            true => Error::new(ErrorCode::ElementDisabled, message),
            false => Error::new(ErrorCode::Unsupported, message).hint(
                "`fill` needs a text field that can be edited; use `press`, `check` or `select` for other controls",
            ),
        });
    }
    let accepts = (!field.accepts.is_empty()).then_some(field.accepts);
    if field.fill == "set" {
        let key = page.guards.key(target);
        let set: Option<ValueAnswer> =
            page.tab.call(&world, "setValue", (field.id, text, key)).await.map_err(unknown)?;
        let set = set.ok_or_else(element_gone)?;
        if set.changed {
            return Ok(stopped_outcome(true));
        }
        if set.refused {
            let (text, value) = (quote(text), quote(&set.value));
            let message = format!("the field cannot hold {text} and would change it to {value}");
            let error = Error::new(ErrorCode::FillMismatch, message);
            return Err(error.hint(format!("the field accepts {}", set.accepts)));
        }
        return Ok(InputOutcome::done().value(Some(set.value)).accepts(accepts));
    }
    if !field.focused {
        return Err(unknown(no_focus()));
    }
    if field.fill == "code" {
        let key = page.guards.key(target).map(str::to_owned);
        return code::fill_code(page, &world, field.id, text, key.as_deref()).await;
    }
    if field.editor && !field.value.is_empty() {
        // Editors learn about the selection from an event that arrives after the selection has
        // changed.
        page.tab.wait_frame(&world).await.map_err(unknown)?;
    }
    if text.is_empty() {
        if !field.value.is_empty() {
            press_key(page, Modifiers::default(), &keys::key("Delete")?).await?;
        }
    } else {
        let insert = InsertText { text: text.to_owned() };
        is_dialog_open(page.tab.deliver(vec![page.tab.send(&insert)]).await)?;
    }
    let (mut value, verdict) = read_value_and_verdict(page, &world, field.id).await?;
    // If the focus moved on, the value that is read back shows it.
    if let Some(verdict) = verdict.filter(|verdict| verdict.landed == "changed") {
        return Ok(stopped_outcome(verdict.stopped));
    }
    if value.as_deref().is_some_and(|value| value != text) {
        // Editors that keep their content in a model render it with the next frame.
        value = match ignore_gone_document(page.tab.wait_frame(&world).await)? {
            Some(()) => read_value_and_verdict(page, &world, field.id).await?.0,
            None => None,
        };
    }
    Ok(InputOutcome::done().value(value).accepts(accepts))
}

/// Returns the value of a field, `None` if the field is gone, and the verdict on its text, `None`
/// if none of the text was stopped. Both are `None` when filling opened a dialog or led to another
/// page.
async fn read_value_and_verdict(
    page: &Page,
    world: &World,
    id: u64,
) -> Result<(Option<String>, Option<PressVerdict>)> {
    Ok(ignore_gone_document(page.tab.call(world, "readValue", (id,)).await)?.unwrap_or_default())
}

pub(crate) async fn select(page: &mut Page, target: Handle, options: &[String]) -> Result<InputOutcome> {
    let DocumentElement { world, id } = page.located_element(target)?;
    if !guard::are_outer_guards_intact(page, target).await? {
        return Ok(stopped_outcome(true));
    }
    let guard = page.guards.for_input(target);
    let answer: Option<SelectAnswer> =
        page.tab.call(&world, "select", (id, options, guard)).await.map_err(unknown)?;
    let selected = answer.ok_or_else(element_gone)?;
    if selected.changed {
        return Ok(stopped_outcome(true));
    }
    let named = |options: &[String]| {
        let more = if options.len() > MAX_LISTED_OPTIONS { ", …" } else { "" };
        let names: Vec<String> = options.iter().take(MAX_LISTED_OPTIONS).map(|o| quote(o)).collect();
        names.join(", ") + more
    };
    if let Some(why) = selected.why {
        let code = if why.is_disabled() { ErrorCode::ElementDisabled } else { ErrorCode::InvalidArgs };
        return Err(Error::new(code, format!("the list was not changed: {why}")));
    }
    if let Some(label) = &selected.several {
        let (count, label) = (selected.options.len(), quote(label));
        let message = format!("the list has {count} options named {label}");
        return Err(Error::new(ErrorCode::AmbiguousMatch, message)
            .hint(format!("choose an option by its value: {}", named(&selected.options))));
    }
    if let Some(missing) = selected.missing.first() {
        let message = format!("the list has no option {}", quote(missing));
        let hint = match selected.options.is_empty() {
            true => "the list is empty; the app may still be filling it".to_owned(),
            false => format!("choose one of: {}", named(&selected.options)),
        };
        return Err(Error::new(ErrorCode::ElementNotFound, message).hint(hint));
    }
    if selected.refused {
        let reads = quote(selected.value.as_deref().unwrap_or_default());
        let message = format!("the list shows {reads} after the page handled the choice");
        let hint = "the app may have refused the choice; run `stickpin snapshot -i` to see what is chosen";
        return Err(unknown(Error::new(ErrorCode::FillMismatch, message).hint(hint)));
    }
    Ok(InputOutcome::default().handled(selected.handled).value(selected.value))
}

fn no_focus() -> Error {
    Error::new(ErrorCode::Unsupported, "the element did not take the keyboard focus")
        .hint("press the element first, then run `stickpin snapshot -i` to see what opened")
}
