//! Keys by their `KeyboardEvent.key` names, with what a US keyboard sends for them.

use stickpin_device::{Error, ErrorCode, Modifiers, Result};

/// What a key sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    /// `KeyboardEvent.key`.
    pub key: String,
    /// `KeyboardEvent.code`; none for characters that no US key makes.
    pub(crate) code: Option<&'static str>,
    /// Windows virtual key code; 0 for none.
    pub(crate) virtual_key: u32,
    /// What it types; empty for keys that type nothing.
    pub(crate) text: String,
    /// 1 left, 2 right, 0 else.
    pub(crate) location: u32,
}

/// Name, code, virtual key, text, location.
const NAMED: &[(&str, &str, u32, &str, u32)] = &[
    ("Enter", "Enter", 13, "\r", 0),
    ("Tab", "Tab", 9, "", 0),
    ("Backspace", "Backspace", 8, "", 0),
    ("Delete", "Delete", 46, "", 0),
    ("Escape", "Escape", 27, "", 0),
    ("ArrowUp", "ArrowUp", 38, "", 0),
    ("ArrowDown", "ArrowDown", 40, "", 0),
    ("ArrowLeft", "ArrowLeft", 37, "", 0),
    ("ArrowRight", "ArrowRight", 39, "", 0),
    ("Home", "Home", 36, "", 0),
    ("End", "End", 35, "", 0),
    ("PageUp", "PageUp", 33, "", 0),
    ("PageDown", "PageDown", 34, "", 0),
    ("Insert", "Insert", 45, "", 0),
    ("Shift", "ShiftLeft", 16, "", 1),
    ("Control", "ControlLeft", 17, "", 1),
    ("Alt", "AltLeft", 18, "", 1),
    ("Meta", "MetaLeft", 91, "", 1),
    ("CapsLock", "CapsLock", 20, "", 0),
    ("ContextMenu", "ContextMenu", 93, "", 0),
    ("NumLock", "NumLock", 144, "", 0),
    ("ScrollLock", "ScrollLock", 145, "", 0),
    ("Pause", "Pause", 19, "", 0),
    ("PrintScreen", "PrintScreen", 44, "", 0),
    ("AltGraph", "AltRight", 225, "", 2),
    ("F1", "F1", 112, "", 0),
    ("F2", "F2", 113, "", 0),
    ("F3", "F3", 114, "", 0),
    ("F4", "F4", 115, "", 0),
    ("F5", "F5", 116, "", 0),
    ("F6", "F6", 117, "", 0),
    ("F7", "F7", 118, "", 0),
    ("F8", "F8", 119, "", 0),
    ("F9", "F9", 120, "", 0),
    ("F10", "F10", 121, "", 0),
    ("F11", "F11", 122, "", 0),
    ("F12", "F12", 123, "", 0),
    ("F13", "F13", 124, "", 0),
    ("F14", "F14", 125, "", 0),
    ("F15", "F15", 126, "", 0),
    ("F16", "F16", 127, "", 0),
    ("F17", "F17", 128, "", 0),
    ("F18", "F18", 129, "", 0),
    ("F19", "F19", 130, "", 0),
    ("F20", "F20", 131, "", 0),
    ("F21", "F21", 132, "", 0),
    ("F22", "F22", 133, "", 0),
    ("F23", "F23", 134, "", 0),
    ("F24", "F24", 135, "", 0),
];

/// Other names that people use.
const ALIASES: &[(&str, &str)] = &[
    ("Esc", "Escape"),
    ("Return", "Enter"),
    ("Del", "Delete"),
    ("Up", "ArrowUp"),
    ("Down", "ArrowDown"),
    ("Left", "ArrowLeft"),
    ("Right", "ArrowRight"),
    ("Ctrl", "Control"),
    ("Cmd", "Meta"),
    ("Command", "Meta"),
    ("Option", "Alt"),
    ("Space", " "),
    ("Spacebar", " "),
    ("Plus", "+"),
];

/// Plain character, with Shift, code, virtual key.
const PRINTED: &[(char, char, &str, u32)] = &[
    (' ', ' ', "Space", 32),
    ('0', ')', "Digit0", 48),
    ('1', '!', "Digit1", 49),
    ('2', '@', "Digit2", 50),
    ('3', '#', "Digit3", 51),
    ('4', '$', "Digit4", 52),
    ('5', '%', "Digit5", 53),
    ('6', '^', "Digit6", 54),
    ('7', '&', "Digit7", 55),
    ('8', '*', "Digit8", 56),
    ('9', '(', "Digit9", 57),
    (';', ':', "Semicolon", 186),
    ('=', '+', "Equal", 187),
    (',', '<', "Comma", 188),
    ('-', '_', "Minus", 189),
    ('.', '>', "Period", 190),
    ('/', '?', "Slash", 191),
    ('`', '~', "Backquote", 192),
    ('[', '{', "BracketLeft", 219),
    ('\\', '|', "Backslash", 220),
    (']', '}', "BracketRight", 221),
    ('\'', '"', "Quote", 222),
];

