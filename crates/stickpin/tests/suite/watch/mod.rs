//! The page of `stickpin watch`, in a browser that stickpin itself drives, and by hand-written
//! requests.

mod acts;
mod huge;
mod pictures;
mod problems;

use crate::support::{Ran, World, eventually, words};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Stdio};
use std::time::Duration;

/// The agent that drives the app.
const ADA: &str = "claude:ada";

/// An app with a button that changes it after a delay and logs when.
const APP: &str = r#"<!doctype html><title>Orders</title>
<style>body { font: 16px sans-serif; margin: 24px } button, input { font: inherit; padding: 8px 14px }</style>
<main><h1>Orders</h1>
<p><label>Customer <input id="customer" autocomplete="off"></label></p>
<p><button id="pay">Pay</button> <button id="later">Later</button></p>
<p id="state" role="status">nothing yet</p></main>
<script>
  const state = document.querySelector('#state');
  document.querySelector('#pay').onclick = () => { state.textContent = 'paid'; console.error('no receipt printer') };
  document.querySelector('#later').onclick = () => setTimeout(() => {
    state.textContent = `changed ${Date.now()}`;
    fetch('http://localhost:9/receipts').catch(() => {});
  }, 400);
</script>"#;

/// An app that tries everything to run a script where the app is shown.
const HOSTILE: &str = r#"<!doctype html><title>&#x202e;&#x61c;</title><script>pwned=1</script>">HOSTILE</title>
<main><h1>&lt;img src=x onerror=pwned=1&gt;</h1>
<button aria-label="<svg onload=pwned=1>">a</button>
<button aria-label="&quot; onfocus=pwned=1 autofocus x=&quot;">b</button>
<a href="javascript:pwned=1">&lt;script&gt;pwned=1&lt;/script&gt;</a>
<p>data: x&#10;&#10;event: session&#10;data: {}</p>
<button>&#x202e;reversed&#x200b;</button></main>
<script>location.hash = 'x'.repeat(300)</script>"#;

/// A running `stickpin watch`, which ends with the test.
struct Watch {
    child: Child,
    err: BufReader<ChildStderr>,
    link: String,
}

impl Watch {
    fn start(world: &World, session: &str) -> Self {
        let mut command = world.command(&["watch", session]);
        let mut child =
            command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("the binary runs");
        let mut err = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        err.read_line(&mut line).expect("text");
        let link =
            line.trim().strip_prefix(&format!("session {session}: ")).unwrap_or_else(|| panic!("{line}"));
        let link = link.to_owned();
        Self { child, err, link }
    }

    /// The address and port.
    fn host(&self) -> &str {
        self.link.strip_prefix("http://").and_then(|rest| rest.split('/').next()).expect("an address")
    }

    fn target(&self) -> &str {
        &self.link["http://".len() + self.host().len()..]
    }

    /// Sends a request and returns the whole response.
    fn request(&self, head: &str, body: &str) -> String {
        let mut stream = self.send(head, body);
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("text");
        answer
    }

    fn send(&self, head: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.host()).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a socket");
        let length = body.len();
        let request = format!("{head}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).expect("it reads");
        stream
    }

    fn get(&self, target: &str, headers: &str) -> String {
        self.request(&format!("GET {target} HTTP/1.1\r\nhost: {}{headers}", self.host()), "")
    }

    /// Opens the link. Returns the headers of later requests, and the key.
    fn visit(&self, target: &str) -> (String, String) {
        let page = self.get(target, "");
        assert!(page.starts_with("HTTP/1.1 200"), "{page}");
        let between = |before: &str, after: &str| {
            let (_, rest) = page.split_once(before).unwrap_or_else(|| panic!("{before}: {page}"));
            rest.split_once(after).expect("an end").0.to_owned()
        };
        let cookie = between("set-cookie: ", ";");
        let key = between("name=\"watch-key\" content=\"", "\"");
        (format!("\r\ncookie: {cookie}"), key)
    }

    fn interrupt(mut self, world: &World) -> String {
        world.signal("-INT", self.child.id());
        let mut rest = String::new();
        self.err.read_to_string(&mut rest).expect("text");
        assert!(self.child.wait().expect("it ends").success(), "{rest}");
        rest
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Commands of one agent or person in one session.
struct Driver<'w> {
    world: &'w World,
    session: &'static str,
    id: &'static str,
}

impl Driver<'_> {
    fn run(&self, line: &str) -> Ran {
        let mut command = self.world.command(&[&["--session", self.session], &words(line)[..]].concat());
        command.env("STICKPIN_AGENT_ID", self.id).output().expect("the binary runs").into()
    }

