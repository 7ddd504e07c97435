//! Keys by their `KeyboardEvent.key` names, with the codes that a US keyboard sends.

use stickpin_device::{Error, ErrorCode, Modifiers, Result};

/// A key and the codes that it sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    /// `KeyboardEvent.key`.
    pub key: String,
    /// `KeyboardEvent.code`; `None` for characters that no US key types.
    pub(crate) code: Option<String>,
    /// The Windows virtual key code; 0 if the key has none.
    pub(crate) virtual_key: u32,
    /// The text that the key types; empty if the key types nothing.
    pub(crate) text: String,
    /// `KeyboardEvent.location`: 1 for left, 2 for right, 0 otherwise.
    pub(crate) location: u32,
}

/// Named keys with their virtual key codes. Except for [`MODIFIERS`], the `KeyboardEvent.code` of
/// each key equals its name.
const NAMED_KEYS: &[(&str, u32)] = &[
    ("Enter", 13),
    ("Tab", 9),
    ("Backspace", 8),
    ("Delete", 46),
    ("Escape", 27),
    ("ArrowUp", 38),
    ("ArrowDown", 40),
    ("ArrowLeft", 37),
    ("ArrowRight", 39),
    ("Home", 36),
    ("End", 35),
    ("PageUp", 33),
    ("PageDown", 34),
    ("Insert", 45),
    ("Shift", 16),
    ("Control", 17),
    ("Alt", 18),
    ("Meta", 91),
    ("CapsLock", 20),
    ("ContextMenu", 93),
    ("NumLock", 144),
    ("ScrollLock", 145),
    ("Pause", 19),
    ("PrintScreen", 44),
    ("AltGraph", 225),
];

/// Modifier keys, most of which exist twice, with the code and location of the one that is pressed.
const MODIFIERS: &[(&str, &str, u32)] = &[
    ("Shift", "ShiftLeft", 1),
    ("Control", "ControlLeft", 1),
    ("Alt", "AltLeft", 1),
    ("Meta", "MetaLeft", 1),
    ("AltGraph", "AltRight", 2),
];

/// Alternative names for keys.
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

/// The characters that the digit keys type with Shift, starting at 0.
const ABOVE_DIGITS: &str = ")!@#$%^&*(";

/// For each key: the character without Shift, the character with Shift, the code and the virtual
/// key code.
const PRINTABLE_KEYS: &[(char, char, &str, u32)] = &[
    (' ', ' ', "Space", 32),
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

/// Returns the characters that the US key for `c` types without and with Shift; `None` if no US key
/// types `c`.
fn shift_pair(c: char) -> Option<(char, char)> {
    if c.is_ascii_alphabetic() {
        return Some((c.to_ascii_lowercase(), c.to_ascii_uppercase()));
    }
    let digits = ('0'..='9').zip(ABOVE_DIGITS.chars());
    let printed = PRINTABLE_KEYS.iter().map(|&(plain, shifted, ..)| (plain, shifted));
    digits.chain(printed).find(|&(plain, shifted)| plain == c || shifted == c)
}

/// Returns a key by its name, or by the one character that it types.
///
/// # Errors
/// Returns `INVALID_ARGS` for an unknown name.
pub(crate) fn key(name: &str) -> Result<Key> {
    let name = ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name)).map_or(name, |&(_, n)| n);
    if let Some((key, virtual_key)) = named(name) {
        let twice = MODIFIERS.iter().find(|(modifier, ..)| *modifier == key);
        let (code, location) =
            twice.map_or((key.clone(), 0), |&(_, code, location)| (code.to_owned(), location));
        let text = if key == "Enter" { "\r".to_owned() } else { String::new() };
        return Ok(Key { key, code: Some(code), virtual_key, text, location });
    }
    let mut chars = name.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) if !c.is_control() => Ok(character(c)),
        _ => Err(Error::new(ErrorCode::InvalidArgs, format!("there is no key {name:?}")).hint(
            "use a `KeyboardEvent.key` name, such as `Enter`, `ArrowDown` or `F5`, or a chord, such as `Control+a`",
        )),
    }
}

