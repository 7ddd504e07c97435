//! Lone surrogates, everywhere a page can put them: `'All done 🚀'.slice(0, 10)`.

use super::web::{Web, html, page, raw};
use crate::support::eventually;
use stickpin_kernel::ErrorCode;

const HALF: &str = "<script>const half=w=>(w+' 🚀').slice(0,-1)</script>";

/// Returns a page whose script inserts lone surrogates.
fn with(script: &str, body: &str) -> Vec<u8> {
    html(&format!("<meta charset=utf-8>{HALF}<title>Plain</title>{body}<script>{script}</script>"))
}

#[test]
fn half_an_emoji_is_read_in_every_place_of_a_page() {
    let inner = with(
        "document.title=half('Inner title');b.textContent=half('Framed')",
        "<button id=b onclick=\"tell('framed')\"></button>",
    );
    let places = [
        ("/text", "p.textContent=half('All done')", "<p id=p></p>", "All done \u{fffd}"),
        (
            "/name",
            "p.setAttribute('aria-label',half('Launch'))",
            "<button id=p>x</button>",
            "Launch \u{fffd}",
        ),
        ("/value", "p.value=half('Typed')", "<input id=p>", "Typed \u{fffd}"),
        ("/area", "p.value=half('Long')", "<textarea id=p></textarea>", "Long \u{fffd}"),
        ("/title", "document.title=half('Titled')", "<button>x</button>", "Titled \u{fffd}"),
        (
            "/shadow",
            "p.attachShadow({mode:'open'}).innerHTML='<button>'+half('Shade')+'</button>'",
            "<div id=p></div>",
            "Shade \u{fffd}",
        ),
        (
            "/closed",
            "p.attachShadow({mode:'closed'}).innerHTML='<button>'+half('Closed')+'</button>'",
            "<div id=p></div>",
            "Closed \u{fffd}",
        ),
        ("/hint", "p.placeholder=half('Hint')", "<input id=p>", "Hint \u{fffd}"),
        (
            "/option",
            "p.options[0].textContent=half('Chosen')",
            "<select id=p><option>x</select>",
            "Chosen \u{fffd}",
        ),
        ("/described", "p.title=half('Described')", "<button id=p></button>", "Described \u{fffd}"),
        ("/second", "p.textContent='🚀'.slice(1)+'Second'", "<p id=p></p>", "\u{fffd}Second"),
        ("/frame", "", "<iframe src=/inner></iframe>", "Framed \u{fffd}"),
        (
            "/sandboxed",
            "p.srcdoc='<button>'+half('Boxed')+'</button>'",
            "<iframe id=p sandbox></iframe>",
            "Boxed \u{fffd}",
        ),
    ];
    let mut pages: Vec<_> =
        places.iter().map(|(path, script, body, _)| (*path, with(script, body))).collect();
    pages.push(("/inner", inner));
    let Some(mut web) = Web::new(&pages) else { return };
    for (path, _, _, reads) in places {
        web.open(path);
        // A frame of another process loads at any time.
        eventually(reads, || web.text(&["snapshot"]).contains(reads));
        for words in [
            &["snapshot", "-i", "--all"][..],
            &["read"],
            &["get", "title"],
            &["get", "html", "css=body"],
            &["tab", "list"],
        ] {
            web.ok(words);
        }
    }
    web.open("/frame");
    web.ok(&["press", "role=button"]);
    web.was_asked("/log?framed");
}

#[test]
fn what_has_half_an_emoji_in_it_is_used_like_anything_else() {
    let body = "<button id=b onclick=\"tell('pressed');status.textContent=half('Saved')\">x</button>
        <div role=status id=s></div><label>Note <input id=i oninput=\"tell('typed')\"></label><div id=c class=x>y</div>";
    let script = "const status=s;b.textContent=half('Launch');i.value=half('Old');c.className=half('k');c.dataset.testid=half('t')";
    let Some(mut web) = Web::new(&[("/", with(script, body))]) else { return };
    web.open("/");
    let pressed = web.ok(&["press", "role=button"]);
    web.was_asked("/log?pressed");
    assert!(pressed.receipt.join("\n").contains("Saved \u{fffd}"), "{pressed:#?}");
    assert_eq!(web.text(&["get", "value", "label=Note"]).trim(), "Old \u{fffd}");
    web.ok(&["fill", "label=Note", "new"]);
    web.was_asked("/log?typed");
    assert_eq!(web.text(&["get", "value", "label=Note"]).trim(), "new");
    for words in [
        &["get", "attrs", "css=\"#c\""][..],
        &["get", "html", "css=\"#c\""],
        &["get", "text", "css=\"#b\""],
        &["find", "Launch"],
        &["wait", "role=button"],
        &["wait", "fn", "b.textContent"],
    ] {
        web.ok(words);
    }
}

#[test]
fn half_an_emoji_in_what_a_page_says_is_told() {
    let body = "<button onclick=\"console.error(half('Broken'))\">Err</button>
        <button onclick=\"setTimeout(()=>{throw Error(half('Thrown'))})\">Throw</button>
        <button onclick=\"tell('said-'+confirm(half('Sure')))\">Ask</button>
        <button onclick=\"alert(half('Hello'))\">Greet</button>
        <button onclick=\"history.pushState(0,'','#'+half('here'))\">Go</button>
        <button onclick=\"const a=document.createElement('a');a.href='/file';a.download=half('report')+'.txt';a.click()\">Save</button>
        <button onclick=\"fetch('/none?'+half('q'))\">Fetch</button>";
    let file = raw("200 OK", &["Content-Type: text/plain"], "data");
    let Some(mut web) =
        Web::new(&[("/", with("", body)), ("/file", file), ("/plain", page("text/plain", "x"))])
    else {
        return;
    };
    web.open("/");
    for (button, told) in
        [("Err", "Broken \u{fffd}"), ("Throw", "Thrown \u{fffd}"), ("Greet", "Hello \u{fffd}")]
    {
        let response = web.ok(&["press", &format!("text={button}"), "--settle"]);
        let receipt = response.receipt.join("\n");
        assert!(receipt.contains(told), "{button}: {response:#?}");
    }
    web.ok(&["press", "text=Ask"]);
    let error = web.fails(&["snapshot"], ErrorCode::DialogOpen);
    assert!(error.message.contains("Sure \u{fffd}"), "{error:?}");
    web.ok(&["alert", "accept"]);
    web.was_asked("/log?said-true");
    web.ok(&["press", "text=Go", "--settle"]);
    web.ok(&["get", "url"]);
    web.ok(&["press", "text=Fetch", "--settle"]);
    web.ok(&["press", "text=Save"]);
    let saved = web.text(&["wait", "download"]);
    assert!(saved.contains("report"), "{saved}");
    web.ok(&["snapshot", "-i"]);
}
