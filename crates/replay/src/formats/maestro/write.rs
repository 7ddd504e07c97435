//! Writes scripts as Maestro flows.

use super::super::writer::{
    Args, ExportScript, ExportStep, FormatWriter, Note, VariableMarks, assignments, lines, selector,
};
use crate::script::{Block, Template, TemplatePart, Visibility};
use serde_json::Value;
use std::fmt::Write as _;
use stickpin_tree::{Compare, Condition, Role, Selector};

/// Writes a flow.
pub(in super::super) fn export(flow: &ExportScript<'_>, notes: &mut Vec<Note>) -> String {
    let mut writer = MaestroWriter { marks: flow.marks, app: None };
    let body = lines(&mut writer, flow.items, notes);
    let app = writer.app.as_deref().unwrap_or("unknown");
    let key = if is_address(app) { "url" } else { "appId" };
    let mut out = vec![
        format!("{key}: {}", scalar(&flow.marks.template(app))),
        format!("name: {}", yaml_text(&flow.name)),
    ];
    let env: Vec<String> =
        flow.script.env.iter().map(|(key, value)| format!("{key}: {}", scalar(value))).collect();
    if !env.is_empty() {
        out.extend(nested("env", &env));
    }
    out.push("---".to_owned());
    if writer.app.is_none() {
        out.push("# The script opens nothing: the header must name the app.".to_owned());
    }
    let has_command = body.iter().any(|text| text.starts_with('-'));
    out.extend(body);
    out.extend((!has_command).then(|| "[]".to_owned()));
    out.join("\n") + "\n"
}

fn is_address(app: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| app.starts_with(scheme))
}

struct MaestroWriter<'f> {
    marks: &'f VariableMarks,
    /// The app that the first `open` opens.
    app: Option<String>,
}

type Lines = Result<Vec<String>, String>;

impl FormatWriter for MaestroWriter<'_> {
    const COMMENT: &'static str = "# ";

    fn step(&mut self, step: &ExportStep, caveats: &mut Vec<String>) -> Lines {
        let mut args = step.args();
        let lines = self.command_lines(step, &mut args, caveats)?;
        args.refuse_unread()?;
        Ok(lines)
    }

    fn block(&mut self, block: &Block<ExportStep>, body: Vec<String>, caveats: &mut Vec<String>) -> Lines {
        let (name, says) = match block {
            Block::Repeat(times) => ("repeat", vec![format!("times: {times}")]),
            Block::Retry(times) if *times > 4 => return Err("Maestro allows at most 3 retries".to_owned()),
            Block::Retry(times) => ("retry", vec![format!("maxRetries: {}", times - 1)]),
            Block::If(asked, step) => {
                let target = self.target(&step.args().selector("target")?, caveats)?;
                ("runFlow", nested("when", &nested(condition(*asked), &target)))
            }
        };
        Ok(nested_commands(name, &says, body))
    }
}

fn condition(visibility: Visibility) -> &'static str {
    match visibility {
        Visibility::Visible => "visible",
        Visibility::Hidden => "notVisible",
    }
}

/// Returns the lines for a command that contains other commands.
fn nested_commands(name: &str, fields: &[String], body: Vec<String>) -> Vec<String> {
    let mut out = vec![format!("- {name}:")];
    out.extend(indent(fields, 4));
    out.push(if body.is_empty() { "    commands: []".to_owned() } else { "    commands:".to_owned() });
    out.extend(indent(&body, 6));
    out
}

fn indent(lines: &[String], by: usize) -> Vec<String> {
    lines.iter().map(|line| format!("{:by$}{line}", "")).collect()
}

/// Returns the lines for a mapping under a key.
fn nested(key: &str, lines: &[String]) -> Vec<String> {
    [vec![format!("{key}:")], indent(lines, 2)].concat()
}

/// Returns the lines for a command with its arguments.
fn with_fields(name: &str, fields: &[String]) -> Vec<String> {
    [vec![format!("- {name}:")], indent(fields, 4)].concat()
}

/// Returns the first duplicate key among `lines`, which form one mapping; nested lines are
/// indented.
fn repeated_key(lines: &[String]) -> Option<&str> {
    let keys =
        || lines.iter().filter(|line| !line.starts_with(' ')).filter_map(|line| line.split(':').next());
    keys().enumerate().find(|(at, key)| keys().take(*at).any(|earlier| earlier == *key)).map(|(_, key)| key)
}

