//! The keyboard: chords and text through the XTEST extension. A character that no key produces is
//! temporarily assigned to a spare key.
//!
//! A property of the root window records which keys are assigned, and by which process. The next
//! process restores the keys that a killed one left assigned.

use crate::display::Display;
use crate::error::{X11Error, X11Result};
use crate::keymap::{self, Keymap, NO_SYMBOL, Stroke};
use crate::{pointer, seat};
use std::time::{Duration, Instant};
use stickpin_device::Modifiers;
use x11rb::connection::Connection;
use x11rb::protocol::xkb::{self, ConnectionExt as _, ID};
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt, GrabMode, KEY_PRESS_EVENT, KEY_RELEASE_EVENT, ModMask, PropMode,
    Window as WindowId,
};
use x11rb::wrapper::ConnectionExt as _;

/// How long after their last use the spare keys keep their assigned keysyms. Apps look a keysym up
/// when they read the event, not when the event is sent.
const LENT: Duration = Duration::from_secs(1);

/// Returns the keycodes for modifiers and, with `level3`, for AltGr, in the order in which they are
/// pressed.
fn modifier_keys(keymap: &Keymap, modifiers: Modifiers, level3: bool) -> X11Result<Vec<u8>> {
    let Modifiers { control, alt, meta, shift } = modifiers;
    let all = [(control, "Control"), (alt, "Alt"), (meta, "Meta"), (shift, "Shift"), (level3, "AltGraph")];
    let syms = all.into_iter().filter_map(|(held, name)| keymap::keysym_of_name(name).filter(|_| held));
    let none = |sym| format!("the keyboard has no key for the modifier with keysym {sym:#x}");
    let key = |sym| keymap.find(sym, 0, false).ok_or_else(|| X11Error::Unsupported(none(sym)));
    syms.map(|sym| Ok(key(sym)?.code)).collect()
}

/// Returns the keyboard mapping that apps use.
///
/// Our own keyboard gets the same mapping, because apps look up modifiers on our keyboard, and a
/// new keyboard starts with the server's layout, not with the layout of the person's keyboard.
pub(crate) fn read_keymap(d: &mut Display) -> X11Result<Keymap> {
    let setup = d.conn.setup();
    let (first, last) = (setup.min_keycode, setup.max_keycode);
    let count = last - first + 1;
    let has_seat = seat::own(d)?.is_some();
    let (answer, modifiers) = seat::query_core_keyboard(d, || {
        let table = d.conn.get_keyboard_mapping(first, count)?;
        let modifiers = d.conn.get_modifier_mapping()?;
        Ok((table.reply()?, modifiers.reply()?.keycodes))
    })?;
    let width = answer.keysyms_per_keycode;
    let keymap = Keymap { first, width: usize::from(width), syms: answer.keysyms };
    if has_seat && d.keymap.as_ref() != Some(&keymap) {
        d.conn.change_keyboard_mapping(count, first, width, &keymap.syms)?;
        d.conn.set_modifier_mapping(&modifiers)?.reply()?;
        d.keymap = Some(keymap.clone());
    }
    Ok(keymap)
}

/// Assigns a keysym to a key, both on the keyboard whose mapping apps use and on our own. Both
/// levels are set, so held modifiers do not matter.
fn assign_keysym(d: &Display, code: u8, sym: u32) -> X11Result<()> {
    if seat::created(d).is_some() {
        d.conn.change_keyboard_mapping(1, code, 2, &[sym, sym])?;
    }
    seat::query_core_keyboard(d, || Ok(d.conn.change_keyboard_mapping(1, code, 2, &[sym, sym]).map(drop)?))
}

/// Returns the active layout of the keyboard, and whether Caps Lock is on.
fn locks(d: &Display) -> X11Result<(usize, bool)> {
    if !d.has_extension(xkb::X11_EXTENSION_NAME)? {
        return Ok((0, false));
    }
    d.conn.xkb_use_extension(1, 0)?.reply()?;
    let state = d.conn.xkb_get_state(ID::USE_CORE_KBD.into())?.reply()?;
    let caps = u16::from(state.locked_mods) & u16::from(ModMask::LOCK) != 0;
    Ok((usize::from(u8::from(state.group)), caps))
}

