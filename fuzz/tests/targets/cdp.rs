//! What a browser writes to its pipe, both answers and events.

use rand::RngExt;
use serde_json::value::RawValue;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use stickpin_devtools::protocol::{
    DescribeNode, Evaluate, GetEventListeners, GetFrameOwner, GetHistory, GetLayoutMetrics, GetMetrics,
    GetPartialAxTree, GetProperties, GetTargets, GetVersion, Navigate,
};
use stickpin_devtools::{CallError, Client, Method, PipeReader, PipeWriter, Sink, well_formed};
use stickpin_fuzz::{Target, run};
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe;

const PIECES: &[&str] = &[
    "\0",
    "\0\0",
    "{",
    "}",
    "[",
    "]",
    "\"",
    ",",
    ":",
    "null",
    "-1",
    "1e999",
    "18446744073709551616",
    "\\",
    "\\u",
    "\\ud83d",
    "\\ude80",
    "\\u0000",
    "\"id\":1",
    "\"id\":3",
    "\"result\":{}",
    "\"error\":{\"code\":-32000,\"message\":\"Execution context was destroyed.\"}",
    "\"method\":\"Page.frameNavigated\"",
    "\"sessionId\":\"s\"",
    "\"params\":",
    "é",
    "\n",
];

/// The received messages, in order.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<String>>>);

impl Sink for Heard {
    fn event(&mut self, _: &Client, session: Option<&str>, method: &str, params: &RawValue) {
        let line = format!("{session:?} {method} {}", params.get());
        self.0.lock().expect("nothing panics with it").push(line);
    }

    fn lost(&mut self, _: &str) {
        self.0.lock().expect("nothing panics with it").push("lost".to_owned());
    }
}

/// Returns whether a call was answered with a result of the expected type.
async fn answered<M: Method>(client: &Client, method: M) -> Result<bool, String> {
    let reply = client.send(None, &method);
    // The pipe has ended by now, so there is nothing to wait for.
    match tokio::time::timeout(Duration::from_secs(4), reply).await {
        Ok(Ok(_)) => Ok(true),
        Ok(Err(CallError::TimedOut { .. })) | Err(_) => Err(format!("{} was never answered", M::NAME)),
        Ok(Err(_)) => Ok(false),
    }
}

/// Sends calls, lets the browser write these bytes in pieces, and waits for all results.
async fn talk(bytes: &[u8], sizes: Vec<usize>) -> Result<(bool, Vec<String>), String> {
    let pipe = || pipe::pipe().map_err(|e| e.to_string());
    let ((mut theirs, from_browser), (to_browser, read)) = (pipe()?, pipe()?);
    let heard = Heard::default();
    let client = Client::new(PipeReader::new(from_browser), PipeWriter::new(to_browser), heard.clone());
    let name = || "1".to_owned();
    let calls = async {
        let of = &client;
        tokio::try_join!(
            answered(of, GetVersion {}),
            answered(of, GetTargets {}),
            answered(of, Navigate { url: name() }),
            answered(of, GetHistory {}),
            answered(of, GetLayoutMetrics {}),
            answered(
                of,
                Evaluate {
                    expression: name(),
                    unique_context_id: None,
                    return_by_value: true,
                    await_promise: false
                }
            ),
            answered(of, GetProperties { object_id: name(), own_properties: true }),
            answered(of, GetFrameOwner { frame_id: name() }),
            answered(of, DescribeNode { object_id: name(), depth: 1 }),
            answered(of, GetEventListeners { object_id: name(), depth: -1, pierce: true }),
            answered(of, GetPartialAxTree { object_id: name(), fetch_relatives: false }),
            answered(of, GetMetrics {}),
        )
    };
    let write = async {
        let mut rest = bytes;
        for size in sizes {
            let (now, later) = rest.split_at(size.min(rest.len()));
            // The client stops reading after an invalid frame.
            if theirs.write_all(now).await.is_err() {
                break;
            }
            tokio::task::yield_now().await;
            rest = later;
        }
        drop(theirs.write_all(rest).await);
        drop(theirs);
    };
    let (calls, ()) = tokio::join!(calls, write);
    drop(read);
    let calls = calls?;
    let lines = heard.0.lock().map_err(|e| e.to_string())?.clone();
    let any = [
        calls.0, calls.1, calls.2, calls.3, calls.4, calls.5, calls.6, calls.7, calls.8, calls.9, calls.10,
        calls.11,
    ];
    Ok((any.contains(&true) || lines.len() > 1, lines))
}

#[test]
fn cdp() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    run(Target {
        name: "cdp",
        seeds: Vec::new(),
        pieces: PIECES,
        read: &|bytes, random| {
            let sizes = (0..random.random_range(0..6)).map(|_| random.random_range(1..80)).collect();
            let (accepted, lines) = runtime.block_on(talk(bytes, sizes))?;
            if lines.last().map(String::as_str) != Some("lost")
                || lines.iter().filter(|line| *line == "lost").count() != 1
            {
                return Err(format!("the end is not the last that is heard, once: {lines:?}"));
            }
            if let Ok(text) = std::str::from_utf8(bytes) {
                // A replacement has the length of the original, and is not replaced again.
                let once = well_formed(text);
                if once.len() != text.len() || well_formed(&once) != once {
                    return Err(format!("{once:?}"));
                }
            }
            Ok(accepted)
        },
    });
}
