//! Converts the commands of flows into lines of scripts.

use super::super::unsupported::unsupported;
use super::super::yaml::{Yaml, YamlKey, YamlPosition, YamlValue};
use super::fields::{Fields, number};
use super::gestures::{point, scroll_until_visible, swipe};
use super::{FlowHeader, blocks, selector, text};
use crate::script::{Block, MAX_TIMES, Node, NodeKind, ScriptError, Template, TemplatePart, Visibility};
use stickpin_kernel::schema::nearest;

/// The timeout for assertions in milliseconds, as in Maestro.
const ASSERT_TIMEOUT_MS: u32 = 7000;

/// The default number of characters that `eraseText` deletes.
const DEFAULT_ERASED_CHARS: u32 = 50;

/// The default timeout for animations in milliseconds, as in Maestro.
const ANIMATION_TIMEOUT_MS: u32 = 15_000;

pub(super) type Nodes = Result<Vec<Node>, ScriptError>;

/// A command and its arguments.
pub(super) struct Command<'y> {
    pub(super) name: &'y str,
    pub(super) at: YamlPosition,
    /// The value of the command; null if the command is a single word.
    pub(super) value: &'y Yaml,
    /// The named arguments.
    pub(super) fields: Fields<'y>,
}

type Compile = fn(&FlowHeader, &mut Command<'_>, usize) -> Nodes;

const COMMANDS: &[(&str, Compile)] = &[
    ("launchApp", launch_app),
    ("tapOn", |_, c, _| tap(c, "press", None)),
    ("doubleTapOn", |_, c, _| tap(c, "press", Some("--count=2"))),
    ("longPressOn", |_, c, _| tap(c, "longpress", None)),
    ("inputText", input_text),
    ("eraseText", erase_text),
    ("pressKey", press_key),
    ("assertVisible", |_, c, _| assertion(c, Visibility::Visible)),
    ("assertNotVisible", |_, c, _| assertion(c, Visibility::Hidden)),
    ("extendedWaitUntil", extended_wait_until),
    ("scroll", |_, c, _| c.literal_line(&["scroll", "down"])),
    ("scrollUntilVisible", scroll_until_visible),
    ("swipe", swipe),
    ("back", |_, c, _| c.literal_line(&["back"])),
    ("openLink", open_link),
    ("takeScreenshot", take_screenshot),
    ("waitForAnimationToEnd", wait_for_animation_to_end),
    ("hideKeyboard", hide_keyboard),
    ("stopApp", close),
    ("killApp", close),
    ("runFlow", blocks::run_flow),
    ("repeat", blocks::repeat),
    ("retry", blocks::retry),
];

impl FlowHeader {
    /// Converts one item of a list of commands: a word, or a mapping with one key.
    pub(super) fn command(&self, item: &Yaml, depth: usize) -> Nodes {
        let nothing = Yaml { at: item.at, value: YamlValue::Null };
        let (name, at, given) = match &item.value {
            YamlValue::Text(name) => (name, item.at, &nothing),
            YamlValue::Map(pairs) => match &pairs[..] {
                [(YamlKey { at, name }, given)] => (name, *at, given),
                [] => return Err(item.at.error_at("an empty mapping is not a command", "")),
                [_, (second, _), ..] => {
                    let message = "one entry contains two commands";
                    return Err(second.at.error_at(
                        message,
                        "begin each command with its own `-`, and indent its fields deeper",
                    ));
                }
            },
            other => {
                return Err(item.at.error_at(
                    format!("expected a command, found {}", other.kind()),
                    "for example: `- tapOn: Sign in`",
                ));
            }
        };
        if let Some((message, hint)) = unsupported("Maestro", name) {
            return Err(at.error_at(message, hint));
        }
        let Some((_, compile)) = COMMANDS.iter().find(|(known, _)| known == name) else {
            let names = || COMMANDS.iter().map(|(name, _)| *name);
            let hint = nearest(name, names()).map(|name| format!("did you mean `{name}`? "));
            let shown = stickpin_tree::escape(name, stickpin_tree::MAX_CHARS);
            let all = names().collect::<Vec<_>>().join(", ");
            return Err(at.error_at(
                format!("the Maestro command `{shown}` is not supported"),
                format!("{}supported: {all}", hint.unwrap_or_default()),
            ));
        };
        let mut fields =
            Fields::new(name, if matches!(given.value, YamlValue::Text(_)) { &nothing } else { given })?;
        if matches!(given.value, YamlValue::Null) {
            fields.at = at;
        }
        let mut command = Command { name, at, value: given, fields };
        let nodes = compile(self, &mut command, depth)?;
        // Reports show the label.
        let label = command.fields.text("label")?.map(|text| NodeKind::Comment(one_line(&text)));
        command.fields.refuse_unread()?;
        let label = label.map(|kind| Node { line: command.fields.at.line, kind });
        Ok(label.into_iter().chain(nodes).collect())
    }
}

impl Command<'_> {
    pub(super) fn is_text(&self) -> bool {
        matches!(self.value.value, YamlValue::Text(_))
    }

    /// Returns the text that a command takes, either directly or under `name` in a mapping.
    fn text(&mut self, name: &'static str) -> Result<Option<Template>, ScriptError> {
        match self.is_text() {
            true => text::scalar(self.name, self.value).map(Some),
            false => self.fields.text(name),
        }
    }

    /// Returns the selector that a command takes, either as a text or in its mapping.
    fn target(&mut self) -> Result<Template, ScriptError> {
        match self.is_text() {
            true => selector::from_text(self.name, self.value),
            false => selector::take(&mut self.fields),
        }
    }

    /// Creates a line at the command's position.
    pub(super) fn line(&self, words: Vec<Template>) -> Node {
        self.node(NodeKind::Command(words))
    }

    /// Creates a line from literal words.
    fn literal_line(&self, words: &[&str]) -> Nodes {
        Ok(vec![self.line(words.iter().map(|word| Template::text(*word)).collect())])
    }

    /// Creates a `wait` or `wait absent` line. A hidden element counts as absent.
    pub(super) fn wait_line(
        &self,
        target: &Template,
        visibility: Visibility,
        timeout: Option<Template>,
    ) -> Node {
        let timeout =
            option("timeout", &timeout.unwrap_or_else(|| Template::text(ASSERT_TIMEOUT_MS.to_string())));
        let words = match visibility {
            Visibility::Visible => vec![word("wait"), target.clone(), timeout],
            Visibility::Hidden => {
                let visible =
                    [&*selector::each_visible(target), &[TemplatePart::Text(" visible".to_owned())]].concat();
                vec![word("wait"), word("absent"), Template::new(visible), timeout]
            }
        };
        self.line(words)
    }

    pub(super) fn node(&self, kind: NodeKind) -> Node {
        Node { line: self.at.line, kind }
    }
}