/// Plans the strokes for these keysyms, and assigns spare keys to keysyms that no key produces.
/// Returns fewer strokes if there are no more spare keys: the rest has to wait until the app has
/// read these strokes.
fn plan(d: &mut Display, keymap: &Keymap, syms: &[u32]) -> X11Result<Vec<Stroke>> {
    let (group, caps) = locks(d)?;
    // Whoever has loaded a layout meanwhile has taken the lent keys back.
    d.lent_keys.retain(|sym, code| keymap.keysym(*code) == Some(*sym));
    let taken: Vec<u8> = d.lent_keys.values().copied().collect();
    let mut spares = keymap.unmapped_keys().into_iter().filter(|code| !taken.contains(code));
    let mut lent = Vec::new();
    for &sym in syms {
        if !d.lent_keys.contains_key(&sym) && keymap.find(sym, group, caps).is_none() {
            let Some(code) = spares.next() else { break };
            d.lent_keys.insert(sym, code);
            lent.push((code, sym));
        }
    }
    // Set first, so that the keys are given back even if assigning fails.
    if syms.iter().any(|sym| d.lent_keys.contains_key(sym)) {
        d.lent_until = Some(Instant::now() + LENT);
    }
    if !lent.is_empty() {
        record_spares(d)?;
        for (code, sym) in lent {
            assign_keysym(d, code, sym)?;
        }
    }
    let plain = |&code: &u8| Stroke { code, shift: false, level3: false };
    let stroke = |sym| d.lent_keys.get(sym).map(plain).or_else(|| keymap.find(*sym, group, caps));
    Ok(syms.iter().map_while(stroke).collect())
}

/// Types a prefix of the text, at least one character. Returns the number of typed characters.
pub fn type_text(d: &mut Display, text: &[char]) -> X11Result<usize> {
    let keymap = read_keymap(d)?;
    let syms: Vec<u32> = text.iter().map(|&c| keymap::keysym_of_char(c)).collect();
    let mut strokes = plan(d, &keymap, &syms)?;
    if strokes.is_empty() && !syms.is_empty() {
        // The caller has ensured that the app has read the text typed with the spare keys.
        restore_spares(d)?;
        let keymap = read_keymap(d)?;
        strokes = plan(d, &keymap, &syms)?;
        if strokes.is_empty() {
            let first = stickpin_tree::quote(&text[0].to_string());
            return Err(X11Error::Unsupported(format!(
                "no key produces {first}, and the keyboard has no spare key"
            )));
        }
    }
    for stroke in &strokes {
        send(d, &keymap, *stroke, Modifiers::default())?;
    }
    d.sync()?;
    Ok(strokes.len())
}

/// Sends one chord. Returns false if there is no such key, or no spare key to assign it to.
pub fn chord(d: &mut Display, modifiers: Modifiers, name: &str) -> X11Result<bool> {
    let Some(sym) = keymap::keysym_of_name(name) else { return Ok(false) };
    let keymap = read_keymap(d)?;
    let Some(&stroke) = plan(d, &keymap, &[sym])?.first() else { return Ok(false) };
    send(d, &keymap, stroke, modifiers)?;
    d.sync()?;
    Ok(true)
}

/// Presses the keys of these modifiers, or releases them in reverse order.
pub fn hold(d: &mut Display, modifiers: Modifiers, down: bool) -> X11Result<()> {
    let keymap = read_keymap(d)?;
    let mut codes = modifier_keys(&keymap, modifiers, false)?;
    if !down {
        codes.reverse();
    }
    codes.into_iter().try_for_each(|code| key(d, code, down))
}

