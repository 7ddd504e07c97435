//! `batch`: runs several commands in one call.

use crate::api::request::Response;
use crate::command::table::CommandTable;
use crate::commands::prelude::*;
use crate::run::execute;
use serde_json::{Map, Value};
use stickpin_device::Dispatched;
use stickpin_tree::format_count;

/// The maximum number of steps in a batch.
const MAX_STEPS: usize = 200;

/// The maximum size of a file of steps, in bytes.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// Run several commands in order, and stop at the first failure.
///
/// A step is `{"command": "press", "input": {"target": "@e3"}}`, with arguments by name. All steps
/// are checked before the first one runs.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Batch {
    /// The steps as JSON.
    #[schemars(extend("x-placeholder" = "JSON", "x-targets" = "step"))]
    pub steps: Option<Vec<Step>>,
    /// A file with the steps as a JSON list.
    #[schemars(extend("x-placeholder" = "FILE", "x-targets" = "file"))]
    pub file: Option<PathArg>,
}

/// One command.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Step {
    /// The name of the command: `press`, `get title`.
    pub command: String,
    /// The arguments by name.
    #[serde(default)]
    pub input: Map<String, Value>,
}

/// The outcomes of the steps, up to the one that failed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchOutput {
    /// The responses of the steps that ran.
    pub steps: Vec<Response>,
    /// The number of steps that were not tried.
    pub skipped: usize,
    /// Whether the input of any step may have reached the device.
    #[serde(skip)]
    dispatched: Dispatched,
}

impl Batch {
    fn steps(self, cx: &Cx) -> Result<Vec<Step>> {
        let bad = |message: String| {
            Error::invalid_args(message).hint(
                r#"for example: `stickpin batch --steps '[{"command":"press","input":{"target":"@e3"}}]'`"#,
            )
        };
        let steps = match (self.steps, self.file) {
            (Some(steps), None) => steps,
            (None, Some(file)) => {
                let path = cx.resolve_path(&file)?;
                let read = |e| path.io_error("read", &e);
                if std::fs::metadata(&*path).map_err(read)?.len() > MAX_FILE_BYTES {
                    return Err(bad(format!("`{}` is larger than {MAX_FILE_BYTES} bytes", path.display())));
                }
                let text = std::fs::read_to_string(&*path).map_err(read)?;
                serde_json::from_str(&text)
                    .map_err(|e| bad(format!("`{}` cannot be parsed: {e}", path.display())))?
            }
            _ => return Err(bad("`batch` takes exactly one of `steps` and `file`".to_owned())),
        };
        match steps.len() {
            0 => Err(bad("the batch has no steps".to_owned())),
            n if n > MAX_STEPS => Err(bad(format!("the batch has {n} steps; the limit is {MAX_STEPS}"))),
            _ => Ok(steps),
        }
    }
}

impl Command for Batch {
    const SPEC: Spec = Spec {
        name: "batch",
        effect: Effect::Mutates,
        deadline: Duration::from_secs(600),
        examples: &[
            "stickpin batch 'fill @e2 Ada' 'press @e3 --settle'",
            r#"stickpin batch --steps '[{"command":"fill","input":{"target":"@e2","text":"Ada"}}]'"#,
        ],
        ..Spec::HOST
    };
    type Output = BatchOutput;

    /// Returns `Reads` only if every step reads.
    fn effect(input: &Map<String, Value>, commands: &CommandTable) -> Effect {
        let steps = input.get("steps").and_then(Value::as_array);
        let no_input = Map::new();
        let reads = |step: &Value| {
            let entry = step["command"].as_str().and_then(|name| commands.find(name));
            let input = step["input"].as_object().unwrap_or(&no_input);
            entry.is_some_and(|entry| entry.effect(input, commands) == Effect::Reads)
        };
        if steps.is_some_and(|steps| steps.iter().all(reads)) { Effect::Reads } else { Effect::Mutates }
    }

    async fn run(self, cx: &mut Cx) -> Result<BatchOutput> {
        let mut prepared = Vec::new();
        for (i, step) in self.steps(cx)?.into_iter().enumerate() {
            let numbered = |e: Error| Error { message: format!("step {}: {}", i + 1, e.message), ..e };
            if step.command == Self::SPEC.name {
                return Err(numbered(Error::invalid_args("a batch cannot contain another batch"))
                    .hint("list the steps of the inner batch directly"));
            }
            let entry = cx.commands.lookup(&step.command).map_err(numbered)?;
            prepared.push((entry, entry.prepare(step.input, &cx.commands).map_err(numbered)?));
        }
        let mut ran = BatchOutput { steps: Vec::new(), skipped: prepared.len(), dispatched: Dispatched::No };
        for (entry, prepared) in prepared {
            cx.check()?;
            let response = execute::execute_nested(cx, entry, prepared).await;
            let ok = response.ok;
            cx.batch_issued.extend(response.refs.iter().flat_map(|refs| &refs.issued));
            ran.dispatched = cx.dispatched();
            ran.steps.push(response);
            ran.skipped -= 1;
            if !ok {
                break;
            }
        }
        Ok(ran)
    }
}

impl Show for BatchOutput {
    fn show(&self, text: &mut Text) {
        for (i, step) in self.steps.iter().enumerate() {
            text.line(format_args!("[{}] {}", i + 1, step.command));
            text.block(step.text.as_deref().unwrap_or(""));
            if let Some(warning) = &step.warning {
                text.line(format_args!("warning: {warning}"));
            }
        }
        if self.skipped > 0 {
            let verb = if self.skipped == 1 { "was" } else { "were" };
            text.line(format_args!("{} {verb} not run", format_count(self.skipped, "more step")));
        }
    }

    fn exit(&self) -> u8 {
        self.steps.last().map_or(0, |last| last.exit)
    }

    fn failure(&self) -> Option<Error> {
        let error = self.steps.last()?.error.clone()?;
        // `dispatched` covers the whole batch: a failed step that sent nothing does not undo
        // earlier steps.
        let dispatched = if error.dispatched == Dispatched::No { self.dispatched } else { error.dispatched };
        let message = format!("step {}: {}", self.steps.len(), error.message);
        Some(Error { message, dispatched, ..error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::entry::{Entry, entry};
    use serde_json::json;

    /// A command whose effect depends on its input.
    #[derive(Debug, Serialize, Deserialize, JsonSchema)]
    struct Visit {
        /// Whether to leave a mark.
        mark: bool,
    }

    impl Command for Visit {
        const SPEC: Spec = Spec { name: "visit", ..Spec::HOST };
        type Output = BatchOutput;

        fn effect(input: &Map<String, Value>, _: &CommandTable) -> Effect {
            if input.get("mark") == Some(&Value::Bool(true)) { Effect::Mutates } else { Effect::Reads }
        }

        async fn run(self, _: &mut Cx) -> Result<BatchOutput> {
            Err(Error::internal("no test runs this command"))
        }
    }

    #[test]
    fn steps_are_judged_by_their_effect_with_their_input() {
        static VISIT: Entry = entry::<Visit>();
        let commands = CommandTable::new([&VISIT]);
        for (mark, effect) in [(true, Effect::Mutates), (false, Effect::Reads)] {
            let steps = json!({ "steps": [{ "command": "visit", "input": { "mark": mark } }] });
            assert_eq!(Batch::effect(steps.as_object().expect("an object"), &commands), effect);
        }
    }
}
