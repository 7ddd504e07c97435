//! A loopback server for pages, which also collects the pages' reports and can make pages change
//! from outside.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// A request, for a server with custom answers.
#[derive(Debug, Clone, Copy)]
pub struct PageRequest<'a> {
    /// The method, as in `GET`.
    pub method: &'a str,
    /// The path with its query, without origin.
    pub target: &'a str,
    /// The body; empty if there is none.
    pub body: &'a str,
}

/// A custom answer.
#[derive(Debug, Clone)]
pub struct PageResponse {
    /// The media type, as in `text/html`.
    pub media: &'static str,
    /// The content.
    pub body: Vec<u8>,
    /// A line for the log that describes what the server understood.
    pub log: Option<String>,
}

/// Custom answers for [`PageServer::start_with`]. `None` falls back to files and the built-in
/// paths.
pub type RequestHandler = Box<dyn Fn(PageRequest<'_>) -> Option<PageResponse> + Send + Sync>;

/// Serves a folder on a free port until it is dropped. `POST /__log` adds a line to the log.
///
/// Other built-in paths:
/// - `/__status/500` answers with that status.
/// - `/__slow/700/FILE` sends a file after 700 ms.
/// - `/__held/FILE` sends a file, and `/__halved/FILE` the second half of it, after a request for
///   `/__release`; each of these releases one file.
/// - `/__never` accepts and never answers.
/// - `/__events` is a stream of server-sent events that [`PageServer::push`] writes to.
#[derive(Debug)]
pub struct PageServer {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    root: PathBuf,
    answers: Option<RequestHandler>,
    log: Mutex<Vec<String>>,
    changed: Condvar,
    listeners: Mutex<Vec<TcpStream>>,
    /// The number of requests for `/__release` that have released nothing yet.
    releases: Mutex<u64>,
    released: Condvar,
}

impl Shared {
    /// Waits for a request for `/__release`, and takes it.
    fn wait_for_release(&self) {
        let releases = lock(&self.releases);
        let mut releases = self
            .released
            .wait_while(releases, |count| *count == 0)
            .expect("no thread of the page server panicked");
        *releases -= 1;
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("root", &self.root).finish_non_exhaustive()
    }
}

/// Locks a mutex. Panics if a thread of the server panicked, so that the test fails.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no thread of the page server panicked")
}

impl PageServer {
    /// Starts serving `root`.
    ///
    /// # Errors
    /// Returns an error if no loopback port is available.
    pub fn start(root: &Path) -> std::io::Result<Self> {
        Self::serve(Shared { root: root.to_owned(), ..Shared::default() })
    }

    /// Starts serving `root` with custom answers.
    ///
    /// # Errors
    /// Returns an error if no loopback port is available.
    pub fn start_with(root: &Path, answers: RequestHandler) -> std::io::Result<Self> {
        Self::serve(Shared { root: root.to_owned(), answers: Some(answers), ..Shared::default() })
    }

    fn serve(shared: Shared) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(shared);
        let server = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = Arc::clone(&server);
                // A browser that disconnects early does not fail a test.
                std::thread::spawn(move || drop(answer(&stream, &server)));
            }
        });
        Ok(Self { port, shared })
    }

    /// Returns `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the lines that were reported since the last call.
    #[must_use]
    pub fn received(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.shared.log))
    }

    /// Sends a message to every page that listens to `/__events`; returns the number of pages.
    #[must_use]
    pub fn push(&self, message: &str) -> usize {
        let mut listeners = lock(&self.shared.listeners);
        listeners.retain_mut(|stream| write!(stream, "data: {message}\n\n").is_ok());
        listeners.len()
    }

    /// Waits until a page has reported a line with this prefix. Removes it from the log and returns
    /// the rest of it. Returns `None` after `timeout`.
    #[must_use]
    pub fn wait_for_prefix(&self, prefix: &str, timeout: Duration) -> Option<String> {
        let found = |log: &[String]| log.iter().position(|l| l.starts_with(prefix));
        let log = lock(&self.shared.log);
        let (mut log, _) = self
            .shared
            .changed
            .wait_timeout_while(log, timeout, |log| found(log).is_none())
            .expect("no thread of the page server panicked");
        let at = found(&log)?;
        Some(log.remove(at).split_off(prefix.len()))
    }

    /// Waits until a page has reported a line, and removes it from the log. Returns false after
    /// `timeout`.
    #[must_use]
    pub fn wait_for(&self, line: &str, timeout: Duration) -> bool {
        let log = lock(&self.shared.log);
        let missing = |log: &mut Vec<String>| !log.iter().any(|l| l == line);
        let (mut log, timeout) = self
            .shared
            .changed
            .wait_timeout_while(log, timeout, missing)
            .expect("no thread of the page server panicked");
        log.retain(|l| l != line);
        !timeout.timed_out()
    }
}

