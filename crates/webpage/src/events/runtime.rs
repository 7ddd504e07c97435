//! Events from the `Runtime` domain: our worlds in documents, signals from the agent, the console.

use super::*;

pub(super) fn event(
    tab: &mut TabState,
    session: &str,
    name: &str,
    params: &RawValue,
    last_scope: &mut u64,
) -> Option<()> {
    let in_session = |frame: &&mut Frame| frame.session == session;
    match name {
        "executionContextCreated" => {
            let cdp::ContextCreated { context } = read(name, params)?;
            let aux = context.aux_data.filter(|_| context.name == agent::WORLD)?;
            let frame = tab.frames.get_mut(&aux.frame_id).filter(in_session)?;
            *last_scope += 1;
            frame.world = Some(World {
                scope: *last_scope,
                unique: context.unique_id,
                context: context.id,
                owner: None,
                changes: 0,
            });
            tab.note_visible_change();
        }
        "executionContextDestroyed" => {
            let cdp::ContextDestroyed { execution_context_unique_id: unique } = read(name, params)?;
            let has_context = |f: &&mut Frame| f.world.as_ref().is_some_and(|w| w.unique == unique);
            tab.frames.values_mut().filter(has_context).for_each(|frame| frame.world = None);
            tab.note_visible_change();
        }
        "executionContextsCleared" => {
            tab.frames.values_mut().filter(in_session).for_each(|frame| frame.world = None);
            tab.note_visible_change();
        }
        "bindingCalled" => {
            let call: cdp::BindingCalled = read(name, params)?;
            if call.name != agent::BINDING {
                return None;
            }
            match agent::Signal::read(&call.payload) {
                Some(agent::Signal::Changed(count)) => {
                    let mut worlds =
                        tab.frames.values_mut().filter(in_session).filter_map(|f| f.world.as_mut());
                    if let Some(world) = worlds.find(|w| w.context == call.execution_context_id) {
                        world.changes = world.changes.max(count);
                    }
                    tab.note_visible_change();
                }
                Some(agent::Signal::LiveText(text)) => {
                    tab.notice(Notice::LiveRegionText { text: clip(&text) });
                    tab.note_visible_change();
                }
                Some(agent::Signal::Press(verdict)) => {
                    tab.drawn = verdict.drawn.as_deref().map(clip).or(tab.drawn.take());
                    tab.verdict = Some(verdict);
                }
                None => {
                    tracing::warn!(payload = clip(&call.payload), "a signal of the agent cannot be parsed");
                }
            }
        }
        "consoleAPICalled" => {
            let cdp::ConsoleCalled { r#type, args, .. } = read(name, params)?;
            if matches!(r#type.as_str(), "error" | "assert") {
                let words: Vec<String> = args.iter().map(text_of).collect();
                tab.notice(Notice::ConsoleError { text: clip(&words.join(" ")) });
            }
        }
        "exceptionThrown" => {
            let cdp::ExceptionThrown { exception_details: details } = read(name, params)?;
            let text = details.exception.as_ref().map(text_of).filter(|text| !text.is_empty());
            tab.notice(Notice::ConsoleError { text: clip(&text.unwrap_or(details.text)) });
        }
        _ => {}
    }
    Some(())
}

/// Returns a value from the page as text: strings verbatim, other plain values as JSON, and errors
/// and other objects as the first line of their description.
fn text_of(object: &cdp::RemoteObject) -> String {
    if let Some(value) = &object.value {
        return serde_json::from_str::<String>(value.get()).unwrap_or_else(|_| value.get().to_owned());
    }
    let description = object.description.as_deref().unwrap_or_default();
    description.lines().next().unwrap_or_default().to_owned()
}
