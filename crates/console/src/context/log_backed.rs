//! A conversation in the log of a session.

use super::{ContextStore, Conversation, Entry};
use async_trait::async_trait;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use std::sync::Arc;
use stickpin_client::Client;
use stickpin_kernel::{Caller, CancellationToken, ErrorCode, Format, Render, Request, Result};
use tokio::sync::Mutex;

/// A conversation that is stored in the session log, through the daemon.
///
/// The records that were read are kept as a projection of the log, and each read continues after
/// them. Entries of this console, too, reach the projection only through the log.
pub struct LogBacked {
    client: Arc<dyn Client>,
    caller: Caller,
    session: Option<String>,
    id: String,
    read: Mutex<Projection>,
}

/// The part of the log that was read.
#[derive(Debug, Default)]
struct Projection {
    conversation: Conversation,
    /// The last record that was examined.
    cursor: u64,
}

/// The output of `context read`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    entries: Vec<Stored>,
    #[serde(default)]
    cleared: bool,
    cursor_seq: u64,
}

/// An entry as stored in the log. Text that is a secret, or too long for the log, is an object.
#[derive(Debug, Deserialize)]
struct Stored {
    body: Value,
    result: Value,
    target: Option<Value>,
    generation: Option<u64>,
    #[serde(default)]
    pins: Vec<(u32, u32)>,
    #[serde(default)]
    events: Vec<u64>,
}

impl From<Stored> for Entry {
    fn from(stored: Stored) -> Self {
        let text = |value: Value| value.as_str().map(str::to_owned);
        Self {
            prompt: text(stored.body).unwrap_or_default(),
            result: text(stored.result).unwrap_or_default(),
            target: stored.target.and_then(text),
            generation: stored.generation,
            pins: stored.pins,
            events: stored.events,
        }
    }
}

impl Projection {
    /// Adds the records that were read. Returns false if the page comes from another log, which
    /// must be read from its beginning.
    fn add(&mut self, page: Page) -> bool {
        if page.cursor_seq < self.cursor {
            *self = Self::default();
            return false;
        }
        if page.cleared {
            self.conversation.clear();
        }
        page.entries.into_iter().for_each(|entry| self.conversation.push(entry.into()));
        self.cursor = page.cursor_seq;
        true
    }
}

impl LogBacked {
    /// Creates a store for the conversation `id` in a session; by default the caller's own session.
    #[must_use]
    pub fn new(client: Arc<dyn Client>, caller: Caller, session: Option<String>, id: String) -> Self {
        Self { client, caller, session, id, read: Mutex::default() }
    }

    async fn call<T: DeserializeOwned>(&self, command: &str, arguments: &[(&str, Value)]) -> Result<T> {
        let mut request = Request::new(command, self.caller.clone()).argument("context", self.id.as_str());
        for (name, value) in arguments {
            request = request.argument(*name, value.clone());
        }
        request.session.clone_from(&self.session);
        request.render = Render { format: Format::Json, ..Render::default() };
        self.client.call(request, CancellationToken::new()).await.take_output()
    }

    async fn write(&self, command: &str, arguments: &[(&str, Value)]) -> Result<()> {
        match self.call::<IgnoredAny>(command, arguments).await {
            // Without a session, there is no conversation to write to, and nothing to refer to.
            Err(e) if e.code == ErrorCode::SessionNotFound => Ok(()),
            written => written.map(drop),
        }
    }

    async fn page(&self, after: u64) -> Result<Page> {
        match self.call("context read", &[("after", after.into())]).await {
            // A session that does not exist has no conversation.
            Err(e) if e.code == ErrorCode::SessionNotFound => {
                Ok(Page { entries: Vec::new(), cleared: true, cursor_seq: after })
            }
            page => page,
        }
    }
}

#[async_trait]
impl ContextStore for LogBacked {
    async fn snapshot(&self) -> Result<Conversation> {
        let mut read = self.read.lock().await;
        let page = self.page(read.cursor).await?;
        if !read.add(page) {
            let page = self.page(0).await?;
            read.add(page);
        }
        Ok(read.conversation.clone())
    }

    async fn append(&self, entry: Entry) -> Result<()> {
        let mut arguments = vec![("body", entry.prompt.into()), ("result", entry.result.into())];
        arguments.extend(entry.target.map(|target| ("target", target.into())));
        arguments.extend(entry.generation.map(|generation| ("generation", generation.into())));
        let pins = entry.pins.iter().map(|(first, last)| Value::from(format!("{first}-{last}")));
        arguments.push(("pins", pins.collect()));
        arguments.push(("events", entry.events.into()));
        self.write("context add", &arguments).await
    }

    async fn clear(&self) -> Result<()> {
        self.write("context clear", &[]).await
    }
}
