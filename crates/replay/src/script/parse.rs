//! Parses the lines of a script.

use super::error::{LineError, ScriptError};
use super::template::Template;
use super::word::{self, is_name, is_space};
use super::{Block, MAX_BYTES, MAX_DEPTH, MAX_TIMES, Node, NodeKind, Script, Visibility};
use stickpin_tree::quote;

/// Parses a script.
///
/// # Errors
/// Returns the first error, with its line and column.
pub fn parse(text: &str) -> Result<Script, ScriptError> {
    let too_long = || format!("the script has more than {MAX_BYTES} bytes");
    LineError::unless(
        text.len() <= MAX_BYTES,
        0,
        too_long,
        "move some of its lines to another file, and include that file: `include FILE`",
    )
    .map_err(|e| e.on_line(1, ""))?;
    let mut reader = Parser::default();
    for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        reader.line(number, line).map_err(|fault| fault.on_line(number, line))?;
    }
    reader.finish()
}

/// The script as parsed so far.
#[derive(Debug, Default)]
struct Parser {
    script: Script,
    seen_context: bool,
    seen_command: bool,
    /// Open blocks, the innermost last: the first line, the block, and its content so far.
    open: Vec<(u32, Block<Template>, Vec<Node>)>,
}

/// The hint for a line that must come before the first command.
const UP: &str = "move this line up";

const BLOCKS: &str = "a block begins with `retry N {`, `repeat N {`, `if visible SELECTOR {` or `if hidden SELECTOR {`, \
     and ends with a line `}`";

impl Parser {
    fn line(&mut self, number: u32, line: &str) -> Result<(), LineError> {
        if let Some(at) = line.find('\r') {
            return Err(LineError::new(
                at,
                "the line contains a carriage return",
                "in double quotes, write a carriage return as `\\r`",
            ));
        }
        let start = line.len() - line.trim_start_matches(is_space).len();
        let rest = &line[start..];
        if rest.is_empty() {
            self.push(number, NodeKind::Blank);
            return Ok(());
        }
        if let Some(comment) = rest.strip_prefix('#') {
            let text = comment.strip_prefix(' ').unwrap_or(comment).trim_end_matches(is_space);
            self.push(number, NodeKind::Comment(text.to_owned()));
            return Ok(());
        }
        let first = rest.split(is_space).next().unwrap_or(rest);
        let after_first = start + first.len();
        match first {
            "context" => self.context(line, start),
            "env" => self.env(line, after_first),
            "}" => self.close(line, after_first),
            "retry" | "repeat" | "if" => self.open(number, line, first, start),
            _ => self.command(number, line, start),
        }
    }

    /// Parses `context platform=web timeout=60000`.
    fn context(&mut self, line: &str, start: usize) -> Result<(), LineError> {
        const FORM: &str = "for example: `context platform=web timeout=60000 retries=1`";
        LineError::unless(
            !self.seen_context,
            start,
            || "there is a second `context` line",
            "merge the two lines",
        )?;
        LineError::unless(!self.seen_command, start, || "`context` must come before the first command", UP)?;
        self.seen_context = true;
        let mut at = skip(line, start + "context".len());
        while at < line.len() {
            let (key, value, end) = parse_pair(line, at, FORM)?;
            let Some(value) = value.as_text() else {
                return Err(LineError::new(at, "a `context` value cannot contain a variable", FORM));
            };
            let twice = || format!("`{key}` is given twice in `context`");
            LineError::unless(self.script.context(&key).is_none(), at, twice, "keep one of the two")?;
            let is_valid = !matches!(key.as_str(), "timeout" | "retries") || value.parse::<u32>().is_ok();
            let invalid =
                || format!("`{key}` is {}, not a whole number from 0 to {}", quote(value), u32::MAX);
            LineError::unless(is_valid, at, invalid, FORM)?;
            self.script.context.push((key, value.to_owned()));
            at = skip(line, end);
        }
        Ok(())
    }

    /// Parses `env KEY=VALUE`.
    fn env(&mut self, line: &str, at: usize) -> Result<(), LineError> {
        const FORM: &str = "for example: `env USER=ada`";
        let at = skip(line, at);
        LineError::unless(!self.seen_command, at, || "`env` must come before the first command", UP)?;
        let (key, value, end) = parse_pair(line, at, FORM)?;
        variable(&key, at)?;
        let is_new = self.script.env.iter().all(|(k, _)| *k != key);
        LineError::unless(is_new, at, || format!("`{key}` is set twice"), "keep one of the two")?;
        expect_end(line, end)?;
        self.script.env.push((key, value));
        Ok(())
    }

    fn command(&mut self, number: u32, line: &str, start: usize) -> Result<(), LineError> {
        let words = words(line, start)?;
        // A brace that is an argument of a command must be quoted.
        if words.len() > 1 && line.trim_end_matches(is_space).ends_with(" {") {
            let first = words[0].as_text().unwrap_or_default();
            return Err(LineError::new(start, format!("{} does not start a block", quote(first)), BLOCKS));
        }
        self.seen_command = true;
        let kind = match words.first().and_then(Template::as_text) {
            Some("include") => include(line, start)?,
            _ => NodeKind::Command(words),
        };
        self.push(number, kind);
        Ok(())
    }

