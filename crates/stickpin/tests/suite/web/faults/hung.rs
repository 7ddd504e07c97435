//! Busy pages, and pages that hang forever.

use super::web::{Web, html};
use std::time::{Duration, Instant};
use stickpin_kernel::{Dispatched, ErrorCode};

/// Keeps a page from answering until [`Web::release`], without using the processor as a loop does.
const BUSY: &str = "const x=new XMLHttpRequest();x.open('GET','/held',false);x.send();";

#[test]
fn a_short_timeout_gives_up_the_reading_and_not_the_session() {
    let busy = html(&format!(
        "<button onclick=\"setTimeout(()=>{{tell('busy');{BUSY}tell('free')}},300)\">Work</button>
         <button onclick=\"tell('pressed')\">Save</button>"
    ));
    let Some(mut web) = Web::new(&[("/", busy)]) else { return };
    web.open("/");
    let browser = web.pid();
    web.ok(&["press", "text=Work"]);
    web.was_asked("/log?busy");
    for words in [
        &["snapshot"][..],
        &["snapshot", "-i"],
        &["press", "text=Save"],
        &["get", "text", "css=button >> nth=0"],
    ] {
        let began = Instant::now();
        let response = web.surface.request(words, |request| request.timeout_ms = Some(500));
        let error = response.error.unwrap_or_else(|| panic!("{words:?} was answered by a busy page"));
        assert!(matches!(error.code, ErrorCode::Timeout | ErrorCode::InvalidArgs), "{words:?}: {error:?}");
        assert_eq!(error.dispatched, Dispatched::No, "{words:?}: {error:?}");
        assert!(began.elapsed() < Duration::from_secs(4), "{words:?}: {:?}", began.elapsed());
    }
    web.release();
    web.was_asked("/log?free");
    assert_eq!(web.times("/log?pressed"), 0, "a press that timed out was still carried out");
    // The session, its browser and its page are unchanged.
    web.ok(&["press", "text=Save"]);
    web.was_asked("/log?pressed");
    assert_eq!(web.pid(), browser);
}

#[test]
fn timeout_of_an_act_bounds_all_of_it_on_a_busy_page() {
    let busy = html(&format!(
        "<button onclick=\"setTimeout(()=>{{tell('busy');{BUSY}tell('free')}},300)\">Work</button>
         <button onclick=\"tell('pressed')\">Save</button>"
    ));
    let Some(mut web) = Web::new(&[("/", busy)]) else { return };
    web.open("/");
    web.ok(&["press", "text=Work"]);
    web.was_asked("/log?busy");
    let began = Instant::now();
    let error = web.fails_within(&["press", "text=Save", "--timeout", "500"], None, ErrorCode::Timeout);
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    assert_eq!(error.dispatched, Dispatched::No, "{error:?}");
    web.release();
    web.was_asked("/log?free");
    web.ok(&["get", "title"]);
    assert_eq!(web.times("/log?pressed"), 0, "a press that timed out was still carried out");
    web.ok(&["press", "text=Save", "--timeout", "5000"]);
    web.was_asked("/log?pressed");
}

#[test]
fn an_input_that_is_not_taken_up_in_time_keeps_the_session() {
    let busy = html(&format!(
        "<button onclick=\"tell('busy');{BUSY}tell('free')\">Work</button><button onclick=\"tell('pressed')\">Save</button>"
    ));
    let Some(mut web) = Web::new(&[("/", busy)]) else { return };
    web.open("/");
    let error = web.fails_within(&["press", "text=Work"], Some(1_500), ErrorCode::Timeout);
    assert_eq!(error.dispatched, Dispatched::Unknown, "{error:?}");
    web.release();
    web.was_asked("/log?free");
    web.ok(&["press", "text=Save"]);
    web.was_asked("/log?pressed");
    assert_eq!(web.times("/log?busy"), 1);
}

