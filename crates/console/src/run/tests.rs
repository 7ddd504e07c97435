//! Consecutive prompts, with a conversation in memory and one in a log.

use super::executor::Executor;
use super::feed::{self, Bells};
use super::plain::{self, Terminal};
use crate::context::{ContextStore, Conversation, LogBacked, Memory};
use crate::model::app::{Input, Phase};
use crate::model::outcome::{Outcome, Printed};
use crate::setup::Setup;
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use stickpin_client::{Client, Installation};
use stickpin_kernel::{Caller, CancellationToken, Error, ErrorCode, RefsEnvelope, Request, Response, Text};
use tokio::sync::mpsc;

/// A daemon with one session whose log is a list. `hover` panics.
#[derive(Default)]
struct Daemon {
    log: Mutex<Vec<Value>>,
    calls: Mutex<Vec<Request>>,
}

impl Daemon {
    fn add(&self, mut record: Value) -> Value {
        // The log contains ranges as numbers.
        for range in record["pins"].as_array_mut().into_iter().flatten() {
            let (first, last) = range.as_str().and_then(|range| range.split_once('-')).expect("a range");
            let number = |text: &str| text.parse::<u32>().expect("a number");
            *range = json!([number(first), number(last)]);
        }
        let mut log = self.log.lock().expect("no panic here");
        log.push(record);
        json!({"session": "shop", "seq": log.len()})
    }

    fn read(&self, after: usize) -> Value {
        let log = self.log.lock().expect("no panic here");
        let new = &log[after.min(log.len())..];
        let clear = new.iter().rposition(|record| record["cleared"] == true);
        let entries: Vec<&Value> = new[clear.map_or(0, |at| at + 1)..].iter().collect();
        json!({"entries": entries, "cleared": clear.is_some(), "cursorSeq": log.len()})
    }

    /// Returns the targets of the commands that acted, in order.
    fn targets(&self) -> Vec<String> {
        let calls = self.calls.lock().expect("no panic here");
        calls.iter().filter_map(|call| call.input.get("target")?.as_str()).map(str::to_owned).collect()
    }
}

#[async_trait]
impl Client for Daemon {
    async fn call(&self, request: Request, _: CancellationToken) -> Response {
        let mut response = Response { ok: true, command: request.command.clone(), ..Response::default() };
        match request.command.as_str() {
            "context read" => {
                let after = request.input["after"].as_u64().unwrap_or(0);
                response.output = Some(self.read(usize::try_from(after).expect("a small number")));
            }
            "context add" => response.output = Some(self.add(Value::Object(request.input))),
            "context clear" => response.output = Some(self.add(json!({"cleared": true}))),
            "hover" => panic!("a bug"),
            command => {
                response.text = Some(format!("{command} done"));
                if command == "find" {
                    let mut refs = RefsEnvelope::default();
                    refs.issued = vec![(7, 7)];
                    refs.generation = Some(12);
                    response.refs_generation = refs.generation;
                    response.refs = Some(refs);
                }
                if request.input.get("target") == Some(&"@e99".into()) {
                    let error = Error::new(ErrorCode::RefNotFound, "@e99 was never issued");
                    response = Response { exit: 1, error: Some(error), ..Response::default() };
                }
                if !matches!(command, "whoami" | "events") {
                    self.calls.lock().expect("no panic here").push(request);
                }
            }
        }
        response
    }

    fn parallel_client(self: Arc<Self>) -> Arc<dyn Client> {
        self
    }
}

fn print(response: &Response, _: bool) -> Printed {
    Printed {
        out: response.text.clone().unwrap_or_default(),
        err: response.error.as_ref().map(Text::of_error).unwrap_or_default(),
    }
}

fn setup(daemon: &Arc<Daemon>) -> Setup {
    Setup {
        client: Arc::clone(daemon) as Arc<dyn Client>,
        caller: Caller::new("shop"),
        session: None,
        context: Some("main".to_owned()),
        colors: false,
        stale_refs: None,
        client_commands: &[],
        shell_only: Vec::new(),
        variables: [].into(),
        installation: Arc::new(Installation::default()),
        print,
        help: Arc::new(|topic| Ok(format!("help of {topic}"))),
    }
}

fn log_backed(daemon: &Arc<Daemon>) -> Arc<dyn ContextStore> {
    let client = Arc::clone(daemon) as Arc<dyn Client>;
    Arc::new(LogBacked::new(client, Caller::new("shop"), None, "main".to_owned()))
}

/// Returns both stores; each test runs with both.
fn stores(daemon: &Arc<Daemon>) -> [Arc<dyn ContextStore>; 2] {
    [Arc::new(Memory::default()), log_backed(daemon)]
}

async fn typed(executor: &Executor, line: &str) -> Outcome {
    executor.run(line, CancellationToken::new()).await
}

