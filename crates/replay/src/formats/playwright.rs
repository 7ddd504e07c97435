//! Writes scripts as TypeScript tests for `@playwright/test`.
//!
//! A test fails in the cases in which a step of the script would be refused: locators are strict,
//! so several matches are an error too.

mod locator;

use super::writer::{
    Args, ExportScript, ExportStep, FormatWriter, Note, VariableMarks, assignments, lines, role, selector,
};
use crate::script::{Block, Template, TemplatePart, Visibility};
use stickpin_tree::Role;

/// Writes a script as a test.
pub(super) fn export(flow: &ExportScript<'_>, notes: &mut Vec<Note>) -> String {
    let mut writer = PlaywrightWriter { marks: flow.marks, blocks: 0 };
    let body = lines(&mut writer, flow.items, notes);
    let uses = |word: &str| body.iter().any(|line| line.contains(word));
    let mut out = Vec::new();
    let names = [
        (uses("expect("), "expect"),
        (uses("byId(") || uses("firstOf("), "type Locator"),
        (uses("byId("), "type Page"),
    ];
    let names = names.iter().filter(|(used, _)| *used).map(|(_, name)| format!("{name}, "));
    out.push(format!("import {{ {}test }} from '@playwright/test';", names.collect::<String>()));
    out.push(String::new());
    let helpers = [
        (uses("variable(") || !flow.script.env.is_empty(), VARIABLE),
        (uses("secret("), SECRET),
        (uses("firstOf("), FIRST_OF),
        (uses("words("), WORDS),
        (uses("byId("), BY_ID),
    ];
    out.extend(
        helpers.iter().filter(|(used, _)| *used).flat_map(|(_, code)| code.lines()).map(str::to_owned),
    );
    if let Some(retries) = flow.script.context("retries") {
        out.push(format!("test.describe.configure({{ retries: {retries} }});"));
        out.push(String::new());
    }
    let header = flow
        .script
        .env
        .iter()
        .map(|(key, value)| format!("  defaults.set({}, {});", string(key), text(value)));
    out.push(format!("test({}, async ({{ page }}) => {{", string(&flow.name)));
    out.extend(flow.script.context("timeout").map(|ms| format!("  test.setTimeout({ms});")));
    out.extend(header);
    out.extend(indent(&body));
    out.push("});".to_owned());
    let mut text = out.join("\n");
    text.push('\n');
    text
}

/// The function that returns a variable from the environment variables that our own runs use.
const VARIABLE: &str = include_str!("playwright/variable.ts");

/// The function that returns a secret from the environment variables that our own runs use.
const SECRET: &str = include_str!("playwright/secret.ts");

/// The function that tries alternatives in order.
const FIRST_OF: &str = include_str!("playwright/first_of.ts");

/// The function that returns the pattern for the text of a row.
const WORDS: &str = include_str!("playwright/words.ts");

/// The function that finds an element by its developer-assigned id, in any attribute for such ids.
const BY_ID: &str = include_str!("playwright/by_id.ts");

struct PlaywrightWriter<'f> {
    marks: &'f VariableMarks,
    /// The number of blocks written so far, which makes the names of loop variables unique.
    blocks: usize,
}

type Lines = Result<Vec<String>, String>;

fn indent(lines: &[String]) -> impl Iterator<Item = String> {
    lines.iter().map(|line| format!("  {line}"))
}

