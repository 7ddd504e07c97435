//! The console in line mode: for pipes, slow connections and screen readers.

use super::executor::Executor;
use crate::model::outcome::Outcome;
use crate::setup::Setup;
use serde_json::Value;
use std::io::{self, Write};
use stickpin_kernel::{CancellationToken, Error, ErrorCode, Request, Result};
use tokio::io::{AsyncBufRead, AsyncBufReadExt};
use tokio::signal::unix::{SignalKind, signal};

/// The exit code of an interrupted program: 128 plus the number of SIGINT.
const INTERRUPTED: u8 = 130;

/// The streams of a plain console.
pub struct Terminal<'a> {
    /// The lines to run.
    pub input: &'a mut (dyn AsyncBufRead + Unpin),
    /// Receives answers and, if `prompts` is set, the prompt and events.
    pub out: &'a mut dyn Write,
    /// Receives errors and warnings.
    pub err: &'a mut dyn Write,
    /// Whether a person types the lines and needs a prompt.
    pub prompts: bool,
}

impl std::fmt::Debug for Terminal<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Terminal").field("prompts", &self.prompts).finish_non_exhaustive()
    }
}

/// Runs lines until the console ends, and returns its exit code.
pub(crate) async fn run(setup: Setup, mut terminal: Terminal<'_>) -> Result<u8> {
    let executor = Executor::new(setup);
    executor.join().await?;
    let ended = read_lines(&executor, &mut terminal).await;
    if let Some(e) = executor.leave().await {
        write_all(terminal.err, &format!("warning: {e}\n"))?;
    }
    ended
}

async fn read_lines(executor: &Executor, terminal: &mut Terminal<'_>) -> Result<u8> {
    let mut interrupts =
        signal(SignalKind::interrupt()).map_err(|e| Error::io(format!("cannot wait for signals: {e}")))?;
    if terminal.prompts {
        let greeting = format!("session {}; type :help for help, :quit to leave\n", executor.session());
        write_all(terminal.out, &greeting)?;
    }
    let mut events = Events::default();
    let mut last_exit = 0;
    loop {
        if terminal.prompts {
            let shown = events.next(executor).await;
            write_all(terminal.out, &format!("{shown}{}> ", executor.session()))?;
        }
        let mut bytes = Vec::new();
        let read = tokio::select! {
            read = terminal.input.read_until(b'\n', &mut bytes) => read,
            _ = interrupts.recv() => return Ok(INTERRUPTED),
        };
        let read = read.map_err(|e| Error::io(format!("cannot read the input: {e}")))?;
        if read == 0 {
            if terminal.prompts {
                write_all(terminal.out, "\n")?;
            }
            return Ok(last_exit);
        }
        let line = String::from_utf8_lossy(&bytes).into_owned();
        let cancel = CancellationToken::new();
        let mut running = Box::pin(executor.run(&line, cancel.clone()));
        let Outcome { printed, exit, quit, .. } = loop {
            tokio::select! {
                outcome = &mut running => break outcome,
                _ = interrupts.recv() => cancel.cancel(),
            }
        };
        drop(running);
        if quit {
            return Ok(0);
        }
        if !line.trim().is_empty() {
            last_exit = exit;
        }
        // A closed stderr does not end the console: its output is only for a person.
        write_all(terminal.err, &ended(printed.err))?;
        if !write_all(terminal.out, &ended(printed.out))? {
            return Ok(last_exit);
        }
    }
}

/// A reader of the events for this member.
#[derive(Debug, Default)]
struct Events {
    cursor: Option<u64>,
}

impl Events {
    /// Returns lines about the events since the last call; empty on the first call. If the events
    /// cannot be read, the next call reads them.
    async fn next(&mut self, executor: &Executor) -> String {
        let request = Request::new("events", executor.setup().caller.clone()).argument("target", "self");
        let request = match self.cursor {
            Some(cursor) => request.argument("after", cursor),
            None => request.argument("limit", 1),
        };
        let response = executor.ask(request).await;
        let known = self.cursor.is_some();
        let found = response.output.as_ref().and_then(|output| output["cursorSeq"].as_u64());
        self.cursor = match &response.error {
            // The log starts again from its beginning.
            Some(e) if e.code == ErrorCode::InvalidCursor => None,
            _ => found.or(self.cursor),
        };
        let any = response.output.as_ref().and_then(|output| output["events"].as_array());
        match response.text {
            Some(text) if known && any.is_some_and(|events: &Vec<Value>| !events.is_empty()) => {
                executor.note_shown(any.into_iter().flatten().filter_map(|event| event["seq"].as_u64()));
                ended(text)
            }
            _ => String::new(),
        }
    }
}

/// Ends text with a newline, unless it is empty.
fn ended(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Writes text immediately. Returns false if the reader has closed the stream.
fn write_all(to: &mut dyn Write, text: &str) -> Result<bool> {
    match to.write_all(text.as_bytes()).and_then(|()| to.flush()) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(e) => Err(Error::io(format!("cannot write the output: {e}"))),
    }
}
