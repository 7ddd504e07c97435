//! The commands of flows, each as lines of our own.

use super::super::refused::{Refused, unsupported};
use super::super::yaml::{Key, Mark, Value, Yaml};
use super::fields::{Fields, number};
use super::gestures::{point, scroll_until_visible, swipe};
use super::{Flow, blocks, selector, text};
use crate::script::{Asked, Kind, MAX_TIMES, Node, Part, ScriptError, Template};
use stickpin_kernel::schema::nearest;

/// How long assertions wait, in milliseconds: as long as they do there.
const PATIENCE: u32 = 7000;

/// How many characters `eraseText` takes away where it does not say.
const ERASED: u32 = 50;

/// How long animations may go on where it does not say, in milliseconds: as long as there.
const ANIMATION: u32 = 15_000;

pub(super) type Nodes = Result<Vec<Node>, ScriptError>;

/// A command and what it is given.
pub(super) struct Command<'y> {
    pub(super) name: &'y str,
    pub(super) at: Mark,
    /// Nothing for a command that is a word alone.
    pub(super) given: &'y Yaml,
}

type Compile = fn(&Flow, &Command<'_>, usize) -> Nodes;

const COMMANDS: &[(&str, Compile)] = &[
    ("launchApp", launch_app),
    ("tapOn", |_, c, _| tapped(c, "press", None)),
    ("doubleTapOn", |_, c, _| tapped(c, "press", Some("--count=2"))),
    ("longPressOn", |_, c, _| tapped(c, "longpress", None)),
    ("inputText", input_text),
    ("eraseText", erase_text),
    ("pressKey", press_key),
    ("assertVisible", |_, c, _| asserted(c, Asked::Visible)),
    ("assertNotVisible", |_, c, _| asserted(c, Asked::Hidden)),
    ("extendedWaitUntil", extended_wait_until),
    ("scroll", |_, c, _| c.bare(&["scroll", "down"])),
    ("scrollUntilVisible", scroll_until_visible),
    ("swipe", swipe),
    ("back", |_, c, _| c.bare(&["back"])),
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

/// Commands of Maestro without a counterpart here.
const REFUSED: &[Refused] = &[
    ("runScript", JAVASCRIPT, "prepare what the flow needs before it runs, and give it with -e KEY=VALUE"),
    ("evalScript", JAVASCRIPT, "work the value out before, and give it with -e KEY=VALUE"),
    ("assertTrue", JAVASCRIPT, "assertVisible, assertNotVisible"),
    ("assertWithAI", MODEL, "assertVisible names what must be there"),
    ("assertNoDefectsWithAI", MODEL, "assertVisible names what must be there"),
    ("extractTextWithAI", MODEL, "give the text with -e KEY=VALUE"),
    ("copyTextFrom", "the text is kept for JavaScript", "give the text with -e KEY=VALUE"),
    ("pasteText", "the text is known only while the flow runs", "inputText: ${KEY}, with -e KEY=VALUE"),
    ("setClipboard", "flows have no clipboard", "inputText types a text"),
    ("inputRandomEmail", RANDOM, "inputText: ${EMAIL}, with -e EMAIL=ada@example.com"),
    ("inputRandomPersonName", RANDOM, "inputText: ${NAME}, with -e NAME=Ada"),
    ("inputRandomNumber", RANDOM, "inputText: ${NUMBER}, with -e NUMBER=4711"),
    ("inputRandomText", RANDOM, "inputText: ${TEXT}, with -e TEXT=words"),
    ("inputRandomCityName", RANDOM, "inputText: ${CITY}, with -e CITY=Riga"),
    ("inputRandomCountryName", RANDOM, "inputText: ${COUNTRY}, with -e COUNTRY=Latvia"),
    ("inputRandomColorName", RANDOM, "inputText: ${COLOR}, with -e COLOR=blue"),
    ("clearState", "an app is cleared when it starts", "launchApp: {clearState: true}"),
    ("clearKeychain", PHONE, "launchApp: {clearState: true}"),
    ("setPermissions", PHONE, "leave it out"),
    ("setLocation", PHONE, "leave it out"),
    ("travel", PHONE, "leave it out"),
    ("setOrientation", PHONE, "in a script: open URL --viewport 800x1280"),
    ("setAirplaneMode", PHONE, "leave it out"),
    ("toggleAirplaneMode", PHONE, "leave it out"),
    ("addMedia", PHONE, "in a script: upload TARGET FILE"),
    ("startRecording", VIDEO, "stickpin replay FLOW --report FILE shows each step"),
    ("stopRecording", VIDEO, "stickpin replay FLOW --report FILE shows each step"),
    ("assertScreenshot", "flows do not compare pictures", "in a script: diff screenshot"),
];

const JAVASCRIPT: &str = "flows run no JavaScript";
const MODEL: &str = "flows ask no model";
const RANDOM: &str = "a run with random input cannot be repeated";
const PHONE: &str = "only phones have it";
const VIDEO: &str = "flows record no video";

impl Flow {
    /// One item of a list of commands: a word, or a mapping of one name.
    pub(super) fn command(&self, item: &Yaml, depth: usize) -> Nodes {
        let nothing = Yaml { at: item.at, value: Value::Null };
        let command = match &item.value {
            Value::Text(name) => Command { name, at: item.at, given: &nothing },
            Value::Map(pairs) => match &pairs[..] {
                [(Key { at, name }, given)] => Command { name, at: *at, given },
                [] => return Err(item.at.fault("an empty mapping is no command", "")),
                [_, (second, _), ..] => {
                    let message = "a second name stands in one command";
                    return Err(second.at.fault(
                        message,
                        "each command begins with its own `-`; what belongs to it is indented deeper",
                    ));
                }
            },
            other => return Err(item.at.fault(format!("a command is {}", other.kind()), "- tapOn: Sign in")),
        };
        if let Some((message, hint)) = unsupported(REFUSED, "Maestro", command.name) {
            return Err(command.at.fault(message, hint));
        }
        let Some((_, compile)) = COMMANDS.iter().find(|(name, _)| *name == command.name) else {
            let names = || COMMANDS.iter().map(|(name, _)| *name);
            let hint = nearest(command.name, names()).map(|name| format!("did you mean `{name}`? "));
            let shown = stickpin_tree::escape(command.name, stickpin_tree::MAX_CHARS);
            let all = names().collect::<Vec<_>>().join(", ");
            return Err(command.at.fault(
                format!("the command `{shown}` of Maestro is not supported"),
                format!("{}supported: {all}", hint.unwrap_or_default()),
            ));
        };
        compile(self, &command, depth)
    }
}

impl Command<'_> {
    pub(super) fn fields(&self) -> Result<Fields<'_>, ScriptError> {
        let mut fields = Fields::of(self.name, self.given)?;
        if matches!(self.given.value, Value::Null) {
            fields.at = self.at;
        }
        Ok(fields)
    }

    pub(super) fn is_text(&self) -> bool {
        matches!(self.given.value, Value::Text(_))
    }

    /// A line of ours, in its place.
    pub(super) fn line(&self, words: Vec<Template>) -> Node {
        Node { line: self.at.line, kind: Kind::Command(words) }
    }

    /// A command that is given nothing.
    fn bare(&self, words: &[&str]) -> Nodes {
        let mut fields = self.fields()?;
        let mut nodes = label(&mut fields)?;
        fields.end()?;
        nodes.push(self.line(words.iter().map(|w| Template::text(*w)).collect()));
        Ok(nodes)
    }

    /// `wait`, `wait absent`. What is there and hidden is not visible either.
    pub(super) fn waits(&self, target: &Template, asked: Asked, timeout: Option<Template>) -> Node {
        let timeout = option("timeout", &timeout.unwrap_or_else(|| Template::text(PATIENCE.to_string())));
        let words = match asked {
            Asked::Visible => vec![word("wait"), target.clone(), timeout],
            Asked::Hidden => {
                let seen = [&*selector::each_visible(target), &[Part::Text(" visible".to_owned())]].concat();
                vec![word("wait"), word("absent"), Template::new(seen), timeout]
            }
        };
        self.line(words)
    }

    pub(super) fn block(&self, kind: Kind) -> Vec<Node> {
        vec![Node { line: self.at.line, kind }]
    }
}

