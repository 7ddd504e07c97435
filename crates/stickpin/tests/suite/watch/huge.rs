//! The page of an app with 100,000 nodes.

use super::{ADA, Driver, OUTLINE, page};
use crate::support::{World, huge_app};

#[test]
fn page_stays_responsive_on_100_000_nodes() {
    if stickpin_testkit::chromium_path().is_none() {
        return;
    }
    let world = World::new();
    let ada = Driver { world: &world, session: "orders", id: ADA };
    ada.ok(&format!("open {} -i", huge_app(&world)));
    assert_eq!(ada.ok("count role=button").trim(), "33401");
    let (_watch, page) = page(&world, "1280x800");
    // The shown outline is bounded, and says so.
    page.truth(&format!("{OUTLINE}.includes('more listitem') && {OUTLINE}.length < 30000"));
    page.truth(
        "document.querySelectorAll('.box').length > 1 && document.querySelectorAll('.box').length <= 500",
    );
    page.truth("document.querySelectorAll('*').length < 5000");

    ada.ok("press 'role=button label=Pay'");
    page.truth(&format!("{OUTLINE}.includes('paid 1')"));
    // The person's input is answered while the page holds all of these nodes.
    let find =
        "(() => { const [find, outline] = ['#find', '#outline'].map((id) => document.querySelector(id));
        const look = (text) => { find.value = text; find.dispatchEvent(new Event('input')); };
        const began = performance.now();
        look('Entry 2');
        outline.scrollTop = outline.scrollHeight;
        look('');
        return performance.now() - began < 500; })()";
    page.truth(find);
    page.take();
    page.ok("press 'css=\"[aria-label^=\\\"button Pay\\\"]\"'");
    page.truth(&format!("{OUTLINE}.includes('paid 2')"));
}
