//! Follows a command of the registry: waits for its next entries and prints them. With `--follow`,
//! continues with those that arrive later. The last lines on stderr state where to continue, so
//! that nothing is lost between two runs.

use crate::client_command::listen_for_signals;
use crate::env::Env;
use crate::output::Streams;
use crate::{Hooks, daemon, prepared_state_dir};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};
use stickpin_client::{Connection, Start};
use stickpin_cmdline::Options;
use stickpin_kernel::{Error, ErrorCode, Follow, Format, Request, Response, Result, registry};
use stickpin_wire::StateDir;
use stickpin_wire::rpc::{Hello, Verdict};
use tokio::signal::unix::SignalKind;
use tokio::sync::mpsc;

/// How long a follower tries to reach an unavailable daemon.
const RECONNECT: Duration = Duration::from_secs(30);

/// How long a follower that was asked to end waits for the first answer, which states where to
/// continue.
const FIRST_ANSWER: Duration = Duration::from_secs(5);

/// The pause between two attempts to reach the daemon.
const RECONNECT_INTERVAL: Duration = Duration::from_millis(200);

/// Returns how to follow a request; `None` if the request does not wait for entries and `--follow`
/// is not given, or if its command cannot be followed.
pub(crate) fn of(request: &Request, options: &Options) -> Option<Follow> {
    let follow = registry::find(&request.command)?.spec.follows?;
    let waits = request.input.get(follow.wait) == Some(&Value::Bool(true));
    (options.follow || waits).then_some(follow)
}

/// Follows a command and returns the exit code.
pub(crate) fn run(
    request: &Request,
    follow: Follow,
    options: &Options,
    env: &Env,
    hooks: Hooks,
    streams: &mut Streams<'_>,
) -> u8 {
    let mut cursor = Cursor::from_request(request, follow);
    let ended = prepared_state_dir(options, env, hooks, streams).and_then(|state_dir| {
        let mut request = request.clone();
        request.render.format = if options.json { Format::Json } else { Format::Both };
        let reader = Reader { state_dir, start: daemon::start(env), request, follow, once: !options.follow };
        let printed = print_until_signalled(reader, options.json, &mut cursor, streams);
        stickpin_client::runtime()?.block_on(printed)
    });
    let code = ended.unwrap_or_else(|error| streams.fail(&request.command, error, options.json));
    for line in cursor.lines() {
        streams.print_error(&line);
    }
    code
}

/// The entries after which to continue, in one session or in each of several.
#[derive(Debug, Clone, Default, PartialEq)]
struct Cursor {
    one: Option<u64>,
    of: BTreeMap<String, u64>,
}

impl Cursor {
    /// Returns the position that the caller gave.
    fn from_request(request: &Request, follow: Follow) -> Self {
        let mut cursor =
            Self { one: request.input.get(follow.after).and_then(Value::as_u64), ..Self::default() };
        let words = follow.cursors.and_then(|name| request.input.get(name)?.as_array());
        for word in words.into_iter().flatten().filter_map(Value::as_str) {
            if let Some((name, seq)) = word.split_once('=')
                && let Ok(seq) = seq.parse()
            {
                cursor.of.insert(name.to_owned(), seq);
            }
        }
        cursor
    }

    /// Returns the position after the entries of an answer.
    fn after(response: &Response) -> Self {
        let Some(output) = &response.output else { return Self::default() };
        let of = output["cursors"].as_object().into_iter().flatten();
        Self {
            one: output["cursorSeq"].as_u64(),
            of: of.filter_map(|(name, seq)| Some((name.clone(), seq.as_u64()?))).collect(),
        }
    }

    /// Advances to another position, if it is known.
    fn advance(&mut self, to: Self) {
        self.one = to.one.or(self.one);
        self.of.extend(to.of);
    }

    /// Advances past an entry.
    fn pass(&mut self, entry: &Value, several: bool) {
        let Some(seq) = entry["seq"].as_u64() else { return };
        match entry["session"].as_str().filter(|_| several) {
            Some(session) => drop(self.of.insert(session.to_owned(), seq)),
            None => self.one = Some(seq),
        }
    }

    /// Makes a request start at this position.
    fn write_to(&self, input: &mut Map<String, Value>, follow: Follow) {
        if let Some(seq) = self.one {
            input.insert(follow.after.to_owned(), seq.into());
        }
        if let Some(name) = follow.cursors.filter(|_| !self.of.is_empty()) {
            let words = self.of.iter().map(|(session, seq)| format!("{session}={seq}"));
            input.insert(name.to_owned(), words.collect());
        }
    }

    /// Returns the lines that state this position, which are printed last on stderr.
    fn lines(&self) -> Vec<String> {
        let one = self.one.map(|seq| format!("cursor_seq={seq}"));
        let of = self.of.iter().map(|(name, seq)| format!("cursor_seq[{name}]={seq}"));
        one.into_iter().chain(of).collect()
    }
}

