//! A script that is ready to run: includes are read, variables are filled in, and lines are parsed
//! by the registry. Errors are reported with file and line before anything is sent.

use crate::formats::read;
use crate::script::{self, Block, Node, NodeKind, Script, Template, UnsetVariable};
use crate::script_writer::ANNOTATION;
use crate::vars::{ScriptVariables, Vars};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use stickpin_cmdline::CommandLine;
use stickpin_kernel::registry::CommandDefinition;
use stickpin_kernel::{Error, Result};

/// The maximum number of steps in a plan.
const MAX_STEPS: usize = 100_000;

/// The maximum depth of includes; the outermost script counts.
pub(crate) const MAX_INCLUDES: usize = 16;

/// A function that reads a file.
pub type ReadFile<'r> = dyn Fn(&Path) -> Result<String> + 'r;

/// A function that is called with each command and its input, and may change the input.
pub type Visit<'v> =
    dyn FnMut(&CommandDefinition, &mut serde_json::Map<String, serde_json::Value>) -> Result<()> + 'v;

/// Reads a script's file. Reads no more than is needed to detect that a file is too long.
///
/// # Errors
/// Returns `IO` for a file that cannot be read, and `INVALID_ARGS` for one that is not text or is
/// too long.
pub fn read_script(path: &Path) -> Result<String> {
    read_script_or(path, &|e| stickpin_kernel::io_error("read", path, e))
}

/// Reads a script's file like [`read_script`]. `failed` converts a file system error.
pub(crate) fn read_script_or(path: &Path, failed: &dyn Fn(&std::io::Error) -> Error) -> Result<String> {
    let file = std::fs::File::open(path).map_err(|e| failed(&e))?;
    let size = file.metadata().map_err(|e| failed(&e))?.len();
    let limit = u64::try_from(script::MAX_BYTES).unwrap_or(u64::MAX);
    let too_large = || {
        invalid_script(format!("`{}` has more than {limit} bytes", path.display()))
            .hint("move some of its lines to another file, and include that file: `include FILE`, or `runFlow: FILE` in a flow")
    };
    if size > limit {
        return Err(too_large());
    }
    let mut text = Vec::new();
    std::io::Read::read_to_end(&mut std::io::Read::take(file, limit + 1), &mut text)
        .map_err(|e| failed(&e))?;
    // The size of a file that is not regular is unknown until it is read.
    if text.len() > script::MAX_BYTES {
        return Err(too_large());
    }
    String::from_utf8(text).map_err(|_| invalid_script(format!("`{}` is not UTF-8 text", path.display())))
}

/// Returns the path of a file that a script includes: `file` itself if it begins with `~`,
/// otherwise `file` in the script's folder.
pub(crate) fn included_file(script: &Path, file: &str) -> PathBuf {
    match file.starts_with('~') {
        true => PathBuf::from(file),
        false => script.parent().unwrap_or(Path::new("")).join(file),
    }
}

/// A script that is ready to run.
#[derive(Debug)]
pub struct Plan {
    /// The script's file, as it was named.
    pub file: String,
    /// The value of `context platform`.
    pub platform: Option<String>,
    /// The value of `context timeout`: the limit of a whole attempt in milliseconds.
    pub timeout_ms: Option<u64>,
    /// The value of `context retries`.
    pub retries: Option<u32>,
    /// The items in order.
    pub items: Vec<Item>,
    /// The number of steps; those in blocks count once.
    pub steps: usize,
}

/// A step, or a block of items.
#[derive(Debug)]
pub enum Item {
    /// A command.
    Step(Step),
    /// A block. The condition of an `if` is a step, such as `is visible TARGET`.
    Block(Block<Step>, Vec<Item>),
}

/// A command in a script.
#[derive(Debug, Clone)]
pub struct Step {
    /// The number in the plan, from 1.
    pub number: usize,
    /// The position of the line.
    pub at: SourceLocation,
    /// The line with its variables filled in.
    pub text: String,
    /// The line with its variables as written, for readers who may not see the values.
    pub shown: String,
    /// The parsed command.
    pub line: CommandLine,
    /// The recorded meanings of the targets, in order.
    pub expected: Vec<String>,
}

