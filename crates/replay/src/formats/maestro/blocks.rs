//! Commands of flows that hold other commands.

use super::super::yaml::{Value, Yaml};
use super::commands::{CONDITIONS, Command, Nodes, bounded, label};
use super::fields::{Fields, number};
use super::{Flow, env, selector, text};
use crate::script::{Kind, Node};

pub(super) fn run_flow(flow: &Flow, command: &Command<'_>, depth: usize) -> Nodes {
    if command.is_text() {
        let file = text::of(command.name, command.given)?;
        return Ok(command.block(Kind::Include { file, env: Vec::new() }));
    }
    let mut fields = command.fields()?;
    let mut nodes = label(&mut fields)?;
    let env = fields.take("env").map_or(Ok(Vec::new()), env)?;
    let when = fields.take("when");
    let file = fields.text("file")?;
    let commands = fields.take("commands");
    fields.end()?;
    let body = match (file, commands) {
        (Some(file), None) => command.block(Kind::Include { file, env }),
        (None, Some(_)) if !env.is_empty() => {
            return Err(command.at.fault(
                "`env` of a `runFlow` with `commands` is not supported",
                "put the commands into a file",
            ));
        }
        (None, Some(commands)) => flow.list(commands, depth + 1)?,
        _ => return Err(command.at.fault("`runFlow` needs either `file` or `commands`", "")),
    };
    nodes.extend(match when {
        Some(when) => conditional(flow, when, body)?,
        None => body,
    });
    Ok(nodes)
}

/// The lines, where the conditions hold.
fn conditional(flow: &Flow, when: &Yaml, mut body: Vec<Node>) -> Nodes {
    let mut fields = Fields::of("when", when)?;
    let mut asked = false;
    if let Some(yaml) = fields.take("platform") {
        asked = true;
        let Value::Text(wanted) = &yaml.value else {
            return Err(yaml.at.fault("`platform` takes a name", "platform: Web"));
        };
        let Some(platform) = flow.platform else {
            return Err(yaml
                .at
                .fault("which platform this flow is for is not known", "a header with `url` says: Web"));
        };
        if !wanted.eq_ignore_ascii_case(platform) {
            body.clear();
        }
    }
    for (name, state) in CONDITIONS {
        let Some(yaml) = fields.take(name) else { continue };
        asked = true;
        let target = selector::of(name, yaml)?;
        body = vec![Node { line: yaml.at.line, kind: Kind::If { asked: state, target, body } }];
    }
    if !asked {
        return Err(when.at.fault("`when` asks nothing that is supported", "visible, notVisible, platform"));
    }
    fields.end()?;
    Ok(body)
}

pub(super) fn repeat(flow: &Flow, command: &Command<'_>, depth: usize) -> Nodes {
    let mut fields = command.fields()?;
    let mut nodes = label(&mut fields)?;
    let Some(times) = fields.take("times") else {
        return Err(command
            .at
            .fault("`repeat` without `times` is not supported", "times: 5 bounds it, with `while` too"));
    };
    let times = bounded("times", times)?;
    let condition = fields.take("while");
    let Some(commands) = fields.take("commands") else {
        return Err(command.at.fault("`repeat` needs `commands`", ""));
    };
    fields.end()?;
    let mut body = flow.list(commands, depth + 1)?;
    if let Some(condition) = condition {
        body = conditional(flow, condition, body)?;
    }
    nodes.extend(command.block(Kind::Repeat { times, body }));
    Ok(nodes)
}

pub(super) fn retry(flow: &Flow, command: &Command<'_>, depth: usize) -> Nodes {
    let mut fields = command.fields()?;
    let mut nodes = label(&mut fields)?;
    let retries = fields.take("maxRetries").map_or(Ok(1), |yaml| match number("maxRetries", yaml)? {
        retries @ 0..=3 => Ok(retries),
        _ => Err(yaml.at.fault("`maxRetries` takes a number from 0 to 3", "")),
    })?;
    let body = match (fields.text("file")?, fields.take("commands")) {
        (Some(file), None) => command.block(Kind::Include { file, env: Vec::new() }),
        (None, Some(commands)) => flow.list(commands, depth + 1)?,
        _ => return Err(command.at.fault("`retry` needs either `file` or `commands`", "")),
    };
    fields.end()?;
    nodes.extend(command.block(Kind::Retry { times: retries + 1, body }));
    Ok(nodes)
}
