//! A Maestro flow with every supported command, on a real page, which reports what received the
//! input.

use super::Desk;
use std::time::{Duration, Instant};
use stickpin_testkit::{PageServer, chromium};

/// The time limit for a page to report what it received.
const PATIENCE: Duration = Duration::from_secs(10);

/// A page whose controls stay in view, so that only the intended container scrolls.
const PAGE: &str = r##"<!doctype html><meta charset="utf-8"><title>Flow</title>
<style>
body { margin: 0; height: 6000px }
#stage { position: fixed; inset: 0 0 auto; height: 420px; background: #eee }
#spot { position: absolute; left: 0; top: 360px; width: 90px; height: 40px; background: silver }
#shelf { width: 300px; overflow: auto; white-space: nowrap }
#far { position: absolute; top: 5500px }
@keyframes turn { to { rotate: 90deg } }
#wheel { width: 20px; animation: turn 0.4s }
</style>
<div id="stage"><h1>Every command</h1>
<button>Once</button> <button>Thrice</button> <button id="twice">Twice</button> <button id="long">Long</button>
<button>More</button> <button>Shy</button>
<ul><li id="first"><button>Pick</button></li><li id="second"><button>Pick</button></li></ul>
<form><label>Name <input id="name"></label></form>
<p id="loading">Loading</p><p id="said"></p>
<div id="shelf"><div style="width: 900px">A long shelf</div></div>
<div id="wheel">o</div><div id="spot"></div></div>
<p id="far">Far away</p>
<script>
const log = (line) => fetch("/__log", { method: "POST", body: line, keepalive: true });
history.scrollRestoration = "manual";
let more = 0, shy = 0, wide = "", last = 0, way = "";
for (const b of document.querySelectorAll("button"))
  b.addEventListener("click", (e) => {
    const within = b.parentNode.id === "stage" ? "" : ` in ${b.parentNode.id}`;
    log(`click ${b.textContent}${within} ${e.isTrusted}`);
    if (b.textContent === "More" && ++more === 3) said.textContent = "Enough";
    if (b.textContent === "Shy" && ++shy === 2) said.textContent = "Shown at last";
  });
twice.ondblclick = () => log("double Twice");
let down = 0;
long.onpointerdown = () => down = performance.now();
long.onpointerup = () => log(performance.now() - down > 300 ? "held Long" : "not held Long");
spot.onclick = () => log("click at the spot");
document.forms[0].onsubmit = (e) => {
  e.preventDefault();
  log(`sent ${document.querySelector("#name").value}`);
  setTimeout(() => { loading.remove(); said.textContent = "Later" }, 300);
};
const turned = (now) => { if (now !== way) log(`scrolled ${way = now}`) };
addEventListener("scroll", () => { if (scrollY !== last) turned(scrollY > last ? "down" : "up"); last = scrollY });
shelf.onscroll = () => { if (!wide && shelf.scrollLeft > 0) log(wide = "shelf to the right") };
</script>"##;

const FLOW: &str = r##"
url: "{origin}/index.html"
---
- launchApp:
    clearState: true
- assertVisible: Every command
- tapOn: Once
- tapOn:
    text: Thrice
    repeat: 3
    waitToSettleTimeoutMs: 2000
- tapOn:
    text: Nowhere
    optional: true
- tapOn:
    point: "30,380"
- tapOn:
    text: Pick
    childOf:
      id: second
- tapOn:
    text: Pick
    index: 0
- doubleTapOn: Twice
- longPressOn: Long
- tapOn:
    id: name
- inputText: Ada Bergxy
- eraseText: 2
- pressKey: Enter
- hideKeyboard
- extendedWaitUntil:
    visible: Later
    timeout: 5000
- assertNotVisible: Loading
- scroll
- swipe:
    direction: DOWN
- scrollUntilVisible:
    element: Far away
- swipe:
    start: "90%, 60%"
    end: "90%, 90%"
- swipe:
    direction: LEFT
    from:
      id: shelf
- waitForAnimationToEnd
- takeScreenshot: shot
- openLink: "{origin}/other.html"
- assertVisible: Another page
- back
- assertVisible: Every command
- runFlow: part.yaml
- runFlow:
    when:
      visible: Once
    commands:
      - tapOn: Once
- runFlow:
    when:
      notVisible: Once
    commands:
      - tapOn: Thrice
- repeat:
    times: 2
    commands:
      - tapOn: Once
- repeat:
    times: 9
    while:
      notVisible: Enough
    commands:
      - tapOn: More
- retry:
    maxRetries: 2
    commands:
      - tapOn: Shy
      - extendedWaitUntil:
          visible: Shown at last
          timeout: 300
- stopApp
- launchApp
- assertVisible: Every command
- killApp
"##;

#[test]
fn each_command_of_a_flow_does_on_a_page_what_it_says() {
    if chromium().is_none() {
        return;
    }
    let desk = Desk::new();
    desk.write("index.html", PAGE);
    desk.write("other.html", "<!doctype html><title>Other</title><h1>Another page</h1>");
    let pages = PageServer::start(&desk.path("")).expect("a server");
    desk.write("flow.yaml", FLOW.replace("{origin}", &pages.origin()).trim_start());
    desk.write("part.yaml", &format!("url: \"{}\"\n---\n- tapOn: Thrice\n", pages.origin()));
    let ran = desk.run("replay flow.yaml");
    assert!(ran.code == 0, "{ran:?}");
    let times = |n: usize, line: &'static str| std::iter::repeat_n(line, n);
    let mut meant: Vec<&str> = times(4, "click Once true")
        .chain(times(4, "click Thrice true"))
        .chain(times(2, "click Twice true"))
        .chain(times(3, "click More true"))
        .chain(times(2, "click Shy true"))
        .chain(times(2, "scrolled down"))
        .chain(times(2, "scrolled up"))
        .chain([
            "click at the spot",
            "click Pick in second true",
            "click Pick in first true",
            "double Twice",
            "held Long",
            "click Long true",
            "sent Ada Berg",
            "shelf to the right",
        ])
        .collect();
    meant.sort_unstable();
    let begun = Instant::now();
    let mut received = pages.received();
    while received.len() < meant.len() && begun.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(20));
        received.extend(pages.received());
    }
    received.sort_unstable();
    assert_eq!(received, meant);
    let shot = std::fs::read(desk.path("shot.png")).expect("the picture");
    assert!(shot.starts_with(b"\x89PNG"));
    assert!(desk.ok("session list").contains("no session"), "{}", desk.ok("session list"));
}
