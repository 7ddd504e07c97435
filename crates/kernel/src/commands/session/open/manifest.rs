//! The arguments of `open` as the log and the metadata store them, and the command restored from
//! them.

use super::Open;
use crate::command::context::Cx;
use serde_json::{Map, Value};
use std::path::PathBuf;
use stickpin_device::{Error, Result};

/// The key for the working directory of the caller that opened the session.
const CWD: &str = "cwd";

/// The names of the arguments that concern one call of `open` rather than the open app.
const OF_ONE_CALL: [&str; 3] = ["interactive", "relaunch", "record"];

impl Open {
    /// Returns the arguments as they are logged.
    pub(in crate::commands) fn arguments(&self) -> Result<Map<String, Value>> {
        match serde_json::to_value(self) {
            Ok(Value::Object(mut arguments)) => {
                arguments.retain(|_, value| !value.is_null());
                Ok(arguments)
            }
            Ok(_) => Err(Error::internal("the arguments of `open` are not an object")),
            Err(e) => Err(Error::internal(format!("the arguments of `open` cannot be written as JSON: {e}"))),
        }
    }

    /// Returns what is needed to open the session again: the arguments, and the working directory
    /// for relative paths in them.
    pub(super) fn manifest(&self, cx: &Cx) -> Result<Map<String, Value>> {
        let mut manifest = self.arguments()?;
        manifest.retain(|name, _| !OF_ONE_CALL.contains(&name.as_str()));
        if let Some(profile) = cx.resolve_optional_path(self.profile.as_ref())? {
            manifest.insert("profile".to_owned(), Value::from(profile.to_string_lossy()));
        }
        if cx.caller.cwd.is_absolute() {
            manifest.insert(CWD.to_owned(), Value::from(cx.caller.cwd.to_string_lossy()));
        }
        Ok(manifest)
    }

    /// Parses a manifest from [`Open::manifest`] into the command and its caller's working
    /// directory.
    ///
    /// # Errors
    /// Returns `NOT_RESTORABLE` for a manifest of an incompatible version.
    pub(in crate::commands) fn of_manifest(
        mut manifest: Map<String, Value>,
    ) -> Result<(Self, Option<PathBuf>)> {
        let cwd = manifest.remove(CWD).and_then(|cwd| cwd.as_str().map(PathBuf::from));
        match serde_json::from_value(Value::Object(manifest)) {
            Ok(open) => Ok((open, cwd)),
            Err(e) => {
                let message = format!("this version of stickpin cannot read how the session was opened: {e}");
                Err(Error::not_restorable(message).hint("open it again with `stickpin open URL`"))
            }
        }
    }
}
