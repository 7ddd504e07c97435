//! Pages to read, served on loopback.

use crate::Result;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// A server that lives as long as the process.
pub struct Server {
    port: u16,
    changes: Arc<Changes>,
}

/// The number of changes that the changing pages were asked to make.
#[derive(Default)]
struct Changes {
    count: Mutex<u64>,
    changed: Condvar,
}

impl Server {
    pub fn start() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(|e| format!("loopback: {e}"))?;
        let port = listener.local_addr().map_err(|e| format!("loopback: {e}"))?.port();
        let changes = Arc::new(Changes::default());
        let shared = Arc::clone(&changes);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let worker_changes = Arc::clone(&shared);
                std::thread::spawn(move || {
                    if let Err(error) = answer(&stream, &worker_changes) {
                        eprintln!("bench page: {error}");
                    }
                });
            }
        });
        Ok(Self { port, changes })
    }

    /// Changes a word on every changing page, and then waits for `rest`.
    pub fn change(&self, rest: Duration) {
        *self.changes.count.lock().expect("no thread panics with it") += 1;
        self.changes.changed.notify_all();
        std::thread::sleep(rest);
    }

    /// Returns the address of a page. `rows/N` has rows of a link, a button and a labeled input. In
    /// `changing/N` a word of the first row changes on command. `real` has deep wrappers, icons and
    /// a style sheet of many rules, and a word that changes. `form` shows what was submitted, and
    /// the button of `small` counts its presses.
    pub fn page(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }
}

/// Time after which a change is on the page and no tool has read it.
pub const RENDER_TIME: Duration = Duration::from_millis(40);

/// Less time than an agent takes between a change and its next snapshot.
pub const AGENT_PAUSE: Duration = Duration::from_millis(500);

/// How long a page waits for a command before it polls again.
const LONG_POLL_TIMEOUT: Duration = Duration::from_secs(60);

/// Changes the name of the first link.
const CHANGING: &str = include_str!("pages/changing.html");

/// The page on which `press` is measured.
const SMALL: &str = include_str!("pages/small.html");

/// A form with common fields, to which lines can be added. Its status shows what was submitted.
const FORM: &str = include_str!("pages/form.html");

impl Changes {
    /// Returns the number of changes, once it differs from the one that the page knows.
    fn since(&self, known: usize) -> u64 {
        let count = self.count.lock().expect("no thread panics with it");
        let same = |count: &mut u64| *count == known as u64;
        *self.changed.wait_timeout_while(count, LONG_POLL_TIMEOUT, same).expect("no thread panics with it").0
    }
}

fn answer(mut stream: &TcpStream, changes: &Changes) -> std::io::Result<()> {
    let mut line = String::new();
    let mut reader = BufReader::new(stream);
    if reader.read_line(&mut line)? == 0 {
        return Ok(()); // a connection that the browser opened ahead of need
    }
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
            break;
        }
    }
    let path = line.split(' ').nth(1).unwrap_or("/");
    let of = |page: &str| path.strip_prefix(page).and_then(|n| n.parse().ok());
    let (status, body) = match (path, of("/rows/"), of("/changing/"), of("/told/")) {
        ("/real", ..) => ("200 OK", realistic_page() + CHANGING),
        ("/small", ..) => ("200 OK", SMALL.to_owned()),
        ("/form", ..) => ("200 OK", FORM.to_owned()),
        (_, Some(n), ..) => ("200 OK", rows(n)),
        (_, _, Some(n), _) => ("200 OK", rows(n) + CHANGING),
        (.., Some(known)) => ("200 OK", changes.since(known).to_string()),
        _ => ("404 Not Found", String::new()),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn rows(n: usize) -> String {
    let mut html = String::from("<!doctype html><title>Shop</title><h1>Shop</h1><ul>");
    for i in 0..n {
        write!(html, "<li><a href=\"/item/{i}\">Item {i}</a> <button>Buy {i}</button> <label>Qty {i} <input value=5></label></li>")
            .expect("writing to a string");
    }
    html.push_str("</ul>");
    html
}

/// Rules of the style sheet of a page of a real app, and cards on it.
const RULES: usize = 800;
const CARDS: usize = 240;

fn realistic_page() -> String {
    let mut html = String::from("<!doctype html><html lang=en><title>Shop</title><style>");
    for i in 0..RULES {
        let rule = match i % 8 {
            0 => format!(".c{i} > .w .t{i}{{margin:1px;color:#{:03x}}}", i % 4096),
            1 => format!(".c{i}:hover .i{i}, .c{i}:focus-within .i{i}{{opacity:.{}}}", i % 9 + 1),
            2 => format!(".b{i}::before{{content:'';display:inline-block;width:{}px}}", i % 7),
            3 => format!("@media (min-width:{}px){{.g{i}{{padding:{}px}}}}", 300 + i, i % 9),
            4 => format!("[data-theme=dark] .d{i}{{background:#{:03x}}}", i % 4096),
            5 => format!(".u{i}{{text-transform:uppercase;letter-spacing:.0{}em}}", i % 9),
            6 => format!(".f{i}{{display:flex;gap:{}px;align-items:center}}", i % 9),
            _ => format!(".p{i}{{cursor:pointer;transition:opacity .{}s}}", i % 9 + 1),
        };
        html.push_str(&rule);
    }
    html.push_str("</style><header class='f6'><nav aria-label=Main><ul>");
    for i in 0..12 {
        html.push_str(&include_str!("pages/section.html").replace("{i}", &i.to_string()));
    }
    html.push_str("</ul></nav></header><main><div id=app><div class='w'><div class='g3'><h1>All things</h1>");
    for i in 0..CARDS {
        let c = i % 100 * 8;
        let mut card = include_str!("pages/card.html").replace("{i}", &i.to_string());
        card = card.replace("{d}", &(i % 97 + 3).to_string()).replace("{c}", &c.to_string());
        for more in 1..=6 {
            card = card.replace(&format!("{{c+{more}}}"), &(c + more).to_string());
        }
        html.push_str(&card);
    }
    html.push_str("</div></div></div></main><footer><p>The end</p></footer>");
    html
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_real_looking_page_has_thousands_of_elements() {
        let elements =
            super::realistic_page().matches('<').count() - super::realistic_page().matches("</").count();
        assert!((8_000..14_000).contains(&elements), "{elements}");
    }
}
