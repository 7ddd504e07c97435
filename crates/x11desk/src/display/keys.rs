//! The keyboard: chords and text, by the XTEST extension. What no key makes gets a key without a meaning for a while.

use super::keymap::{self, Keymap, NO_SYMBOL, Stroke};
use crate::display::fault::Fault;
use crate::display::server::Display;
use std::time::Instant;
use stickpin_device::Modifiers;
use x11rb::connection::{Connection, RequestConnection};
use x11rb::protocol::xkb::{self, ConnectionExt as _, ID};
use x11rb::protocol::xproto::{ConnectionExt, ModMask};

/// What is on at the keyboard.
#[derive(Debug, Clone, Copy, Default)]
struct Locks {
    group: usize,
    caps: bool,
}

/// The keys that are held for modifiers, in the order in which they are pressed.
fn held(modifiers: Modifiers) -> impl Iterator<Item = u32> {
    let all = [
        (modifiers.control, "Control"),
        (modifiers.alt, "Alt"),
        (modifiers.meta, "Meta"),
        (modifiers.shift, "Shift"),
    ];
    all.into_iter().filter_map(|(held, name)| keymap::named(name).filter(|_| held))
}

/// The key of a modifier.
fn modifier(keymap: &Keymap, sym: u32) -> Result<u8, Fault> {
    let key = keymap.find(sym, 0, false).map(|stroke| stroke.code);
    key.ok_or_else(|| Fault::Refused(format!("a chord: no key of the keyboard is the modifier {sym:#x}")))
}

impl Display {
    /// The table by which apps read keys. That of a keyboard of our own is made the same: the modifiers that it holds come
    /// from there, and a new keyboard begins with the layout of the server, not with that of the person.
    fn keymap(&mut self) -> Result<Keymap, Fault> {
        // A change of the table is told by an event, that of the person's beside ours is not.
        self.handle_events()?;
        let own = self.has_seat();
        if let Some(keymap) = self.keymap.as_ref().filter(|_| !own) {
            return Ok(keymap.clone());
        }
        let setup = self.conn.setup();
        let (first, last) = (setup.min_keycode, setup.max_keycode);
        let count = last - first + 1;
        let (answer, modifiers) = self.of_person(|| {
            let table = self.conn.get_keyboard_mapping(first, count)?;
            let modifiers = self.conn.get_modifier_mapping()?;
            Ok((table.reply()?, modifiers.reply()?.keycodes))
        })?;
        let width = answer.keysyms_per_keycode;
        let keymap = Keymap { first, width: usize::from(width), syms: answer.keysyms };
        if own && self.keymap.as_ref() != Some(&keymap) {
            self.conn.change_keyboard_mapping(count, first, width, &keymap.syms)?;
            self.conn.set_modifier_mapping(&modifiers)?.reply()?;
        }
        self.keymap = Some(keymap.clone());
        Ok(keymap)
    }

    /// Gives a key a meaning on the keyboard that apps read by, and on our own. Both levels: whatever is held, it types this.
    fn mean(&self, code: u8, sym: u32) -> Result<(), Fault> {
        if self.has_seat() {
            self.conn.change_keyboard_mapping(1, code, 2, &[sym, sym])?;
        }
        self.of_person(|| Ok(self.conn.change_keyboard_mapping(1, code, 2, &[sym, sym]).map(drop)?))
    }

    fn locks(&self) -> Result<Locks, Fault> {
        if self.conn.extension_information(xkb::X11_EXTENSION_NAME)?.is_none() {
            return Ok(Locks::default());
        }
        self.conn.xkb_use_extension(1, 0)?.reply()?;
        let state = self.conn.xkb_get_state(ID::USE_CORE_KBD.into())?.reply()?;
        let caps = u16::from(state.locked_mods) & u16::from(ModMask::LOCK) != 0;
        Ok(Locks { group: usize::from(u8::from(state.group)), caps })
    }

    /// How to make each of these keysyms, lending keys to those that none makes. Fewer when there are no more keys to
    /// lend: the rest has to wait until the app has read these.
    fn strokes(&mut self, keymap: &Keymap, syms: &[u32]) -> Result<Vec<Stroke>, Fault> {
        let locks = self.locks()?;
        let mut out = Vec::with_capacity(syms.len());
        let mut free = None;
        let mut lent = Vec::new();
        for &sym in syms {
            let plain = |code| Stroke { code, shift: false, level3: false };
            let known = self.spares.lent.get(&sym).copied().map(plain);
            let stroke = match known.or_else(|| keymap.find(sym, locks.group, locks.caps)) {
                Some(stroke) => stroke,
                None => {
                    let free = free.get_or_insert_with(|| keymap.spares());
                    free.retain(|code| !self.spares.lent.values().any(|l| l == code));
                    let Some(&code) = free.first() else { break };
                    self.spares.lent.insert(sym, code);
                    lent.push((code, sym));
                    plain(code)
                }
            };
            if self.spares.lent.contains_key(&sym) {
                self.spares.used = Some(Instant::now());
            }
            out.push(stroke);
        }
        if !lent.is_empty() {
            self.note_spares()?;
            for (code, sym) in lent {
                self.mean(code, sym)?;
            }
        }
        Ok(out)
    }

