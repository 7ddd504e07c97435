//! The keyboard mapping: which key produces a character. Does no I/O.

/// The value that stands for no keysym.
pub(super) const NO_SYMBOL: u32 = 0;

/// The keysym for AltGr.
const LEVEL3: u32 = 0xfe03;

/// `KeyboardEvent.key` names with their X11 keysyms, one per line.
const NAMED: &str = include_str!("keymap/keysyms.txt");

/// The keysym for F1; the other function keys follow.
const F1: u32 = 0xffbe;

/// Returns the keysym for a `KeyboardEvent.key` name; `None` for an unknown name.
pub(crate) fn keysym_of_name(name: &str) -> Option<u32> {
    let mut chars = name.chars();
    if let (Some(c), None) = (chars.next(), chars.next()) {
        return Some(keysym_of_char(c));
    }
    let mut names =
        NAMED.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(' '));
    let listed =
        names.find(|(known, _)| *known == name).and_then(|(_, sym)| u32::from_str_radix(sym, 16).ok());
    let number = || name.strip_prefix('F')?.parse::<u32>().ok().filter(|n| (1..=24).contains(n));
    listed.or_else(|| Some(F1 + number()? - 1))
}

/// Returns the keysym for a character: Return for a line break, and Tab for a tab. Printable
/// Latin-1 characters are their own keysyms; for all others, the keysym is the code point with one
/// more bit set (keysymdef.h, "Unicode").
pub(crate) fn keysym_of_char(c: char) -> u32 {
    match c {
        '\n' | '\r' => 0xff0d,
        '\t' => 0xff09,
        ' '..='~' | '\u{a0}'..='\u{ff}' => u32::from(c),
        _ => 0x0100_0000 | u32::from(c),
    }
}

/// Returns the character for a keysym, if it follows the rule of [`keysym_of_char`].
fn char_of(sym: u32) -> Option<char> {
    char::from_u32(sym & 0x00ff_ffff).filter(|&c| keysym_of_char(c) == sym)
}

/// The key and modifiers that produce a keysym.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stroke {
    pub(crate) code: u8,
    pub(crate) shift: bool,
    pub(crate) level3: bool,
}

/// The keyboard mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Keymap {
    pub(super) first: u8,
    /// The number of keysyms per key.
    pub(super) width: usize,
    pub(super) syms: Vec<u32>,
}

impl Keymap {
    fn keys(&self) -> impl DoubleEndedIterator<Item = (u8, &[u32])> {
        let codes = self.first..=u8::MAX;
        codes.zip(self.syms.chunks_exact(self.width.max(1)))
    }

    /// Returns the stroke for a keysym, given the layout `group` (0 for the first layout; any other
    /// number for the second one) and the state of Caps Lock. Prefers keys that need no modifier.
    pub(crate) fn find(&self, sym: u32, group: usize, caps: bool) -> Option<Stroke> {
        // Core protocol, chapter 5, and "Core Keyboard Mapping to XKB": two levels of each of two
        // layouts, then the third and fourth levels of both.
        let base = group.min(1) * 2;
        let levels =
            [(base, false, false), (base + 1, true, false), (base + 4, false, true), (base + 5, true, true)];
        let has_altgr = self.keys().any(|(_, syms)| syms.first() == Some(&LEVEL3));
        let letter = char_of(sym).is_some_and(|c| c.is_lowercase() || c.is_uppercase());
        levels.into_iter().filter(|&(.., level3)| has_altgr || !level3).find_map(|(index, shift, level3)| {
            let (code, _) = self.keys().find(|(_, syms)| syms.get(index) == Some(&sym))?;
            Some(Stroke { code, shift: shift != (caps && letter && !level3), level3 })
        })
    }

    /// Returns the keysym of a key without modifiers; `None` if there is no such key.
    pub(crate) fn keysym(&self, code: u8) -> Option<u32> {
        self.keys().find(|(key, _)| *key == code)?.1.first().copied()
    }

