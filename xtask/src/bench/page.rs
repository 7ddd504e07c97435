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

/// How often the pages that change were told to.
#[derive(Default)]
struct Changes {
    count: Mutex<u64>,
    told: Condvar,
}

impl Server {
    pub fn start() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(|e| format!("loopback: {e}"))?;
        let port = listener.local_addr().map_err(|e| format!("loopback: {e}"))?.port();
        let changes = Arc::new(Changes::default());
        let told = Arc::clone(&changes);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let told = Arc::clone(&told);
                std::thread::spawn(move || {
                    if let Err(error) = answer(&stream, &told) {
                        eprintln!("bench page: {error}");
                    }
                });
            }
        });
        Ok(Self { port, changes })
    }

    /// Changes a word on every page that changes, and leaves them alone for so long.
    pub fn change(&self, rest: Duration) {
        *self.changes.count.lock().expect("no thread panics with it") += 1;
        self.changes.told.notify_all();
        std::thread::sleep(rest);
    }

    /// Address of a page of rows of a link, a button and a labelled input.
    pub fn rows(&self, n: usize) -> String {
        format!("http://127.0.0.1:{}/rows/{n}", self.port)
    }

    /// The same, and a word of the first row changes when it is told to.
    pub fn changing(&self, n: usize) -> String {
        format!("http://127.0.0.1:{}/changing/{n}", self.port)
    }

    /// A page as they are met: deep wrappers, icons, a style sheet of many rules; a word of it changes when it is told to.
    pub fn real(&self) -> String {
        format!("http://127.0.0.1:{}/real", self.port)
    }

    /// A form that says what was sent with it.
    pub fn form(&self) -> String {
        format!("http://127.0.0.1:{}/form", self.port)
    }

    /// A form of a few elements, whose button counts its presses.
    pub fn small(&self) -> String {
        format!("http://127.0.0.1:{}/small", self.port)
    }
}

/// In this time a change is on the page, and nobody has read it.
pub const SHOWN: Duration = Duration::from_millis(40);

/// Less than an agent takes between a change and its next look.
pub const RESTED: Duration = Duration::from_millis(500);

/// How long a page waits for word before it asks again.
const PATIENCE: Duration = Duration::from_secs(60);

/// Changes the name of the first link.
const CHANGING: &str = "<script>(async () => { for (let n = 0;;) { \
    n = await (await fetch('/told/' + n)).text(); document.querySelector('a').textContent = 'Item 0, ' + n } })()</script>";

/// What `press` is measured on.
const SMALL: &str = "<!doctype html><title>Small</title><h1>Small</h1><form onsubmit='return false'>\
    <label>Name <input></label><button>Save</button></form><p>Saved <output>0</output> times</p>\
    <script>document.querySelector('button').onclick = () => document.querySelector('output').value++</script>";

/// A form of the usual fields; lines can be added to it. What is sent stands in its status.
const FORM: &str = "<!doctype html><title>Order</title><h1>Order</h1><form onsubmit='return false'>\
    <label>First name <input name=first></label><label>Last name <input name=last></label>\
    <label>Street <input name=street></label><label>City <input name=city></label>\
    <label>Postcode <input name=postcode></label><label>Country <select name=country>\
    <option value=se>Sweden</option><option value=no>Norway</option></select></label>\
    <label>Email <input type=email name=email></label><label>Phone <input type=tel name=phone></label>\
    <fieldset><legend>Delivery</legend><label><input type=radio name=by value=post checked>Post</label>\
    <label><input type=radio name=by value=courier>Courier</label></fieldset>\
    <label><input type=checkbox name=gift value=gift>Gift</label><label>Card text <input name=card></label>\
    <div id=lines></div><button type=button id=add>Add line</button>\
    <label>Size <select name=size><option value=m>Medium</option><option value=l>Large</option></select></label>\
    <label><input type=checkbox name=news value=news>News</label>\
    <label><input type=checkbox name=terms value=terms>Terms</label><button id=send>Send</button></form>\
    <p role=status></p><script>const form = document.forms[0], lines = document.querySelector('#lines');\
    document.querySelector('#add').onclick = () => { const n = lines.children.length + 1;\
    lines.insertAdjacentHTML('beforeend', `<label>Line ${n} <input name=line${n}></label>`) };\
    document.querySelector('#send').onclick = () => document.querySelector('[role=status]').textContent =\
    [...new FormData(form).values()].join(', ')</script>";

impl Changes {
    /// How often it was told, when that is another number than the page knows.
    fn since(&self, known: usize) -> u64 {
        let count = self.count.lock().expect("no thread panics with it");
        let same = |count: &mut u64| *count == known as u64;
        *self.told.wait_timeout_while(count, PATIENCE, same).expect("no thread panics with it").0
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
        ("/real", ..) => ("200 OK", real() + CHANGING),
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

/// Rules of the style sheet of [`Server::real`], and cards on it.
const RULES: usize = 800;
const CARDS: usize = 240;

fn real() -> String {
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
        write!(html, "<li class='f14'><div class='w'><a href='/c/{i}' class='p7'>{ICON}<span>Section {i}</span></a></div></li>")
            .expect("writing to a string");
    }
    html.push_str("</ul></nav></header><main><div id=app><div class='w'><div class='g3'><h1>All things</h1>");
    for i in 0..CARDS {
        let (c, d) = (i % 100 * 8, i % 97 + 3);
        write!(
            html,
            "<div class='w c{c}'><div class='g{} f{}'><div class='w'><article class='d{} b{}' data-id='p-{i}{d}'>\
             <div class='w'><div class='t{c} i{}'><div><div><img alt='' width=16 height=16>{ICON}</div></div></div></div>\
             <div class='w'><div><h2 class='u{}'><a href='/p/{i}'><span>Thing <b>number {i}</b></span></a></h2>\
             <div class='f6'><span class='b2'>{ICON}</span><span>{d}.90</span><span aria-hidden=true>|</span><span>{d} in stock</span></div>\
             <p><span>A thing of the {i}th kind, </span><em>made well</em><span>, sent tomorrow.</span></p></div></div>\
             <div class='w f14'><div><button class='p7' aria-label='Like thing {i}'>{ICON}</button></div>\
             <div><button class='p15'><span class='w'>{ICON}</span><span>Add to cart</span></button></div>\
             <div><label><input type=checkbox><span>Compare</span></label></div></div></article></div></div></div>",
            c + 3, c + 6, c + 4, c + 2, c + 1, c + 5,
        )
        .expect("writing to a string");
    }
    html.push_str("</div></div></div></main><footer><p>The end</p></footer>");
    html
}

/// An icon as libraries draw them.
const ICON: &str = "<svg viewBox='0 0 24 24' width=16 height=16 aria-hidden=true><g><path d='M0 0h24v24H0z' fill=none />\
    <path d='M12 21l-1-1C5 15 2 12 2 8a5 5 0 0 1 10-2 5 5 0 0 1 10 2c0 4-3 7-9 12z'/></g></svg>";

#[cfg(test)]
mod tests {
    #[test]
    fn a_real_looking_page_has_thousands_of_elements() {
        let elements = super::real().matches('<').count() - super::real().matches("</").count();
        assert!((8_000..14_000).contains(&elements), "{elements}");
    }
}