#[tokio::test]
async fn second_prompt_uses_what_the_first_one_established() {
    for at in 0..2 {
        let daemon = Arc::new(Daemon::default());
        let store = stores(&daemon).into_iter().nth(at).expect("a store");
        let executor = Executor::with_store(setup(&daemon), store);
        for line in
            ["press @e3", "get text it", "press 'role=button \"Save\"'", "press it", "find Cart", "press it"]
        {
            assert_eq!(typed(&executor, line).await.exit, 0, "{line}");
        }
        let save = "role=button \"Save\"";
        assert_eq!(daemon.targets(), ["@e3", "@e3", save, save, "@e7~s12"]);
        let shown = typed(&executor, "press it").await.printed.out;
        assert_eq!(shown, "it is @e7~s12\npress done");
        assert_eq!(typed(&executor, "press @e99").await.exit, 1);
        typed(&executor, "press it").await;
        assert_eq!(daemon.targets().last().map(String::as_str), Some("@e7~s12"), "an unknown ref is nothing");
    }
}

#[tokio::test]
async fn entries_before_a_panic_are_there_exactly_once() {
    for at in 0..2 {
        let daemon = Arc::new(Daemon::default());
        let store = stores(&daemon).into_iter().nth(at).expect("a store");
        let executor = Arc::new(Executor::with_store(setup(&daemon), Arc::clone(&store)));
        typed(&executor, "press @e3").await;
        let panicking = Arc::clone(&executor);
        let ended = tokio::spawn(async move { typed(&panicking, "hover @e5").await }).await;
        assert!(ended.is_err_and(|e| e.is_panic()));
        let prompts = |conversation: Conversation| {
            conversation.entries().iter().map(|entry| entry.prompt.clone()).collect::<Vec<_>>()
        };
        assert_eq!(prompts(store.snapshot().await.expect("a conversation")), ["press @e3"]);
        typed(&executor, "press it").await;
        assert_eq!(daemon.targets(), ["@e3", "@e3"]);
        assert_eq!(prompts(store.snapshot().await.expect("a conversation")), ["press @e3", "press @e3"]);
        if at == 1 {
            // The next console of the session continues it.
            let next = log_backed(&daemon).snapshot().await.expect("a conversation");
            assert_eq!(prompts(next), ["press @e3", "press @e3"]);
        }
    }
}

#[tokio::test]
async fn cleared_context_is_empty_and_its_history_stays_in_the_log() {
    for at in 0..2 {
        let daemon = Arc::new(Daemon::default());
        let store = stores(&daemon).into_iter().nth(at).expect("a store");
        let executor = Executor::with_store(setup(&daemon), Arc::clone(&store));
        typed(&executor, "press @e3").await;
        typed(&executor, ":clear").await;
        let refused = typed(&executor, "press it").await;
        assert!(refused.exit == 2 && refused.printed.err.contains("refers to nothing"), "{refused:?}");
        typed(&executor, "press @e4").await;
        typed(&executor, "press it").await;
        assert_eq!(daemon.targets(), ["@e3", "@e4", "@e4"]);
        assert_eq!(store.snapshot().await.expect("a conversation").entries().len(), 2);
        if at == 1 {
            assert_eq!(daemon.log.lock().expect("a log").len(), 4, "nothing was removed");
        }
    }
}

#[tokio::test]
async fn another_log_of_the_same_name_is_read_from_its_beginning() {
    let daemon = Arc::new(Daemon::default());
    let store = log_backed(&daemon);
    let executor = Executor::with_store(setup(&daemon), Arc::clone(&store));
    typed(&executor, "press @e3").await;
    typed(&executor, "press @e4").await;
    store.snapshot().await.expect("a conversation");
    daemon.log.lock().expect("a log").truncate(1);
    let prompts = store.snapshot().await.expect("a conversation");
    assert_eq!(prompts.entries().len(), 1);
    assert_eq!(prompts.target().as_deref(), Some("@e3"));
}

#[tokio::test]
async fn entry_names_what_was_shown_before_it_once() {
    for at in 0..2 {
        let daemon = Arc::new(Daemon::default());
        let store = stores(&daemon).into_iter().nth(at).expect("a store");
        let executor = Executor::with_store(setup(&daemon), Arc::clone(&store));
        executor.note_shown([4, 6]);
        typed(&executor, "find Cart").await;
        executor.note_shown(10..1_000);
        typed(&executor, "press it").await;
        typed(&executor, "press it").await;
        let conversation = store.snapshot().await.expect("a conversation");
        let entries = conversation.entries();
        assert_eq!((&*entries[0].events, &*entries[0].pins), (&[4, 6][..], &[(7, 7)][..]));
        assert_eq!((entries[1].events.len(), entries[1].events.last()), (100, Some(&999)));
        assert_eq!(entries[2].events, Vec::<u64>::new());
    }
}

