//! A host with a browser, and a server with hand-written answers.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use stickpin_kernel::{Error, ErrorCode, Response};
use stickpin_testkit::{InProcess, chromium};

/// The time limit for a page to report to its server.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The log entry after which `/held` is answered.
const RELEASED: &str = "released";

/// The script with which a page reports to its server.
pub const TELL: &str =
    "<script>const tell=w=>{const x=new XMLHttpRequest();x.open('POST','/log?'+w,false);x.send()}</script>";

pub struct Web {
    pub surface: InProcess,
    pub dir: tempfile::TempDir,
    pub origin: String,
    asked: Arc<(Mutex<Vec<String>>, Condvar)>,
}

/// Returns an answer with the status 200 and this media type.
pub fn page(media: &str, body: &str) -> Vec<u8> {
    raw("200 OK", &[&format!("Content-Type: {media}; charset=utf-8")], body)
}

pub fn html(body: &str) -> Vec<u8> {
    page("text/html", &format!("<!doctype html>{TELL}{body}"))
}

pub fn raw(status: &str, headers: &[&str], body: &str) -> Vec<u8> {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let length = body.len();
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n{body}")
        .into_bytes()
}

impl Web {
    /// Serves answers by path: `/log` records reports, `/held` answers after [`Self::release`],
    /// `/never` never answers, all other paths return 404.
    pub fn new(pages: &[(&str, Vec<u8>)]) -> Option<Self> {
        let provider = chromium()?;
        let pages: HashMap<String, Vec<u8>> =
            pages.iter().map(|(p, a)| ((*p).to_owned(), a.clone())).collect();
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<(Mutex<Vec<String>>, Condvar)> = Arc::default();
        let (log, pages) = (Arc::clone(&asked), Arc::new(pages));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, pages) = (Arc::clone(&log), Arc::clone(&pages));
                // A browser that disconnects in the middle does not fail a test.
                std::thread::spawn(move || drop(answer(&stream, &pages, &log)));
            }
        });
        let dir = tempfile::tempdir().unwrap();
        let surface = InProcess::new(dir.path(), vec![Arc::new(provider)]);
        Some(Self { surface, dir, origin, asked })
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }

    /// Waits for a request to the server, and removes it from the log.
    #[track_caller]
    pub fn was_asked(&self, target: &str) {
        let (log, grown) = &*self.asked;
        let missing = |log: &mut Vec<String>| !log.iter().any(|l| l == target);
        let (mut log, waited) = grown.wait_timeout_while(log.lock().unwrap(), PATIENCE, missing).unwrap();
        assert!(!waited.timed_out(), "never asked for {target}: {log:?}");
        log.retain(|l| l != target);
    }

    /// Answers all requests for `/held`.
    pub fn release(&self) {
        self.asked.0.lock().unwrap().push(RELEASED.to_owned());
        self.asked.1.notify_all();
    }

    /// Returns the number of requests for a path.
    pub fn times(&self, target: &str) -> usize {
        self.asked.0.lock().unwrap().iter().filter(|l| *l == target).count()
    }

    #[track_caller]
    pub fn open(&mut self, path: &str) -> Response {
        let url = self.url(path);
        self.ok(&["open", &url])
    }

    #[track_caller]
    pub fn ok(&mut self, words: &[&str]) -> Response {
        let response = self.surface.request(words, |_| {});
        assert!(response.ok, "{words:?}: {response:#?}");
        response
    }

    /// Runs words that must succeed, and returns the output.
    #[track_caller]
    pub fn text(&mut self, words: &[&str]) -> String {
        self.ok(words).text.unwrap_or_default()
    }

    /// Runs words that must fail with a code, and returns the error, which has a hint.
    #[track_caller]
    pub fn fails(&mut self, words: &[&str], code: ErrorCode) -> Error {
        self.fails_within(words, None, code)
    }

    /// Runs words that must fail, with `--timeout`.
    #[track_caller]
    pub fn fails_within(&mut self, words: &[&str], timeout: Option<u64>, code: ErrorCode) -> Error {
        let response = self.surface.request(words, |request| request.timeout_ms = timeout);
        let error = response.error.clone().unwrap_or_else(|| panic!("{words:?}: {response:#?}"));
        assert_eq!(error.code, code, "{words:?}: {error:#?}");
        assert!(!error.hint.is_empty(), "{words:?} has no hint: {error:#?}");
        error
    }

    /// Returns the process of the browser.
    pub fn pid(&self) -> u32 {
        let processes = self.processes();
        let browser =
            processes.iter().find(|(_, line)| line.contains("--user-data-dir=") && !line.contains("--type="));
        browser.unwrap_or_else(|| panic!("{processes:?}")).0
    }

    /// Returns the folders of sessions.
    pub fn folders(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.dir.path().join("state/live")) else {
            return Vec::new();
        };
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// Returns the command lines that name our folder, with their process ids.
    pub fn processes(&self) -> Vec<(u32, String)> {
        let folder = self.dir.path().to_str().unwrap();
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        entries
            .filter_map(|entry| {
                let pid = entry.file_name().to_str()?.parse().ok()?;
                // A process that ended meanwhile does not count.
                let line = std::fs::read(entry.path().join("cmdline")).ok()?;
                let line = String::from_utf8_lossy(&line).replace('\0', " ");
                line.contains(folder).then_some((pid, line))
            })
            .collect()
    }
}

fn answer(
    mut stream: &TcpStream,
    pages: &HashMap<String, Vec<u8>>,
    asked: &(Mutex<Vec<String>>, Condvar),
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut header = String::new();
    while reader.read_line(&mut header)? > 2 {
        header.clear();
    }
    let target = first.split(' ').nth(1).unwrap_or("/").to_owned();
    asked.0.lock().unwrap().push(target.clone());
    asked.1.notify_all();
    let path = target.split('?').next().unwrap_or_default();
    match pages.get(path) {
        Some(answer) => stream.write_all(answer),
        None if path == "/log" => stream.write_all(&raw("200 OK", &[], "")),
        None if path == "/held" => {
            let is_held = |log: &mut Vec<String>| !log.iter().any(|l| l == RELEASED);
            drop(asked.1.wait_while(asked.0.lock().unwrap(), is_held).unwrap());
            stream.write_all(&raw("200 OK", &[], ""))
        }
        None if path == "/never" => std::io::copy(&mut reader, &mut std::io::sink()).map(drop),
        None => stream.write_all(&raw("404 Not Found", &[], "")),
    }
}

/// Ends a process.
pub fn kill(pid: u32) {
    let status = std::process::Command::new("kill").args(["-KILL", &pid.to_string()]).status();
    assert!(status.unwrap().success());
}