/// Ways to hang: the name of a button, and the script that its press runs.
const HANGS: &[(&str, &str)] = &[
    ("for ever", "tell('hung');while(true);"),
    ("asking", "tell('hung');while(true)confirm('Stay?')"),
    ("greeting", "tell('hung');while(true)alert('Hello')"),
    ("again and again", "setInterval(()=>{while(true);},1);tell('hung');while(true);"),
    (
        "waiting for its server",
        "tell('hung');const x=new XMLHttpRequest();x.open('GET','/never',false);x.send()",
    ),
];

fn hanging() -> Option<Web> {
    let buttons: String =
        HANGS.iter().map(|(name, script)| format!("<button onclick=\"{script}\">{name}</button>")).collect();
    let first = html("<title>First</title><button>x</button>");
    let other = html("<title>Other</title><button onclick=\"tell('works')\">Works</button>");
    let main =
        html(&format!("<title>Hanging</title><button onclick=\"tell('fresh')\">Fresh</button>{buttons}"));
    Web::new(&[("/", first), ("/hang", main), ("/other", other)])
}

fn hang(web: &mut Web, how: &str) {
    eprintln!("{how}");
    web.open("/");
    web.open("/hang");
    // On a busy machine, the time may be over before the press is sent.
    for _ in 0..20 {
        let response = web
            .surface
            .request(&["press", &format!("text={how:?}")], |request| request.timeout_ms = Some(700));
        if response.dialog.is_none() {
            let error = response.error.unwrap_or_else(|| panic!("{how}: it answered"));
            assert_eq!(error.code, ErrorCode::Timeout, "{how}: {error:?}");
            if error.dispatched == Dispatched::No {
                continue;
            }
        }
        return web.was_asked("/log?hung");
    }
    panic!("{how}: the press was never sent");
}

#[test]
fn a_hung_page_can_be_left_by_open() {
    let Some(mut web) = hanging() else { return };
    for (how, _) in HANGS {
        hang(&mut web, how);
        let response = web.open("/other");
        assert!(response.text.unwrap_or_default().contains("Other"), "{how}");
        web.ok(&["press", "text=Works"]);
        web.was_asked("/log?works");
        assert_eq!(web.text(&["tab", "list"]).lines().count(), 1, "{how}: {}", web.text(&["tab", "list"]));
    }
}

#[test]
fn a_hung_page_can_be_loaded_again_and_left_by_back() {
    let Some(mut web) = hanging() else { return };
    for (how, _) in HANGS.iter().filter(|(how, _)| *how != "asking") {
        hang(&mut web, how);
        web.ok(&["reload"]);
        web.ok(&["press", "text=Fresh"]);
        web.was_asked("/log?fresh");
        hang(&mut web, how);
        web.ok(&["back"]);
        assert_eq!(web.text(&["get", "title"]).trim(), "First", "{how}");
    }
}

#[test]
fn endless_dialogs_are_silenced_after_three_dismissals() {
    let Some(mut web) = hanging() else { return };
    hang(&mut web, "asking");
    web.fails(&["reload"], ErrorCode::DialogOpen);
    web.ok(&["alert", "dismiss"]);
    web.ok(&["alert", "dismiss"]);
    let error = web.fails(&["alert", "dismiss"], ErrorCode::Timeout);
    assert!(error.message.contains("3 dismissals") && error.hint.contains("reload"), "{error:?}");
    web.ok(&["reload"]);
    web.ok(&["press", "text=Fresh"]);
    web.was_asked("/log?fresh");
}

#[test]
fn dialog_from_each_press_is_never_silenced() {
    let Some(mut web) =
        Web::new(&[("/", html("<button onclick=\"tell('said-'+confirm('Sure?'))\">Ask</button>"))])
    else {
        return;
    };
    web.open("/");
    for _ in 0..5 {
        web.ok(&["press", "text=Ask"]);
        web.ok(&["alert", "dismiss"]);
        web.was_asked("/log?said-false");
    }
}
