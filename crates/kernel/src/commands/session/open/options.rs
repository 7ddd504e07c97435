//! The options of `open` that the device reads: which were given, and whether the provider declares
//! them.

use super::Open;
use crate::api::schema::{self, Field, Kind};
use crate::commands::prelude::*;
use serde_json::{Map, Value};
use stickpin_device::Provider;

/// The names of the options that have their own flags.
const FLAGS: [&str; 6] = ["headed", "attach", "private", "privateHome", "viewport", "profile"];

/// Returns the options that a provider declares.
pub(in crate::commands) fn declared_options(provider: &dyn Provider) -> Vec<Field> {
    schema::fields(provider.open_options().json())
}

/// Returns an option as spelled on a command line.
pub(in crate::commands) fn option_spelling(name: &str) -> String {
    match FLAGS.contains(&name) {
        true => format!("--{}", schema::kebab_case(name)),
        false => format!("--option {name}=VALUE"),
    }
}

/// Returns the flag of an option without its value.
pub(super) fn option_flag(name: &str) -> String {
    if FLAGS.contains(&name) { option_spelling(name) } else { format!("--option {name}") }
}

impl Open {
    /// Returns the given options as the provider reads them: typed, with resolved paths.
    ///
    /// # Errors
    /// Returns `INVALID_ARGS`, which names the option and, if this provider does not accept it, the
    /// providers that do. Returns `POLICY_DENIED` for a path outside the caller's folders.
    pub(in crate::commands) fn device_options(&self, cx: &Cx) -> Result<Map<String, Value>> {
        let provider = cx.host.provider(&self.what)?;
        let (kind, fields) = (provider.kind(), declared_options(&**provider));
        let mut options = Map::new();
        for (name, value) in self.given_options()? {
            let Some(field) = fields.iter().find(|field| field.name == name) else {
                return Err(undeclared_option_error(&name, kind, cx));
            };
            let value = match &value {
                Value::String(path) if field.is_path => {
                    serde_json::to_value(&*cx.resolve_path(&PathArg::from(path.as_str()))?).map_err(|_| {
                        Error::invalid_args(format!("the path of `{}` is not UTF-8", option_spelling(&name)))
                    })?
                }
                Value::String(text) => parse_value(&field.kind, text),
                value => value.clone(),
            };
            schema::check_kind(&field.kind, &value).map_err(|e| {
                let message = format!("`{name}` of a {kind} device: {}; nothing was opened", e.message);
                Error::invalid_args(message).hint("run `stickpin capabilities` to list the options")
            })?;
            options.insert(name, value);
        }
        Ok(options)
    }

    /// Returns the name and value of every option that was given, with its own flag or with
    /// `--option`.
    fn given_options(&self) -> Result<Vec<(String, Value)>> {
        let input = serde_json::to_value(self).map_err(|e| Error::internal(e.to_string()))?;
        let is_given = |value: &&Value| !value.is_null() && **value != Value::Bool(false);
        let flag = |name: &str| Some((name.to_owned(), input.get(name).filter(is_given)?.clone()));
        let mut given: Vec<_> = FLAGS.into_iter().filter_map(flag).collect();
        for text in &self.option {
            let (name, value) = text.split_once('=').ok_or_else(|| {
                Error::invalid_args(format!("{} lacks `=VALUE`; nothing was opened", quote(text)))
                    .hint("use `--option NAME=VALUE`; run `stickpin capabilities` to list the names")
            })?;
            if FLAGS.contains(&name) {
                return Err(Error::invalid_args(format!("`{name}` has its own flag; nothing was opened"))
                    .hint(format!("use `{}`", option_spelling(name))));
            }
            given.push((name.to_owned(), Value::from(value)));
        }
        Ok(given)
    }
}

/// Converts the text of an option to its type. Text that does not fit the type stays text, so that
/// the check refuses it.
fn parse_value(kind: &Kind, text: &str) -> Value {
    let known = match kind {
        Kind::Bool | Kind::Integer | Kind::Number | Kind::Any => serde_json::from_str(text).ok(),
        _ => None,
    };
    known.unwrap_or_else(|| Value::from(text))
}

/// Creates the error for an option that the provider does not read.
fn undeclared_option_error(name: &str, kind: &str, cx: &Cx) -> Error {
    let flag = option_flag(name);
    let takes = |p: &dyn Provider| declared_options(p).iter().any(|field| field.name == name);
    let takers = cx.host.config.providers.iter().filter(|p| takes(&***p));
    let takers: Vec<&str> = takers.map(|p| p.kind()).collect();
    let hint = match takers.is_empty() {
        true => format!("omit `{flag}`; no device here supports it"),
        false => format!("omit `{flag}`; it is supported by: {}", takers.join(", ")),
    };
    Error::invalid_args(format!("a {kind} device does not support `{flag}`; nothing was opened")).hint(hint)
}
