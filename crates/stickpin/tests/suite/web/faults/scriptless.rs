//! Documents without scripts or without HTML, and pages whose elements fight for the focus.

use super::web::{Web, html, page, raw};
use std::time::{Duration, Instant};

/// The time limit for an action on such a page on a busy machine.
const SOON: Duration = Duration::from_secs(6);

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let done = work();
    assert!(began.elapsed() < SOON, "{what} took {:?}", began.elapsed());
    done
}

const INNER: &str =
    "<!doctype html><title>Inner</title><a href='/log?followed'>Follow</a><label>Name <input></label>";

#[test]
fn frames_without_scripts_are_read_and_pressed() {
    let framed = |frame: &str| {
        html(&format!(
            "<title>Outer</title><p>above</p>{frame}<button onclick=\"tell('out')\">Outside</button>"
        ))
    };
    let sandboxed = raw("200 OK", &["Content-Type: text/html", "Content-Security-Policy: sandbox"], INNER);
    let cases = [
        ("/attribute", framed("<iframe sandbox src=/inner style='margin:30px;width:400px'></iframe>")),
        ("/srcdoc", framed(&format!("<iframe sandbox srcdoc=\"{}\"></iframe>", INNER.replace('"', "'")))),
        ("/header", framed("<iframe src=/boxed></iframe>")),
        ("/boxed", sandboxed),
    ];
    let mut pages = cases.to_vec();
    pages.push(("/inner", page("text/html", INNER)));
    let Some(mut web) = Web::new(&pages) else { return };
    web.open("/attribute");
    for (path, _) in &cases {
        timed(&format!("open {path}"), || web.open(path));
        timed(&format!("wait stable on {path}"), || web.ok(&["wait", "stable"]));
        let text = web.text(&["snapshot", "-i"]);
        assert!(text.contains("link \"Follow\"") && text.contains("textbox \"Name\""), "{path}: {text}");
        timed(&format!("fill on {path}"), || web.ok(&["fill", "label=Name", "Ada"]));
        assert_eq!(web.text(&["get", "value", "label=Name"]).trim(), "Ada", "{path}");
        if *path != "/boxed" {
            timed("press outside", || web.ok(&["press", "text=Outside", "--settle"]));
            web.was_asked("/log?out");
        }
        if *path != "/srcdoc" {
            timed(&format!("press on {path}"), || web.ok(&["press", "text=Follow"]));
            web.was_asked("/log?followed");
        }
    }
}

#[test]
fn an_svg_document_is_read_and_pressed() {
    let svg = "<svg xmlns='http://www.w3.org/2000/svg' width='400' height='200'><title>Chart</title>\
        <a href='/log?bar'><rect width='100' height='100' fill='red'/><text x='10' y='50'>Bar</text></a></svg>";
    let xml = "<?xml version='1.0'?><list><item>One</item></list>";
    let Some(mut web) =
        Web::new(&[("/chart.svg", page("image/svg+xml", svg)), ("/list.xml", page("text/xml", xml))])
    else {
        return;
    };
    // A browser needs time to start.
    web.open("/list.xml");
    timed("open", || web.open("/chart.svg"));
    let text = timed("snapshot", || web.text(&["snapshot"]));
    assert!(text.contains("Bar"), "{text}");
    for words in [&["snapshot", "-i"][..], &["read"], &["get", "title"], &["screenshot"], &["wait", "stable"]]
    {
        timed(words[0], || web.ok(words));
    }
    timed("press", || web.ok(&["press", "text=Bar"]));
    web.was_asked("/log?bar");
    timed("open", || web.open("/list.xml"));
    timed("snapshot", || web.ok(&["snapshot"]));
}

#[test]
fn elements_that_fight_for_the_focus_delay_nobody() {
    let fights = [
        ("/sync", "a.onblur=()=>b.focus();b.onblur=()=>a.focus();a.focus()"),
        (
            "/timers",
            "a.onblur=()=>setTimeout(()=>a.focus());b.onblur=()=>setTimeout(()=>b.focus());a.focus()",
        ),
        (
            "/each",
            "a.onfocus=()=>setTimeout(()=>b.focus());b.onfocus=()=>setTimeout(()=>a.focus());a.focus()",
        ),
        ("/interval", "setInterval(()=>(document.activeElement===a?b:a).focus(),1)"),
        ("/frames", "(function f(){(document.activeElement===a?b:a).focus();requestAnimationFrame(f)})()"),
        ("/microtasks", "a.onblur=()=>Promise.resolve().then(()=>a.focus());a.focus()"),
        ("/trap", "onfocusin=e=>e.target===a||a.focus();onfocusout=()=>a.focus();a.focus()"),
        ("/moving", "let n=0;setInterval(()=>{(++n%2?a:b).focus();a.dataset.n=n},5)"),
    ];
    let pages: Vec<_> = fights
        .iter()
        .map(|(path, script)| {
            let body = format!("<input id=a><input id=b><button onclick=\"tell('pressed')\">Save</button><script>{script}</script>");
            (*path, html(&body))
        })
        .collect();
    let Some(mut web) = Web::new(&pages) else { return };
    for (path, _) in fights {
        web.open(path);
        timed(&format!("snapshot on {path}"), || web.ok(&["snapshot", "-i"]));
        timed(&format!("press on {path}"), || web.ok(&["press", "text=Save"]));
        web.was_asked("/log?pressed");
        timed(&format!("fill on {path}"), || web.surface.request(&["fill", "css=\"#b\"", "x"], |_| {}));
        assert_eq!(web.times("/log?pressed"), 0, "{path}: pressed more than once");
    }
}
