//! The registry as tools: names, schemas, annotations. Models read them in every conversation, so a
//! schema repeats nothing from its tool's description and contains only what a reader needs.

use crate::arguments::GroupKey;
use crate::profile::{CORE, CoreTool, Profile, SLIM, SLIM_ABOUT};
use rmcp::model::{JsonObject, Tool as Listed, ToolAnnotations};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use stickpin_client::{ClientCommand, ClientCommands};
use stickpin_device::Capability;
use stickpin_kernel::registry::{COMMANDS, CommandDefinition, Entry, find};
use stickpin_kernel::schema::{Field, Kind, NestedTargets};
use stickpin_kernel::{Effect, Scope};

/// The command of a tool call.
#[derive(Debug)]
pub(crate) enum Tool {
    /// A command line.
    Slim,
    /// A command, or the member of its group that the argument named by `key` selects.
    Command { entry: &'static Entry, key: Option<GroupKey> },
    /// A command that runs in this process.
    ClientCommand(&'static dyn ClientCommand),
}

impl Tool {
    /// Returns the tool of this name, listed or not.
    pub(crate) fn find(name: &str, client_commands: ClientCommands) -> Option<Self> {
        if name == SLIM {
            return Some(Self::Slim);
        }
        if let Some(command) = client_commands.iter().find(|a| tool_name(a.definition()) == name) {
            return Some(Self::ClientCommand(*command));
        }
        let entry = COMMANDS.iter().find(|e| tool_name(e) == name).or_else(|| find(name))?;
        let key = CORE.iter().find(|core| core.command == entry.spec.name).and_then(|core| core.key);
        Some(Self::Command { entry, key })
    }
}

/// An empty list of client commands: only the commands of the registry are served.
pub(crate) const NO_CLIENT_COMMANDS: ClientCommands = &[];

/// Returns the names of all tools, to suggest the nearest one.
pub(crate) fn names(client_commands: ClientCommands) -> impl Iterator<Item = String> {
    let registry = COMMANDS.iter().map(|entry| tool_name(entry));
    registry
        .chain(client_commands.iter().map(|command| tool_name(command.definition())))
        .chain([SLIM.to_owned()])
}

/// Which commands a server serves.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ServedCommands {
    /// Whether to serve only commands that read.
    pub(crate) read_only: bool,
    /// Whether to serve commands that run a client's script in the app.
    pub(crate) script: bool,
}

impl ServedCommands {
    fn allows(self, definition: &CommandDefinition) -> bool {
        (only_reads(definition) || !self.read_only)
            && (self.script || !definition.spec.needs.contains(&Capability::Evaluate))
    }
}

/// Returns the tools that a client sees.
pub(crate) fn list(
    profile: Profile,
    served: ServedCommands,
    scoped: bool,
    client_commands: ClientCommands,
) -> Vec<Listed> {
    match profile {
        Profile::Slim => vec![slim_tool(scoped)],
        Profile::Core => {
            let known = CORE.iter().filter_map(|core| Some((core, find(core.command)?)));
            known
                .filter(|(_, entry)| served.allows(entry))
                .map(|(core, entry)| core_tool(core, entry, served, scoped))
                .collect()
        }
        Profile::Full => {
            let registry = COMMANDS.iter().map(|entry| &**entry);
            let all = registry.chain(client_commands.iter().map(|command| command.definition()));
            all.filter(|definition| served.allows(definition))
                .map(|definition| full_tool(definition, scoped))
                .collect()
        }
    }
}

fn slim_tool(scoped: bool) -> Listed {
    let schema = json!({ "line": { "type": "string", "description": "A command with its arguments" } });
    describe_tool(SLIM, SLIM_ABOUT, "Stickpin", schema, &["line"], scoped).annotate(ToolAnnotations::new())
}

fn core_tool(core: &CoreTool, entry: &'static Entry, served: ServedCommands, scoped: bool) -> Listed {
    let group: Vec<_> =
        members(entry).filter(|(_, member)| core.key.is_some() && served.allows(member)).collect();
    let mut properties = Map::new();
    let mut required: Vec<&str> = Vec::new();
    let members = std::iter::once(entry).chain(group.iter().map(|(_, member)| *member));
    let count_with_field =
        |name: &str| members.clone().filter(|leaf| leaf.fields().iter().any(|f| f.name == name)).count();
    for (leaf, field) in members.clone().flat_map(|leaf| leaf.fields().iter().map(move |field| (leaf, field)))
    {
        if is_listable(field)
            && !core.unlisted.contains(&field.name.as_str())
            && !properties.contains_key(&field.name)
        {
            let mut property = property(field);
            // An argument that only one command of the group accepts names that command in its
            // description.
            let word = group.iter().find(|(_, member)| std::ptr::eq(*member, leaf)).map(|(word, _)| *word);
            if let (Some(word), 1, Some(about)) =
                (word, count_with_field(&field.name), property["description"].as_str())
            {
                property["description"] = format!("{word}: {about}").into();
            }
            properties.insert(field.name.clone(), property);
        }
    }
    for field in entry.fields().iter().filter(|f| f.required) {
        let is_shared =
            |(_, leaf): &(&str, &Entry)| leaf.fields().iter().any(|f| f.name == field.name && f.required);
        if core.key.is_some_and(|key| key.name == field.name) || group.iter().all(is_shared) {
            required.push(&field.name);
        }
    }
    if let Some(key) = core.key {
        let words = key.default_word.into_iter().chain(group.iter().map(|(word, _)| *word)).map(Value::from);
        match properties.get_mut(key.name).and_then(|p| p["enum"].as_array_mut()) {
            Some(known) => known.extend(words),
            None => {
                let target_help = "What to wait for or act on; the other arguments decide by default";
                let words: Vec<_> = words.collect();
                properties.insert(key.name.to_owned(), json!({ "enum": words, "description": target_help }));
            }
        }
    }
    let description = match entry.fields().iter().any(|f| f.nested_targets == Some(NestedTargets::Steps)) {
        true => format!("{} Commands are the tools here and: {}.", core.description, unlisted_commands()),
        false => core.description.clone(),
    };
    describe_command(entry, &description, properties, &required, scoped).annotate(annotations(entry, &group))
}

fn full_tool(entry: &'static CommandDefinition, scoped: bool) -> Listed {
    let known = CORE.iter().find(|core| core.command == entry.spec.name && core.key.is_none());
    let description = known.map_or_else(|| join_lines(entry.summary()), |core| core.description.clone());
    let fields = entry.fields().iter().filter(|f| is_listable(f));
    let properties: Map<String, Value> = fields.map(|f| (f.name.clone(), property(f))).collect();
    let required: Vec<&str> = entry.fields().iter().filter(|f| f.required).map(|f| f.name.as_str()).collect();
    describe_command(entry, &description, properties, &required, scoped).annotate(annotations(entry, &[]))
}

fn describe_command(
    entry: &CommandDefinition,
    description: &str,
    properties: Map<String, Value>,
    required: &[&str],
    scoped: bool,
) -> Listed {
    describe_tool(&tool_name(entry), description, &title(entry), properties.into(), required, scoped)
}

fn describe_tool(
    name: &str,
    description: &str,
    title: &str,
    properties: Value,
    required: &[&str],
    scoped: bool,
) -> Listed {
    let mut properties = properties;
    for (common, about) in common_properties(scoped) {
        if properties[*common].is_null() {
            properties[*common] = json!({ "type": "string", "description": about });
        }
    }
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties);
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    Listed::new(name.to_owned(), description.to_owned(), Arc::new(schema)).with_title(title)
}