pub(super) fn word(text: &str) -> Template {
    Template::text(text)
}

/// `--name=VALUE`.
pub(super) fn option(name: &str, value: &Template) -> Template {
    let parts = [&[Part::Text(format!("--{name}="))], value.parts()];
    Template::new(parts.concat())
}

/// What a command is called in reports.
pub(super) fn label(fields: &mut Fields<'_>) -> Nodes {
    let label = fields.text("label")?;
    let at = fields.at;
    Ok(label.map(|text| Node { line: at.line, kind: Kind::Comment(one_line(&text)) }).into_iter().collect())
}

fn one_line(text: &Template) -> String {
    stickpin_tree::escape(&text.to_string(), stickpin_tree::MAX_CHARS).trim().to_owned()
}

/// The nodes of an assertion. With `optional` it asserts nothing there either: a comment says so, in the script and in
/// reports.
pub(super) fn asserted_or_not(fields: &mut Fields<'_>, asserts: Vec<Node>) -> Nodes {
    if !fields.switch("optional")?.unwrap_or(false) {
        return Ok(asserts);
    }
    let said = |node: Node| match &node.kind {
        Kind::Command(words) => {
            let line = one_line(&Template::text(crate::script::line(words)));
            Node { kind: Kind::Comment(format!("optional, so nothing is asserted: {line}")), ..node }
        }
        _ => node,
    };
    Ok(asserts.into_iter().map(said).collect())
}