pub(super) fn word(text: &str) -> Template {
    Template::text(text)
}

/// Returns the word `--name=VALUE`.
pub(super) fn option(name: &str, value: &Template) -> Template {
    let parts = [&[TemplatePart::Text(format!("--{name}="))], value.parts()];
    Template::new(parts.concat())
}

fn one_line(text: &Template) -> String {
    stickpin_tree::escape(&text.to_string(), stickpin_tree::MAX_CHARS).trim().to_owned()
}

/// Returns the nodes for an assertion. With `optional`, Maestro asserts nothing, so a comment in
/// the script and in reports replaces the assertion.
pub(super) fn optional_assertion(command: &mut Command<'_>, assertions: Vec<Node>) -> Nodes {
    if !command.fields.boolean("optional")?.unwrap_or(false) {
        return Ok(assertions);
    }
    let comment_out = |node: Node| match &node.kind {
        NodeKind::Command(words) => {
            let line = one_line(&Template::text(crate::script::line(words)));
            Node { kind: NodeKind::Comment(format!("optional, so nothing is asserted: {line}")), ..node }
        }
        _ => node,
    };
    Ok(assertions.into_iter().map(comment_out).collect())
}

fn launch_app(flow: &FlowHeader, command: &mut Command<'_>, _: usize) -> Nodes {
    let app = command.text("appId")?;
    let clear = command.fields.boolean("clearState")?;
    command.fields.expect_default("stopApp", true, "an app always starts fresh")?;
    let Some(app) = app.or_else(|| flow.app.clone()) else {
        return Err(command.at.error_at(
            "neither `launchApp` nor the header names an app",
            "for example: `appId: sim:shop` or `url: http://127.0.0.1:3000`",
        ));
    };
    let mut words = vec![word("open"), app];
    words.extend(clear.unwrap_or_default().then(|| word("--relaunch")));
    Ok(vec![command.line(words)])
}

