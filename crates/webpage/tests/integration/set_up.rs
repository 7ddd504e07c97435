//! The next use of a tab reports what the browser refused when the tab was set up.

use serde_json::json;
use serde_json::value::RawValue;
use std::sync::Arc;
use stickpin_devtools::protocol::TargetInfo;
use stickpin_devtools::{Client, PipeReader, PipeWriter, Sink};
use stickpin_webpage::events;
use stickpin_webpage::state::{SharedState, TabState};
use stickpin_webpage::tab::{Tab, TabError};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe;

struct Deaf;

impl Sink for Deaf {
    fn event(&mut self, _: &Client, _: Option<&str>, _: &str, _: &RawValue) {}
    fn lost(&mut self, _: &str) {}
}

/// Simulates a browser that accepts all commands but two: one that it does not have, and one for a
/// document that is gone.
async fn answer(commands: pipe::Receiver, mut answers: pipe::Sender) {
    let mut commands = BufReader::new(commands);
    let mut frame = Vec::new();
    while commands.read_until(0, &mut frame).await.unwrap() > 0 {
        frame.pop();
        let command: serde_json::Value = serde_json::from_slice(&frame).unwrap();
        let id = &command["id"];
        let answer = match command["method"].as_str().unwrap() {
            "Performance.enable" => {
                json!({ "id": id, "error": { "code": -32601, "message": "no such command" } })
            }
            "Page.enable" => json!({ "id": id, "error": { "code": -32000, "message": "Target crashed" } }),
            _ => json!({ "id": id, "result": {} }),
        };
        let text = format!("{answer}\0");
        answers.write_all(text.as_bytes()).await.unwrap();
        frame.clear();
    }
}

#[tokio::test]
async fn a_refused_part_of_a_set_up_is_told_by_the_next_use() {
    let (to_browser, commands) = pipe::pipe().unwrap();
    let (answers, from_browser) = pipe::pipe().unwrap();
    tokio::spawn(answer(commands, answers));
    let client = Client::new(PipeReader::new(from_browser), PipeWriter::new(to_browser), Deaf);
    let shared = Arc::new(SharedState::default());
    let session = "s".to_owned();
    let info = TargetInfo { target_id: "t".into(), ..TargetInfo::default() };
    {
        let mut state = shared.state();
        state.tabs.insert(session.clone(), TabState::new(info, &session, 1, None));
        events::prepare(&client, &shared, &state, &session, None);
    }
    let tab = Tab { client, shared, session };
    let told = tab.top_world().await.unwrap_err();
    let TabError::Failed(error) = told else { panic!("{told:?}") };
    assert_eq!(error.message, "the tab could not be set up: Performance.enable: no such command");
}
