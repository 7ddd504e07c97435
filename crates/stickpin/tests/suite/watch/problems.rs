//! Problems that occur in the app while no command runs.

use super::{ADA, Driver, page};
use crate::support::{World, eventually};
use stickpin_testkit::PageServer;

/// An app that writes to its console what its server tells it.
const PRINTER: &str = r#"<!doctype html><title>Printer</title><button>Print</button>
<script>
  new EventSource('/__events').onmessage = (event) => console.error(event.data);
  document.querySelector('button').onclick = () => console.error('out of toner');
</script>"#;

#[test]
fn console_errors_outside_of_actions_are_shown() {
    if stickpin_testkit::chromium_path().is_none() {
        return;
    }
    let world = World::new();
    let folder = world.path().join("app");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::write(folder.join("printer.html"), PRINTER).expect("a file");
    let server = PageServer::start(&folder).expect("a port");
    let ada = Driver { world: &world, session: "orders", id: ADA };
    ada.ok(&format!("open {}/printer.html -i", server.origin()));
    let (_watch, page) = page(&world, "1280x800");
    eventually("the app listens", || server.push("out of <b>paper") == 1);
    let problem = |text: &str, place: &str| {
        page.truth(&format!(
            "[...document.querySelectorAll('#problem-list li')].filter((p) => p.textContent.includes('{text}') \
            && p.textContent.includes('{place}')).length === 1"
        ))
    };
    problem("out of <b>paper", "in no receipt");
    page.truth("document.querySelector('#problem-list b') === null");

    // The error of an action is in its receipt, and the earlier one stays.
    let pressed = ada.run("press 'role=button label=Print'");
    let told = format!("{}{}", pressed.out, pressed.err);
    assert!(told.contains("out of toner") && !told.contains("out of <b>paper"), "{pressed:?}");
    problem("out of toner", "press");
    problem("out of <b>paper", "in no receipt");
    page.truth("Number(document.querySelector('#problem-count').textContent) >= 2");
}
