//! Controls that are drawn anew, as other nodes of the same names, between two questions of one
//! act. The page says what received the input; what is left of an earlier drawing would say that,
//! too.

use super::site::{PATIENCE, Site};
use stickpin_kernel::{Dispatched, ErrorCode};

/// What is done to each control, and what the page says of it.
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
    // What is not acted on by a press has no ref in `snapshot -i`.
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
            // Right only between the press and the release: then the end of the drag is another
            // node, which
            // nobody judged, and nothing is dropped on it. Before the press it is found again,
            // and behind the release it does not matter.
            assert!(
                site.server.wait_for(&format!("drawn while {name} is held"), PATIENCE),
                "{when}: {error:?}"
            );
            site.ok(&["get", "title"]);
            assert!(site.server.received().is_empty(), "{when}: {error:?}");
            return;
        }
        // Between the last look at an input and its files nobody can step in: then that is said.
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
