//! Facts about one element that are not in the tree, and long texts.

use crate::app::{App, LinuxDevice, ask, capture};
use crate::bus::calls::property;
use crate::bus::{ACCESSIBLE, BusError, BusResult, Call, Link, ROOT, TEXT, unless_lost};
use crate::capture::question::{Question, Questions};
use crate::limits;
use crate::model::{EMBEDDED, Interfaces, Object, ObjectTree, is_field, role, roles};
use serde::Serialize;
use serde_json::{Value, json};
use stickpin_device::{Query, Result, element_gone, unsupported};
use stickpin_tree::Handle;

/// The number of characters per request.
const CHUNK_CHARS: i32 = 65_536;

/// The maximum number of characters that are read from one element's text.
const MAX_TEXT_CHARS: i32 = 4 << 20;

/// The maximum number of selections that are read from one field.
const SELECTIONS: i32 = 16;

/// The maximum number of attribute runs that are read from one text.
const RUNS: usize = 256;

/// The maximum length of a marked word, in characters.
const WORD: i32 = 120;

/// Returns whether a text attribute marks a word as misspelled. GTK uses an underline; browsers and
/// LibreOffice have attributes for this purpose.
fn is_misspelled(key: &str, value: &str) -> bool {
    matches!((key, value), ("underline", "error") | ("invalid", "spelling") | ("text-spelling", "misspelled"))
}

