//! The arguments of a flow's command. An argument that was not read is refused, so that no argument
//! is silently ignored.

use super::super::yaml::{Yaml, YamlKey, YamlPosition, YamlValue};
use super::text;
use crate::script::{ScriptError, Template};

/// A mapping, and which of its keys were read.
pub(super) struct Fields<'y> {
    /// The name of the command, for messages.
    pub(super) command: &'y str,
    pub(super) at: YamlPosition,
    pairs: &'y [(YamlKey, Yaml)],
    read_names: Vec<&'static str>,
}

impl<'y> Fields<'y> {
    pub(super) fn new(command: &'y str, yaml: &'y Yaml) -> Result<Self, ScriptError> {
        let pairs: &[_] = match &yaml.value {
            YamlValue::Map(pairs) => pairs,
            YamlValue::Null => &[],
            other => {
                return Err(yaml
                    .at
                    .error_at(format!("`{command}` needs a mapping here, not {}", other.kind()), ""));
            }
        };
        Ok(Self { command, at: yaml.at, pairs, read_names: Vec::new() })
    }

    /// Returns the value of an argument without marking the argument as read.
    pub(super) fn find(&self, name: &str) -> Option<&'y Yaml> {
        self.pairs.iter().find(|(key, _)| key.name == name).map(|(_, value)| value)
    }

    pub(super) fn take(&mut self, name: &'static str) -> Option<&'y Yaml> {
        self.ignore(&[name]);
        self.find(name)
    }

    /// Marks as read the arguments that do not change what a flow does.
    pub(super) fn ignore(&mut self, names: &[&'static str]) {
        for name in names {
            if !self.read_names.contains(name) {
                self.read_names.push(name);
            }
        }
    }

    pub(super) fn text(&mut self, name: &'static str) -> Result<Option<Template>, ScriptError> {
        self.take(name).map(|value| text::scalar(name, value)).transpose()
    }

    pub(super) fn boolean(&mut self, name: &'static str) -> Result<Option<bool>, ScriptError> {
        let Some(yaml) = self.take(name) else { return Ok(None) };
        match yaml.value.as_text() {
            "true" => Ok(Some(true)),
            "false" => Ok(Some(false)),
            _ => Err(yaml.at.error_at(format!("`{name}` must be true or false"), "")),
        }
    }

    /// Accepts a switch only with the value that has no effect.
    pub(super) fn expect_default(
        &mut self,
        name: &'static str,
        default: bool,
        hint: &str,
    ) -> Result<(), ScriptError> {
        let at = self.take(name).map(|yaml| yaml.at);
        match (self.boolean(name)?, at) {
            (Some(value), Some(at)) if value != default => {
                Err(at.error_at(format!("`{name}: {value}` is not supported"), hint))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn number(&mut self, name: &'static str) -> Result<Option<u32>, ScriptError> {
        self.take(name).map(|yaml| number(name, yaml)).transpose()
    }

    /// Refuses arguments that were not read.
    pub(super) fn refuse_unread(&self) -> Result<(), ScriptError> {
        self.unsupported(&[])
    }

    /// Refuses arguments that were not read and are not among `later`, which are still to be read.
    pub(super) fn unsupported(&self, later: &[&str]) -> Result<(), ScriptError> {
        let known = |name: &str| self.read_names.contains(&name) || later.contains(&name);
        let Some((key, _)) = self.pairs.iter().find(|(key, _)| !known(&key.name)) else { return Ok(()) };
        let name = stickpin_tree::escape(&key.name, stickpin_tree::MAX_CHARS);
        let message = format!("`{name}` of `{}` is not supported", self.command);
        let hint = match self.read_names.is_empty() {
            true => format!("`{}` takes no arguments", self.command),
            false => format!("supported here: {}", self.read_names.join(", ")),
        };
        Err(key.at.error_at(message, hint))
    }
}

/// Parses a whole number, which must be a literal.
pub(super) fn number(name: &str, yaml: &Yaml) -> Result<u32, ScriptError> {
    let number = yaml.value.as_text().parse().ok();
    number.ok_or_else(|| {
        yaml.at.error_at(format!("`{name}` must be a whole number"), "a variable is not allowed here")
    })
}