    #[track_caller]
    fn ok(&self, line: &str) -> String {
        let ran = self.run(line);
        assert_eq!(ran.code, 0, "{line}: {ran:?}");
        ran.out
    }

    /// Waits until an expression of the page is true, and returns the response.
    #[track_caller]
    fn truth(&self, expression: &str) -> String {
        self.with_value("wait fn --timeout 30000", expression)
    }

    /// Takes the session on the page. Until the page knows that its person has the session, it
    /// ignores what the person does on the picture.
    #[track_caller]
    fn take(&self) {
        self.ok("press 'role=button label=Take'");
        self.truth("document.querySelector('#turn').textContent === 'you have the session'");
    }

    /// Runs a command whose last argument may have spaces and quotes.
    #[track_caller]
    fn with_value(&self, line: &str, value: &str) -> String {
        let words = [&["--session", self.session], &words(line)[..], &[value]].concat();
        let mut command = self.world.command(&words);
        let ran = Ran::from(command.env("STICKPIN_AGENT_ID", self.id).output().expect("the binary runs"));
        assert_eq!(ran.code, 0, "{line} {value}: {ran:?}");
        ran.out
    }
}

/// Returns an app that Ada drives, and a browser with the page that watches it.
fn watched<'w>(world: &'w World, app: &str, size: &str) -> (Driver<'w>, Watch, Driver<'w>) {
    let ada = self::app(world, app);
    let (watch, page) = page(world, size);
    (ada, watch, page)
}

/// Returns an app that Ada drives.
fn app<'w>(world: &'w World, app: &str) -> Driver<'w> {
    std::fs::write(world.path().join("shop/app.html"), app).expect("a file");
    let ada = Driver { world, session: "orders", id: ADA };
    ada.ok("open app.html -i");
    ada
}

/// Returns a browser with the page that watches an app that is open.
fn page<'w>(world: &'w World, size: &str) -> (Watch, Driver<'w>) {
    let watch = Watch::start(world, "orders");
    let page = Driver { world, session: "page", id: "claude:eve" };
    page.ok(&format!("open {} --viewport={size}", watch.link));
    page.truth(
        "document.querySelector('#image').naturalWidth > 300 && !document.querySelector('#picture').hidden",
    );
    (watch, page)
}

const OUTLINE: &str = "document.querySelector('#outline').textContent";

#[test]
fn page_shows_what_happens_within_200_ms() {
    if stickpin_testkit::chromium_path().is_none() {
        return;
    }
    let world = World::new();
    let (ada, _watch, page) = watched(&world, APP, "1280x800");
    // The minimum delay of five attempts, because other programs may occupy the processor
    // meanwhile.
    let watch_outline = r"
        window.delays = [];
        new MutationObserver(() => {
            const found = /changed (\d+)/.exec(document.querySelector('#outline').textContent);
            if (found && found[1] !== window.last) {
                window.last = found[1];
                window.delays.push(Date.now() - Number(found[1]));
            }
        }).observe(document.querySelector('#outline'), { childList: true, subtree: true }) ?? true";
    page.truth(watch_outline);
    for n in 1..=5 {
        ada.ok("press 'role=button label=Later'");
        page.truth(&format!("delays.length === {n}"));
    }
    // A request that fails while no command runs is in no receipt.
    page.truth(
        "[...document.querySelectorAll('#problem-list li')].some((p) => /localhost:9.receipts/.test(p.textContent) \
        && p.textContent.includes('request from this page'))",
    );
    page.truth("Math.min(...delays) < 200");

    // The log shows the caller, command, outcome and duration, and the receipt of an action.
    ada.ok("press 'role=button label=Pay'");
    let call = "[...document.querySelectorAll('.call.ok')].some((c) => /press.*label=Pay/s.test(c.textContent) \
        && c.textContent.includes('claude:ada') && / ms|\\d s/.test(c.textContent) \
        && c.textContent.includes('no receipt printer'))";
    page.truth(call);
    page.truth("document.querySelector('#problem-list').textContent.includes('no receipt printer')");
    let failed = ada.run("press 'role=button label=Nowhere'");
    assert_ne!(failed.code, 0);
    page.truth("[...document.querySelectorAll('.call.error')].some((c) => c.textContent.includes('ELEMENT_NOT_FOUND'))");

    // Refs are drawn on the screenshot, as Ada knows them.
    page.truth(
        "[...document.querySelectorAll('.box.known')].some((b) => b.ariaLabel.startsWith('button Pay @e'))",
    );
    // A watched step can be viewed again, with what it showed.
    page.truth(&format!("{OUTLINE}.includes('paid')"));
    page.truth("document.querySelectorAll('.tile.pictured').length >= 3");
    page.truth("(document.querySelector('.tile.pictured').click(), true)");
    page.truth(&format!("!document.querySelector('#live').hidden && !{OUTLINE}.includes('paid')"));
    page.ok("press 'role=button label=\"Back to live\"'");
    page.truth(&format!("{OUTLINE}.includes('paid')"));
    // Watching leaves no trace in the log.
    let log = ada.ok("session log --limit 500");
    assert!(!log.contains("watch frame"), "{log}");
}

