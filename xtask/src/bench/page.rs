//! Pages to read, served on loopback.

use crate::Result;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};

/// A server that lives as long as the process.
pub struct Server {
    port: u16,
}

impl Server {
    pub fn start() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(|e| format!("loopback: {e}"))?;
        let port = listener.local_addr().map_err(|e| format!("loopback: {e}"))?.port();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                std::thread::spawn(move || {
                    if let Err(error) = answer(&stream) {
                        eprintln!("bench page: {error}");
                    }
                });
            }
        });
        Ok(Self { port })
    }

    /// Address of a page of rows of a link, a button and a labelled input.
    pub fn rows(&self, n: usize) -> String {
        format!("http://127.0.0.1:{}/rows/{n}", self.port)
    }

    /// The same, and a word of the first row changes all the time.
    pub fn ticking(&self, n: usize) -> String {
        format!("http://127.0.0.1:{}/ticking/{n}", self.port)
    }
}

/// Changes the name of the first row's link.
const TICK: &str = "<script>let n = 0; setInterval(() => \
    document.querySelector('a').textContent = 'Item 0, ' + ++n, 20)</script>";

fn answer(mut stream: &TcpStream) -> std::io::Result<()> {
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
    let (status, body) = match (of("/rows/"), of("/ticking/")) {
        (Some(n), _) => ("200 OK", rows(n)),
        (_, Some(n)) => ("200 OK", rows(n) + TICK),
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
