//! Controls that are re-rendered as new nodes with the same names between two steps of one action.
//! The page reports what received the input, including nodes of an earlier rendering.

use super::site::{PATIENCE, Site};
use stickpin_kernel::{Dispatched, ErrorCode};

/// Returns the action on each control, and the page's report.
fn acts(photo: &str) -> Vec<(&'static str, Vec<String>, &'static str)> {
    let words = |words: &[&str]| words.iter().map(|&w| w.to_owned()).collect();
    vec![
        ("Terms", words(&["check", "REF"]), "terms true"),
        ("Terms", words(&["uncheck", "REF"]), "terms false"),
        ("Size", words(&["select", "REF", "Size m"]), "size m"),
        ("Colour", words(&["select", "REF", "green"]), "colour green"),
        ("Photo", words(&["upload", "REF", photo]), "photo photo.png"),
        ("One", words(&["drag", "REF", "text=Three"]), "moved One to Three"),
    ]
}

fn run(site: &mut Site, when: &str, act: &(&'static str, Vec<String>, &'static str), redraw: bool) {
    let (name, words, said) = act;
    // Elements that are not pressed have no ref in `snapshot -i`.
    let target = match *name {
        "One" => "text=One".to_owned(),
        name => site.ref_of(name),
    };
    let words: Vec<&str> = words.iter().map(|w| if w == "REF" { target.as_str() } else { w }).collect();
    if redraw {
        site.ok(&["press", "css=\"#again\"", "--receipt=off"]);
    }
    let done = site.surface.request(&words, |_| {});
    if let Some(error) = done.error.as_ref().filter(|e| e.dispatched == Dispatched::Unknown) {
        if (words[0], error.code) == ("drag", ErrorCode::ContextChanged) {
            // A re-rendering exactly between press and release makes the end of the drag an
            // unchecked node, so nothing is dropped on it. Before the press the node is located
            // again, and after the release it does not matter.
            assert!(
                site.server.wait_for(&format!("drawn while {name} is held"), PATIENCE),
                "{when}: {error:?}"
            );
            site.ok(&["get", "title"]);
            assert!(site.server.received().is_empty(), "{when}: {error:?}");
            return;
        }
        // The page can change between the last check of an input and its files. The error then says
        // so.
        assert_eq!((words[0], error.code), ("upload", ErrorCode::ElementNotFound), "{when}: {error:?}");
        assert!(site.server.wait_for(&format!("old {said}"), PATIENCE), "{when}: {error:?}");
        return;
    }
    assert!(done.ok, "{when} {words:?}: {:?}", done.error);
    assert!(site.server.wait_for(said, PATIENCE), "{when} {words:?}: {:?}", site.server.received());
    let rest: Vec<_> = site.server.received().into_iter().filter(|line| line != said).collect();
    assert!(rest.is_empty(), "{when} {words:?}: {rest:?}");
}

#[test]
fn what_is_drawn_anew_before_an_input_gets_it_all_the_same() {
    let Some(mut site) = Site::new() else { return };
    let photo = site.dir.path().join("photo.png");
    std::fs::write(&photo, "a picture").unwrap();
    let acts = acts(photo.to_str().unwrap());
    for late in [0, 3, 8, 15, 25, 40, 60] {
        site.open(&format!("redrawn.html?late={late}"));
        for act in &acts {
            run(&mut site, &format!("after {late} ms"), act, true);
        }
    }
    for act in &acts {
        site.open("redrawn.html?hover");
        if act.2 == "terms false" {
            run(&mut site, "by the pointer", &acts[0], false);
        }
        run(&mut site, "by the pointer", act, false);
    }
    site.goes_on();
}
