//! A flow's commands that contain other commands.

use super::super::yaml::Yaml;
use super::commands::{CONDITIONS, Command, Nodes, repetitions};
use super::fields::{Fields, number};
use super::{FlowHeader, env, selector, text};
use crate::formats::writer::add_unset;
use crate::script::{Block, Node, NodeKind, ScriptError, Template, Visibility};
use std::convert::Infallible;

pub(super) fn run_flow(flow: &FlowHeader, command: &mut Command<'_>, depth: usize) -> Nodes {
    if command.is_text() {
        let file = text::scalar(command.name, command.value)?;
        return Ok(vec![command.node(NodeKind::Include { file, env: Vec::new() })]);
    }
    let env = command.fields.take("env").map_or(Ok(Vec::new()), env)?;
    let when = command.fields.take("when");
    let body = file_or_commands(flow, command, depth, env)?;
    match when {
        Some(when) => conditional(flow, when, body),
        None => Ok(body),
    }
}

/// Returns the lines for the `file` or `commands` argument.
fn file_or_commands(
    flow: &FlowHeader,
    command: &mut Command<'_>,
    depth: usize,
    env: Vec<(String, Template)>,
) -> Nodes {
    match (command.fields.text("file")?, command.fields.take("commands")) {
        (Some(file), None) => Ok(vec![command.node(NodeKind::Include { file, env })]),
        (None, Some(commands)) => Ok(substitute_env(flow.list(commands, depth + 1)?, &env)),
        _ => {
            let message = format!("`{}` needs either `file` or `commands`", command.name);
            Err(command.at.error_at(message, ""))
        }
    }
}

/// Substitutes the values of variables that are set only for these lines.
fn substitute_env(nodes: Vec<Node>, env: &[(String, Template)]) -> Vec<Node> {
    if env.is_empty() {
        return nodes;
    }
    let text = |template: &Template| {
        template.substitute(|name| {
            env.iter().find(|(key, _)| key == name).map(|(_, value)| value.parts().to_vec())
        })
    };
    let node = |node: Node| {
        let kind = match node.kind {
            NodeKind::Blank | NodeKind::Comment(_) => node.kind,
            NodeKind::Command(words) => NodeKind::Command(words.iter().map(text).collect()),
            NodeKind::Include { file, env: inner_env } => {
                let mut inner: Vec<_> =
                    inner_env.iter().map(|(key, value)| (key.clone(), text(value))).collect();
                add_unset(&mut inner, env);
                NodeKind::Include { file: text(&file), env: inner }
            }
            NodeKind::Block(block, body) => {
                let Ok(block) = block.map(|_, target| Ok::<_, Infallible>(text(target)));
                NodeKind::Block(block, substitute_env(body, env))
            }
        };
        Node { line: node.line, kind }
    };
    nodes.into_iter().map(node).collect()
}

/// The platforms that no device here supports.
const PHONE_PLATFORMS: [&str; 2] = ["android", "ios"];

/// Wraps the lines in the conditions of a `when`.
fn conditional(flow: &FlowHeader, when: &Yaml, mut body: Vec<Node>) -> Nodes {
    let mut fields = Fields::new("when", when)?;
    let mut has_condition = false;
    if let Some(yaml) = fields.take("platform") {
        has_condition = true;
        let required = yaml.value.as_text();
        if required.is_empty() {
            return Err(yaml.at.error_at("`platform` must be a name", "for example: `platform: Web`"));
        }
        let is_phone = PHONE_PLATFORMS.iter().any(|phone| required.eq_ignore_ascii_case(phone));
        let Some(platform) = flow.platform.or(is_phone.then_some("no phone")) else {
            return Err(yaml.at.error_at(
                "the platform of this flow is unknown",
                "for the platform Web, add a `url` to the header",
            ));
        };
        if !required.eq_ignore_ascii_case(platform) {
            body.clear();
        }
    }
    if let Some(yaml) = fields.take("true") {
        has_condition = true;
        match yaml.value.as_text() {
            "true" | "${true}" => {}
            "false" | "${false}" => body.clear(),
            _ => {
                let hint =
                    "use `true` or `false`, or another condition: `visible`, `notVisible` or `platform`";
                return Err(yaml
                    .at
                    .error_at("the `true` condition of `when` is JavaScript, which is not run", hint));
            }
        }
    }
    for (name, state) in CONDITIONS {
        let Some(yaml) = fields.take(name) else { continue };
        has_condition = true;
        let target = selector::from_yaml(name, yaml)?;
        body = vec![Node { line: yaml.at.line, kind: NodeKind::Block(Block::If(state, target), body) }];
    }
    if !has_condition {
        return Err(when.at.error_at(
            "`when` has no supported condition",
            "use `visible`, `notVisible`, `platform` or `true`",
        ));
    }
    fields.refuse_unread()?;
    Ok(body)
}

/// The maximum number of rounds of a `repeat` that only its condition ends. A loop that exceeds
/// this number is considered endless.
const MAX_ROUNDS: u32 = 100;

pub(super) fn repeat(flow: &FlowHeader, command: &mut Command<'_>, depth: usize) -> Nodes {
    let times = command.fields.take("times").map(|yaml| repetitions("times", yaml)).transpose()?;
    let condition = command.fields.take("while");
    let end_check = match (times, condition) {
        (None, None) => {
            let hint = "for example: `times: 5`";
            return Err(command.at.error_at("`repeat` needs `times` or `while`", hint));
        }
        (None, Some(condition)) => Some(loop_end_check(command, condition)?),
        (Some(_), _) => None,
    };
    let Some(commands) = command.fields.take("commands") else {
        return Err(command.at.error_at("`repeat` needs `commands`", ""));
    };
    let mut body = flow.list(commands, depth + 1)?;
    if let Some(condition) = condition {
        body = conditional(flow, condition, body)?;
    }
    let rounds = command.node(NodeKind::Block(Block::Repeat(times.unwrap_or(MAX_ROUNDS)), body));
    Ok([rounds].into_iter().chain(end_check).collect())
}

/// Creates the line that fails if a `while` condition still holds after the last round.
fn loop_end_check(command: &Command<'_>, condition: &Yaml) -> Result<Node, ScriptError> {
    let mut fields = Fields::new("while", condition)?;
    let mut found = Vec::new();
    for (name, state) in CONDITIONS {
        let Some(yaml) = fields.take(name) else { continue };
        let opposite = if state == Visibility::Visible { Visibility::Hidden } else { Visibility::Visible };
        found.push(command.wait_line(&selector::from_yaml(name, yaml)?, opposite, None));
    }
    match found.pop() {
        Some(node) if found.is_empty() && fields.refuse_unread().is_ok() => Ok(node),
        _ => Err(condition.at.error_at(
            "`while` without `times` accepts either `visible` or `notVisible`, and nothing else",
            "use `times: 5` with any other condition",
        )),
    }
}

pub(super) fn retry(flow: &FlowHeader, command: &mut Command<'_>, depth: usize) -> Nodes {
    let retries =
        command.fields.take("maxRetries").map_or(Ok(1), |yaml| match number("maxRetries", yaml)? {
            retries @ 0..=3 => Ok(retries),
            _ => Err(yaml.at.error_at("`maxRetries` must be a number from 0 to 3", "")),
        })?;
    let body = file_or_commands(flow, command, depth, Vec::new())?;
    Ok(vec![command.node(NodeKind::Block(Block::Retry(retries + 1), body))])
}