/// Returns the name and the answer of a query; `None` if `asked` is false, if the answer is empty,
/// or if the object is gone or does not support the query.
async fn fact<T: Serialize>(
    app: &App,
    (name, asked): (&'static str, bool),
    question: impl Future<Output = BusResult<T>>,
) -> Result<Option<(&'static str, Value)>> {
    let told = if asked { ask::or_none(app, question.await).await? } else { None };
    let told = Some((name, json!(told)));
    Ok(told.filter(|(_, value)| !value.is_null() && value.as_array().is_none_or(|all| !all.is_empty())))
}

/// Reads the app and its windows without their content.
pub(crate) async fn windows(link: &Link) -> BusResult<ObjectTree> {
    let root = Object { path: ROOT.to_owned(), ..Object::default() };
    let mut picture = ObjectTree { toolkit: link.toolkit, objects: vec![root], truncated: false };
    let questions = Questions(vec![(0, Question::Name), (0, Question::Children)]);
    let named = questions.ask(link, &mut picture).await?.children;
    let mut questions = Questions::default();
    for path in named.into_iter().flat_map(|(_, children)| children) {
        let at = picture.objects.len();
        picture.objects.push(Object { path, ..Object::default() });
        picture[0].children.push(at);
        questions.add_all(at, [Question::States, Question::Name]);
    }
    let vanished = questions.ask(link, &mut picture).await?.vanished;
    if vanished.is_empty() { Ok(picture) } else { Err(BusError::Vanished) }
}

/// Returns the captured facts about an object, with its attributes. The app chooses the attributes,
/// so they never replace other facts.
fn facts(object: &Object) -> Value {
    let mut out = json!({
        "role": roles::tag(object.role),
        "path": object.path,
        "name": object.name,
        "description": object.description,
        "states": format!("{:#x}", object.states),
    });
    for (key, value) in &object.attributes {
        if out.get(key).is_none() {
            out[key] = json!(value);
        }
    }
    out
}

/// Reads the title of the app from its windows; `None` if they do not reveal which one is active.
///
/// # Errors
/// Returns `BACKEND_LOST` or `TIMEOUT`.
pub(crate) async fn title(app: &App) -> Result<Option<String>> {
    let Some(picture) = ask::or_none(app, windows(&app.link).await).await? else { return Ok(None) };
    let told = picture.root().children.len() == 1 || picture.active().is_some();
    Ok(told.then(|| picture.title().to_owned()))
}

/// Answers a query about one element.
///
/// # Errors
/// Returns `UNSUPPORTED`, `ELEMENT_NOT_FOUND`, `BACKEND_LOST`, `TIMEOUT` or `INTERNAL`.
pub(crate) async fn answer(device: &mut LinuxDevice, handle: Handle, query: Query) -> Result<Value> {
    match query {
        Query::Html => Err(unsupported("linux", "show the markup of an element")),
        Query::Attrs => attributes(device, handle).await,
        Query::Text => text(device, handle).await.map(Value::String),
        _ => Err(unsupported("linux", "answer this query")),
    }
}

async fn attributes(device: &mut LinuxDevice, handle: Handle) -> Result<Value> {
    let path = device.app.path(handle)?;
    capture::capture_app(device, &[]).await?;
    let object = device.last.object(&path).ok_or_else(element_gone)?;
    let mut out = facts(object);
    let field = object.has(Interfaces::TEXT) && is_field(object.role) && object.role != role::PASSWORD;
    // A capture does not read descriptions of plain text.
    let undescribed = device.app.profile().reads_text_late && object.description.is_empty();
    let app = &device.app;
    let description =
        async { app.link.call(property(&path, ACCESSIBLE, "Description")).await?.property_text() };
    let told = tokio::try_join!(
        fact(app, ("description", undescribed), description),
        // The position in characters, from 0; null if the caret is elsewhere.
        fact(app, ("caret", field), ask::count(app, &path, TEXT, "CaretOffset")),
        fact(app, ("selected", field), selected(app, &path)),
        fact(app, ("misspelled", field), misspelled(app, &path)),
    )?;
    for (name, value) in [told.0, told.1, told.2, told.3].into_iter().flatten() {
        out[name] = value;
    }
    Ok(out)
}

/// Returns the selected ranges of a text, without empty ones, and at most [`SELECTIONS`] of them.
pub(crate) async fn selections(app: &App, path: &str) -> BusResult<Vec<(i32, i32)>> {
    let count: i32 = app.link.call(Call::new(path, TEXT, "GetNSelections")).await?.read()?;
    let selection = |n| Call::new(path, TEXT, "GetSelection").with((n,));
    let asked: Vec<_> = (0..count.clamp(0, SELECTIONS)).map(selection).collect();
    let ranges = app.link.calls(&asked).await.into_iter().map(|range| range?.read());
    let mut ranges: Vec<(i32, i32)> = ranges.collect::<BusResult<_>>()?;
    ranges.retain(|(start, end)| start < end);
    Ok(ranges)
}

/// Returns the selected ranges with their texts.
async fn selected(app: &App, path: &str) -> BusResult<Vec<Value>> {
    let mut ranges = selections(app, path).await?;
    ranges.iter_mut().for_each(|(start, end)| *end = (*end).min(start.saturating_add(limits::TEXT)));
    let texts = pieces(app, path, &ranges).await?;
    let told = ranges.iter().zip(texts);
    Ok(told.map(|((start, end), text)| json!({"start": start, "end": end, "text": text})).collect())
}

/// Reads these ranges of a text.
async fn pieces(app: &App, path: &str, ranges: &[(i32, i32)]) -> BusResult<Vec<String>> {
    let call = |&range: &(i32, i32)| Call::new(path, TEXT, "GetText").with(range);
    let asked: Vec<_> = ranges.iter().map(call).collect();
    app.link.calls(&asked).await.into_iter().map(|answer| answer?.read()).collect()
}

/// Returns the words that a spell checker has marked, in order.
async fn misspelled(app: &App, path: &str) -> BusResult<Vec<String>> {
    let mut marked = Vec::new();
    let mut at = 0;
    for _ in 0..RUNS {
        let run = app.link.call(Call::new(path, TEXT, "GetAttributeRun").with((at, false))).await;
        // Not every toolkit reports text attributes.
        let Some(run) = unless_lost(run)? else { break };
        let (looks, start, end): (Vec<(String, String)>, i32, i32) = run.read()?;
        if end <= at || start < 0 {
            break;
        }
        if looks.iter().any(|(key, value)| is_misspelled(key, value)) {
            marked.push((start, end.min(start.saturating_add(WORD))));
        }
        at = end;
    }
    pieces(app, path, &marked).await
}

/// Returns the text that a person sees: the text of the element itself, otherwise the text inside
/// it, otherwise its name. The content of password fields is not read.
async fn text(device: &mut LinuxDevice, handle: Handle) -> Result<String> {
    let path = device.app.path(handle)?;
    let tree = capture::capture_app(device, &[]).await?;
    let node = tree.find_handle(handle).ok_or_else(element_gone)?;
    if node.is(stickpin_tree::States::PROTECTED) {
        return Ok(String::new());
    }
    let whole = ask::or_none(&device.app, whole_text(&device.app, &path).await).await?;
    if let Some(text) = whole.filter(|text| !text.trim().is_empty() && !text.contains(EMBEDDED)) {
        return Ok(text);
    }
    let leaves: Vec<&str> = node.subtree().filter(|n| n.is_text()).map(|n| n.name()).collect();
    Ok(if leaves.is_empty() { node.name().to_owned() } else { leaves.join("\n") })
}

/// Reads the text of an object in pieces, up to [`MAX_TEXT_CHARS`].
///
/// # Errors
/// Returns `Unknown` when the object has no text, or does not report how long the text is.
pub(crate) async fn whole_text(app: &App, path: &str) -> BusResult<String> {
    let count = ask::count(app, path, TEXT, "CharacterCount").await?.ok_or(BusError::Unknown)?;
    let count = i32::try_from(count).unwrap_or(MAX_TEXT_CHARS).min(MAX_TEXT_CHARS);
    let starts = std::iter::successors(Some(0), |from| Some(from + CHUNK_CHARS));
    let chunks = starts.take_while(|from| *from < count).map(|from| (from, count.min(from + CHUNK_CHARS)));
    Ok(pieces(app, path, &chunks.collect::<Vec<_>>()).await?.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attribute_takes_the_place_of_nothing_that_was_read() {
        let given = [("role", "link"), ("name", "Cancel"), ("tag", "b"), ("tag", "i")];
        let object = Object {
            role: role::PUSH_BUTTON,
            name: "Delete".to_owned(),
            attributes: given.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec(),
            ..Object::default()
        };
        let facts = facts(&object);
        assert_eq!([&facts["role"], &facts["name"], &facts["tag"]], ["push button", "Delete", "b"]);
    }
}