/// Returns text as a string literal.
fn string(text: &str) -> String {
    let mut out = String::from("'");
    for c in text.chars() {
        match c {
            '\'' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if stickpin_tree::is_unsafe(c) => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

/// Returns text with its variables as an expression.
fn text(template: &Template) -> String {
    let part = |part: &TemplatePart| match part {
        TemplatePart::Text(text) => string(text),
        TemplatePart::Variable { name, default: None } => format!("variable({})", string(name)),
        TemplatePart::Variable { name, default: Some(default) } => {
            format!("variable({}, {})", string(name), string(default))
        }
    };
    match template.parts() {
        [] => string(""),
        parts => parts.iter().map(part).collect::<Vec<_>>().join(" + "),
    }
}

/// Formats function arguments with an options object: `a, { b: 1, c: 2 }`.
fn call_arguments<const N: usize>(positional: &[String], options: [Option<String>; N]) -> String {
    let options: Vec<String> = options.into_iter().flatten().collect();
    let options = (!options.is_empty()).then(|| format!("{{ {} }}", options.join(", ")));
    positional.iter().cloned().chain(options).collect::<Vec<_>>().join(", ")
}

impl FormatWriter for PlaywrightWriter<'_> {
    const COMMENT: &'static str = "// ";

    fn step(&mut self, step: &ExportStep, caveats: &mut Vec<String>) -> Lines {
        let mut args = step.args();
        let lines = self.expressions(step, &mut args, caveats)?;
        args.refuse_unread()?;
        Ok(lines.into_iter().map(|line| format!("await {line};")).collect())
    }

    fn block(&mut self, block: &Block<ExportStep>, body: Vec<String>, _: &mut Vec<String>) -> Lines {
        self.blocks += 1;
        let n = self.blocks;
        let (head, body) = match block {
            Block::Repeat(times) => (format!("for (let n{n} = 0; n{n} < {times}; n{n} += 1) {{"), body),
            Block::Retry(times) => {
                let head = format!("for (let left{n} = {times}; left{n} > 0; left{n} -= 1) {{");
                let try_lines: Vec<String> = [vec!["try {".to_owned()], indent(&body).collect()].concat();
                let catch_lines = ["  break;", "} catch (error) {"].map(str::to_owned);
                let throw_lines = [format!("  if (left{n} === 1) throw error;"), "}".to_owned()];
                (head, [try_lines, catch_lines.to_vec(), throw_lines.to_vec()].concat())
            }
            Block::If(asked, step) => {
                let all = self.locators(&step.args().selector("target")?)?;
                let counts =
                    all.iter().map(|one| format!("(await {one}.filter({{ visible: true }}).count())"));
                let shown = counts.collect::<Vec<_>>().join(" + ");
                let head = match asked {
                    Visibility::Visible => format!("if ({shown} > 0) {{"),
                    Visibility::Hidden => format!("if ({shown} === 0) {{"),
                };
                (head, body)
            }
        };
        Ok([head].into_iter().chain(indent(&body)).chain(["}".to_owned()]).collect())
    }
}

impl PlaywrightWriter<'_> {
    fn text(&self, marked: &str) -> String {
        text(&self.marks.template(marked))
    }

    /// Returns the expressions to await, in order.
    fn expressions(&self, step: &ExportStep, args: &mut Args<'_>, caveats: &mut Vec<String>) -> Lines {
        let timeout = |args: &mut Args<'_>| args.number("timeout").map(|ms| format!("timeout: {ms}"));
        let text_argument = |args: &mut Args<'_>, name| self.text(args.text(name).unwrap_or_default());
        let list_argument = |args: &mut Args<'_>, name| {
            let texts: Vec<String> = args.list(name).map(|text| self.text(text)).collect();
            format!("[{}]", texts.join(", "))
        };
        let name = step.entry.spec.name;
        Ok(vec![match name {
            "open" => {
                if args.is_on("relaunch") {
                    caveats.push("every test starts with a new browser".to_owned());
                }
                self.open(args)?
            }
            "close" => return Ok(Vec::new()),
            "press" => {
                let target = self.locator_argument(args, "target")?;
                let button =
                    args.text("button").filter(|b| *b != "left").map(|b| format!("button: {}", string(b)));
                let keys = args.text("modifiers").map(|keys| {
                    let keys: Vec<String> = keys.split('+').map(string).collect();
                    format!("modifiers: [{}]", keys.join(", "))
                });
                let count = args.number("count").filter(|n| *n != 1).map(|n| format!("clickCount: {n}"));
                format!("{target}.click({})", call_arguments(&[], [button, keys, count, timeout(args)]))
            }
            "longpress" => {
                let delay = format!("delay: {}", args.number("hold").unwrap_or(600));
                let options = call_arguments(&[], [Some(delay), timeout(args)]);
                format!("{}.click({options})", self.locator_argument(args, "target")?)
            }
            "hover" | "check" | "uncheck" => {
                format!(
                    "{}.{name}({})",
                    self.locator_argument(args, "target")?,
                    call_arguments(&[], [timeout(args)])
                )
            }
            "drag" => format!(
                "{}.dragTo({})",
                self.locator_argument(args, "source")?,
                self.locator_argument(args, "destination")?
            ),
            "fill" => {
                let target = self.locator_argument(args, "target")?;
                let text = match args.text("secret") {
                    Some(name) => format!("secret({})", self.text(name)),
                    None => text_argument(args, "text"),
                };
                format!("{target}.fill({})", call_arguments(&[text], [timeout(args)]))
            }
            "type" => {
                let text = text_argument(args, "text");
                match args.text("into") {
                    Some(into) => format!("{}.pressSequentially({text})", self.locator(&selector(into)?)?),
                    None => format!("page.keyboard.type({text})"),
                }
            }
            "form" => return self.form_lines(step, args),
            "key" => format!("page.keyboard.press({})", text_argument(args, "chord")),
            "select" => {
                caveats.push("works only for <select> elements".to_owned());
                format!(
                    "{}.selectOption({})",
                    self.locator_argument(args, "target")?,
                    list_argument(args, "options")
                )
            }
            "upload" => {
                caveats.push("works only for file inputs".to_owned());
                format!(
                    "{}.setInputFiles({})",
                    self.locator_argument(args, "target")?,
                    list_argument(args, "files")
                )
            }
            "scroll" => return self.scroll(args),
            "wait" => {
                let target = self.locator_argument(args, "target")?;
                format!("expect({target}).toBeVisible({})", call_arguments(&[], [timeout(args)]))
            }
            "wait absent" => {
                let all = self.locators(&args.selector("target")?)?;
                let passed = call_arguments(&["0".to_owned()], [timeout(args)]);
                return Ok(all.iter().map(|one| format!("expect({one}).toHaveCount({passed})")).collect());
            }
            "wait text" => {
                let found =
                    format!("page.getByText({}).filter({{ visible: true }})", text_argument(args, "text"));
                format!("expect({found}.first()).toBeVisible({})", call_arguments(&[], [timeout(args)]))
            }
            "wait url" => self.url(args),
            "wait ms" => format!("page.waitForTimeout({})", args.number("ms").unwrap_or_default()),
            "wait fn" => {
                let timeout = timeout(args);
                let mut positional = vec![text_argument(args, "expression")];
                positional.extend(timeout.is_some().then(|| "undefined".to_owned()));
                format!("page.waitForFunction({})", call_arguments(&positional, [timeout]))
            }
            "is" => return self.assertion(args),
            "screenshot" => self.screenshot(args)?,
            "back" => "page.goBack()".to_owned(),
            "forward" => "page.goForward()".to_owned(),
            "reload" => "page.reload()".to_owned(),
            "alert accept" | "alert dismiss" => {
                return Err(
                    "dialogs are answered by a handler registered beforehand: page.on('dialog', ...)"
                        .to_owned(),
                );
            }
            _ => return Err(format!("`{name}` has no counterpart")),
        }])
    }

    fn open(&self, args: &mut Args<'_>) -> Result<String, String> {
        let address = args.text("what").unwrap_or_default();
        let template = self.marks.template(address);
        let is_address = match template.parts() {
            [TemplatePart::Text(text), ..] => ["http://", "https://", "file:", "data:", "about:"]
                .iter()
                .any(|scheme| text.starts_with(scheme)),
            // The address begins with a variable that has no default, or one whose default is an
            // address.
            [TemplatePart::Variable { default, .. }, ..] => {
                default.as_ref().is_none_or(|text| text.starts_with("http") || text.starts_with("file:"))
            }
            [] => false,
        };
        if !is_address {
            return Err("Playwright opens only web addresses".to_owned());
        }
        Ok(format!("page.goto({})", text(&template)))
    }

    fn form_lines(&self, step: &ExportStep, args: &mut Args<'_>) -> Lines {
        let mut out = Vec::new();
        for (target, value) in assignments(step) {
            let selector = selector(&target)?;
            let locator = self.locator(&selector)?;
            let text = self.text(&value);
            out.push(match role(&selector) {
                Some(Role::TextBox | Role::SearchBox | Role::SpinButton) => format!("{locator}.fill({text})"),
                Some(Role::Checkbox | Role::Switch | Role::Radio) if matches!(&*value, "true" | "false") => {
                    format!("{locator}.setChecked({value})")
                }
                _ => return Err(format!("without the app, the type of the field `{selector}` is unknown")),
            });
        }
        let _fields = args.get("fields");
        if let Some(submit) = args.text("submit") {
            out.push(format!("{}.click()", self.locator(&selector(submit)?)?));
        }
        Ok(out)
    }

    fn scroll(&self, args: &mut Args<'_>) -> Lines {
        let (direction, distance) =
            (args.text("direction").unwrap_or_default(), args.number("amount").unwrap_or(600));
        if let Some(until) = args.text("until") {
            let _container = args.get("in");
            return Ok(vec![format!("{}.scrollIntoViewIfNeeded()", self.locator(&selector(until)?)?)]);
        }
        let wheel = match direction {
            "down" => format!("page.mouse.wheel(0, {distance})"),
            "up" => format!("page.mouse.wheel(0, -{distance})"),
            "left" => format!("page.mouse.wheel(-{distance}, 0)"),
            _ => format!("page.mouse.wheel({distance}, 0)"),
        };
        let container = args.text("in").map(|target| self.locator(&selector(target)?)).transpose()?;
        Ok(container.map(|c| format!("{c}.hover()")).into_iter().chain([wheel]).collect())
    }

    /// Returns the expression that waits for a part of the address. A part with `*` is a pattern
    /// for the whole address, or for the path if the pattern begins with a slash.
    fn url(&self, args: &mut Args<'_>) -> String {
        let part = args.text("part").unwrap_or_default();
        let timeout = args.number("timeout").map(|ms| format!("timeout: {ms}"));
        let address = match part.contains('*') {
            false => format!("(url) => url.href.includes({})", self.text(part)),
            true if part.starts_with('/') => self.text(&format!("*://*{part}").replace('*', "**")),
            true => self.text(&part.replace('*', "**")),
        };
        format!("page.waitForURL({})", call_arguments(&[address], [timeout]))
    }

    fn assertion(&self, args: &mut Args<'_>) -> Lines {
        let selector = args.selector("target")?;
        let predicate = args.text("predicate").unwrap_or_default();
        // Absence must be asserted for each alternative.
        let assert_none = |shown: &str| {
            let all = self.locators(&selector)?;
            Ok(all.iter().map(|one| format!("expect({one}{shown}).toHaveCount(0)")).collect())
        };
        match predicate {
            "absent" => return assert_none(""),
            "hidden" => return assert_none(".filter({ visible: true })"),
            _ => {}
        }
        let target = self.locator(&selector)?;
        let value = args.text("value").map(|value| self.text(value)).unwrap_or_default();
        let matcher = match predicate {
            "visible" => "toBeVisible()",
            "exists" => "toBeAttached()",
            "enabled" => "toBeEnabled()",
            "disabled" => "toBeDisabled()",
            "editable" => "toBeEditable()",
            "focused" => "toBeFocused()",
            "checked" => "toBeChecked()",
            "selected" => "toHaveAttribute('aria-selected', 'true')",
            "expanded" => "toHaveAttribute('aria-expanded', 'true')",
            "text" => return Ok(vec![format!("expect({target}).toHaveText({value})")]),
            "value" => return Ok(vec![format!("expect({target}).toHaveValue({value})")]),
            other => return Err(format!("the check `{other}` has no counterpart")),
        };
        Ok(vec![format!("expect({target}).{matcher}")])
    }

    fn screenshot(&self, args: &mut Args<'_>) -> Result<String, String> {
        let path = args.text("path").map(|path| format!("path: {}", self.text(path)));
        let full = args.is_on("full").then(|| "fullPage: true".to_owned());
        let source = args.text("of").map(|target| self.locator(&selector(target)?)).transpose()?;
        let source = source.unwrap_or_else(|| "page".to_owned());
        Ok(format!("{source}.screenshot({})", call_arguments(&[], [path, full])))
    }

    fn locator_argument(&self, args: &mut Args<'_>, name: &'static str) -> Result<String, String> {
        self.locator(&args.selector(name)?)
    }
}