#[tokio::test]
async fn secrets_do_not_reach_the_context() {
    let daemon = Arc::new(Daemon::default());
    let executor = Executor::with_store(setup(&daemon), log_backed(&daemon));
    typed(&executor, "fill @e3 hunter2").await;
    let log = daemon.log.lock().expect("a log");
    assert!(log[0]["body"] == "fill @e3 •••" && !format!("{log:?}").contains("hunter2"), "{log:?}");
}

#[tokio::test]
async fn plain_console_reads_lines_until_it_is_left() {
    let plain = async |input: &str, prompts: bool| {
        let daemon = Arc::new(Daemon::default());
        let (mut input, mut out, mut err) = (input.as_bytes(), Vec::new(), Vec::new());
        let terminal = Terminal { input: &mut input, out: &mut out, err: &mut err, prompts };
        let code = plain::run(setup(&daemon), terminal).await.expect("it runs");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (code, text(out), text(err), daemon.targets())
    };
    let (code, out, err, targets) = plain("press @e3\n\n# again\npress it", false).await;
    assert_eq!((code, out.as_str(), err.as_str()), (0, "press done\nit is @e3\npress done\n", ""));
    assert_eq!(targets, ["@e3", "@e3"]);
    let (code, out, err, _) = plain("press @e99\n", false).await;
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.starts_with("REF_NOT_FOUND: "), "{err}");
    let (code, out, ..) = plain("press @e99\n:quit\npress @e3\n", true).await;
    assert_eq!((code, out.as_str()), (0, "session shop; type :help for help, :quit to leave\nshop> shop> "));
    let (code, _, err, _) = plain("press @e3\npress \u{fffd}\nprss @e3\n", false).await;
    assert!(code == 2 && err.contains("did you mean `stickpin press`?"), "{err}");
}

/// A daemon with a session that appears when it is looked for again, opened by the console itself
/// if `by_console` is set. The opener owns the turn.
struct Opening {
    by_console: bool,
    is_open: AtomicBool,
    joined: AtomicBool,
}

#[async_trait]
impl Client for Opening {
    async fn call(&self, request: Request, _: CancellationToken) -> Response {
        let me = "human:ana:console:00a1";
        let opener = if self.by_console { me } else { "claude:ada" };
        let output = match request.command.as_str() {
            "whoami" => Ok(json!({"agentId": me, "kind": "console"})),
            "session log" if request.input["wait"] == true => std::future::pending().await,
            "session log" if self.is_open.swap(true, Ordering::Relaxed) => {
                Ok(json!({"session": "shop", "events": [], "cursorSeq": 3, "closed": false}))
            }
            "session log" => Err(Error::new(ErrorCode::SessionNotFound, "no session yet")),
            "turn state" => {
                let member = json!({"agentId": opener, "role": "driver", "you": self.by_console});
                Ok(json!({"session": "shop", "turnId": 1, "owner": opener, "members": [member]}))
            }
            "turn join" if self.by_console => {
                Err(Error::new(ErrorCode::MustReleaseFirst, "the console owns the turn"))
            }
            "turn join" => {
                assert_eq!(request.input["observer"], true);
                self.joined.store(true, Ordering::Relaxed);
                Ok(json!({}))
            }
            command => panic!("{command}"),
        };
        match output {
            Ok(output) => Response { ok: true, output: Some(output), ..Response::default() },
            Err(e) => Response { exit: e.code.exit(), error: Some(e), ..Response::default() },
        }
    }

    fn parallel_client(self: Arc<Self>) -> Arc<dyn Client> {
        self
    }
}

/// A console is an observer in a session that another agent opened, and a driver in its own.
#[tokio::test]
async fn console_that_opened_its_session_stays_a_driver() {
    for by_console in [true, false] {
        let (is_open, joined) = (AtomicBool::new(false), AtomicBool::new(false));
        let daemon = Arc::new(Opening { by_console, is_open, joined });
        let client = Arc::clone(&daemon) as Arc<dyn Client>;
        let setup = Setup { client, ..setup(&Arc::new(Daemon::default())) };
        let executor = Arc::new(Executor::with_store(setup, Arc::new(Memory::default())));
        let (bells, (tell, mut heard)) = (Arc::new(Bells::default()), mpsc::channel(8));
        bells.log.notify_one();
        feed::start(&executor, &bells, &tell);
        assert!(matches!(heard.recv().await, Some(Input::FeedEnded(Phase::Absent))));
        let next = heard.recv().await;
        assert!(matches!(&next, Some(Input::Feed(page)) if page.cursor_seq == 3), "{next:?}");
        assert_eq!(daemon.joined.load(Ordering::Relaxed), !by_console);
    }
}
