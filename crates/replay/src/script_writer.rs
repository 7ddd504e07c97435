//! Writes a session's recorded steps as a script.

use crate::script::{self, Node, NodeKind, Script, Template, TemplatePart};
use serde_json::{Map, Value};
use similar::TextDiff;
use stickpin_kernel::{RecordedCommand, Recording, RepairSite, Result, ScriptRepair, ScriptWriter};

/// The start of a comment that describes a target. Such comments right above a command describe its
/// targets, in order.
pub(crate) const ANNOTATION: &str = "target ";

/// Writes recordings in the `.ad` format.
#[derive(Debug, Clone, Copy, Default)]
pub struct AdScriptWriter;

impl ScriptWriter for AdScriptWriter {
    fn lines(&self, step: &RecordedCommand) -> Result<String> {
        Ok(script::write(&Script { body: nodes(step), ..Script::default() }))
    }

    fn script(&self, recording: &Recording) -> Result<String> {
        let context = vec![("platform".to_owned(), recording.platform.clone())];
        let header = script::write(&Script { context, ..Script::default() });
        Ok(header + &recording.steps.concat())
    }

    fn repaired_script(&self, repair: &ScriptRepair) -> Result<(String, String)> {
        let lines: Vec<&str> = repair.text.split_inclusive('\n').collect();
        let mut sites: Vec<&RepairSite> = repair.sites.iter().filter(|site| !site.steps.is_empty()).collect();
        sites.sort_by_key(|site| site.line);
        let (mut repaired, mut next) = (String::with_capacity(repair.text.len()), 0);
        for site in sites {
            let line = usize::try_from(site.line).unwrap_or(usize::MAX).saturating_sub(1).min(lines.len());
            // Comments right above the line belong to it if they describe its targets.
            let comments = lines[next..line].iter().rev().take_while(|above| is_comment(above)).count();
            let first = (line - comments..line).find(|&at| is_annotation(lines[at])).unwrap_or(line);
            // Indented like the line that the steps replace.
            let indent: String =
                lines.get(line).map_or("", |l| l).chars().take_while(|c| " \t".contains(*c)).collect();
            let done = site.steps.concat();
            let done: String =
                done.split_inclusive('\n').flat_map(|step_line| [indent.as_str(), step_line]).collect();
            repaired.extend(lines[next..first].iter().copied());
            if site.keeps_line {
                repaired.push_str(&done);
                next = first;
            } else {
                repaired.extend(lines[first..line].iter().copied().filter(|above| !is_annotation(above)));
                repaired.push_str(&done);
                next = (line + 1).min(lines.len());
            }
        }
        repaired.extend(lines[next..].iter().copied());
        let name =
            repair.file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let stem = name.strip_suffix(".ad").unwrap_or(&name).to_owned();
        let patch = TextDiff::from_lines(repair.text.as_str(), repaired.as_str())
            .unified_diff()
            .context_radius(3)
            .header(&name, &format!("{stem}.repaired.ad"))
            .to_string();
        Ok((repaired, patch))
    }
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('#')
}

fn is_annotation(line: &str) -> bool {
    line.trim_start().strip_prefix('#').is_some_and(|text| text.trim_start().starts_with(ANNOTATION))
}

/// Returns a command with comments that describe its targets.
fn nodes(step: &RecordedCommand) -> Vec<Node> {
    let node = |kind| Node { line: 0, kind };
    let described = step.targets.iter().filter(|t| !t.meaning.is_empty());
    let meanings = described.map(|t| node(NodeKind::Comment(format!("{ANNOTATION}{}", t.meaning))));
    meanings.chain(std::iter::once(node(NodeKind::Command(command_words(step))))).collect()
}

/// Returns the words of a command, with its targets as selectors and its secrets as variables.
fn command_words(step: &RecordedCommand) -> Vec<Template> {
    let mut input = step.input.clone();
    let hidden: Vec<&str> = step.targets.iter().filter(|t| t.secret).map(|t| t.target.as_str()).collect();
    let variable = step.variable.clone().or_else(|| step.secret.then(|| variable_name(step)));
    // Secret values are hidden first: they are told apart from their targets by means of the
    // recorded targets, which the next statement replaces.
    if let Some(name) = &variable {
        hide_secret(step, &mut input, &hidden, &mark(name));
    }
    step.definition.rewrite_targets(&mut input, &mut |target| {
        let recorded = step.targets.iter().find(|w| w.target == target);
        recorded.map(|w| w.selector.clone())
    });
    let read = |word: &String| if variable.is_some() { unmark(word) } else { Template::text(word) };
    stickpin_cmdline::write(step.definition, &input).iter().map(read).collect()
}

/// Replaces the typed text with the mark.
fn hide_secret(step: &RecordedCommand, input: &mut Map<String, Value>, hidden: &[&str], mark: &str) {
    for field in step.definition.fields() {
        let Some(value) = input.get_mut(&field.name) else { continue };
        if field.is_free_text {
            *value = Value::from(mark);
        }
        for item in value.as_array_mut().into_iter().flatten() {
            let assignment = item.as_str().unwrap_or_default();
            let secret = hidden
                .iter()
                .find(|t| assignment.strip_prefix(**t).is_some_and(|rest| rest.starts_with('=')));
            if let Some(target) = secret {
                *item = Value::from(format!("{target}={mark}"));
            }
        }
    }
}

/// Returns a variable name for a secret: the field's name in capitals, or `PASSWORD` if that cannot
/// name a variable of a script.
fn variable_name(step: &RecordedCommand) -> String {
    let field = step.targets.iter().find(|t| t.secret);
    let label = field.and_then(|t| t.meaning.split('"').nth(1)).unwrap_or_default();
    let name: String =
        label.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    match name.trim_matches('_') {
        name if name.starts_with(|c: char| c.is_ascii_alphabetic()) && !name.starts_with("AD_") => {
            name.to_owned()
        }
        _ => "PASSWORD".to_owned(),
    }
}

/// Returns the mark for a variable inside a word. The marking character cannot occur in an app's
/// text, where it is always escaped.
fn mark(name: &str) -> String {
    format!("\u{0}{name}\u{0}")
}

fn unmark(word: &str) -> Template {
    let parts = word.split('\u{0}').enumerate().map(|(i, text)| match i % 2 {
        0 => TemplatePart::Text(text.to_owned()),
        _ => TemplatePart::Variable { name: text.to_owned(), default: None },
    });
    Template::new(parts)
}
