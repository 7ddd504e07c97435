//! Frames that a client of the daemon sends.

use rand::RngExt;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use stickpin_fuzz::{Target, run};
use stickpin_kernel::{Request, Response};
use stickpin_wire::rpc::{Answer, Bind, Cancel, Hello, Message, Status, Stop, Stopping, Welcome};
use stickpin_wire::{Frame, Frames, encode};

/// The maximum frame length, short enough that some frames exceed it.
const MAX: usize = 400;

const PIECES: &[&str] = &[
    "\n",
    "\r\n",
    "\n\n",
    " ",
    "{",
    "}",
    "[",
    "]",
    "\"",
    ",",
    ":",
    "null",
    "true",
    "-1",
    "1e999",
    "18446744073709551616",
    "\\u0000",
    "\\ud800",
    "\u{0}",
    "\"id\":1",
    "\"params\":{}",
    "\"method\":\"call\"",
    "\"jsonrpc\":\"2.0\"",
    "é",
];

/// Extracts frames as they become complete, from pieces of these sizes.
fn split(bytes: &[u8], mut size: impl FnMut() -> usize) -> Vec<Frame> {
    let mut frames = Frames::with_max(MAX);
    let mut found = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (now, later) = rest.split_at(size().min(rest.len()));
        frames.push(now);
        found.extend(std::iter::from_fn(|| frames.next_frame()));
        rest = later;
    }
    found
}

/// Returns whether a line is a value of this type. Such a value must survive writing and reading.
fn reads<T: DeserializeOwned + Serialize>(line: &[u8]) -> Result<bool, String> {
    let Ok(value) = serde_json::from_slice::<T>(line) else { return Ok(false) };
    let written = encode(&value);
    let again: T = serde_json::from_slice(&written)
        .map_err(|e| format!("{e} in what was written: {}", written.escape_ascii()))?;
    match encode(&again) == written && written.iter().filter(|byte| **byte == b'\n').count() == 1 {
        true => Ok(true),
        false => Err(format!("it is written another way the second time: {}", written.escape_ascii())),
    }
}

#[test]
fn frames() {
    run(Target {
        name: "frames",
        seeds: Vec::new(),
        pieces: PIECES,
        read: &|bytes, random| {
            let whole = split(bytes, || bytes.len());
            let pieces = split(bytes, || random.random_range(1..40));
            // How the bytes are split can affect only when the end of an oversized frame is known.
            if whole != pieces {
                return Err(format!("{whole:?} at once and {pieces:?} in pieces"));
            }
            let mut accepted = false;
            for frame in whole {
                let Frame::Line(line) = frame else { continue };
                if line.len() > MAX || line.contains(&b'\n') {
                    return Err(format!("no frame: {}", line.escape_ascii()));
                }
                accepted |= reads::<Message<Value>>(&line)?;
                for read in [
                    reads::<Answer<Value>>,
                    reads::<Request>,
                    reads::<Response>,
                    reads::<Hello>,
                    reads::<Welcome>,
                    reads::<Cancel>,
                    reads::<Bind>,
                    reads::<Status>,
                    reads::<Stop>,
                    reads::<Stopping>,
                ] {
                    accepted |= read(&line)?;
                }
            }
            Ok(accepted)
        },
    });
}