fn key(d: &Display, code: u8, down: bool) -> X11Result<()> {
    pointer::send_fake_input(d, if down { KEY_PRESS_EVENT } else { KEY_RELEASE_EVENT }, code, 0, 0)
}

/// Returns whether another client grabs the keyboard (see [`pointer::is_grabbed`]). If so, that
/// client receives our keys, regardless of the focus. With `with_core`, also checks the server's
/// core keyboard if ours is a different keyboard.
pub(crate) fn is_grabbed(d: &Display, with_core: bool) -> X11Result<bool> {
    let mode = GrabMode::ASYNC;
    let ours = d.conn.grab_keyboard(false, d.own, x11rb::CURRENT_TIME, mode, mode)?;
    let core = with_core && seat::is_core_device_grabbed(d, seat::CORE.keyboard)?;
    Ok(seat::is_taken(ours.reply()?.status) || core)
}

/// Sends one key while its modifiers are held.
fn send(d: &Display, keymap: &Keymap, stroke: Stroke, modifiers: Modifiers) -> X11Result<()> {
    let modifiers = Modifiers { shift: modifiers.shift || stroke.shift, ..modifiers };
    let mut codes = modifier_keys(keymap, modifiers, stroke.level3)?;
    codes.push(stroke.code);
    for &code in &codes {
        key(d, code, true)?;
    }
    codes.iter().rev().try_for_each(|&code| key(d, code, false))
}

/// Restores the keys that we have assigned keysyms to.
pub(crate) fn restore_spares(d: &mut Display) -> X11Result<()> {
    d.lent_until = None;
    let lent = std::mem::take(&mut d.lent_keys);
    unassign_keysyms(d, lent.into_values().collect())
}

/// Restores the keys that killed processes have assigned keysyms to.
pub(crate) fn remove_leftovers(d: &Display) -> X11Result<()> {
    let left = recorded_spares(d, false)?;
    unassign_keysyms(d, left.into_iter().map(|(_, code)| code).collect())
}

/// Removes the keysyms of these keys, and then the record of their assignment.
fn unassign_keysyms(d: &Display, codes: Vec<u8>) -> X11Result<()> {
    if codes.is_empty() {
        return Ok(());
    }
    tracing::debug!(?codes, "restoring keys with assigned keysyms");
    for code in codes {
        assign_keysym(d, code, NO_SYMBOL)?;
    }
    record_spares(d)?;
    d.sync()
}

/// Parses pairs of numbers: windows, and the keys that their processes have assigned.
fn pairs(numbers: &[u32]) -> Vec<(WindowId, u8)> {
    let pair = |two: &[u32]| Some((two[0], u8::try_from(two[1]).ok()?));
    numbers.chunks_exact(2).filter_map(pair).collect()
}

/// Returns the keys that are recorded as assigned, each with the window of its process. With
/// `lives`, returns the keys of live processes; otherwise, those of processes that have ended.
fn recorded_spares(d: &Display, lives: bool) -> X11Result<Vec<(WindowId, u8)>> {
    let mut lent = Vec::new();
    for (owner, code) in pairs(&d.numbers(d.root, d.atoms.STICKPIN_SPARES)?) {
        if d.is_owner_alive(owner)? == lives {
            lent.push((owner, code));
        }
    }
    Ok(lent)
}

/// Records the keys that we have assigned, in addition to those of other live processes.
fn record_spares(d: &Display) -> X11Result<()> {
    let ours = d.lent_keys.values().map(|&code| (d.own, code));
    let all = recorded_spares(d, true)?.into_iter().chain(ours);
    let all: Vec<u32> = all.flat_map(|(owner, code)| [owner, code.into()]).collect();
    let name = d.atoms.STICKPIN_SPARES;
    d.conn.change_property32(PropMode::REPLACE, d.root, name, AtomEnum::CARDINAL, &all)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_pair_of_a_window_and_a_key_is_left_out() {
        assert_eq!(pairs(&[7, 200, 8, 256, 9]), [(7, 200)]);
        assert_eq!(pairs(&[]), []);
    }
}
