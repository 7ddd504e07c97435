//! Scripts on a real page in Chromium, through the real binary. The page reports to its server
//! which element received input.

use super::{Desk, ref_of, said};
use crate::support::eventually;
use std::time::Duration;
use stickpin_testkit::{PageServer, chromium};

/// The time limit for a page to report what it received.
const PATIENCE: Duration = Duration::from_secs(10);

/// The result of the order arrives later, as from a server.
const PAGE: &str = r#"<!doctype html><meta charset="utf-8"><title>Canteen</title>
<h1>Menu</h1>
<ul><li><b>Soup</b> <button>Add</button></li><li><b>{stew}</b> <button>Add</button></li></ul>
<form><label>Name <input name="name"></label>
<label>Day <select name="day"><option>Monday</option><option>Friday</option></select></label>
<button>{order}</button></form>
<div id="said"></div>
<script>
const log = (line) => fetch("/__log", { method: "POST", body: line });
for (const b of document.querySelectorAll("li button"))
  b.onclick = (e) => log(`add ${b.parentNode.querySelector("b").textContent} ${e.isTrusted}`);
document.forms[0].onsubmit = (e) => {
  e.preventDefault();
  const f = e.target.elements;
  log(`order ${f.name.value} ${f.day.value}`);
  setTimeout(() => {
    said.innerHTML = `<h2>Thank you, ${f.name.value}</h2><button onclick="log('done')">Done</button>`;
  }, 400);
};
</script>"#;

pub(super) fn page(desk: &Desk, stew: &str, order: &str) {
    desk.write("index.html", &PAGE.replace("{stew}", stew).replace("{order}", order));
}

/// Waits for the page's reports, and checks that there are no others.
pub(super) fn reports<L: AsRef<str> + std::fmt::Debug>(pages: &PageServer, lines: &[L]) {
    for line in lines.iter().map(AsRef::as_ref) {
        assert!(
            pages.wait_for(line, PATIENCE),
            "the page never reported {line:?}, only {:?}",
            pages.received()
        );
    }
    assert!(pages.received().is_empty(), "the page reported more than {lines:?}");
}

#[test]
fn a_flow_of_a_page_is_recorded_replayed_mended_and_replayed() {
    if chromium().is_none() {
        return;
    }
    let desk = Desk::new();
    page(&desk, "Stew", "Order");
    let pages = PageServer::start(&desk.path("")).expect("a server");
    let first = desk.ok(&format!("open {}/index.html --record=flow.ad -i", pages.origin()));
    let adds: Vec<&str> = first.lines().filter(|line| line.contains("button \"Add\"")).collect();
    let stew = adds[1].split(' ').next().expect("a ref");
    desk.ok(&format!("press {stew}"));
    desk.ok("fill label=Name Ada");
    desk.ok("select label=Day Friday");
    desk.ok("press 'role=button text=Order' --settle");
    desk.ok("press text=Done --timeout 5000");
    desk.ok("close --save");
    let all = ["add Stew true", "order Ada Friday", "done"];
    reports(&pages, &all);

    let script = desk.read("flow.ad");
    assert!(!script.contains("@e") && !script.contains("settle"), "{script}");
    let ran = desk.run("replay flow.ad");
    assert!(ran.code == 0 && ran.err.is_empty(), "{ran:?}\n{script}");
    reports(&pages, &all);

    // The page changes; nothing is pressed in place of the missing element.
    page(&desk, "Bean stew", "Send the order");
    let ran = desk.run("replay flow.ad --repair --wait 1000");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("recorded: button \"Add\" in row \"Stew\""), "{}", ran.out);
    reports::<&str>(&pages, &[]);
    let pressed = desk
        .run(&format!("press {}", ref_of(&ran.out, "button \"Add\" in \"Bean stew\" (same role and label)")));
    assert!(pressed.code == 0 && pressed.err.is_empty(), "{pressed:?}");
    reports(&pages, &["add Bean stew true"]);
    let again = desk.run(&format!("{} --wait 1000", said(&ran.err, "stickpin replay flow.ad --from 3 ")));
    assert_eq!(again.code, 1, "{again:?}");
    desk.ok(&format!("press {}", ref_of(&again.out, "button \"Send the order\"")));
    reports(&pages, &["order Ada Friday"]);
    let closed = desk.run(&said(&again.err, "stickpin replay flow.ad --from 6 "));
    assert!(closed.code == 0 && closed.out.contains("flow.repaired.ad"), "{closed:?}");
    reports(&pages, &["done"]);

    let ran = desk.run("test flow.repaired.ad flow.ad --wait 1000 --json");
    let report = ran.json()["output"].clone();
    assert_eq!(
        (&report["files"][0]["outcome"], &report["files"][1]["outcome"]),
        (&"failed".into(), &"passed".into()),
        "{report}"
    );
    reports(&pages, &["add Bean stew true", "order Ada Friday", "done"]);
}

/// Returns a process that one of the threads of another started.
fn child_of(parent: u32) -> Option<u32> {
    let threads = std::fs::read_dir(format!("/proc/{parent}/task")).ok()?;
    threads.flatten().find_map(|thread| {
        let children = std::fs::read_to_string(thread.path().join("children")).ok()?;
        children.split_whitespace().next()?.parse().ok()
    })
}

#[test]
fn a_browser_that_dies_in_the_middle_is_no_failure_of_the_app() {
    if chromium().is_none() {
        return;
    }
    let desk = Desk::new();
    page(&desk, "Stew", "Order");
    let pages = PageServer::start(&desk.path("")).expect("a server");
    desk.write("dies.ad", &format!("open {}/index.html\nwait text Never --timeout 60000\n", pages.origin()));
    let child = desk
        .world
        .command(&["test", "dies.ad", "--json"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("it starts");
    let mut browser = None;
    eventually("the browser runs", || {
        let daemon = desk.world.pid().unwrap_or_default();
        browser = child_of(daemon);
        let list = desk.run("session list --json").json();
        browser.is_some() && list["output"]["sessions"][0]["running"].to_string().contains("wait")
    });
    desk.world.signal("-KILL", browser.expect("a process"));
    let ran: super::Ran = child.wait_with_output().expect("it ends").into();
    let report = ran.json()["output"].clone();
    assert_eq!((ran.code, &report["files"][0]["outcome"]), (1, &"broken".into()), "{report}");
    assert_eq!(report["files"][0]["attempts"][0]["error"]["code"], "BACKEND_LOST", "{report}");
}