    /// Returns the keys without a keysym, last first: the last keys are the least likely to exist
    /// on a keyboard.
    pub(crate) fn unmapped_keys(&self) -> Vec<u8> {
        let unmapped = self.keys().rev().filter(|(_, syms)| syms.iter().all(|&sym| sym == NO_SYMBOL));
        unmapped.map(|(code, _)| code).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a small German keyboard: q/Q/@, ß, y on another key in the second layout, AltGr, and
    /// two keys without a keysym.
    fn german() -> Keymap {
        let row = |syms: [u32; 6]| syms;
        let syms = [
            row([0x71, 0x51, 0x44f | 0x0100_0000, 0, 0x40, 0x07d9]),
            row([0xdf, 0x3f, 0xdf, 0x3f, 0x5c, 0]),
            row([LEVEL3, 0, LEVEL3, 0, 0, 0]),
            row([0; 6]),
            row([0x7a, 0x5a, 0x79, 0x59, 0, 0]),
            row([0; 6]),
        ];
        Keymap { first: 8, width: 6, syms: syms.concat() }
    }

    fn stroke(code: u8, shift: bool, level3: bool) -> Option<Stroke> {
        Some(Stroke { code, shift, level3 })
    }

    #[test]
    fn a_character_is_found_at_the_level_that_makes_it() {
        let map = german();
        assert_eq!(map.find(keysym_of_char('q'), 0, false), stroke(8, false, false));
        assert_eq!(map.find(keysym_of_char('Q'), 0, false), stroke(8, true, false));
        assert_eq!(map.find(keysym_of_char('@'), 0, false), stroke(8, false, true));
        assert_eq!(map.find(keysym_of_char('?'), 0, false), stroke(9, true, false));
        assert_eq!(map.find(keysym_of_char('y'), 0, false), None);
        assert_eq!(map.find(keysym_of_char('y'), 1, false), stroke(12, false, false));
        assert_eq!(map.find(keysym_of_char('я'), 1, false), stroke(8, false, false));
    }

    #[test]
    fn caps_lock_turns_letters_around_and_nothing_else() {
        let map = german();
        assert_eq!(map.find(keysym_of_char('q'), 0, true), stroke(8, true, false));
        assert_eq!(map.find(keysym_of_char('Q'), 0, true), stroke(8, false, false));
        assert_eq!(map.find(keysym_of_char('?'), 0, true), stroke(9, true, false));
        assert_eq!(map.find(keysym_of_char('@'), 0, true), stroke(8, false, true));
    }

    #[test]
    fn without_altgr_its_levels_cannot_be_reached() {
        let mut map = german();
        map.syms.retain(|&s| s != LEVEL3);
        map.syms.extend([0; 2]);
        assert_eq!(map.find(keysym_of_char('@'), 0, false), None);
    }

    #[test]
    fn keys_without_a_meaning_are_spare() {
        assert_eq!(german().unmapped_keys(), [13, 11]);
    }

    #[test]
    fn keys_have_the_names_of_the_web() {
        assert_eq!(keysym_of_name("Enter"), Some(0xff0d));
        assert_eq!((keysym_of_name("F1"), keysym_of_name("F24")), (Some(0xffbe), Some(0xffd5)));
        assert_eq!(
            (keysym_of_name("F0"), keysym_of_name("F25"), keysym_of_name("Entr"), keysym_of_name("")),
            (None, None, None, None)
        );
        assert_eq!(
            (keysym_of_name("a"), keysym_of_name("é"), keysym_of_name("€")),
            (Some(0x61), Some(0xe9), Some(0x0100_20ac))
        );
        assert_eq!((keysym_of_char('\n'), keysym_of_char('\t')), (0xff0d, 0xff09));
    }

    #[test]
    fn every_key_that_can_be_asked_for_has_a_keysym() {
        for name in stickpin_device::key_names() {
            assert!(name == "Space" || keysym_of_name(name).is_some(), "{name}");
        }
    }
}