    fn open(&mut self, number: u32, line: &str, first: &str, start: usize) -> Result<(), LineError> {
        let words = words(line, start)?;
        let text = |i: usize| words.get(i).and_then(Template::as_text);
        let is_opened = text(words.len() - 1) == Some("{") && words.len() >= 2;
        let unopened = || format!("`{first}` needs `{{` at the end of its line");
        LineError::unless(is_opened, line.trim_end().len(), unopened, BLOCKS)?;
        let inner = words.len() - 1;
        let block = match first {
            "if" => {
                let visibility =
                    [Visibility::Visible, Visibility::Hidden].into_iter().find(|a| text(1) == Some(a.word()));
                let Some(asked) = visibility.filter(|_| inner == 3) else {
                    return Err(LineError::new(
                        start,
                        "`if` needs `visible` or `hidden`, and one selector",
                        "quote a selector that contains spaces: `if visible 'role=button \"Accept all\"' {`",
                    ));
                };
                Block::If(asked, words[2].clone())
            }
            _ => {
                let times = text(1).filter(|_| inner == 2).and_then(|n| n.parse().ok());
                let Some(times) = times.filter(|n| (1..=MAX_TIMES).contains(n)) else {
                    return Err(LineError::new(
                        start,
                        format!("`{first}` needs one number from 1 to {MAX_TIMES}"),
                        BLOCKS,
                    ));
                };
                match first {
                    "retry" => Block::Retry(times),
                    _ => Block::Repeat(times),
                }
            }
        };
        let too_deep = || format!("blocks are nested more than {MAX_DEPTH} deep");
        LineError::unless(self.open.len() != MAX_DEPTH, start, too_deep, "")?;
        self.seen_command = true;
        self.open.push((number, block, Vec::new()));
        Ok(())
    }

    fn close(&mut self, line: &str, at: usize) -> Result<(), LineError> {
        expect_end(line, at)?;
        let Some((line, block, body)) = self.open.pop() else {
            return Err(LineError::new(at - 1, "there is no open block for `}` to close", BLOCKS));
        };
        self.push(line, NodeKind::Block(block, body));
        Ok(())
    }

    fn push(&mut self, line: u32, kind: NodeKind) {
        let lines = self.open.last_mut().map_or(&mut self.script.body, |(.., body)| body);
        lines.push(Node { line, kind });
    }

    fn finish(self) -> Result<Script, ScriptError> {
        match self.open.last() {
            Some((line, ..)) => Err(LineError::new(0, "this block is not closed", BLOCKS).on_line(*line, "")),
            None => Ok(self.script),
        }
    }
}

/// Reads all words from `at` on.
fn words(line: &str, at: usize) -> Result<Vec<Template>, LineError> {
    let mut words = Vec::new();
    let mut at = skip(line, at);
    while at < line.len() {
        let (found, end) = word::read(line, at)?;
        words.push(found);
        at = skip(line, end);
    }
    Ok(words)
}

/// Parses `include FILE [KEY=VALUE]...`.
fn include(line: &str, start: usize) -> Result<NodeKind, LineError> {
    const FORM: &str = "for example: `include steps/login.ad USER=ada`";
    let mut at = skip(line, start + "include".len());
    LineError::unless(at != line.len(), start, || "`include` needs a file", FORM)?;
    let (file, end) = word::read(line, at)?;
    let mut env: Vec<(String, Template)> = Vec::new();
    at = skip(line, end);
    while at < line.len() {
        let (key, value, end) = parse_pair(line, at, FORM)?;
        variable(&key, at)?;
        let is_new = env.iter().all(|(k, _)| *k != key);
        LineError::unless(is_new, at, || format!("`{key}` is given twice"), "keep one of the two")?;
        env.push((key, value));
        at = skip(line, end);
    }
    Ok(NodeKind::Include { file, env })
}

/// Checks that a script may set a variable of this name.
fn variable(key: &str, at: usize) -> Result<(), LineError> {
    let unnamed = || format!("{} is not a variable name", quote(key));
    LineError::unless(is_name(key), at, unnamed, word::NAME_HINT)?;
    let reserved = || format!("`{key}` is a reserved name");
    LineError::unless(!key.starts_with("AD_"), at, reserved, word::RESERVED_HINT)
}

/// Parses `KEY=VALUE`, in which the value is a word. Also returns the end of the value.
fn parse_pair(line: &str, at: usize, form: &'static str) -> Result<(String, Template, usize), LineError> {
    let rest = &line[at..];
    let equals = rest.find('=').filter(|&i| i > 0 && !rest[..i].contains(is_space));
    let Some(equals) = equals else {
        return Err(LineError::new(at, "expected `KEY=VALUE`", form));
    };
    let value_start = at + equals + 1;
    if line[value_start..].is_empty() || line[value_start..].starts_with(is_space) {
        return Ok((rest[..equals].to_owned(), Template::default(), value_start));
    }
    let (value, end) = word::read(line, value_start)?;
    Ok((rest[..equals].to_owned(), value, end))
}

fn skip(line: &str, at: usize) -> usize {
    line.len() - line[at..].trim_start_matches(is_space).len()
}

fn expect_end(line: &str, at: usize) -> Result<(), LineError> {
    let at = skip(line, at);
    LineError::unless(at >= line.len(), at, || "unexpected text at the end of the line", "")
}