/// Returns the canonical name and virtual key code of a key in [`NAMED_KEYS`], or of a key from F1
/// to F24.
fn named(name: &str) -> Option<(String, u32)> {
    if let Some(&(known, virtual_key)) = NAMED_KEYS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))
    {
        return Some((known.to_owned(), virtual_key));
    }
    let number = name.strip_prefix(['F', 'f']).filter(|digits| !digits.starts_with(['0', '+']))?;
    let number = number.parse::<u32>().ok().filter(|number| (1..=24).contains(number))?;
    Some((format!("F{number}"), 111 + number))
}

/// Returns the key that types a character. [`needs_shift`] determines whether a US keyboard needs
/// Shift for it.
pub(crate) fn character(c: char) -> Key {
    let plain = shift_pair(c).map(|(plain, _)| plain);
    let (code, virtual_key) = match plain {
        Some(letter @ 'a'..='z') => {
            let upper = letter.to_ascii_uppercase();
            (Some(format!("Key{upper}")), u32::from(upper))
        }
        Some(digit @ '0'..='9') => (Some(format!("Digit{digit}")), u32::from(digit)),
        _ => {
            let printed = PRINTABLE_KEYS.iter().find(|printed| Some(printed.0) == plain);
            printed.map_or((None, 0), |&(_, _, code, virtual_key)| (Some(code.to_owned()), virtual_key))
        }
    };
    Key { key: c.into(), code, virtual_key, text: c.into(), location: 0 }
}

/// Returns whether a US keyboard types this character with Shift.
pub(crate) fn needs_shift(c: char) -> bool {
    shift_pair(c).is_some_and(|(plain, shifted)| shifted == c && plain != c)
}

/// Returns the key for the character that a key types with Shift held. Returns a key that types no
/// character unchanged.
pub(crate) fn apply_shift(key: Key) -> Key {
    let Some(c) = key.text.chars().next().filter(|c| !c.is_control()) else { return key };
    character(shift_pair(c).map_or(c, |(_, shifted)| shifted))
}

/// Returns modifiers as the protocol's bit set.
pub(crate) fn bits(modifiers: Modifiers) -> u32 {
    modifier_keys(modifiers).into_iter().map(|(_, bit)| bit).sum()
}

/// Returns the held modifier keys with their bits, in the order in which they are pressed.
pub(crate) fn modifier_keys(modifiers: Modifiers) -> Vec<(&'static str, u32)> {
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
        assert_eq!(key("Space").unwrap().code.as_deref(), Some("Space"));
        assert_eq!(
            key("a").unwrap(),
            Key {
                key: "a".into(),
                code: Some("KeyA".into()),
                virtual_key: 65,
                text: "a".into(),
                location: 0
            }
        );
        assert_eq!(key("?").unwrap().code.as_deref(), Some("Slash"));
        assert_eq!(key("é").unwrap().code, None);
        for (name, code, virtual_key) in [("f5", "F5", 116), ("Shift", "ShiftLeft", 16), (")", "Digit0", 48)]
        {
            let key = key(name).unwrap();
            assert_eq!((key.code.as_deref(), key.virtual_key), (Some(code), virtual_key), "{name}");
        }
        for bad in ["", "Entr", "\u{7}", "ab", "F0", "F25"] {
            assert_eq!(key(bad).unwrap_err().code, ErrorCode::InvalidArgs, "{bad:?}");
        }
    }

    #[test]
    fn shift_changes_what_a_key_types() {
        let with_shift = |name| apply_shift(key(name).unwrap()).text;
        assert_eq!((with_shift("a"), with_shift("1"), with_shift("A")), ("A".into(), "!".into(), "A".into()));
        assert_eq!(apply_shift(key("Enter").unwrap()), key("Enter").unwrap());
    }

    #[test]
    fn shift_is_needed_for_what_a_us_keyboard_shifts() {
        assert!(needs_shift('A') && needs_shift('?') && needs_shift('"'));
        assert!(!needs_shift('a') && !needs_shift('/') && !needs_shift(' ') && !needs_shift('é'));
    }
}