#[test]
fn step_that_nobody_watched_shows_its_stored_tree() {
    if stickpin_testkit::chromium_path().is_none() {
        return;
    }
    let world = World::new();
    std::fs::write(world.path().join("shop/app.html"), APP).expect("a file");
    let ada = Driver { world: &world, session: "orders", id: ADA };
    ada.ok("open app.html");
    ada.ok("snapshot -i");
    ada.ok("press 'role=button label=Pay'");
    ada.ok("snapshot -i");
    // The tree of the last command is written after its response.
    eventually("the tree is stored", || {
        ada.ok("session log --after 0 --limit 500").matches("snapshot").count() >= 4
    });
    let (_watch, page) = page(&world, "1280x800");
    page.truth("document.querySelectorAll('.tile').length >= 4");
    let tile = "[...document.querySelectorAll('.tile:not(.pictured)')]";
    page.truth(&format!("({tile}.find((t) => t.textContent.includes('snapshot')).click(), true)"));
    page.truth("document.querySelector('#without').textContent.includes('nobody was watching')");
    page.truth(&format!("{OUTLINE}.includes('nothing yet') && !{OUTLINE}.includes('paid')"));
    page.truth("document.querySelector('#picture').hidden && document.querySelector('#empty').hidden");
    // What happens meanwhile does not replace the step.
    ada.ok("fill 'role=textbox label=Customer' 'Ada'");
    page.truth("[...document.querySelectorAll('.call.ok')].some((c) => c.textContent.includes('fill'))");
    page.truth(&format!("!{OUTLINE}.includes('paid')"));
    page.ok("press 'role=button label=\"Back to live\"'");
    page.truth(&format!("{OUTLINE}.includes('paid') && document.querySelector('#without').hidden"));
}

#[test]
fn outline_folds_by_mouse_and_keyboard_and_stays_folded() {
    if stickpin_testkit::chromium_path().is_none() {
        return;
    }
    let world = World::new();
    let (ada, _watch, page) = watched(&world, APP, "1280x800");
    let row = |words: &str| {
        format!(
            "[...document.querySelectorAll('#outline [role=treeitem]')].find((r) => r.textContent.includes('{words}'))"
        )
    };
    let (main, pay) = (row("main"), row("Pay"));
    page.truth(&format!(
        "{main}.getAttribute('aria-expanded') === 'true' && !{pay}.hasAttribute('aria-expanded')"
    ));
    page.truth(&format!(
        "({main}.querySelector('.fold').click(), {main}.getAttribute('aria-expanded') === 'false')"
    ));
    page.truth(&format!("{pay}.hidden && !{main}.hidden"));
    // Updates keep it folded.
    ada.ok("press 'role=button label=Pay'");
    page.truth(&format!("{OUTLINE}.includes('paid') && {pay}.hidden && {main}.ariaExpanded === 'false'"));
    // The active row is the folded one; the keys of the tree pattern open it and move.
    page.truth("(document.querySelector('#outline').focus(), true)");
    page.ok("key ArrowRight");
    page.truth(&format!("!{pay}.hidden"));
    page.ok("key ArrowRight");
    let active =
        "document.getElementById(document.querySelector('#outline').getAttribute('aria-activedescendant'))";
    page.truth(&format!("{active}.textContent.includes('Orders') && {active}.ariaLevel > {main}.ariaLevel"));
    page.ok("key ArrowLeft");
    page.ok("key ArrowLeft");
    page.truth(&format!("{active} === {main} && {pay}.hidden"));
    // A search shows rows that are folded away.
    page.ok("fill css=#find Pay");
    page.truth(&format!("!{pay}.hidden && !{main}.hidden && {}.hidden", row("Later")));
}

