//! Measures what a viewer of `stickpin watch` costs the agent that drives the app. The viewer is an
//! HTTP client that reads the stream and draws nothing, because a browser that draws on the same
//! processor would be measured too.

use super::measure::{Tool, median, run_timed};
use super::mib;
use super::page::Server;
use super::table::Table;
use crate::Result;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Stdio};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::Duration;

/// The number of commands with and without a viewer, each.
const COMMANDS: usize = 60;

/// The number of commands in a row with or without a viewer.
const BLOCK: usize = 20;

/// The pauses between two commands: one shorter than the pause before a picture is taken, one at
/// which the next command finds a picture in flight, and one longer than a picture takes.
const PAUSES: [u64; 3] = [50, 100, 300];

/// The time for a viewer to have its first picture, and for the app to come to rest.
const REST: Duration = Duration::from_millis(500);

/// The number of viewers with which the memory of the daemon is measured.
const VIEWERS: usize = 10;

/// Adds the rows of this part.
pub fn measure(table: &mut Table, ours: &Tool, server: &Server) -> Result {
    ours.run(&["open", &server.page("small"), "-i"])?;
    let page = Page::open(ours)?;
    for pause in PAUSES {
        let (mut alone, mut watched) = (Vec::new(), Vec::new());
        for _ in 0..COMMANDS / BLOCK {
            alone.extend(block(ours, pause)?);
            let viewer = page.view()?;
            watched.extend(block(ours, pause)?);
            viewer.leave()?;
        }
        let (alone, watched) = (median(alone), median(watched));
        table.add(&format!("`press`, then {pause} ms of rest, nobody watches"), alone, "ms", "");
        table.add("the same with a viewer", watched, "ms", "");
        table.add("what the viewer adds", (watched / alone - 1.0) * 100.0, "%", "under 5");
    }
    let viewers = (0..VIEWERS).map(|_| page.view()).collect::<Result<Vec<_>>>()?;
    block(ours, PAUSES[0])?;
    table.add("daemon with 10 viewers, resident", mib(ours.daemon_rss()?), "MiB", "under 30 MB");
    viewers.into_iter().try_for_each(Viewer::leave)?;
    drop(page);
    ours.run(&["close"])
}

/// Returns the milliseconds of commands in a row, without the first one.
fn block(ours: &Tool, pause: u64) -> Result<Vec<f64>> {
    sleep(REST);
    let mut times = Vec::new();
    for _ in 0..=BLOCK {
        times.push(run_timed(&mut ours.command(&["press", "role=button"]))?);
        sleep(Duration::from_millis(pause));
    }
    Ok(times.split_off(1))
}

/// A running `stickpin watch`, ended when dropped.
struct Page {
    child: Child,
    host: String,
    cookie: String,
    key: String,
}

impl Page {
    fn open(ours: &Tool) -> Result<Self> {
        let mut command = ours.command(&["watch"]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut child = child.map_err(|e| format!("watch: {e}"))?;
        let mut line = String::new();
        let stderr = child.stderr.take().ok_or("watch has no standard error")?;
        let read = BufReader::new(stderr).read_line(&mut line);
        let mut page = Self { child, host: String::new(), cookie: String::new(), key: String::new() };
        read.map_err(|e| format!("watch: {e}"))?;
        let link = line.split_once("http://").and_then(|(_, rest)| rest.trim().split_once('/'));
        let (host, path) = link.ok_or_else(|| format!("no link in: {line}"))?;
        host.clone_into(&mut page.host);
        let mut text = String::new();
        let mut stream = page.get(&format!("/{path}"))?;
        stream.read_to_string(&mut text).map_err(|e| format!("the page: {e}"))?;
        let between = |before: &str, after: &str| {
            let found = text.split_once(before).and_then(|(_, rest)| rest.split_once(after));
            found.map(|(found, _)| found.to_owned()).ok_or_else(|| format!("no {before} in: {text}"))
        };
        page.cookie = between("set-cookie: ", ";")?;
        page.key = between("name=\"watch-key\" content=\"", "\"")?;
        Ok(page)
    }

    fn get(&self, target: &str) -> Result<TcpStream> {
        let request = format!(
            "GET {target} HTTP/1.1\r\nhost: {}\r\ncookie: {}\r\nconnection: close\r\n\r\n",
            self.host, self.cookie
        );
        let connect = || {
            let mut stream = TcpStream::connect(&self.host)?;
            stream.write_all(request.as_bytes())?;
            Ok::<_, std::io::Error>(stream)
        };
        connect().map_err(|e| format!("the page: {e}"))
    }

    /// Starts a viewer.
    fn view(&self) -> Result<Viewer> {
        let stream = self.get(&format!("/stream?key={}", self.key))?;
        let reader = stream.try_clone().map_err(|e| format!("the stream: {e}"))?;
        let frames = spawn(move || {
            let lines = BufReader::new(reader).lines().map_while(std::result::Result::ok);
            lines.filter(|line| line == "event: frame").count()
        });
        Ok(Viewer { stream, frames })
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // The program may have ended already. It holds no turn, so nothing is left behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A viewer that reads and draws nothing.
struct Viewer {
    stream: TcpStream,
    frames: JoinHandle<usize>,
}

impl Viewer {
    /// Ends the viewer.
    ///
    /// # Errors
    /// Returns an error if it saw no picture.
    fn leave(self) -> Result {
        self.stream.shutdown(Shutdown::Both).map_err(|e| format!("the stream: {e}"))?;
        match self.frames.join() {
            Ok(0) => Err("a viewer saw no picture".to_owned()),
            Ok(_) => Ok(()),
            Err(_) => Err("a viewer failed".to_owned()),
        }
    }
}
