//! Events of the `Runtime` domain: our worlds in documents, signals of the agent, the console.

use super::*;

pub(super) fn event(tab: &mut TabState, session: &str, name: &str, params: &RawValue, last_scope: &mut u64) {
    match name {
        "executionContextCreated" => {
            if let Some(cdp::ContextCreated { context }) = read(name, params)
                && context.name == agent::WORLD
                && let Some(frame) = context.aux_data.and_then(|aux| tab.frames.get_mut(&aux.frame_id))
                && frame.session == session
            {
                *last_scope += 1;
                frame.world = Some(World {
                    scope: *last_scope,
                    unique: context.unique_id,
                    context: context.id,
                    owner: None,
                    changes: 0,
                });
                tab.active();
            }
        }
        "executionContextDestroyed" => {
            if let Some(cdp::ContextDestroyed { execution_context_unique_id: unique }) = read(name, params) {
                let ours = |f: &&mut Frame| f.world.as_ref().is_some_and(|w| w.unique == unique);
                for frame in tab.frames.values_mut().filter(ours) {
                    frame.world = None;
                }
                tab.active();
            }
        }
        "executionContextsCleared" => {
            for frame in tab.frames.values_mut().filter(|f| f.session == session) {
                frame.world = None;
            }
            tab.active();
        }
        "bindingCalled" => {
            if let Some(cdp::BindingCalled { name, payload, execution_context_id }) = read(name, params)
                && name == agent::BINDING
            {
                match agent::Signal::read(&payload) {
                    Some(agent::Signal::Changed(count)) => {
                        let frames = tab.frames.values_mut().filter(|f| f.session == session);
                        let mut worlds = frames.filter_map(|f| f.world.as_mut());
                        if let Some(world) = worlds.find(|w| w.context == execution_context_id) {
                            world.changes = world.changes.max(count);
                        }
                        tab.active();
                    }
                    Some(agent::Signal::Said(text)) => {
                        tab.notice(Notice::Announced { text: clip(&text) });
                        tab.active();
                    }
                    Some(agent::Signal::Press(verdict)) => {
                        tab.drawn = verdict.drawn.as_deref().map(clip).or(tab.drawn.take());
                        tab.verdict = Some(verdict);
                    }
                    None => {
                        tracing::warn!(payload = clip(&payload), "a signal of the agent is not understood")
                    }
                }
            }
        }
        "consoleAPICalled" => {
            if let Some(cdp::ConsoleCalled { r#type, args, .. }) = read(name, params)
                && matches!(r#type.as_str(), "error" | "assert")
            {
                let words: Vec<String> = args.iter().map(said).collect();
                tab.notice(Notice::ConsoleError { text: clip(&words.join(" ")) });
            }
        }
        "exceptionThrown" => {
            if let Some(cdp::ExceptionThrown { exception_details: details }) = read(name, params) {
                let text = details.exception.as_ref().map(said).filter(|text| !text.is_empty());
                tab.notice(Notice::ConsoleError { text: clip(&text.unwrap_or(details.text)) });
            }
        }
        _ => {}
    }
}

/// A value of the page in words: strings as they are, errors by their first line.
fn said(object: &cdp::RemoteObject) -> String {
    if let Some(value) = &object.value {
        return serde_json::from_str::<String>(value.get()).unwrap_or_else(|_| value.get().to_owned());
    }
    let description = object.description.as_deref().unwrap_or_default();
    description.lines().next().unwrap_or_default().to_owned()
}
