//! What a person does on the page, as the driven app and its server see it.

use super::{ADA, Driver, OUTLINE, Watch, page};
use crate::support::World;
use std::time::Duration;
use stickpin_testkit::PageServer;

const PATIENCE: Duration = Duration::from_secs(20);

/// Two documents that report to their server what happens to them.
const FIRST: &str = r#"<!doctype html><title>First</title>
<style>body { font: 16px sans-serif; margin: 24px; height: 4000px } nav { position: fixed }</style>
<nav><button>Delete</button> <a href="second.html">Go on</a></nav>
<script src="report.js"></script>
<script>
  document.querySelector('button').onclick = () => report(confirm('Delete the order?') ? 'deleted' : 'kept');
  addEventListener('scroll', () => scrollY > 100 && report('scrolled'), { once: true });
</script>"#;
const SECOND: &str =
    r#"<!doctype html><title>Second</title><h1>Second</h1><script src="report.js"></script>"#;
/// A document that comes back from the cache of the browser runs no script, but is shown again.
const REPORT: &str = "const report = (line) => fetch('/__log', { method: 'POST', body: line });
  addEventListener('pageshow', () => report(`shown ${document.title}`));";

/// Serves the app, opens it as Ada, and opens the page that watches it.
fn served(world: &World) -> (PageServer, Watch, Driver<'_>) {
    let folder = world.path().join("app");
    std::fs::create_dir(&folder).expect("a folder");
    for (name, text) in [("first.html", FIRST), ("second.html", SECOND), ("report.js", REPORT)] {
        std::fs::write(folder.join(name), text).expect("a file");
    }
    let server = PageServer::start(&folder).expect("a port");
    let ada = Driver { world, session: "orders", id: ADA };
    ada.ok(&format!("open {}/first.html -i", server.origin()));
    let (watch, page) = page(world, "1280x800");
    (server, watch, page)
}

#[test]
fn person_navigates_scrolls_and_answers_dialogs() {
    if stickpin_testkit::chromium_path().is_none() {
        return;
    }
    let world = World::new();
    let (server, _watch, page) = served(&world);
    let reports = |line: &str| {
        assert!(
            server.wait_for(line, PATIENCE),
            "the app does not report {line:?}: {:?}; the page says {:?}",
            server.received(),
            page.truth("document.querySelector('#toast').textContent || 'nothing'"),
        );
    };
    let shows = |title: &str| {
        reports(&format!("shown {title}"));
        page.truth(&format!("document.querySelector('#title').textContent === '{title}'"));
    };
    let press = |label: &str| page.ok(&format!("press 'css=\"[aria-label^=\\\"{label}\\\"]\"'"));
    shows("First");
    page.truth("document.querySelector('#ways').hidden");
    page.take();

    press("link Go on");
    shows("Second");
    page.ok("press 'role=button label=Back'");
    shows("First");
    page.ok("press 'role=button label=Forward'");
    shows("Second");
    page.ok("press 'role=button label=\"Reload\"'");
    shows("Second");
    page.ok("press 'role=button label=Back'");
    shows("First");

    for (answer, result) in [("Accept", "deleted"), ("Dismiss", "kept")] {
        page.truth(
            "[...document.querySelectorAll('.box')].some((b) => b.ariaLabel.startsWith('button Delete'))",
        );
        press("button Delete");
        page.truth("/confirm .*Delete the order/.test(document.querySelector('#question').textContent)");
        page.ok(&format!("press 'role=button label={answer}'"));
        reports(result);
        page.truth("document.querySelector('#dialog').hidden");
    }

    // The wheel over the picture scrolls the app, and not the page around it.
    let wheel = "new WheelEvent('wheel', { deltaY: 400, bubbles: true, cancelable: true })";
    page.truth(&format!("!document.querySelector('#image').dispatchEvent({wheel})"));
    reports("scrolled");
    assert_eq!(server.received(), Vec::<String>::new(), "each action happens once");
}

#[test]
fn invited_browser_only_looks() {
    if stickpin_testkit::chromium_path().is_none() {
        return;
    }
    let world = World::new();
    let (server, _watch, page) = served(&world);
    page.truth("(Object.defineProperty(navigator, 'clipboard', { value: undefined }), true)");
    page.ok("press 'role=button label=Invite'");
    let told = page.truth("/^http:.*token=/.test(toast.textContent) && toast.textContent");
    let link = told.split('"').find(|part| part.starts_with("http://")).unwrap_or_else(|| panic!("{told}"));

    let guest = Driver { world: &world, session: "guest", id: "claude:bob" };
    guest.ok(&format!("open {link}"));
    guest.truth(&format!(
        "{OUTLINE}.includes('Delete') && document.querySelector('#image').naturalWidth > 300"
    ));
    page.truth("document.querySelector('#viewers').textContent === '2 viewers'");
    guest.ok("press 'role=button label=Take'");
    guest.truth("toast.textContent.includes('with this link, you can only watch')");
    guest.truth("document.querySelector('#ways').hidden && document.querySelector('#typing').hidden");
    page.truth("document.querySelector('#turn').textContent !== 'you have the session'");
    // The link is spent.
    let other = Driver { world: &world, session: "other", id: "claude:bob" };
    other.ok(&format!("open {link}"));
    other.truth("document.body.textContent.includes('this link is invalid or has been used')");
    assert!(!server.received().iter().any(|line| line == "deleted"), "nobody acted");
}