/// Converts `tapOn` and similar commands into one of our commands with its options.
fn tap(command: &mut Command<'_>, verb: &str, extra: Option<&str>) -> Nodes {
    let point = command.fields.take("point").map(point).transpose()?;
    let target = match &point {
        Some(point) => point.clone(),
        None => command.target()?,
    };
    let mut words = vec![word(verb), target.clone()];
    let fields = &mut command.fields;
    words.extend(fields.text("waitToSettleTimeoutMs")?.map(|ms| option("settle", &ms)));
    let times = fields.take("repeat").map(|yaml| repetitions("repeat", yaml)).transpose()?;
    let delay = if times.is_some() { fields.text("delay")? } else { None };
    fields.expect_default("retryTapIfNoChange", false, "use `retry: {maxRetries: 1, commands: [...]}`")?;
    fields.ignore(&["label"]);
    if point.is_some() {
        // A point always exists.
        fields.expect_default("optional", false, "a point always exists")?;
    }
    let optional = fields.boolean("optional")?.unwrap_or(false);
    words.extend(extra.map(word));
    let mut line = command.line(words);
    if let Some(times) = times {
        let pause = delay.map(|ms| command.line(vec![word("wait"), word("ms"), ms]));
        line = command.node(NodeKind::Block(Block::Repeat(times), [line].into_iter().chain(pause).collect()));
    }
    if optional {
        // The step is skipped if the target is absent when the app has become quiet. If the target
        // is present, the press may fail like any other press.
        line = command.node(NodeKind::Block(Block::If(Visibility::Visible, target), vec![line]));
    }
    Ok(vec![line])
}

/// Parses a number of repetitions.
pub(super) fn repetitions(name: &str, yaml: &Yaml) -> Result<u32, ScriptError> {
    let times = number(name, yaml)?;
    if (1..=MAX_TIMES).contains(&times) {
        return Ok(times);
    }
    Err(yaml.at.error_at(format!("`{name}` must be a number from 1 to {MAX_TIMES}"), ""))
}

fn assertion(command: &mut Command<'_>, visibility: Visibility) -> Nodes {
    let target = command.target()?;
    let assertions = vec![command.wait_line(&target, visibility, None)];
    optional_assertion(command, assertions)
}

/// Returns the text that a command needs, either directly or under `name` in a mapping.
fn single_text(command: &mut Command<'_>, name: &'static str) -> Result<Template, ScriptError> {
    let found = command.text(name)?;
    found.ok_or_else(|| command.at.error_at(format!("`{}` needs `{name}`", command.name), ""))
}

fn input_text(_: &FlowHeader, command: &mut Command<'_>, _: usize) -> Nodes {
    let text = single_text(command, "text")?;
    // After `--`, no text is mistaken for an option, whatever a variable contains.
    Ok(vec![command.line(vec![word("type"), word("--"), text])])
}