fn launch_app(flow: &Flow, command: &Command<'_>, _: usize) -> Nodes {
    let (mut nodes, mut clear) = (Vec::new(), None);
    let app = if command.is_text() {
        Some(text::of(command.name, command.given)?)
    } else {
        let mut fields = command.fields()?;
        let app = fields.text("appId")?;
        clear = fields.switch("clearState")?;
        fields.only("stopApp", true, "an app is always started anew")?;
        nodes = label(&mut fields)?;
        fields.end()?;
        app
    };
    let Some(app) = app.or_else(|| flow.app.clone()) else {
        return Err(command.at.fault(
            "`launchApp` names no app, nor does the header",
            "appId: sim:shop, or url: http://127.0.0.1:3000",
        ));
    };
    let mut words = vec![word("open"), app];
    words.extend(clear.unwrap_or_default().then(|| word("--relaunch")));
    nodes.push(command.line(words));
    Ok(nodes)
}

/// `tapOn` and its likes: a verb of ours with its options.
fn tapped(command: &Command<'_>, verb: &str, with: Option<&str>) -> Nodes {
    let mut words = vec![word(verb)];
    let (mut nodes, mut times, mut delay, mut optional) = (Vec::new(), None, None, false);
    let target;
    if command.is_text() {
        target = selector::plain(command.name, command.given)?;
        words.push(target.clone());
    } else {
        let mut fields = command.fields()?;
        let point = fields.take("point").map(point).transpose()?;
        target = match &point {
            Some(point) => point.clone(),
            None => selector::take(&mut fields)?,
        };
        words.push(target.clone());
        words.extend(fields.text("waitToSettleTimeoutMs")?.map(|ms| option("settle", &ms)));
        times = fields.take("repeat").map(|yaml| bounded("repeat", yaml)).transpose()?;
        delay = if times.is_some() { fields.text("delay")? } else { None };
        fields.only("retryTapIfNoChange", false, "retry: {maxRetries: 1, commands: [...]} tries again")?;
        nodes = label(&mut fields)?;
        if point.is_some() {
            // A place is always there.
            fields.only("optional", false, "a point is always there")?;
        } else {
            optional = fields.switch("optional")?.unwrap_or(false);
        }
        fields.end()?;
    }
    words.extend(with.map(word));
    let line = command.line(words);
    let at = line.line;
    let pause = |delay: Option<Template>| -> Vec<Node> {
        delay.map(|ms| command.line(vec![word("wait"), word("ms"), ms])).into_iter().collect()
    };
    let line = match times {
        Some(times) => {
            Node { line: at, kind: Kind::Repeat { times, body: [vec![line], pause(delay)].concat() } }
        }
        None => line,
    };
    nodes.push(match optional {
        // Where it is not there once the app is quiet, nothing is done; where it is, pressing it may fail as any press.
        true => Node { line: at, kind: Kind::If { asked: Asked::Visible, target, body: vec![line] } },
        false => line,
    });
    Ok(nodes)
}

/// How often something is done.
pub(super) fn bounded(name: &str, yaml: &Yaml) -> Result<u32, ScriptError> {
    let times = number(name, yaml)?;
    if (1..=MAX_TIMES).contains(&times) {
        return Ok(times);
    }
    Err(yaml.at.fault(format!("`{name}` takes a number from 1 to {MAX_TIMES}"), ""))
}

fn asserted(command: &Command<'_>, asked: Asked) -> Nodes {
    if command.is_text() {
        return Ok(vec![command.waits(&selector::plain(command.name, command.given)?, asked, None)]);
    }
    let mut fields = command.fields()?;
    let target = selector::take(&mut fields)?;
    let mut nodes = label(&mut fields)?;
    nodes.extend(asserted_or_not(&mut fields, vec![command.waits(&target, asked, None)])?);
    fields.end()?;
    Ok(nodes)
}

/// A command that takes one text: alone, or in a mapping under one of its names.
fn given_text(command: &Command<'_>, names: &[&'static str]) -> Result<(Template, Vec<Node>), ScriptError> {
    if command.is_text() {
        return Ok((text::of(command.name, command.given)?, Vec::new()));
    }
    let mut fields = command.fields()?;
    let mut found = None;
    for name in names {
        found = fields.text(name)?.or(found);
    }
    let nodes = label(&mut fields)?;
    fields.end()?;
    let missing = || command.at.fault(format!("`{}` needs `{}`", command.name, names[0]), "");
    Ok((found.ok_or_else(missing)?, nodes))
}

fn input_text(_: &Flow, command: &Command<'_>, _: usize) -> Nodes {
    let (text, mut nodes) = given_text(command, &["text"])?;
    // Behind `--` no text is an option, whatever a variable holds.
    nodes.push(command.line(vec![word("type"), word("--"), text]));
    Ok(nodes)
}