/// A line in a file.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceLocation {
    /// The file, as it was named.
    pub file: String,
    /// The line number, from 1.
    pub line: u32,
}

impl std::fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl Plan {
    /// Reads a script and everything that it includes, each in the format that its file's extension
    /// indicates, as in [`formats::parse`](crate::formats::parse).
    ///
    /// # Errors
    /// Returns `INVALID_ARGS` with the file, and with the line if the error is in a line. Also
    /// returns the errors of `read`, such as `IO` for an unreadable file.
    pub fn read(file: &Path, vars: &Vars, read: &ReadFile<'_>) -> Result<Self> {
        let mut reader = PlanReader { read, open: Vec::new(), steps: 0 };
        let (script, items) = reader.file(file, None, ScriptVariables::new(vars))?;
        let number = |key| script.context(key).and_then(|value| value.parse().ok());
        Ok(Self {
            file: file.display().to_string(),
            platform: script.context("platform").map(str::to_owned),
            timeout_ms: number("timeout"),
            retries: number("retries").and_then(|n| u32::try_from(n).ok()),
            items,
            steps: reader.steps,
        })
    }

    /// Returns a digest of the steps. Comments that describe no target do not change the digest.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        digest(&self.items, &mut hash);
        // Guards against mistakes, not malice: a quarter of the hash is enough, and short enough to
        // type.
        hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Passes each step's command to `visit`, before any command is sent.
    ///
    /// # Errors
    /// Returns the first error of `visit`, with its position.
    pub fn visit(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        visit_items(&mut self.items, visit)
    }

    /// Returns the first step, even if it is in a block.
    #[must_use]
    pub fn first_step(&self) -> Option<&Step> {
        fn first_of(items: &[Item]) -> Option<&Step> {
            items.iter().find_map(|item| match item {
                Item::Step(step) => Some(step),
                Item::Block(Block::If(_, asked), _) => Some(asked),
                Item::Block(_, items) => first_of(items),
            })
        }
        first_of(&self.items)
    }
}

fn visit_items(items: &mut [Item], visit: &mut Visit<'_>) -> Result<()> {
    for item in items {
        let (step, inner) = match item {
            Item::Step(step) => (Some(step), None),
            Item::Block(Block::If(_, asked), items) => (Some(asked), Some(items)),
            Item::Block(_, items) => (None, Some(items)),
        };
        if let Some(step) = step {
            let result = visit(step.line.entry, &mut step.line.input);
            result.map_err(|e| Error { message: format!("{}: {}", step.at, e.message), ..e })?;
        }
        if let Some(items) = inner {
            visit_items(items, visit)?;
        }
    }
    Ok(())
}

fn digest(items: &[Item], hash: &mut Sha256) {
    let mut block = |head: String, items: &[Item]| {
        hash.update(head);
        digest(items, hash);
        hash.update("}\n");
    };
    for item in items {
        match item {
            Item::Step(step) => {
                // Values of variables are not part of the digest: a resumed run may be given
                // another password.
                let words = format!("{}\n{}\n", step.shown, step.expected.join("\n"));
                block(words, &[]);
            }
            Item::Block(Block::If(_, asked), items) => block(format!("if {} {{\n", asked.shown), items),
            Item::Block(other, items) => block(format!("{} {{\n", other.head(|_| String::new())), items),
        }
    }
}

struct PlanReader<'r> {
    read: &'r ReadFile<'r>,
    /// The files that are being read, the innermost last.
    open: Vec<PathBuf>,
    steps: usize,
}