fn answer(mut stream: &TcpStream, server: &Shared) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut length = 0;
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut words = first.split_whitespace();
    let (method, target) = (words.next().unwrap_or(""), words.next().unwrap_or("/"));
    let path = target.split(['?', '#']).next().unwrap_or("/");
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    if method == "POST" && path == "/__log" {
        lock(&server.log).push(String::from_utf8_lossy(&body).into_owned());
        server.changed.notify_all();
        return respond(&mut stream, "204 No Content", "text/plain", b"");
    }
    let request = PageRequest { method, target, body: &String::from_utf8_lossy(&body) };
    if let Some(answered) = server.answers.as_ref().and_then(|answers| answers(request)) {
        if let Some(line) = answered.log {
            lock(&server.log).push(line);
            server.changed.notify_all();
        }
        return respond(&mut stream, "200 OK", answered.media, &answered.body);
    }
    if path == "/__events" {
        // Locked before the answer, so that `push` reaches every page that reports that it listens.
        let mut listeners = lock(&server.listeners);
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n\r\n: hello\n\n")?;
        listeners.push(stream.try_clone()?);
        return Ok(());
    }
    if path == "/__never" {
        // Waits until the client closes.
        std::io::copy(&mut reader, &mut std::io::sink())?;
        return Ok(());
    }
    if path == "/__release" {
        *lock(&server.releases) += 1;
        server.released.notify_all();
        return respond(&mut stream, "204 No Content", "text/plain", b"");
    }
    let path = match path.strip_prefix("/__held") {
        Some(rest) => {
            server.wait_for_release();
            rest
        }
        None => path,
    };
    let path = match path.strip_prefix("/__slow/").and_then(|rest| rest.split_once('/')) {
        Some((millis, rest)) => {
            std::thread::sleep(Duration::from_millis(millis.parse().unwrap_or(0)));
            rest
        }
        None => path,
    };
    if let Some(rest) = path.strip_prefix("/__halved/") {
        let bytes = std::fs::read(server.root.join(rest))?;
        write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            bytes.len()
        )?;
        let (first, last) = bytes.split_at(bytes.len() / 2);
        stream.write_all(first)?;
        server.wait_for_release();
        return stream.write_all(last);
    }
    if let Some(status) = path.strip_prefix("/__status/") {
        return respond(&mut stream, &format!("{status} Asked"), "text/html", b"<title>status</title>");
    }
    let relative = PathBuf::from(path.trim_start_matches('/'));
    let is_safe = relative.components().all(|c| matches!(c, Component::Normal(_)));
    match std::fs::read(server.root.join(&relative)) {
        Ok(bytes) if is_safe => respond(&mut stream, "200 OK", media_type(&relative), &bytes),
        _ => respond(&mut stream, "404 Not Found", "text/html", b"<title>not here</title>"),
    }
}

fn respond(stream: &mut &TcpStream, status: &str, media: &str, body: &[u8]) -> std::io::Result<()> {
    // Suites that load a page hundreds of times load and compile its scripts once. The answers that
    // tests control come in other ways.
    let cached = if media == SCRIPT { "max-age=3600" } else { "no-store" };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {media}\r\nContent-Length: {}\r\nCache-Control: {cached}\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    stream.write_all(body)
}

/// The media type of scripts.
const SCRIPT: &str = "text/javascript; charset=utf-8";

fn media_type(path: &Path) -> &'static str {
    match path.extension().and_then(|e| e.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => SCRIPT,
        Some("css") => "text/css; charset=utf-8",
        Some("json") => "application/json",
        _ => "application/octet-stream",
    }
}
