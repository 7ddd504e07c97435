//! Actions that a client, a page or another user of the machine must not be able to perform, tried
//! through the real binary. Files, processes and the page's own server show the results, not
//! stickpin's answers.

mod folders;
mod options;
mod pages;
#[cfg(feature = "linux")]
mod programs;
mod read_only;
mod secrets;
mod swaps;

use crate::support::World;
use crate::support::client::{Client, text};
use serde_json::json;
use stickpin_testkit::skipped;

/// A world with a folder outside the project, with a word that must not be read.
struct Outside {
    world: World,
}

/// The content of the files outside.
const CANARY: &str = "canary-of-the-vault";

impl Outside {
    fn new() -> Self {
        let world = World::new();
        std::fs::create_dir(world.path().join("vault")).expect("a folder");
        let outside = Self { world };
        outside.put("vault/secret.html", &format!("<title>{CANARY}</title><p>{CANARY}</p>"));
        outside.put("vault/secret.txt", CANARY);
        outside
    }

    fn put(&self, name: &str, text: &str) {
        std::fs::write(self.world.path().join(name), text).expect("a file");
    }

    fn url(&self, name: &str) -> String {
        let path = self.world.path().canonicalize().expect("a folder").join(name);
        format!("file://{}", path.display())
    }
}

/// Opens `what` and returns true; without a browser, prints the reason and returns false.
fn opened(client: &mut Client, what: &str) -> bool {
    let result = client.tool("open", json!({"what": what}));
    let said = text(&result);
    if said.starts_with("TOOL_MISSING") {
        skipped("STICKPIN_REQUIRE_CHROMIUM", said);
        return false;
    }
    assert_eq!(result["isError"], false, "{said}");
    true
}