impl PlanReader<'_> {
    fn file(
        &mut self,
        path: &Path,
        from: Option<&SourceLocation>,
        mut variables: ScriptVariables<'_>,
    ) -> Result<(Script, Vec<Item>)> {
        let name = path.display().to_string();
        let prefix = || from.map(|place| format!("{place}: ")).unwrap_or_default();
        if self.open.iter().any(|open| open == path) {
            return Err(invalid_script(format!("{}{name} includes itself", prefix())));
        }
        if self.open.len() == MAX_INCLUDES {
            return Err(invalid_script(format!(
                "{}scripts include one another more than {MAX_INCLUDES} deep",
                prefix()
            )));
        }
        let text =
            (self.read)(path).map_err(|e| Error { message: format!("{}{}", prefix(), e.message), ..e })?;
        let script = read::parse(path, &text).map_err(|e| e.into_error(&name))?;
        variables.add_env(&script).map_err(|e| unset_variable(&name, &e))?;
        self.open.push(path.to_owned());
        let items = self.nodes(&script.body, &name, path, &variables);
        self.open.pop();
        Ok((script, items?))
    }

    fn nodes(
        &mut self,
        nodes: &[Node],
        name: &str,
        path: &Path,
        variables: &ScriptVariables<'_>,
    ) -> Result<Vec<Item>> {
        let mut items = Vec::new();
        let mut expected = Vec::new();
        for node in nodes {
            let at = SourceLocation { file: name.to_owned(), line: node.line };
            if let NodeKind::Comment(text) = &node.kind {
                expected.extend(text.strip_prefix(ANNOTATION).map(str::to_owned));
                continue;
            }
            let expected = std::mem::take(&mut expected);
            match &node.kind {
                NodeKind::Blank | NodeKind::Comment(_) => {}
                NodeKind::Command(words) => {
                    items.push(Item::Step(self.step(words, at, expected, variables)?))
                }
                NodeKind::Include { file, env } => {
                    let file = variables.fill(file).map_err(|e| unset_variable(&at, &e))?;
                    let file = included_file(path, &file);
                    let include_variables =
                        variables.for_include(env).map_err(|e| unset_variable(&at, &e))?;
                    items.extend(self.file(&file, Some(&at), include_variables)?.1);
                }
                NodeKind::Block(block, body) => {
                    let block = block.map(|asked, target| {
                        let words = [Template::text("is"), Template::text(asked.word()), target.clone()];
                        self.step(&words, at, Vec::new(), variables)
                    })?;
                    items.push(Item::Block(block, self.nodes(body, name, path, variables)?));
                }
            }
        }
        Ok(items)
    }

    fn step(
        &mut self,
        words: &[Template],
        at: SourceLocation,
        expected: Vec<String>,
        variables: &ScriptVariables<'_>,
    ) -> Result<Step> {
        if self.steps == MAX_STEPS {
            return Err(invalid_script(format!("{at}: the script has more than {MAX_STEPS} steps")));
        }
        self.steps += 1;
        let filled: Vec<String> = words
            .iter()
            .map(|word| variables.fill(word))
            .collect::<Result<_, _>>()
            .map_err(|e| unset_variable(&at, &e))?;
        let mut line =
            read::line(&filled).map_err(|e| Error { message: format!("{at}: {}", e.message), ..e })?;
        // Pins have no meaning outside the session that issued them.
        line.entry
            .rewrite_targets(&mut line.input, &mut |target| Some(stickpin_refs::strip(target).to_owned()));
        let text = |words: &[String]| {
            let words: Vec<Template> = words.iter().map(Template::text).collect();
            script::line(&words)
        };
        Ok(Step { number: self.steps, at, text: text(&filled), shown: script::line(words), line, expected })
    }
}

fn invalid_script(message: String) -> Error {
    Error::invalid_args(message)
}

fn unset_variable(at: &dyn std::fmt::Display, e: &UnsetVariable) -> Error {
    invalid_script(format!("{at}: {e}")).hint(format!(
        "set it with `-e {0}=VALUE` or `STICKPIN_VAR_{0}=VALUE`, or give it a default: `${{{0}:-default}}` (in a Maestro flow: `${{{0} || \"default\"}}`)",
        e.name
    ))
}
