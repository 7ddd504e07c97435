//! Readers of the session: one for its growing log, and one for its stored tree and its turn. Each
//! has a task that sends what it reads to the screen.

use super::executor::Executor;
use crate::model::app::{Input, Phase};
use crate::model::event::FeedPage;
use crate::setup::Setup;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use stickpin_client::Client;
use stickpin_kernel::{CancellationToken, ErrorCode, Format, Render, Request, Result};
use tokio::sync::{Notify, mpsc};

/// The maximum number of past records that are shown.
const HISTORY: u64 = 200;

/// The interval at which the console checks whether its session has been opened.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// The maximum length of an outline that is read, in bytes.
const MAX_TREE_BYTES: u64 = 8 << 20;

/// Wakes the readers.
#[derive(Debug, Default)]
pub(super) struct Bells {
    /// Wakes the reader of the tree.
    pub(super) tree: Notify,
    /// Wakes the reader of the turn.
    pub(super) turn: Notify,
    /// Wakes the reader of the log.
    pub(super) log: Notify,
}

/// Starts the readers, each with its own connection.
pub(super) fn start(executor: &Arc<Executor>, bells: &Arc<Bells>, tell: &mpsc::Sender<Input>) {
    let follower = Follower {
        executor: Arc::clone(executor),
        client: Arc::clone(&executor.setup().client).parallel_client(),
        cursor: None,
    };
    let (bells_of_log, to_screen) = (Arc::clone(bells), tell.clone());
    tokio::spawn(async move { follower.run(&bells_of_log.log, &to_screen).await });
    let reader = Reader {
        setup: executor.setup().clone(),
        client: Arc::clone(&executor.setup().client).parallel_client(),
    };
    let (bells, tell) = (Arc::clone(bells), tell.clone());
    // A wake-up during a read makes the reader read once more.
    tokio::spawn(async move {
        loop {
            let input = tokio::select! {
                () = bells.turn.notified() => reader.turn().await,
                () = bells.tree.notified() => Some(reader.tree().await),
            };
            if let Some(input) = input
                && tell.send(input).await.is_err()
            {
                return;
            }
        }
    });
}

/// Reads the stored tree and the turn.
struct Reader {
    setup: Setup,
    client: Arc<dyn Client>,
}

impl Reader {
    async fn tree(&self) -> Input {
        let request = self.request("context tree").argument("maxBytes", MAX_TREE_BYTES);
        Input::Tree(match output::<Value>(&*self.client, request).await {
            Ok(output) => match output["outline"].as_object() {
                Some(outline) => {
                    let text = |name: &str| outline.get(name).and_then(Value::as_str).unwrap_or_default();
                    Ok((format!("{} {}", text("title"), text("url")), text("tree").to_owned()))
                }
                None => Err("no snapshot yet".to_owned()),
            },
            Err(e) => Err(e.message),
        })
    }

    /// Returns the state of the turn; `None` if it cannot be read. The reader of the log then
    /// reports the reason.
    async fn turn(&self) -> Option<Input> {
        output(&*self.client, self.request("turn state")).await.ok().map(Input::Turn)
    }

    fn request(&self, command: &str) -> Request {
        let session = self.setup.session.clone();
        Request { session, ..Request::new(command, self.setup.caller.clone()) }
    }
}

/// Reads the log of the session, each time from where the last read ended.
struct Follower {
    executor: Arc<Executor>,
    client: Arc<dyn Client>,
    cursor: Option<u64>,
}

impl Follower {
    /// Reads until nobody is listening. If the daemon has ended, it is not started again before the
    /// person types a command, because it may have been stopped on purpose.
    async fn run(mut self, bell: &Notify, tell: &mpsc::Sender<Input>) {
        let (mut phase, mut waits) = (Phase::Connecting, false);
        loop {
            let page = self.page(waits).await;
            let next = match &page {
                Ok(page) if page.closed => Phase::Ended,
                Ok(_) => Phase::Live,
                Err(e) if e.code == ErrorCode::SessionNotFound => Phase::Absent,
                Err(e) => Phase::Lost(e.message.clone()),
            };
            if next == Phase::Live
                && matches!(phase, Phase::Absent | Phase::Ended)
                && let Err(e) = self.executor.join_opened().await
                && tell.send(Input::FeedEnded(Phase::Lost(e.message))).await.is_err()
            {
                return;
            }
            let is_news = next != phase || page.as_ref().is_ok_and(|page| !page.events.is_empty());
            phase = next;
            waits = phase == Phase::Live;
            let input = match page {
                Ok(page) => {
                    self.cursor = Some(page.cursor_seq);
                    Input::Feed(page)
                }
                Err(e) => {
                    if e.code == ErrorCode::InvalidCursor {
                        // The session with this name now has another log.
                        self.cursor = None;
                        continue;
                    }
                    Input::FeedEnded(phase.clone())
                }
            };
            if is_news && tell.send(input).await.is_err() {
                return;
            }
            match phase {
                Phase::Live | Phase::Connecting => {}
                Phase::Absent | Phase::Ended => {
                    tokio::select! {
                        () = bell.notified() => {}
                        () = tokio::time::sleep(LOOK_INTERVAL) => {}
                    }
                }
                Phase::Lost(_) => bell.notified().await,
            }
        }
    }

    async fn page(&self, waits: bool) -> Result<FeedPage> {
        let setup = self.executor.setup();
        let request = Request::new("session log", setup.caller.clone()).argument("wait", waits);
        let request = match self.cursor {
            Some(cursor) => request.argument("after", cursor),
            None => request.argument("limit", HISTORY),
        };
        output(&*self.client, Request { session: setup.session.clone(), ..request }).await
    }
}

/// Runs a command and returns its output as a `T`.
async fn output<T: DeserializeOwned>(client: &dyn Client, mut request: Request) -> Result<T> {
    request.render = Render { format: Format::Json, ..Render::default() };
    client.call(request, CancellationToken::new()).await.take_output()
}
