//! Files that are passed to the app, and the checks before anything is sent.

use super::support::{Bench, text};
use serde_json::json;
use stickpin_device::{Dispatched, FileInput, InputFile};
use stickpin_tree::Handle;

const FORM: &str = r#"
heading "Apply" #2
button "CV" #3
button "Attach" #4
region "Zone" #5
"#;

fn input(id: u64) -> FileInput {
    let input = Handle { scope: 1, id };
    FileInput::new(input)
}

/// Returns a bench with two files in the caller's folder.
async fn bench() -> Bench {
    let b = Bench::open(FORM).await;
    for (name, content) in [("a.txt", "aa"), ("b.png", "b")] {
        std::fs::write(b.caller.cwd.join(name), content).unwrap();
    }
    b
}

#[tokio::test(start_paused = true)]
async fn upload_of_unaccepted_files_sends_nothing() {
    let b = bench().await;
    b.fake.world().file_inputs.insert(3, input(3).accept("image/*".into()));
    for (files, code, words) in [
        (vec!["a.txt"], "INVALID_ARGS", "accepts image/*, not \"a.txt\""),
        (vec!["b.png", "b.png"], "INVALID_ARGS", "accepts one file, not 2"),
        (vec!["none.png"], "IO", "none.png"),
        (vec!["."], "INVALID_ARGS", "is a folder"),
        (vec![], "INVALID_ARGS", "at least one file"),
    ] {
        let (got, r) = b.fails("upload", json!({ "target": "label=CV", "files": files })).await;
        let error = r.error.unwrap();
        assert_eq!((got, error.dispatched), (code, Dispatched::No), "{error}");
        assert!(error.message.contains(words), "{error}");
    }
    assert!(b.log().is_empty(), "{:?}", b.log());
    let r = b.ok("upload", json!({ "target": "label=CV", "files": ["b.png"] })).await;
    assert_eq!(b.log(), ["upload 3 b.png"]);
    assert!(text(&r).contains("value \"b.png\""), "{}", text(&r));
}

#[tokio::test(start_paused = true)]
async fn an_input_that_holds_these_files_is_left_alone() {
    let b = bench().await;
    let about = std::fs::metadata(b.caller.cwd.join("a.txt")).unwrap();
    let since = about.modified().unwrap().duration_since(std::time::UNIX_EPOCH).unwrap();
    let held = InputFile::new("a.txt", 2, u64::try_from(since.as_millis()).unwrap());
    b.fake.world().file_inputs.insert(3, input(3).files(vec![held.clone()]));
    let r = b.ok("upload", json!({ "target": "label=CV", "files": ["a.txt"] })).await;
    assert!(text(&r).starts_with("already uploaded"), "{}", text(&r));
    assert!(b.log().is_empty());
    // A file with the same name and size, but written later.
    let older = InputFile::new("a.txt", 2, held.modified - 1);
    b.fake.world().file_inputs.insert(3, input(3).files(vec![older]));
    b.ok("upload", json!({ "target": "label=CV", "files": ["a.txt"] })).await;
    assert_eq!(b.log(), ["upload 3 a.txt"]);
}

#[tokio::test(start_paused = true)]
async fn upload_presses_buttons_and_drops_on_other_elements() {
    let b = bench().await;
    {
        let mut world = b.fake.world();
        world.chooser = Some(9);
        world.file_inputs.insert(9, input(9).accept(".png".into()));
    }
    b.ok("upload", json!({ "target": "label=Attach", "files": ["b.png"] })).await;
    assert_eq!(b.log(), ["choose 4", "upload 9 b.png"]);
    // A chooser that was opened but accepts none of the files is closed, and the result is
    // reported.
    for (closes, said) in [(None, ""), (Some(true), "was closed again"), (Some(false), "is still open")] {
        b.fake.world().closes = closes;
        let (code, r) = b.fails("upload", json!({ "target": "label=Attach", "files": ["a.txt"] })).await;
        let error = r.error.unwrap();
        // The press had been sent by then.
        assert_eq!((code, error.dispatched), ("INVALID_ARGS", Dispatched::Unknown));
        assert!(error.message.contains(said) && b.log().ends_with(&["choose 4".into(), "dismiss 9".into()]));
        assert_eq!(error.message.contains("file chooser"), closes.is_some(), "{}", error.message);
        assert_eq!(error.hint.contains("key Escape"), closes == Some(false), "{}", error.hint);
    }
    b.fake.world().chooser = None;
    let (code, _) = b.fails("upload", json!({ "target": "label=Zone", "files": ["a.txt"] })).await;
    assert_eq!(code, "INVALID_ARGS");
    b.fake.world().takes_drops = true;
    b.ok("upload", json!({ "target": "label=Zone", "files": ["a.txt", "b.png"] })).await;
    assert_eq!(b.log().last().unwrap(), "drop 5 a.txt, b.png");
}