/// Prints the entries from a reader until there are no more or a signal arrives. Stores in `cursor`
/// the entry after which to continue. If a signal arrives before the first answer, waits up to
/// [`FIRST_ANSWER`] for that answer, unless the caller gave the position or a second signal
/// arrives.
async fn print_until_signalled(
    reader: Reader,
    json: bool,
    cursor: &mut Cursor,
    streams: &mut Streams<'_>,
) -> Result<u8> {
    let signals = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let mut signals = listen_for_signals(&signals)?;
    let once = reader.once;
    let (tell, mut heard) = mpsc::channel(1);
    // The thread blocks while it is reading the socket, and ends with the process.
    std::thread::spawn(move || reader.read(&tell));
    // The first answer states where to continue, unless the caller gave the position.
    let mut is_known = cursor.one.is_some();
    let mut ends_at = None;
    loop {
        let answer = tokio::select! {
            biased;
            Some(()) = signals.recv() => {
                if is_known || ends_at.is_some() {
                    return Ok(0);
                }
                ends_at = Some(Instant::now() + FIRST_ANSWER);
                continue;
            }
            () = tokio::time::sleep_until(ends_at.unwrap_or_else(Instant::now).into()), if ends_at.is_some() => {
                return Ok(0);
            }
            answer = heard.recv() => answer,
        };
        let Some(Answer { response, last }) = answer.transpose()? else { return Ok(0) };
        is_known = true;
        let after = Cursor::after(&response);
        let printed = match (response.error.is_some(), once) {
            (true, _) => return Ok(streams.respond(&response, json)),
            (false, true) if last => {
                let code = streams.respond(&response, json);
                streams.flush().map(|()| Some(code))
            }
            (false, true) => Ok(None),
            (false, false) => print_entries(&response, json, cursor, streams).map(|()| last.then_some(0)),
        };
        match printed {
            Ok(ended) => {
                cursor.advance(after);
                if let Some(code) = ended.or(ends_at.map(|_| 0)) {
                    return Ok(code);
                }
            }
            // The reader has closed the pipe.
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => return Ok(0),
            Err(e) => {
                streams.note_write_error(Err(e));
                return Ok(ErrorCode::Io.exit());
            }
        }
    }
}

/// Prints the entries of an answer. With `json`, prints one line for each entry, and moves `cursor`
/// past each record whose entries are all printed.
fn print_entries(
    response: &Response,
    json: bool,
    cursor: &mut Cursor,
    streams: &mut Streams<'_>,
) -> io::Result<()> {
    if !json {
        return streams.print_line(response.text.as_deref().unwrap_or_default());
    }
    let entries = entries(response);
    let several = !Cursor::after(response).of.is_empty();
    for (at, entry) in entries.iter().enumerate() {
        streams.print_line(&entry.to_string())?;
        // All entries of one record are read again together.
        let same = |next: &Value| next["seq"] == entry["seq"] && next["session"] == entry["session"];
        if !entries.get(at + 1).is_some_and(same) {
            cursor.pass(entry, several);
        }
    }
    Ok(())
}

fn entries(response: &Response) -> &[Value] {
    let entries = response.output.as_ref().and_then(|output| output["events"].as_array());
    entries.map_or(&[], Vec::as_slice)
}

/// An answer, and whether it is the last one.
struct Answer {
    response: Response,
    last: bool,
}

/// Reads entries from the daemon, on a separate thread.
struct Reader {
    state_dir: StateDir,
    start: Start,
    request: Request,
    follow: Follow,
    /// Whether to stop after the first entries.
    once: bool,
}

impl Reader {
    /// Reads until the receiver is gone, the session is closed, the command fails, or the daemon
    /// has been away for too long. If `once` is set, also ends with the first entries or when the
    /// command's timeout has expired.
    fn read(mut self, tell: &mpsc::Sender<Result<Answer>>) {
        let timeout = self.request.input.remove(self.follow.timeout);
        self.request.input.insert(self.follow.wait.to_owned(), true.into());
        // The first answer arrives immediately and determines where the awaited entries begin.
        self.request.input.insert(self.follow.timeout.to_owned(), 0.into());
        let mut connection = match Connection::find_or_start(&self.state_dir, &self.start) {
            Ok(connection) => connection,
            Err(error) => return drop(tell.blocking_send(Err(error))),
        };
        let mut waits = timeout.as_ref().and_then(Value::as_u64) != Some(0);
        loop {
            let response = connection.call(&self.request);
            if response.error.as_ref().is_some_and(|e| e.code == ErrorCode::DaemonUnreachable) {
                match self.reconnect() {
                    Ok(again) => connection = again,
                    Err(error) => return drop(tell.blocking_send(Err(error))),
                }
                continue;
            }
            let closed = response.output.as_ref().is_some_and(|output| output["closed"] == true);
            let found = self.once && (!entries(&response).is_empty() || !waits);
            let last = response.error.is_some() || closed || found;
            Cursor::after(&response).write_to(&mut self.request.input, self.follow);
            // The receiver is gone when the program is ending.
            if tell.blocking_send(Ok(Answer { response, last })).is_err() || last {
                return;
            }
            match timeout.clone().filter(|_| self.once) {
                Some(timeout) => self.request.input.insert(self.follow.timeout.to_owned(), timeout),
                None => self.request.input.remove(self.follow.timeout),
            };
            waits = !self.once;
        }
    }

    /// Waits for the next daemon. Does not start one, because the last one may have been stopped on
    /// purpose.
    fn reconnect(&self) -> Result<Connection> {
        let until = Instant::now() + RECONNECT;
        loop {
            if let Some(found) = Connection::find(&self.state_dir).ok().flatten() {
                match found.welcome().verdict {
                    Verdict::Serve => return Ok(found),
                    Verdict::Refuse => {
                        return Err(found.welcome().mismatch(&Hello::current(self.state_dir.path())));
                    }
                    // The daemon is shutting down.
                    Verdict::Replace => {}
                }
            }
            if Instant::now() >= until {
                let message = format!("the daemon has been unavailable for {} s", RECONNECT.as_secs());
                return Err(
                    Error::daemon_unreachable(message).hint("run the command again to start the daemon")
                );
            }
            std::thread::sleep(RECONNECT_INTERVAL);
        }
    }
}