#[test]
fn person_takes_the_session_and_acts_on_the_picture() {
    if stickpin_testkit::chromium_path().is_none() {
        return;
    }
    let world = World::new();
    let (ada, watch, page) = watched(&world, APP, "1280x800");
    ada.ok("turn wait");
    page.truth("document.querySelector('#turn').textContent === 'claude:ada has the session'");
    // Before that, a press on the screenshot has no effect.
    page.truth("(document.querySelector('.box.known').click(), true)");
    page.take();
    let refused = ada.run("press 'role=button label=Later'");
    assert!(refused.code != 0 && refused.err.contains("NOT_YOUR_TURN"), "{refused:?}");

    page.ok("press 'css=\"[aria-label^=\\\"button Pay\\\"]\"'");
    page.truth(&format!("{OUTLINE}.includes('paid')"));
    page.ok("press 'css=\"[aria-label^=\\\"textbox Customer\\\"]\"'");
    page.ok("fill css=#text 'Ada Lovelace'");
    page.ok("press 'css=\"#typing [type=submit]\"'");
    page.truth(&format!("{OUTLINE}.includes('Ada Lovelace')"));
    // With the keyboard, on the screenshot itself.
    page.truth("(document.querySelector('#picture').focus(), true)");
    page.ok("type ' King'");
    page.truth(&format!("{OUTLINE}.includes('Ada Lovelace King')"));
    let log = ada.ok("session log --limit 500");
    assert!(log.contains("human:"), "a person acted: {log}");

    page.ok("press 'role=button label=Release'");
    page.ok("fill css=#done 'paid'");
    page.ok("fill css=#next 'print the receipt'");
    page.ok("press 'css=\"#handoff [value=release]\"'");
    page.truth("document.querySelector('#turn').textContent !== 'you have the session'");
    let mine = ada.ok("turn wait");
    assert!(mine.contains("done: \"paid\"") && mine.contains("next: \"print the receipt\""), "{mine}");

    // When the program ends, the turn is given back.
    page.take();
    watch.interrupt(&world);
    assert!(ada.ok("turn wait").contains("the watch page was closed"));
    page.truth("!document.querySelector('#notice').hidden");
}

#[test]
fn hostile_app_runs_no_script_on_the_page() {
    if stickpin_testkit::chromium_path().is_none() {
        return;
    }
    let world = World::new();
    for size in ["1280x800", "390x844"] {
        let (ada, _watch, page) = watched(&world, HOSTILE, size);
        ada.run("press 'text~=reversed'");
        ada.ok("msg send room '<img src=x onerror=pwned=1>\u{202e}\u{61c}'");
        page.truth(&format!("{OUTLINE}.includes('onload=pwned') && document.querySelector('#log').textContent.includes('onerror=pwned')"));
        page.truth("document.querySelector('#title').textContent.length > 0 || document.querySelector('#url').textContent.length > 0");
        page.truth("typeof pwned === 'undefined' && document.scripts.length === 1 && document.querySelectorAll('svg, iframe').length === 0");
        page.truth("[...document.images].every((i) => i.id === 'image' || i.className === 'thumb')");
        page.truth("document.querySelector('#log').textContent.includes('\\\\u{61c}') && document.querySelector('#title').textContent.includes('\\\\u{202e}')");
        page.truth("!/[\\u202e\\u061c\\u200b]/.test(document.body.textContent + document.title)");
        page.truth("document.documentElement.scrollWidth <= innerWidth");
        page.truth(
            "performance.getEntriesByType('resource').every((e) => e.name.startsWith(location.origin))",
        );
        ada.ok("close");
        page.ok("close");
    }
}