/// Returns the arguments that every tool lists. All tools also accept `stateDir`, which is rarely
/// needed: only the instructions name it. A scope identifies a client if the protocol has no
/// sessions.
fn common_properties(scoped: bool) -> &'static [(&'static str, &'static str)] {
    const COMMON: &[(&str, &str)] =
        &[("session", "Another session's name"), ("scope", "What `open` returned: send it with every call")];
    if scoped { COMMON } else { &COMMON[..1] }
}

/// Returns whether a field may be an argument of a tool. A file of steps may not: its content would
/// be neither checked nor pinned.
pub(crate) fn is_listable(field: &Field) -> bool {
    field.nested_targets != Some(NestedTargets::StepsFile)
}

/// Returns the first field that has a value in an input but may not be an argument of a tool.
pub(crate) fn find_unlistable<'f>(
    definition: &'f CommandDefinition,
    input: &Map<String, Value>,
) -> Option<&'f Field> {
    definition.fields().iter().find(|field| !is_listable(field) && input.contains_key(&field.name))
}

fn only_reads(definition: &CommandDefinition) -> bool {
    definition.spec.effect == Effect::Reads && !definition.spec.writes
}

fn annotations(entry: &CommandDefinition, group: &[(&str, &'static Entry)]) -> ToolAnnotations {
    let read_only = only_reads(entry) && group.iter().all(|(_, member)| only_reads(member));
    let mut hints = ToolAnnotations::new().read_only(read_only);
    if !read_only && entry.spec.idempotent {
        hints = hints.idempotent(true);
    }
    // A command of the host reports local state; all others are about an app, which may be
    // anything.
    if read_only && entry.spec.scope == Scope::Host {
        hints = hints.open_world(false);
    }
    hints
}

/// Returns `get_title` for `get title`: tool names contain no spaces.
pub(crate) fn tool_name(entry: &CommandDefinition) -> String {
    entry.spec.name.replace(' ', "_")
}

fn title(entry: &CommandDefinition) -> String {
    let name = entry.spec.name;
    name[..1].to_uppercase() + &name[1..]
}

/// Returns the other commands of the group that is named after this command, with their second
/// words.
pub(crate) fn members(entry: &Entry) -> impl Iterator<Item = (&'static str, &'static Entry)> {
    let group = entry.spec.name;
    COMMANDS.iter().filter_map(move |e| {
        let (first, member) = e.spec.name.split_once(' ')?;
        (first == group).then_some((member, e))
    })
}

/// Returns the names of the commands that `core` does not list, with the main arguments of those
/// that use a session.
fn unlisted_commands() -> String {
    let is_listed = |entry: &Entry| {
        CORE.iter().any(|core| {
            core.command == entry.spec.name
                || (core.key.is_some() && entry.spec.group() == Some(core.command))
        })
    };
    let mut text = String::new();
    let mut group = None;
    for entry in COMMANDS.iter().filter(|entry| !is_listed(entry)) {
        // Members of a group that follow one another share its name: `tab list|new(url)`.
        let same = entry.spec.group().is_some() && entry.spec.group() == group;
        group = entry.spec.group();
        let name = match entry.spec.name.split_once(' ') {
            Some((_, member)) if same => member,
            _ => entry.spec.name,
        };
        if !text.is_empty() {
            text.push_str(if same { "|" } else { ", " });
        }
        text.push_str(name);
        let fields = entry.fields().iter().filter(|f| f.positional.is_some() || f.required);
        let fields: Vec<&str> = fields.map(|f| f.name.as_str()).collect();
        // Commands of the host are rarely needed; an error names the arguments that are missing.
        if !fields.is_empty() && entry.spec.scope == Scope::Session {
            text.push_str(&format!("({})", fields.join(", ")));
        }
    }
    text
}

fn property(field: &Field) -> Value {
    let mut property = property_type(field, &field.kind);
    let doc = join_lines(field.doc.split("\n\n").next().unwrap_or_default());
    if !doc.is_empty() {
        property["description"] = doc.trim_end_matches('.').into();
    }
    property
}

fn property_type(field: &Field, kind: &Kind) -> Value {
    match kind {
        _ if field.optional_value => match kind {
            Kind::Integer => json!({ "type": ["boolean", "integer"] }),
            _ => json!({ "type": ["boolean", "string"] }),
        },
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Integer => json!({ "type": "integer" }),
        Kind::Number => json!({ "type": "number" }),
        Kind::String | Kind::Target => json!({ "type": "string" }),
        Kind::Choice(words) => json!({ "enum": words.iter().map(|(word, _)| word).collect::<Vec<_>>() }),
        Kind::List(_) if field.nested_targets == Some(NestedTargets::Steps) => {
            let step = json!({ "command": { "type": "string" }, "input": { "type": "object" } });
            let step = json!({ "type": "object", "properties": step, "required": ["command"] });
            json!({ "type": "array", "items": step })
        }
        Kind::List(items) => json!({ "type": "array", "items": property_type(field, items) }),
        Kind::Any => json!({ "type": "object" }),
    }
}

/// Joins the words of all lines with single spaces.
fn join_lines(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