fn erase_text(_: &FlowHeader, command: &mut Command<'_>, _: usize) -> Nodes {
    let field = command.fields.take("charactersToErase").map(|yaml| repetitions("charactersToErase", yaml));
    let times = match command.is_text() {
        true => repetitions(command.name, command.value)?,
        false => field.transpose()?.unwrap_or(DEFAULT_ERASED_CHARS),
    };
    Ok(vec![
        command.node(NodeKind::Block(Block::Repeat(times), command.literal_line(&["key", "Backspace"])?)),
    ])
}

fn press_key(_: &FlowHeader, command: &mut Command<'_>, _: usize) -> Nodes {
    let key = single_text(command, "key")?.to_string();
    command.literal_line(match key.to_ascii_lowercase().as_str() {
        "enter" => &["key", "Enter"],
        "backspace" => &["key", "Backspace"],
        "tab" => &["key", "Tab"],
        "escape" => &["key", "Escape"],
        "back" => &["back"],
        "home" => &["home"],
        _ => {
            let message = format!("the key {} is not supported", stickpin_tree::quote(&key));
            return Err(command
                .value
                .at
                .error_at(message, "use `Enter`, `Backspace`, `Tab`, `Escape`, `Back` or `Home`"));
        }
    })
}

fn extended_wait_until(_: &FlowHeader, command: &mut Command<'_>, _: usize) -> Nodes {
    let timeout = command.fields.text("timeout")?;
    let mut conditions = Vec::new();
    for (name, state) in CONDITIONS {
        let Some(yaml) = command.fields.take(name) else { continue };
        conditions.push(command.wait_line(&selector::from_yaml(name, yaml)?, state, timeout.clone()));
    }
    if conditions.is_empty() {
        return Err(command.at.error_at("`extendedWaitUntil` needs `visible` or `notVisible`", ""));
    }
    optional_assertion(command, conditions)
}

/// The names of the conditions in waits and checks.
pub(super) const CONDITIONS: [(&str, Visibility); 2] =
    [("visible", Visibility::Visible), ("notVisible", Visibility::Hidden)];

/// Creates the line that waits until nothing is moving, and fails if something is still moving at
/// the timeout.
fn wait_for_animation_to_end(_: &FlowHeader, command: &mut Command<'_>, _: usize) -> Nodes {
    let timeout =
        command.fields.text("timeout")?.unwrap_or_else(|| Template::text(ANIMATION_TIMEOUT_MS.to_string()));
    Ok(vec![command.line(vec![word("wait"), word("stable"), option("timeout", &timeout)])])
}

/// Accepts the command without effect, because neither pages nor desktops have a keyboard that
/// covers content.
fn hide_keyboard(_: &FlowHeader, command: &mut Command<'_>, _: usize) -> Nodes {
    Ok(vec![command.node(NodeKind::Comment("hideKeyboard: there is no on-screen keyboard".to_owned()))])
}

/// Creates the line that ends the session, which closes the app; `launchApp` opens another session.
fn close(flow: &FlowHeader, command: &mut Command<'_>, _: usize) -> Nodes {
    let named = command.text("appId")?;
    if named.is_some() && named != flow.app {
        return Err(command.value.at.error_at(
            format!("`{}` supports only the flow's own app", command.name),
            "omit the name to mean the flow's own app",
        ));
    }
    command.literal_line(&["close"])
}

fn open_link(_: &FlowHeader, command: &mut Command<'_>, _: usize) -> Nodes {
    let link = single_text(command, "link")?;
    Ok(vec![command.line(vec![word("open"), link])])
}

fn take_screenshot(_: &FlowHeader, command: &mut Command<'_>, _: usize) -> Nodes {
    let path = single_text(command, "path")?;
    let parts = [path.parts(), &[TemplatePart::Text(".png".to_owned())]].concat();
    Ok(vec![command.line(vec![word("screenshot"), Template::new(parts)])])
}
