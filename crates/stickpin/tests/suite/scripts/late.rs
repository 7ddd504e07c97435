//! The effect of a press comes late, and the next step runs while the old list is still shown. The
//! page reports what received the input.

use super::Desk;
use super::canteen::reports;
use stickpin_testkit::{PageServer, chromium};

/// A list that is re-rendered in another order, some milliseconds after the press that requests it.
/// Its buttons have equal names; the row identifies the target. A press in the old list counts if
/// the row is the intended one.
const PAGE: &str = r#"<!doctype html><meta charset="utf-8"><title>Late</title>
<h1>Late</h1><button id="sort">Sort</button><ul id="list"></ul>
<script>
const late = Number(location.search.slice(1));
const log = (line) => fetch("/__log", { method: "POST", body: line, keepalive: true });
const draw = (names) => list.replaceChildren(...names.map((name) => {
  const row = document.createElement("li");
  row.innerHTML = `<b>${name}</b> <button>Remove</button>`;
  row.querySelector("button").onclick = () => log(`removed ${name} after ${late}`);
  return row;
}));
draw(["One", "Two", "Three"]);
sort.onclick = () => setTimeout(draw, late, ["Three", "New", "One", "Two"]);
</script>"#;

const DELAYS: [u32; 6] = [0, 5, 15, 30, 50, 90];

#[test]
fn step_after_a_late_effect_reaches_its_row() {
    if chromium().is_none() {
        return;
    }
    let desk = Desk::new();
    desk.write("index.html", PAGE);
    let pages = PageServer::start(&desk.path("")).expect("a server");
    let mut script = "context platform=web\n".to_owned();
    let mut meant = Vec::new();
    for late in DELAYS {
        script += &format!("open {}/index.html?{late}\npress \"role=button label=Sort\"\n", pages.origin());
        // First a row of both lists, then a row of the new one, for which the step waits.
        for row in ["Two", "New"] {
            script += &format!("# target button \"Remove\" in row \"{row}\"\n");
            script += &format!("press \"role=button label=Remove row={row}\"\n");
            meant.push(format!("removed {row} after {late}"));
        }
    }
    desk.write("late.ad", &script);
    for round in 0..3 {
        let ran = desk.run("replay late.ad");
        assert!(ran.code == 0 && ran.err.is_empty(), "round {round}: {ran:?}");
        reports(&pages, &meant);
    }
    desk.ok("close");
}