const LETTERS: [&str; 26] = [
    "KeyA", "KeyB", "KeyC", "KeyD", "KeyE", "KeyF", "KeyG", "KeyH", "KeyI", "KeyJ", "KeyK", "KeyL", "KeyM",
    "KeyN", "KeyO", "KeyP", "KeyQ", "KeyR", "KeyS", "KeyT", "KeyU", "KeyV", "KeyW", "KeyX", "KeyY", "KeyZ",
];

/// A key by name, or by the one character that it types.
///
/// # Errors
/// `INVALID_ARGS` for a name that is none.
pub(crate) fn key(name: &str) -> Result<Key> {
    let name = ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name)).map_or(name, |&(_, n)| n);
    if let Some(&(name, code, virtual_key, text, location)) =
        NAMED.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name))
    {
        return Ok(Key { key: name.into(), code: Some(code), virtual_key, text: text.into(), location });
    }
    let mut chars = name.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) if !c.is_control() => Ok(character(c)),
        _ => Err(Error::new(ErrorCode::InvalidArgs, format!("there is no key {name:?}")).hint(
            "keys have the names of KeyboardEvent.key: Enter, Tab, Escape, ArrowDown, PageUp, F5, a, or a chord: Control+a",
        )),
    }
}

/// The key that types a character, with the Shift state that a US keyboard needs in [`needs_shift`].
pub(crate) fn character(c: char) -> Key {
    let (code, virtual_key) = if c.is_ascii_alphabetic() {
        let upper = c.to_ascii_uppercase();
        (Some(LETTERS[usize::from(upper as u8 - b'A')]), u32::from(upper))
    } else {
        let printed = PRINTED.iter().find(|&&(plain, shifted, ..)| plain == c || shifted == c);
        printed.map_or((None, 0), |&(_, _, code, virtual_key)| (Some(code), virtual_key))
    };
    Key { key: c.into(), code, virtual_key, text: c.into(), location: 0 }
}

/// Whether a US keyboard types this character with Shift.
pub(crate) fn needs_shift(c: char) -> bool {
    c.is_ascii_uppercase() || PRINTED.iter().any(|&(plain, shifted, ..)| shifted == c && plain != c)
}

/// The key with Shift held: what it types then.
pub(crate) fn shifted(key: Key) -> Key {
    let Some(c) = key.text.chars().next().filter(|c| !c.is_control()) else { return key };
    let shifted = if c.is_ascii_lowercase() {
        c.to_ascii_uppercase()
    } else {
        PRINTED.iter().find(|&&(plain, ..)| plain == c).map_or(c, |&(_, shifted, ..)| shifted)
    };
    character(shifted)
}

/// Modifiers as the protocol has them.
pub(crate) fn bits(modifiers: Modifiers) -> u32 {
    u32::from(modifiers.alt)
        | u32::from(modifiers.control) << 1
        | u32::from(modifiers.meta) << 2
        | u32::from(modifiers.shift) << 3
}

/// The names of the modifier keys that are held, in the order in which they are pressed.
pub(crate) fn held(modifiers: Modifiers) -> Vec<(&'static str, u32)> {
    [
        (modifiers.control, "Control", 2),
        (modifiers.alt, "Alt", 1),
        (modifiers.meta, "Meta", 4),
        (modifiers.shift, "Shift", 8),
    ]
    .into_iter()
    .filter_map(|(held, name, bit)| held.then_some((name, bit)))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_names_aliases_and_characters() {
        assert_eq!(key("Enter").unwrap().text, "\r");
        assert_eq!(key("esc").unwrap().key, "Escape");
        assert_eq!(key("Space").unwrap().code, Some("Space"));
        assert_eq!(
            key("a").unwrap(),
            Key { key: "a".into(), code: Some("KeyA"), virtual_key: 65, text: "a".into(), location: 0 }
        );
        assert_eq!(key("?").unwrap().code, Some("Slash"));
        assert_eq!(key("é").unwrap().code, None);
        for bad in ["", "Entr", "\u{7}", "ab"] {
            assert_eq!(key(bad).unwrap_err().code, ErrorCode::InvalidArgs, "{bad:?}");
        }
    }

    #[test]
    fn shift_changes_what_a_key_types() {
        let with_shift = |name| shifted(key(name).unwrap()).text;
        assert_eq!((with_shift("a"), with_shift("1"), with_shift("A")), ("A".into(), "!".into(), "A".into()));
        assert_eq!(shifted(key("Enter").unwrap()), key("Enter").unwrap());
    }

    #[test]
    fn shift_is_needed_for_what_a_us_keyboard_shifts() {
        assert!(needs_shift('A') && needs_shift('?') && needs_shift('"'));
        assert!(!needs_shift('a') && !needs_shift('/') && !needs_shift(' ') && !needs_shift('é'));
    }
}
