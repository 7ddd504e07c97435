//! The values that are written into configurations, and the values recognized as written by
//! stickpin.

use serde_json::{Map, Value, json};

/// The environment variable that an entry sets if the state directory is not the default one.
pub(crate) const STATE_DIR_VARIABLE: &str = "STICKPIN_STATE_DIR";

/// The server that an entry starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Server<'a> {
    /// The program: a name on `PATH` or an absolute path.
    pub(crate) command: &'a str,
    /// The state directory, if it is not the default one.
    pub(crate) state_dir: Option<&'a str>,
}

impl Server<'_> {
    fn env(&self) -> Option<Value> {
        self.state_dir.map(|path| json!({ STATE_DIR_VARIABLE: path }))
    }
}

/// A named form of an entry. An entry that equals the one that `build` returns counts as written by
/// an installation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// The name that manifests and audits record.
    pub(crate) id: &'static str,
    /// Builds the entry that starts a server.
    pub(crate) build: fn(&Server<'_>) -> Value,
}

/// A type, a command, its arguments and its environment, which is empty by default.
pub(crate) const TYPED: Shape = Shape {
    id: "stdio",
    build: |server| {
        let env = server.env().unwrap_or_else(|| json!({}));
        json!({ "type": "stdio", "command": server.command, "args": ["mcp"], "env": env })
    },
};

/// [`TYPED`] without an environment, as some versions of Claude Code store it.
pub(crate) const TYPED_WITHOUT_ENV: Shape = Shape {
    id: "stdio-without-env",
    build: |server| json!({ "type": "stdio", "command": server.command, "args": ["mcp"] }),
};

/// A command and its arguments.
pub(crate) const COMMAND: Shape = Shape {
    id: "command",
    build: |server| with(json!({ "command": server.command, "args": ["mcp"] }), "env", server.env()),
};

/// An enabled local server of OpenCode, whose command includes the arguments.
pub(crate) const LOCAL_ENABLED: Shape = Shape {
    id: "local-enabled",
    build: |server| {
        let entry = json!({ "type": "local", "command": [server.command, "mcp"], "enabled": true });
        with(entry, "environment", server.env())
    },
};

/// A local server in the native form of OpenCode 2.
pub(crate) const LOCAL: Shape = Shape {
    id: "local",
    build: |server| {
        with(json!({ "type": "local", "command": [server.command, "mcp"] }), "environment", server.env())
    },
};

fn with(mut entry: Value, name: &str, value: Option<Value>) -> Value {
    if let (Some(members), Some(value)) = (entry.as_object_mut(), value) {
        members.insert(name.to_owned(), value);
    }
    entry
}

/// The commands and state directories that entries of this installation can have.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownServers {
    /// `stickpin`, and the absolute paths that the manifest records.
    pub(crate) commands: Vec<String>,
    /// State directories other than the default one.
    pub(crate) state_dirs: Vec<String>,
}

/// An entry that was recognized as written by an installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Recognised<'a> {
    /// The name of the entry's shape.
    pub(crate) shape: &'static str,
    /// The command that the entry starts.
    pub(crate) command: &'a str,
    /// Whether only former versions wrote this shape.
    pub(crate) legacy: bool,
}

/// Recognizes an entry that equals the one that a shape builds for a known server. The order of
/// members is irrelevant; an entry with any other difference counts as edited by hand.
pub(crate) fn recognise<'a>(
    entry: &Value,
    current: &[Shape],
    legacy: &[Shape],
    known: &'a KnownServers,
) -> Option<Recognised<'a>> {
    let state_dirs = || std::iter::once(None).chain(known.state_dirs.iter().map(|dir| Some(dir.as_str())));
    let shapes = current.iter().map(|shape| (shape, false)).chain(legacy.iter().map(|shape| (shape, true)));
    shapes.into_iter().find_map(|(shape, legacy)| {
        let command = known.commands.iter().find(|command| {
            state_dirs().any(|state_dir| same(&(shape.build)(&Server { command, state_dir }), entry))
        })?;
        Some(Recognised { shape: shape.id, command, legacy })
    })
}

/// Returns whether two values are equal apart from the order of members.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let has = |map: &Map<String, Value>, name: &str, value: &Value| {
                map.get(name).is_some_and(|other| same(other, value))
            };
            a.len() == b.len() && a.iter().all(|(name, value)| has(b, name, value))
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> KnownServers {
        KnownServers {
            commands: vec!["stickpin".into(), "/opt/stickpin".into()],
            state_dirs: vec!["/s".into()],
        }
    }

    #[test]
    fn entry_is_recognised_with_members_in_any_order() {
        let entry = json!({ "args": ["mcp"], "env": {}, "command": "/opt/stickpin", "type": "stdio" });
        let known = known();
        let found = recognise(&entry, &[TYPED], &[COMMAND], &known).expect("ours");
        assert_eq!((found.shape, found.command, found.legacy), ("stdio", "/opt/stickpin", false));
        let entry = json!({ "command": "stickpin", "args": ["mcp"], "env": { STATE_DIR_VARIABLE: "/s" } });
        assert!(recognise(&entry, &[TYPED], &[COMMAND], &known).is_some_and(|found| found.legacy));
    }

    #[test]
    fn changed_missing_or_additional_member_is_hand_edited() {
        for entry in [
            json!({ "command": "stickpin", "args": ["mcp"], "timeout": 5 }),
            json!({ "command": "stickpin", "args": ["mcp", "--read-only"] }),
            json!({ "command": "stickpin" }),
            json!({ "command": "/usr/bin/other", "args": ["mcp"] }),
            json!({ "command": "stickpin", "args": ["mcp"], "env": { STATE_DIR_VARIABLE: "/other" } }),
            json!({ "command": "stickpin", "args": ["mcp"], "env": {} }),
            json!("stickpin"),
        ] {
            assert_eq!(recognise(&entry, &[COMMAND], &[], &known()), None, "{entry}");
        }
    }
}