fn erase_text(_: &Flow, command: &Command<'_>, _: usize) -> Nodes {
    let mut nodes = Vec::new();
    let times = if command.is_text() {
        bounded(command.name, command.given)?
    } else {
        let mut fields = command.fields()?;
        let times = fields.take("charactersToErase").map(|yaml| bounded("charactersToErase", yaml));
        nodes = label(&mut fields)?;
        fields.end()?;
        times.transpose()?.unwrap_or(ERASED)
    };
    let body = vec![command.line(vec![word("key"), word("Backspace")])];
    nodes.push(Node { line: command.at.line, kind: Kind::Repeat { times, body } });
    Ok(nodes)
}

fn press_key(_: &Flow, command: &Command<'_>, _: usize) -> Nodes {
    let (key, mut nodes) = given_text(command, &["key"])?;
    let key = key.as_text().unwrap_or_default();
    let words: &[&str] = match key.to_ascii_lowercase().as_str() {
        "enter" => &["key", "Enter"],
        "backspace" => &["key", "Backspace"],
        "tab" => &["key", "Tab"],
        "escape" => &["key", "Escape"],
        "back" => &["back"],
        "home" => &["home"],
        _ => {
            let message = format!("the key {} is not supported", stickpin_tree::quote(key));
            return Err(command.given.at.fault(message, "Enter, Backspace, Tab, Escape, Back, Home"));
        }
    };
    nodes.push(command.line(words.iter().map(|w| word(w)).collect()));
    Ok(nodes)
}

fn extended_wait_until(_: &Flow, command: &Command<'_>, _: usize) -> Nodes {
    let mut fields = command.fields()?;
    let timeout = fields.text("timeout")?;
    let mut nodes = label(&mut fields)?;
    let mut asked = Vec::new();
    for (name, state) in CONDITIONS {
        let Some(yaml) = fields.take(name) else { continue };
        asked.push(command.waits(&selector::of(name, yaml)?, state, timeout.clone()));
    }
    let count = asked.len();
    nodes.extend(asserted_or_not(&mut fields, asked)?);
    fields.end()?;
    match count {
        0 => Err(command.at.fault("`extendedWaitUntil` needs `visible` or `notVisible`", "")),
        _ => Ok(nodes),
    }
}

/// The names of what can be waited for and asked.
pub(super) const CONDITIONS: [(&str, Asked); 2] =
    [("visible", Asked::Visible), ("notVisible", Asked::Hidden)];

/// It waits until nothing moves; where something always does, it says so instead of going on.
fn wait_for_animation_to_end(_: &Flow, command: &Command<'_>, _: usize) -> Nodes {
    let mut fields = command.fields()?;
    let timeout = fields.text("timeout")?.unwrap_or_else(|| Template::text(ANIMATION.to_string()));
    let mut nodes = label(&mut fields)?;
    fields.end()?;
    nodes.push(command.line(vec![word("wait"), word("stable"), option("timeout", &timeout)]));
    Ok(nodes)
}

/// Pages and desktops have none that covers anything.
fn hide_keyboard(_: &Flow, command: &Command<'_>, _: usize) -> Nodes {
    let mut fields = command.fields()?;
    let mut nodes = label(&mut fields)?;
    fields.end()?;
    let said = "hideKeyboard: there is none here".to_owned();
    nodes.push(Node { line: command.at.line, kind: Kind::Comment(said) });
    Ok(nodes)
}

/// The app of the session ends, with the session; `launchApp` begins another one.
fn close(flow: &Flow, command: &Command<'_>, _: usize) -> Nodes {
    let named = match &command.given.value {
        Value::Null => None,
        Value::Text(_) => Some(text::of(command.name, command.given)?),
        _ => {
            let mut fields = command.fields()?;
            let app = fields.text("appId")?;
            fields.end()?;
            app
        }
    };
    if named.is_some() && named != flow.app {
        return Err(command.given.at.fault(
            format!("`{}` of another app than the flow's own is not supported", command.name),
            "without a name it is the flow's own",
        ));
    }
    Ok(vec![command.line(vec![word("close")])])
}

fn open_link(_: &Flow, command: &Command<'_>, _: usize) -> Nodes {
    let (link, mut nodes) = given_text(command, &["link"])?;
    nodes.push(command.line(vec![word("open"), link]));
    Ok(nodes)
}

fn take_screenshot(_: &Flow, command: &Command<'_>, _: usize) -> Nodes {
    let (path, mut nodes) = given_text(command, &["path"])?;
    let parts = [path.parts(), &[Part::Text(".png".to_owned())]].concat();
    nodes.push(command.line(vec![word("screenshot"), Template::new(parts)]));
    Ok(nodes)
}
