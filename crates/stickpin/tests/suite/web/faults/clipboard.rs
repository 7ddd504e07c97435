//! The clipboard of a page: reading, writing, and the page's permissions afterwards.

use super::web::{Web, html};
use crate::support::eventually;

/// Reports the state of both permissions.
const STATES: &str = "<textarea></textarea><button onclick=\"(async()=>{const s=[];for(const name of ['clipboard-read','clipboard-write'])\
     s.push((await navigator.permissions.query({name})).state);tell(s.join('-'))})()\">States</button>";

#[test]
fn clipboard_permissions_are_taken_back_from_the_page() {
    let Some(mut web) = Web::new(&[("/", html(STATES))]) else { return };
    web.open("/");
    web.ok(&["press", "text=States"]);
    let mut before = None;
    eventually("the page tells its permissions", || {
        let states = ["prompt-granted", "prompt-prompt", "denied-granted", "denied-denied", "denied-prompt"];
        before = states.into_iter().find(|states| web.times(&format!("/log?{states}")) == 1);
        before.is_some()
    });
    for words in [&["clipboard", "write", "dear all"][..], &["clipboard", "read"]] {
        assert!(web.ok(words).ok);
    }
    assert_eq!(web.text(&["clipboard", "read"]).trim(), "dear all");
    web.ok(&["press", "text=States"]);
    let before = format!("/log?{}", before.unwrap());
    eventually("both are as they were before the clipboard was used", || web.times(&before) == 2);
}

#[test]
fn clipboard_of_a_page_from_a_file_is_read_and_written() {
    let Some(mut web) = Web::new(&[("/", html("<title>Home</title>"))]) else { return };
    web.open("/");
    let file = web.dir.path().join("notes.html");
    std::fs::write(&file, "<title>Notes</title>").unwrap();
    web.ok(&["open", &format!("file://{}", file.to_str().unwrap())]);
    web.ok(&["clipboard", "write", "from a file"]);
    assert_eq!(web.text(&["clipboard", "read"]).trim(), "from a file");
}