    /// Types characters, at least one of them; how many of them it were.
    pub fn type_text(&mut self, text: &[char]) -> Result<usize, Fault> {
        let keymap = self.keymap()?;
        let syms: Vec<u32> = text.iter().map(|&c| keymap::of_char(c)).collect();
        let mut strokes = self.strokes(&keymap, &syms)?;
        if strokes.is_empty() && !syms.is_empty() {
            // What was typed with them has been read: the caller sees to that.
            self.restore_spares_now()?;
            let keymap = self.keymap()?;
            strokes = self.strokes(&keymap, &syms)?;
            if strokes.is_empty() {
                return Err(Fault::Refused(
                    "text that no key makes: every key of the keyboard has a meaning".into(),
                ));
            }
        }
        for stroke in &strokes {
            self.stroke(&keymap, *stroke, Modifiers::default())?;
        }
        self.sync()?;
        Ok(strokes.len())
    }

    /// Sends one chord; false when there is no such key.
    pub fn chord(&mut self, modifiers: Modifiers, name: &str) -> Result<bool, Fault> {
        let Some(sym) = keymap::named(name) else { return Ok(false) };
        let keymap = self.keymap()?;
        let Some(&stroke) = self.strokes(&keymap, &[sym])?.first() else { return Ok(false) };
        self.stroke(&keymap, stroke, modifiers)?;
        self.sync()?;
        Ok(true)
    }

    /// Presses the keys of these modifiers, or lets them go in the opposite order.
    pub fn hold(&mut self, modifiers: Modifiers, down: bool) -> Result<(), Fault> {
        let keymap = self.keymap()?;
        let mut codes = held(modifiers).map(|sym| modifier(&keymap, sym)).collect::<Result<Vec<_>, _>>()?;
        if !down {
            codes.reverse();
        }
        codes.into_iter().try_for_each(|code| self.key(code, down))
    }

    /// Sends one key with its modifiers held.
    fn stroke(
        &self,
        keymap: &Keymap,
        Stroke { code, shift, level3 }: Stroke,
        modifiers: Modifiers,
    ) -> Result<(), Fault> {
        let modifiers = Modifiers { shift: modifiers.shift || shift, ..modifiers };
        let syms = held(modifiers).chain(level3.then_some(keymap::LEVEL3));
        let mut codes = syms.map(|sym| modifier(keymap, sym)).collect::<Result<Vec<_>, _>>()?;
        codes.push(code);
        for &code in &codes {
            self.key(code, true)?;
        }
        codes.iter().rev().try_for_each(|&code| self.key(code, false))
    }

    /// Gives lent keys back once nobody reads them any more.
    pub(super) fn restore_spares(&mut self, now: Instant) -> Result<(), Fault> {
        if self.spares.due().is_some_and(|due| due <= now) { self.restore_spares_now() } else { Ok(()) }
    }

    pub(super) fn restore_spares_now(&mut self) -> Result<(), Fault> {
        let lent = std::mem::take(&mut self.spares);
        if lent.lent.is_empty() {
            return Ok(());
        }
        self.unlend(lent.lent.values().copied())?;
        self.note_spares()?;
        self.sync()
    }

    /// Takes the meaning from keys that had none.
    pub(super) fn unlend(&self, mut codes: impl Iterator<Item = u8>) -> Result<(), Fault> {
        codes.try_for_each(|code| self.mean(code, NO_SYMBOL))
    }

    /// Writes down which keys are lent, and by whom: what a crash leaves is put back by the next one.
    fn note_spares(&self) -> Result<(), Fault> {
        let ours: Vec<u8> = self.spares.lent.values().copied().collect();
        self.note_lent(&ours)
    }

    /// Makes two keys change places on the keyboard, as another layout has them.
    #[cfg(test)]
    pub(crate) fn swap(&mut self, one: char, other: char) -> Result<(), Fault> {
        let keymap = self.keymap()?;
        let code = |c| keymap.find(keymap::of_char(c), 0, false).expect("a key").code;
        let (one, other) = (code(one), code(other));
        let width = keymap.width;
        let syms = |code: u8| &keymap.syms[usize::from(code - keymap.first) * width..][..width];
        for (code, as_if) in [(one, other), (other, one)] {
            self.conn.change_keyboard_mapping(1, code, width as u8, syms(as_if))?;
        }
        self.keymap = None;
        self.sync()
    }

    /// Keys without a meaning, as they are now.
    #[cfg(test)]
    pub(crate) fn spares(&mut self) -> Result<Vec<u8>, Fault> {
        self.keymap = None;
        self.sync()?;
        Ok(self.keymap()?.spares())
    }
}