/// Adds a state to a target, replacing the value that the selector requires for that state.
fn with_state(mut target: Vec<String>, state: &str, on: bool) -> Vec<String> {
    target.retain(|line| !line.starts_with(&format!("{state}:")));
    target.push(format!("{state}: {on}"));
    target
}

impl MaestroWriter<'_> {
    fn command_lines(&mut self, step: &ExportStep, args: &mut Args<'_>, caveats: &mut Vec<String>) -> Lines {
        Ok(match step.entry.spec.name {
            "open" => self.open(args),
            "close" => Vec::new(),
            "press" => {
                let target = self.target_argument(args, "target", caveats)?;
                match args.number("count").unwrap_or(1) {
                    1 => with_fields("tapOn", &target),
                    2 => with_fields("doubleTapOn", &target),
                    _ => return Err("Maestro has only single and double taps".to_owned()),
                }
            }
            "longpress" => {
                if args.number("hold").is_some_and(|ms| ms != 600) {
                    caveats.push("the hold time is not exported".to_owned());
                }
                with_fields("longPressOn", &self.target_argument(args, "target", caveats)?)
            }
            "fill" => {
                let target = self.target_argument(args, "target", caveats)?;
                self.fill_lines(&target, args.text("text").unwrap_or_default())
            }
            "type" => {
                let mut out = match args.text("into") {
                    Some(into) => with_fields("tapOn", &self.target(&selector(into)?, caveats)?),
                    None => Vec::new(),
                };
                out.push(self.command("inputText", args.text("text").unwrap_or_default()));
                out
            }
            "form" => self.form_lines(step, args, caveats)?,
            "key" => match args.text("chord").unwrap_or_default() {
                key @ ("Enter" | "Backspace" | "Tab" | "Escape") => vec![format!("- pressKey: {key}")],
                key => return Err(format!("the key {key} has no counterpart")),
            },
            "check" => self.toggle_lines(args, true, caveats)?,
            "uncheck" => self.toggle_lines(args, false, caveats)?,
            "scroll" => self.scroll(args, caveats)?,
            "wait" => self.wait_lines(args, Visibility::Visible, caveats)?,
            "wait absent" => self.wait_lines(args, Visibility::Hidden, caveats)?,
            "wait text" => {
                let text = self.pattern(args.text("text").unwrap_or_default(), Compare::Contains);
                let timeout = args.number("timeout").unwrap_or(10_000);
                with_fields("extendedWaitUntil", &[format!("visible: {text}"), format!("timeout: {timeout}")])
            }
            "is" => self.assertion_lines(args, caveats)?,
            "back" => vec!["- back".to_owned()],
            "home" => vec!["- pressKey: Home".to_owned()],
            "screenshot" => {
                let path = args.text("path").unwrap_or("screenshot");
                vec![self.command("takeScreenshot", path.strip_suffix(".png").unwrap_or(path))]
            }
            name => return Err(format!("`{name}` has no counterpart")),
        })
    }

    fn open(&mut self, args: &mut Args<'_>) -> Vec<String> {
        let app = args.text("what").unwrap_or_default();
        let first_app = self.app.get_or_insert_with(|| app.to_owned());
        let same = first_app == app;
        let clear_state = args.is_on("relaunch");
        match (same, clear_state) {
            (true, false) => vec!["- launchApp".to_owned()],
            (true, true) => with_fields("launchApp", &["clearState: true".to_owned()]),
            (false, false) if is_address(app) => vec![self.command("openLink", app)],
            (false, _) => {
                let mut fields = vec![format!("appId: {}", scalar(&self.marks.template(app)))];
                fields.extend(clear_state.then(|| "clearState: true".to_owned()));
                with_fields("launchApp", &fields)
            }
        }
    }

    /// Returns the line `- name: text`.
    fn command(&self, name: &str, text: &str) -> String {
        format!("- {name}: {}", scalar(&self.marks.template(text)))
    }

    fn fill_lines(&self, target: &[String], text: &str) -> Vec<String> {
        let mut out = with_fields("tapOn", target);
        out.push("- eraseText".to_owned());
        if !text.is_empty() {
            out.push(self.command("inputText", text));
        }
        out
    }

    fn form_lines(&self, step: &ExportStep, args: &mut Args<'_>, caveats: &mut Vec<String>) -> Lines {
        let mut out = Vec::new();
        for (target, value) in assignments(step) {
            let selector = selector(&target)?;
            let target = self.target(&selector, caveats)?;
            match super::super::writer::role(&selector) {
                Some(Role::TextBox | Role::SearchBox | Role::SpinButton) => {
                    out.extend(self.fill_lines(&target, &value));
                }
                _ => return Err(format!("without the app, the type of the field `{selector}` is unknown")),
            }
        }
        let _fields = args.get("fields");
        if let Some(submit) = args.text("submit") {
            out.extend(with_fields("tapOn", &self.target(&selector(submit)?, caveats)?));
        }
        Ok(out)
    }

    /// Returns the lines that press an element unless its checked state is already `on`.
    fn toggle_lines(&self, args: &mut Args<'_>, on: bool, caveats: &mut Vec<String>) -> Lines {
        let target = self.target_argument(args, "target", caveats)?;
        let state = with_state(target.clone(), "checked", !on);
        let when = nested("when", &nested("visible", &state));
        Ok(nested_commands("runFlow", &when, with_fields("tapOn", &target)))
    }

    fn scroll(&self, args: &mut Args<'_>, caveats: &mut Vec<String>) -> Lines {
        let direction = args.text("direction").unwrap_or_default();
        if args.number("amount").is_some_and(|pixels| pixels != 600) {
            caveats.push("the distance is not exported".to_owned());
        }
        if let Some(until) = args.text("until") {
            let mut fields = nested("element", &self.target(&selector(until)?, caveats)?);
            fields.push(format!("direction: {}", direction.to_uppercase()));
            return Ok(with_fields("scrollUntilVisible", &fields));
        }
        let container = args.text("in").map(|target| self.target(&selector(target)?, caveats)).transpose()?;
        // A finger moves in the direction opposite to the page.
        let finger = match direction {
            "down" if container.is_none() => return Ok(vec!["- scroll".to_owned()]),
            "down" => "UP",
            "up" => "DOWN",
            "left" => "RIGHT",
            _ => "LEFT",
        };
        let mut fields = vec![format!("direction: {finger}")];
        fields.extend(container.iter().flat_map(|container| nested("from", container)));
        Ok(with_fields("swipe", &fields))
    }

    fn wait_lines(&self, args: &mut Args<'_>, visibility: Visibility, caveats: &mut Vec<String>) -> Lines {
        let target = self.target_argument(args, "target", caveats)?;
        let timeout = args.number("timeout").unwrap_or(10_000);
        let mut fields = nested(condition(visibility), &target);
        fields.push(format!("timeout: {timeout}"));
        Ok(with_fields("extendedWaitUntil", &fields))
    }

    fn assertion_lines(&self, args: &mut Args<'_>, caveats: &mut Vec<String>) -> Lines {
        let mut target = self.target_argument(args, "target", caveats)?;
        let (name, state) = match args.text("predicate").unwrap_or_default() {
            "visible" => ("assertVisible", None),
            "hidden" | "absent" => ("assertNotVisible", None),
            state @ ("enabled" | "checked" | "focused" | "selected") => {
                ("assertVisible", Some((state, true)))
            }
            "disabled" => ("assertVisible", Some(("enabled", false))),
            other => return Err(format!("the check `{other}` has no counterpart")),
        };
        if let Some((state, on)) = state {
            target = with_state(target, state, on);
        }
        Ok(with_fields(name, &target))
    }

    fn target_argument(&self, args: &mut Args<'_>, name: &'static str, caveats: &mut Vec<String>) -> Lines {
        self.target(&args.selector(name)?, caveats)
    }

    /// Returns the lines for a selector.
    fn target(&self, selector: &Selector, caveats: &mut Vec<String>) -> Lines {
        let mut alternatives = selector.alternatives();
        let Some((conditions, nth)) = alternatives.next() else { return Ok(Vec::new()) };
        if alternatives.next().is_some() {
            caveats.push("only the first alternative of the selector is tried".to_owned());
        }
        let mut out = Vec::new();
        let (mut text, mut role) = (false, None);
        for condition in conditions {
            match condition {
                Condition::Role(found) => role = Some(found),
                Condition::Has { key, value: "", .. } => {
                    return Err(format!("a Maestro selector cannot have an empty `{key}`"));
                }
                Condition::Has { key: "id", compare, value } => {
                    out.push(format!("id: {}", self.pattern(value, compare)))
                }
                Condition::Has { key: "text" | "label" | "value" | "placeholder", compare, value }
                    if !text =>
                {
                    text = true;
                    out.push(format!("text: {}", self.pattern(value, compare)));
                }
                Condition::Has { key, .. } => {
                    return Err(format!("the selector key `{key}` has no counterpart"));
                }
                Condition::Is { flag: flag @ ("enabled" | "checked" | "focused" | "selected"), wanted } => {
                    out.push(format!("{flag}: {wanted}"));
                }
                Condition::Is { flag: "disabled", wanted } => out.push(format!("enabled: {}", !wanted)),
                // Maestro finds only visible elements.
                Condition::Is { flag: "visible", wanted: true } => {}
                Condition::Is { flag, .. } => return Err(format!("the state `{flag}` has no counterpart")),
                Condition::In(outer) => out.extend(nested("childOf", &self.target(outer, caveats)?)),
                Condition::Css(css) => out.push(format!("css: {}", scalar(&self.marks.template(css)))),
            }
        }
        out.extend(nth.map(|nth| format!("index: {}", nth.get() - 1)));
        if let Some(key) = repeated_key(&out) {
            return Err(format!("a Maestro selector can have only one `{key}`"));
        }
        match role {
            Some(role) if out.is_empty() => return Err(format!("`role={role}` alone has no counterpart")),
            Some(role) => caveats.push(format!("the role {role} is not exported")),
            None => {}
        }
        Ok(out)
    }

    /// Returns the pattern for a comparison with a text.
    fn pattern(&self, text: &str, compare: Compare) -> String {
        let template = self.marks.template(text);
        let escaped = template.parts().iter().map(|piece| match piece {
            TemplatePart::Text(text) => TemplatePart::Text(escape(text)),
            variable @ TemplatePart::Variable { .. } => variable.clone(),
        });
        let any = |is_open: bool| is_open.then(|| TemplatePart::Text(".*".to_owned()));
        let front = any(matches!(compare, Compare::Contains | Compare::EndsWith));
        let back = any(matches!(compare, Compare::Contains | Compare::StartsWith));
        scalar(&Template::new(front.into_iter().chain(escaped.collect::<Vec<_>>()).chain(back)))
    }
}

fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if "\\^$.|?*+()[]{}".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Writes text as a scalar, with variables in Maestro's syntax.
fn scalar(template: &Template) -> String {
    let mut text = String::new();
    for part in template.parts() {
        // Writing to a string cannot fail.
        let _ = match part {
            TemplatePart::Text(part) => write!(text, "{}", part.replace("${", "\\${")),
            TemplatePart::Variable { name, default: None } => write!(text, "${{{name}}}"),
            TemplatePart::Variable { name, default: Some(default) } => {
                // A brace would end the variable.
                let default = Value::from(default.as_str()).to_string().replace('}', "\\u007d");
                write!(text, "${{{name} || {default}}}")
            }
        };
    }
    yaml_text(&text)
}

/// Returns a plain scalar if YAML reads it as the same text, otherwise a scalar in double quotes.
fn yaml_text(text: &str) -> String {
    let plain = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.' | '/' | '$' | '{' | '}' | '\\')
    };
    let words = ["", "~", "null", "true", "false", "yes", "no", "on", "off"];
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && !text.ends_with(' ')
        && text.chars().all(plain)
        && !words.contains(&text.to_ascii_lowercase().as_str());
    if is_plain { text.to_owned() } else { json(text) }
}

/// Returns a scalar in double quotes: a JSON string with YAML escapes for invisible characters.
fn json(text: &str) -> String {
    let mut out = String::new();
    for c in Value::from(text).to_string().chars() {
        if stickpin_tree::is_unsafe(c) {
            // Writing to a string cannot fail. YAML has no surrogate pairs.
            let _ = write!(out, "\\U{:08x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}