#[test]
fn strangers_are_refused() {
    let world = World::new();
    world.ok("--session orders open sim:shop");
    let watch = Watch::start(&world, "orders");
    let refused = |answer: String| assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    let host = watch.host();

    refused(watch.get("/", ""));
    refused(watch.get("/?token=0000", ""));
    let rebound = watch.request(&format!("GET {} HTTP/1.1\r\nhost: rebound.example", watch.target()), "");
    refused(rebound);
    let (cookie, key) = watch.visit(watch.target());
    refused(watch.get(watch.target(), ""));
    refused(watch.get(watch.target(), &cookie));
    let page = watch.get("/", &cookie);
    assert!(
        page.starts_with("HTTP/1.1 200") && page.contains("content=\"\""),
        "the key is shown once: {page}"
    );
    assert!(page.contains("content-security-policy: default-src 'none'; script-src 'self'"), "{page}");

    // The cookie alone, which another port of the host would also receive.
    refused(watch.get("/stream", &cookie));
    refused(watch.get("/step/1", &cookie));
    refused(watch.get(&format!("/step/1?key={key}"), ""));
    let take = r#"{"act":"take"}"#;
    let post = |headers: &str| {
        watch.request(
            &format!("POST /act HTTP/1.1\r\nhost: {host}{cookie}\r\ncontent-type: application/json{headers}"),
            take,
        )
    };
    let proof = format!("\r\nx-watch-key: {key}");
    refused(post(&format!("\r\norigin: http://{host}")));
    refused(post(&proof));
    refused(post(&format!("{proof}\r\norigin: http://evil.example")));
    refused(post(&format!("{proof}\r\norigin: http://{host}\r\nsec-fetch-site: same-site")));
    // The person can only watch until they take the session.
    let act = |act: &str| {
        let head = format!(
            "POST /act HTTP/1.1\r\nhost: {host}{cookie}\r\ncontent-type: application/json{proof}\r\norigin: http://{host}"
        );
        watch.request(&head, act)
    };
    // The first line has the number of the snapshot.
    let elements = || world.ok("--session orders snapshot").split_once('\n').expect("lines").1.to_owned();
    let before = elements();
    for command in [r#"{"act":"key","chord":"Tab"}"#, r#"{"act":"type","text":"x"}"#] {
        let refused = act(command);
        assert!(refused.contains("until you take the session"), "{refused}");
    }
    assert_eq!(elements(), before);
    let taken = post(&format!("{proof}\r\norigin: http://{host}"));
    let pressed = act(r#"{"act":"key","chord":"Tab"}"#);
    assert!(pressed.contains("\"ok\":true"), "{pressed}");
    assert!(taken.contains("\"ok\":true"), "{taken}");
    let bad = watch.request(
        &format!("POST /act HTTP/1.1\r\nhost: {host}{cookie}{proof}\r\norigin: http://{host}"),
        r#"{"act":"batch"}"#,
    );
    assert!(bad.starts_with("HTTP/1.1 400"), "{bad}");

    // An invited visitor can only look.
    let invite = watch.request(
        &format!("POST /invite HTTP/1.1\r\nhost: {host}{cookie}{proof}\r\norigin: http://{host}"),
        "",
    );
    let token = invite.split_once("?token=").expect("a link").1.split('"').next().expect("an end");
    let (cookie, key) = watch.visit(&format!("/?token={token}"));
    let act =
        format!("POST /act HTTP/1.1\r\nhost: {host}{cookie}\r\nx-watch-key: {key}\r\norigin: http://{host}");
    refused(watch.request(&act, take));
    assert!(watch.get(&format!("/step/1?key={key}"), &cookie).starts_with("HTTP/1.1 404"));
}

#[test]
fn fifty_viewers_watch_and_a_slow_one_holds_up_nobody() {
    let world = World::new();
    world.ok("--session orders open sim:shop");
    let watch = Watch::start(&world, "orders");
    let (cookie, key) = watch.visit(watch.target());
    let stream =
        || watch.send(&format!("GET /stream?key={key} HTTP/1.1\r\nhost: {}{cookie}", watch.host()), "");
    let mut viewers: Vec<_> = (0..50).map(|_| BufReader::new(stream())).collect();
    let until = |viewer: &mut BufReader<TcpStream>, wanted: &str| {
        let mut line = String::new();
        while !line.contains(wanted) {
            line.clear();
            assert_ne!(viewer.read_line(&mut line).expect("text"), 0, "the stream ends before {wanted}");
        }
    };
    // The first viewer never reads.
    for viewer in &mut viewers[1..] {
        until(viewer, "\"picture\":\"");
    }
    let mut answer = String::new();
    stream().read_to_string(&mut answer).expect("text");
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    world.ok("--session orders press 'role=link label=Orders'");
    for viewer in &mut viewers[1..] {
        until(viewer, "\"what\":\"press\"");
    }
    drop(viewers.pop());
    eventually("a slot is free again", || {
        let mut viewer = BufReader::new(stream());
        let mut line = String::new();
        viewer.read_line(&mut line).expect("text");
        line.starts_with("HTTP/1.1 200")
    });
}

#[test]
fn session_that_is_not_there_is_an_error() {
    let world = World::new();
    let ran = world.run(&["watch", "nowhere"]);
    assert!(ran.code != 0 && ran.err.contains("SESSION_NOT_FOUND"), "{ran:?}");
}
