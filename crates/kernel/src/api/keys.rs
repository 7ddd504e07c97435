//! Key chords as people write them: `Enter`, `Control+a`, `Shift+Tab`.

use crate::api::schema::text_schema;
use serde::{Deserialize, Serialize};
use std::fmt;
use stickpin_device::{Error, Modifiers, Result, key_names};
use stickpin_tree::quote;

/// Alternative names of keys.
const ALIASES: &str = "esc=Escape return=Enter del=Delete up=ArrowUp down=ArrowDown left=ArrowLeft \
    right=ArrowRight pgup=PageUp pgdn=PageDown ins=Insert plus=+ altgr=AltGraph ctrl=Control cmd=Meta \
    command=Meta super=Meta option=Alt";

/// A key with held modifiers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Chord {
    /// The modifiers held during the press.
    pub modifiers: Modifiers,
    /// The key by its `KeyboardEvent.key` name; the space bar is written as a space character.
    pub key: String,
}

/// Modifiers without a key: `Control+Shift`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HeldModifiers(pub(crate) Modifiers);

/// Parses the names of modifiers.
fn parse_modifiers<'a>(words: impl Iterator<Item = &'a str>) -> Result<Modifiers> {
    let known = ["Control", "Shift", "Alt", "Meta"];
    let mut modifiers = Modifiers::default();
    for word in words.map(str::trim).filter(|word| !word.is_empty()) {
        match key_name(word).as_deref() {
            Ok("Alt") => modifiers.alt = true,
            Ok("Control") => modifiers.control = true,
            Ok("Meta") => modifiers.meta = true,
            Ok("Shift") => modifiers.shift = true,
            _ => {
                let forms = "the modifiers are `Control`, `Shift`, `Alt` and `Meta`";
                return Err(unknown_word_error("modifier", word, known.into_iter(), forms));
            }
        }
    }
    Ok(modifiers)
}

impl TryFrom<String> for Chord {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        let trimmed = text.trim();
        // The last `+` may be the key itself: `Control++`, `+`.
        let (before, key) = match trimmed.strip_suffix('+') {
            Some(before) => (before.strip_suffix('+').unwrap_or(before), "+"),
            None => trimmed.rsplit_once('+').unwrap_or(("", trimmed)),
        };
        let modifiers = parse_modifiers(before.split('+'))?;
        let mut chars = key.chars();
        let key = match (chars.next(), chars.next()) {
            (Some(' '), None) => " ".to_owned(),
            (Some(c), None) if !c.is_control() => c.to_string(),
            _ => key_name(key)?,
        };
        Ok(Self { modifiers, key })
    }
}

fn key_name(word: &str) -> Result<String> {
    let mut aliases = ALIASES.split_ascii_whitespace().filter_map(|pair| pair.split_once('='));
    let alias = aliases.find(|(alias, _)| alias.eq_ignore_ascii_case(word)).map(|(_, name)| name);
    let name = alias.or_else(|| key_names().find(|n| n.eq_ignore_ascii_case(word)));
    match name {
        Some("Space") => Ok(" ".to_owned()),
        Some(name) => Ok(name.to_owned()),
        None => {
            let forms = "keys are written like `Enter`, `a`, `Control+a` or `Shift+Tab`";
            Err(unknown_word_error("key", word, key_names(), forms))
        }
    }
}

fn unknown_word_error<'a>(
    what: &str,
    word: &str,
    known: impl Iterator<Item = &'a str>,
    forms: &str,
) -> Error {
    let near =
        crate::api::schema::nearest(word, known).map(|n| format!("did you mean `{n}`? ")).unwrap_or_default();
    Error::invalid_args(format!("{} is not a {what}", quote(word))).hint(format!("{near}{forms}"))
}

impl TryFrom<String> for HeldModifiers {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        parse_modifiers(text.split(['+', ','])).map(Self)
    }
}

fn write_modifiers(m: Modifiers, words: &mut Vec<&str>) {
    let all = [(m.control, "Control"), (m.alt, "Alt"), (m.shift, "Shift"), (m.meta, "Meta")];
    words.extend(all.into_iter().filter(|(held, _)| *held).map(|(_, word)| word));
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = Vec::new();
        write_modifiers(self.modifiers, &mut words);
        words.push(if self.key == " " { "Space" } else { &self.key });
        f.write_str(&words.join("+"))
    }
}

impl From<Chord> for String {
    fn from(chord: Chord) -> Self {
        chord.to_string()
    }
}

impl From<HeldModifiers> for String {
    fn from(held: HeldModifiers) -> Self {
        let mut words = Vec::new();
        write_modifiers(held.0, &mut words);
        words.join("+")
    }
}

text_schema!(Chord);
text_schema!(HeldModifiers);

#[cfg(test)]
mod tests {
    use super::*;

    fn chord(text: &str) -> Result<Chord> {
        text.to_owned().try_into()
    }

    #[test]
    fn what_people_type_becomes_the_key_and_its_modifiers() {
        for (text, shown) in [
            ("Enter", "Enter"),
            ("esc", "Escape"),
            ("ctrl+a", "Control+a"),
            ("Shift+Control+Tab", "Control+Shift+Tab"),
            ("+", "+"),
            ("Control++", "Control++"),
            ("space", "Space"),
            ("é", "é"),
        ] {
            let parsed = chord(text).unwrap();
            assert_eq!(parsed.to_string(), shown, "{text}");
            assert_eq!(chord(&parsed.to_string()), Ok(parsed), "{text}");
        }
    }

    #[test]
    fn an_unknown_key_is_told_the_nearest() {
        assert!(chord("Entre").unwrap_err().hint.contains("Enter"));
        assert!(chord("Contrl+a").unwrap_err().hint.contains("Control"));
        assert!(chord("").is_err());
    }
}
