//! Checks whether the metadata of a session is sufficient to reopen it.

use super::meta::SessionMeta;
use super::redacted::{Argument, Arguments, MASK, Redacted};
use serde_json::{Map, Value};

/// Why a session cannot be reopened from its metadata.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotRestorable {
    /// The log does not contain the parameters of `open`.
    #[error("the log does not contain the parameters of `open`")]
    NoSegment,
    /// The session drives the device of another session.
    #[error("it shares the device of session `{0}`")]
    Child(String),
    /// A parameter was not stored as given.
    #[error("the parameter `{0}` of `open` contained a secret or was too long to store")]
    Secret(String),
}

impl SessionMeta {
    /// Returns the parameters with which the session can be reopened.
    ///
    /// # Errors
    /// Returns the reason if the session cannot be reopened.
    pub fn restorable(&self) -> Result<Map<String, Value>, NotRestorable> {
        if let Some(parent) = &self.parent {
            return Err(NotRestorable::Child(parent.session.clone()));
        }
        if self.active.is_none() {
            return Err(NotRestorable::NoSegment);
        }
        self.manifest.plain().map_err(|name| NotRestorable::Secret(name.to_owned()))
    }

    /// Returns the last address of the app, or the argument of `open` if the app reported no
    /// address. `None` if the text is missing or empty, or contains a masked secret.
    #[must_use]
    pub fn address(&self) -> Option<&str> {
        let address = self.targets.first().map(|target| target.device_key.as_str());
        address.filter(|address| !address.is_empty() && !address.contains(MASK))
    }
}

impl Arguments {
    /// Returns the arguments as they were given.
    ///
    /// # Errors
    /// Returns the name of an argument that is not logged as given, because it is a secret,
    /// contains a secret, or is too long.
    pub fn plain(&self) -> Result<Map<String, Value>, &str> {
        let plain = |(name, value)| Ok((String::from(name), plain(value).ok_or(name)?));
        self.iter().map(plain).collect()
    }
}

fn plain(argument: &Argument) -> Option<Value> {
    let whole = |text: &Redacted| text.text().filter(|text| !text.contains(MASK)).map(str::to_owned);
    match argument {
        Argument::Null => Some(Value::Null),
        Argument::Bool(value) => Some(Value::Bool(*value)),
        Argument::Number(value) => Some(Value::Number(value.clone())),
        Argument::Text(text) => whole(text).map(Value::String),
        Argument::List(items) => items.iter().map(plain).collect(),
        Argument::Json(text) => serde_json::from_str(&whole(text)?).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{ActiveSegment, Redactor};
    use crate::timestamp::Timestamp;
    use serde_json::json;

    struct Knows(&'static str);

    impl Redactor for Knows {
        fn is_secret(&self, argument: &str) -> bool {
            argument == "token"
        }

        fn redact(&self, text: &mut String) {
            *text = text.replace(self.0, MASK);
        }
    }

    fn meta(manifest: Value) -> SessionMeta {
        let mut meta = SessionMeta::pending("shop", Timestamp::from_millis(0));
        meta.manifest = Arguments::new(manifest.as_object().unwrap(), &Knows("hunter2"));
        meta.active = Some(ActiveSegment { segment: 1, first_seq: 1 });
        meta
    }

    #[test]
    fn parameters_come_back_as_they_were_given() {
        let given = json!({ "what": "sim:shop", "headed": true, "option": ["a=1"], "n": 3, "o": {"k": "v"} });
        assert_eq!(meta(given.clone()).restorable(), Ok(given.as_object().unwrap().clone()));
    }

    #[test]
    fn a_secret_is_not_guessed() {
        for manifest in [json!({ "token": "abc" }), json!({ "what": "http://ada:hunter2@x.test" })] {
            let e = meta(manifest).restorable().unwrap_err();
            assert!(matches!(e, NotRestorable::Secret(_)), "{e}");
        }
    }

    #[test]
    fn nothing_committed_is_nothing_to_restore() {
        let pending = SessionMeta::pending("shop", Timestamp::from_millis(0));
        assert_eq!(pending.restorable(), Err(NotRestorable::NoSegment));
    }
}
