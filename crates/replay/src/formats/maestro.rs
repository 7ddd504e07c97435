//! Reads the common subset of Maestro flows, which docs.maestro.dev describes, as scripts.
//! Everything else is refused with its position.
//!
//! Two rules are stricter than in Maestro, so that a script never acts on an element other than the
//! intended one. Text must match completely and case-sensitively; `.*text.*` matches a part
//! regardless of case, `text.*` the beginning, and `.*text` the end. Several matches are an error
//! unless `index` chooses.

mod blocks;
mod commands;
mod fields;
mod gestures;
mod selector;
mod text;
pub(super) mod write;

#[cfg(test)]
mod tests;

use super::yaml::{self, Yaml, YamlPosition, YamlValue};
use crate::script::{NAME_HINT, Node, RESERVED_HINT, Script, ScriptError, Template, is_name};
use fields::Fields;

/// Parses a flow: a header and `---`, which may both be absent, and the commands.
pub(super) fn parse(text: &str) -> Result<Script, ScriptError> {
    let documents = yaml::read(text)?;
    let (header, body) = match &documents[..] {
        [header @ Yaml { value: YamlValue::Map(_), .. }, body] => (Some(header), body),
        [body @ Yaml { value: YamlValue::List(_), .. }] => (None, body),
        [] => return Err(START.error_at("the file contains no flow", FORM)),
        [other] => return Err(other.at.error_at("a flow needs a list of commands", FORM)),
        [_, .., last] => {
            return Err(last
                .at
                .error_at("a flow consists of its header, `---`, and a list of commands", FORM));
        }
    };
    let mut flow = FlowHeader::default();
    let mut script = Script::default();
    if let Some(header) = header {
        flow.header(header, &mut script)?;
    }
    script.body.extend(flow.list(body, 0)?);
    Ok(script)
}

const START: YamlPosition = YamlPosition { line: 1, column: 1 };

const FORM: &str =
    "write a header such as `appId: sim:shop`, a line `---`, and then commands such as `- launchApp`";

/// The settings in a flow's header.
#[derive(Debug, Default)]
struct FlowHeader {
    /// The `appId` or `url` that `launchApp` opens.
    app: Option<Template>,
    /// The platform that `when: platform` is compared with, if known.
    platform: Option<&'static str>,
}

impl FlowHeader {
    fn header(&mut self, header: &Yaml, script: &mut Script) -> Result<(), ScriptError> {
        let mut fields = Fields::new("header", header)?;
        if let Some(app) = fields.text("appId")? {
            self.app = Some(app);
        }
        if let Some(url) = fields.text("url")? {
            self.app = Some(url);
            self.platform = Some("web");
            script.context.push(("platform".to_owned(), "web".to_owned()));
        }
        // The name and tags of a flow do not change what it does.
        fields.ignore(&["name", "tags", "properties", "jsEngine"]);
        script.env = fields.take("env").map_or(Ok(Vec::new()), env)?;
        if let Some(start) = fields.take("onFlowStart") {
            script.body = self.list(start, 0)?;
        }
        fields.refuse_unread()
    }

    /// Converts a list of commands.
    fn list(&self, commands: &Yaml, depth: usize) -> Result<Vec<Node>, ScriptError> {
        if depth > crate::script::MAX_DEPTH {
            let message = format!("blocks are nested more than {} deep", crate::script::MAX_DEPTH);
            return Err(commands.at.error_at(message, ""));
        }
        let items = match &commands.value {
            YamlValue::List(items) => items,
            YamlValue::Null => return Ok(Vec::new()),
            other => {
                return Err(commands.at.error_at(
                    format!("expected a list of commands, found {}", other.kind()),
                    "for example: `- tapOn: Sign in`",
                ));
            }
        };
        let mut nodes = Vec::new();
        for item in items {
            nodes.extend(self.command(item, depth)?);
        }
        Ok(nodes)
    }
}

const ENV_FORM: &str = "for example: `env: {USER: ada}`";

/// Returns the `KEY: value` pairs, in the order of the file.
fn env(yaml: &Yaml) -> Result<Vec<(String, Template)>, ScriptError> {
    let pairs = match &yaml.value {
        YamlValue::Map(pairs) => pairs,
        YamlValue::Null => return Ok(Vec::new()),
        other => {
            return Err(yaml.at.error_at(format!("`env` is {}, not a mapping", other.kind()), ENV_FORM));
        }
    };
    let pair = |(key, value): &(yaml::YamlKey, Yaml)| {
        if !is_name(&key.name) {
            let name = stickpin_tree::quote(&key.name);
            return Err(key.at.error_at(format!("{name} is not a variable name"), NAME_HINT));
        }
        if key.name.starts_with("AD_") {
            return Err(key.at.error_at(format!("`{}` is a reserved name", key.name), RESERVED_HINT));
        }
        Ok((key.name.clone(), text::scalar(&key.name, value)?))
    };
    pairs.iter().map(pair).collect()
}
