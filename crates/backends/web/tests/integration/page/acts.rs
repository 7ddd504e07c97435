//! Aiming, pressing, filling, choosing and noticing changes, on difficult pages.

use super::harness::{CallOn, Document, InsertText, Mouse, Page, serve};
use serde_json::{Value, json};
use stickpin_tree::Role;

async fn show(page: &mut Page, body: &str) {
    let html =
        format!("<!doctype html><meta charset=utf-8><title>t</title>{body}<script>window.log = []</script>");
    let site =
        serve(move |path| (path == "/").then(|| ("text/html; charset=utf-8", html.clone().into_bytes())))
            .await;
    page.open(&format!("{site}/")).await;
}

async fn press(page: &Page, aim: &Value) {
    for kind in ["mousePressed", "mouseReleased"] {
        let event = json!({
            "type": kind, "x": aim["point"][0], "y": aim["point"][1], "button": "left", "clickCount": 1,
        });
        page.call(Mouse(event)).await;
    }
}

impl Page {
    async fn ask(&self, call: &str) -> Value {
        self.eval(&format!("__stickpin.{call}")).await.unwrap_or(Value::Null)
    }
}

#[tokio::test]
async fn aim_scrolls_into_view_and_finds_the_element_there() {
    let Some(mut page) = Page::start().await else { return };
    show(&mut page, "
        <style>.vh { position: absolute; clip: rect(0 0 0 0); width: 1px; height: 1px }</style>
        <button id=top>Top</button>
        <div style='height: 100px; overflow: auto'><div style='height: 900px'></div><button id=inner>Inner</button></div>
        <label style='display: block'>Accept <input id=checkbox type=checkbox class=vh></label>
        <label style='display: block; margin: 30px'>Gone <input id=boxless type=checkbox style='display: contents'></label>
        <a id=lines href='#' style='display: inline-block; width: 90px'>a link <br> of two lines</a>
        <div style='height: 3000px'></div><button id=far>Far</button><div id=host></div><div id=nobox></div>
        <script>document.getElementById('host').attachShadow({ mode: 'open' }).innerHTML = '<button>Shadow</button>'</script>").await;
    for selector in ["#top", "#inner", "#checkbox", "#boxless", "#lines", "#far"] {
        let id = page.id(selector).await;
        let aim = page.ask(&format!("aim({id})")).await;
        assert_eq!(aim["hit"], json!({ "target": true }), "{selector}: {aim}");
        let (x, y) = (aim["point"][0].as_f64().unwrap(), aim["point"][1].as_f64().unwrap());
        assert!((0.0..1000.0).contains(&x) && (0.0..700.0).contains(&y), "{selector}: {aim}");
    }
    let shadow: u64 =
        page.eval("__stickpin.idOf(document.getElementById('host').shadowRoot.firstChild)").await.unwrap();
    let aim = page.ask(&format!("aim({shadow})")).await;
    assert_eq!(aim["hit"]["target"], true, "{aim}");
    let at = page.ask(&format!("elementAt({}, {})", aim["point"][0], aim["point"][1])).await;
    assert_eq!(at, json!({ "id": shadow, "frame": false }));
    let nobox = page.id("#nobox").await;
    assert_eq!(page.ask(&format!("aim({nobox}).point")).await, Value::Null);
    let top = page.id("#top").await;
    page.page_eval("document.getElementById('top').remove()").await;
    assert_eq!(page.ask(&format!("aim({top})")).await, Value::Null);
    assert_eq!(page.ask(&format!("locate({top}, [])")).await, Value::Null);
}

#[tokio::test]
async fn press_on_a_covered_element_names_the_cover() {
    let Some(mut page) = Page::start().await else { return };
    show(
        &mut page,
        "
        <style>.overlay { position: fixed; inset: 0; background: #0008 }</style>
        <button id=buy onclick='log.push(\"buy\")'>Buy</button>
        <div id=cover class=overlay onclick='log.push(\"cover\")'></div>",
    )
    .await;
    let buy = page.id("#buy").await;
    let aim = page.ask(&format!("aim({buy})")).await;
    assert_eq!((&aim["hit"]["target"], &aim["hit"]["what"]), (&json!(false), &json!("div#cover")));
    // The hit test warned. If the cover appears after it, the second check stops the press.
    assert_eq!(page.ask(&format!("expectClick({buy})")).await, true);
    press(&page, &aim).await;
    assert_eq!(
        page.ask("clickVerdict()").await,
        json!({ "landed": "elsewhere", "what": "div#cover", "stopped": true, "complete": true })
    );
    assert_eq!(page.page_eval("log").await, json!([]));
    page.page_eval("document.getElementById('cover').outerHTML = '<div class=overlay role=dialog aria-label=Cookies><p id=text style=\"height: 100%\">x'").await;
    let aim = page.ask(&format!("aim({buy})")).await;
    assert_eq!(aim["hit"]["what"], "dialog \"Cookies\"");
    page.page_eval("document.querySelector('.overlay').remove()").await;
    page.ask(&format!("expectClick({buy})")).await;
    press(&page, &aim).await;
    assert_eq!(
        page.ask("clickVerdict()").await,
        json!({ "landed": "target", "what": "", "stopped": false, "complete": false })
    );
    assert_eq!(page.page_eval("log").await, json!(["buy"]));
    // The next press is no longer observed.
    press(&page, &aim).await;
    assert_eq!(page.ask("clickVerdict().landed").await, "none");
    assert_eq!(page.page_eval("log").await, json!(["buy", "buy"]));
}

#[tokio::test]
async fn fields_take_text_and_say_what_they_hold() {
    let Some(mut page) = Page::start().await else { return };
    show(&mut page, "
        <input id=text value=old><textarea id=area>old</textarea><div id=rich contenteditable>old <b>text</b></div>
        <div id=wrapped role=combobox><span>icon</span><input value=old></div><input id=number type=number value=3>
        <input id=color type=color><input id=date type=date><input id=range type=range>
        <input id=off disabled><input id=fixed readonly value=x><button id=button>b</button>
        <script>addEventListener('input', e => log.push('input ' + e.target.id)); addEventListener('change', e => log.push('change ' + e.target.id))</script>").await;
    for (selector, text) in
        [("#text", "new"), ("#area", "new"), ("#rich", "new"), ("#wrapped", "new"), ("#number", "42")]
    {
        let id = page.id(selector).await;
        let field = page.ask(&format!("focusField({id})")).await;
        assert_eq!(
            (&field["fill"], &field["focused"]),
            (&json!("text"), &json!(true)),
            "{selector}: {field}"
        );
        page.call(InsertText(json!({ "text": text }))).await;
        assert_eq!(page.ask(&format!("readValue({id})")).await, json!([text, null]), "{selector}");
    }
    page.page_eval("log.length = 0").await;
    for (selector, text) in [("#color", "#ff0000"), ("#date", "2024-02-03"), ("#range", "30")] {
        let id = page.id(selector).await;
        assert_eq!(page.ask(&format!("focusField({id}).fill")).await, "set", "{selector}");
        assert_eq!(page.ask(&format!("setValue({id}, '{text}').value")).await, text, "{selector}");
    }
    let heard = json!([
        "change number",
        "input color",
        "change color",
        "input date",
        "change date",
        "input range",
        "change range"
    ]);
    assert_eq!(page.page_eval("log").await, heard);
    for (selector, why) in [("#off", "disabled"), ("#fixed", "readOnly"), ("#button", "notField")] {
        let id = page.id(selector).await;
        assert_eq!(page.ask(&format!("focusField({id}).why")).await, why, "{selector}");
    }
}

#[tokio::test]
async fn native_lists_are_chosen_by_label_or_value() {
    let Some(mut page) = Page::start().await else { return };
    show(
        &mut page,
        "
        <select id=one><option value=1>One<option value=2> Two  words<option value=3 disabled>Three</select>
        <select id=many multiple><option selected>a<option>b<option>c</select><button id=button>b</button>
        <script>addEventListener('change', e => log.push(e.target.id))</script>",
    )
    .await;
    let (one, many, button) = (page.id("#one").await, page.id("#many").await, page.id("#button").await);
    assert_eq!(
        page.ask(&format!("select({one}, ['Two words'])")).await,
        json!({ "handled": true, "value": "Two words", "refused": false })
    );
    assert_eq!(page.ask(&format!("select({one}, ['1']).value")).await, "One");
    // A person cannot choose a disabled option either.
    let answer = page.ask(&format!("select({one}, ['Three'])")).await;
    assert_eq!(answer["why"], json!({ "optionDisabled": "Three" }));
    let answer = page.ask(&format!("select({one}, ['Four'])")).await;
    assert_eq!(
        (&answer["missing"], &answer["options"]),
        (&json!(["Four"]), &json!(["One", "Two words", "Three"]))
    );
    assert_eq!(page.ask(&format!("readValue({one})")).await, json!(["One", null]));
    assert_eq!(page.ask(&format!("select({many}, ['b', 'c']).value")).await, "b, c");
    // Choosing what is already selected is no change.
    page.ask(&format!("select({many}, ['b', 'c'])")).await;
    assert_eq!(page.page_eval("log").await, json!(["one", "one", "many"]));
    assert_eq!(page.ask(&format!("select({button}, ['b'])")).await, json!({ "handled": false }));
}

#[tokio::test]
async fn scrolling_moves_the_container_and_then_says_so() {
    let Some(mut page) = Page::start().await else { return };
    show(&mut page, "<div id=box style='height: 100px; overflow: auto'><p id=inside style='height: 150px'>x</div><div style='height: 2000px'></div>").await;
    let inside = page.id("#inside").await;
    assert_eq!(page.ask(&format!("scrollBy({inside}, 0, 500).moved")).await, true);
    assert_eq!(page.ask(&format!("scrollBy({inside}, 0, 500).moved")).await, false);
    assert_eq!(page.ask("scrollBy(0, 0, 300)").await, json!({ "moved": true, "left": 0, "top": 300 }));
}

#[tokio::test]
async fn changes_quiet_and_announcements_are_noticed() {
    let Some(mut page) = Page::start().await else { return };
    show(&mut page, "<div role=status id=live></div><ul id=feed></ul><div id=host></div><input id=field>
        <script>document.getElementById('host').attachShadow({ mode: 'open' }).innerHTML = '<p>x</p>'</script>").await;
    // Shadow roots are observed from the first capture on.
    page.capture().await;
    let count = page.ask("changes().count").await;
    assert_eq!(page.ask(&format!("changed({count}, 20)")).await, count);
    for change in [
        "document.getElementById('host').shadowRoot.firstChild.textContent = 'y'",
        "document.getElementById('field').focus()",
        "document.getElementById('feed').append(document.createElement('li'))",
    ] {
        let count = page.ask("changes().count").await;
        page.page_eval(change).await;
        assert_ne!(page.ask(&format!("changed({count}, 5000)")).await, count, "{change}");
    }
    assert_eq!(page.ask("settled(30, 5000)").await, json!({ "settled": true, "still": [] }));
    page.page_eval("live.textContent = 'Saved'; setTimeout(() => live.textContent = '', 10)").await;
    page.ask("settled(50, 5000)").await;
    assert_eq!(page.ask("announcements()").await, json!(["Saved"]));
    assert_eq!(page.ask("announcements()").await, json!([]));
    page.page_eval("window.timer = setInterval(() => feed.append(document.createElement('li')), 5)").await;
    assert_eq!(
        page.ask("settled(250, 700)").await,
        json!({ "settled": false, "still": ["mutations of ul#feed"] })
    );
    page.page_eval(
        "clearInterval(timer); live.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 50000 })",
    )
    .await;
    let moving = page.ask("settled(20, 100)").await;
    assert_eq!(moving["still"], json!(["animation on div#live"]), "{moving}");
    // An animation that never ends is decoration, and nothing waits for it.
    page.page_eval("live.getAnimations().forEach(a => a.cancel())").await;
    page.page_eval("live.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 400, iterations: Infinity })")
        .await;
    assert_eq!(page.ask("settled(20, 5000).then(s => s.settled)").await, true);
}

#[tokio::test]
async fn a_seal_is_broken_by_what_no_mutation_tells() {
    let Some(mut page) = Page::start().await else { return };
    show(&mut page, "<input id=text><input id=box type=checkbox><select id=list><option>a<option>b</select><div id=host></div>
        <script>host.attachShadow({ mode: 'open' }).innerHTML = '<input id=inner>'</script>").await;
    let seal = |json: Value| {
        serde_json::from_str::<Value>(json.as_str().unwrap()).unwrap()["seal"].as_u64().unwrap()
    };
    for change in [
        "text.value = 'x'",
        "box.checked = true",
        "box.indeterminate = true",
        "list.selectedIndex = 1",
        "host.shadowRoot.getElementById('inner').value = 'y'",
        "text.focus()",
        "document.body.append('z')",
    ] {
        let before = seal(page.ask("capture({})").await);
        assert_eq!(page.ask(&format!("unchanged({before})")).await, true);
        page.page_eval(change).await;
        assert_eq!(page.ask(&format!("unchanged({before})")).await, false, "{change}");
    }
    // An element that is not defined cannot have internals.
    page.page_eval("document.body.append(document.createElement('x-custom'))").await;
    let undefined = seal(page.ask("capture({})").await);
    assert_eq!(page.ask(&format!("unchanged({undefined})")).await, true);
    page.page_eval("customElements.define('x-custom', class extends HTMLElement {})").await;
    assert_eq!(page.ask(&format!("unchanged({undefined})")).await, false);
    // From now on it can change its role or states without a mutation record.
    assert_eq!(seal(page.ask("capture({})").await), 0);
}

#[tokio::test]
async fn a_closed_shadow_root_is_read_once_it_is_handed_over() {
    let Some(mut page) = Page::start().await else { return };
    show(&mut page, "<x-host></x-host><script>document.querySelector('x-host').attachShadow({ mode: 'closed' }).innerHTML = '<button>Closed</button>'</script>").await;
    let buttons = |tree: &stickpin_tree::Tree| tree.nodes().filter(|n| n.role() == Role::Button).count();
    assert_eq!(buttons(&page.capture().await), 0);
    let document = page.call(Document(json!({ "depth": -1, "pierce": true }))).await;
    let host = &document["root"]["children"][1]["children"][1]["children"][0];
    let root = page.resolve(host["shadowRoots"][0]["backendNodeId"].as_u64().unwrap()).await;
    let adopt = "function() { return __stickpin.adoptRoot(this) }";
    let call = CallOn(json!({ "objectId": root, "functionDeclaration": adopt, "returnByValue": true }));
    assert_eq!(page.call(call).await["result"]["value"], true);
    let tree = page.capture().await;
    assert_eq!(buttons(&tree), 1);
    let id = tree.nodes().find(|n| n.role() == Role::Button).unwrap().handle().unwrap().id;
    let aim = page.ask(&format!("aim({id})")).await;
    assert_eq!(aim["hit"]["target"], true, "{aim}");
}

#[tokio::test]
async fn secrets_stay_in_the_page() {
    let Some(mut page) = Page::start().await else { return };
    show(&mut page, "<label>Key <input id=key type=password value=s3cret></label><button aria-labelledby=key id=b>x</button>").await;
    let json: String = page.eval("__stickpin.capture({})").await.unwrap();
    assert!(!json.contains("s3cret"), "{json}");
    let key = page.id("#key").await;
    assert!(!page.ask(&format!("attrs({key})")).await.to_string().contains("s3cret"));
    assert_eq!(page.ask(&format!("text({key})")).await, "");
}

#[tokio::test]
async fn documents_of_other_kinds_are_read() {
    let Some(mut page) = Page::start().await else { return };
    let svg = r#"<svg xmlns="http://www.w3.org/2000/svg"><a href="/x"><text y="20">Hi</text></a><g role="button"><title>T</title><rect width="5" height="5"/></g></svg>"#;
    let clobbered = "<img name=body><img name=documentElement><img name=querySelectorAll><img name=URL><form><input name=nodeType><input name=parentNode></form>";
    for (kind, source, expected) in [
        ("image/svg+xml", svg, vec!["link Hi", "button T"]),
        ("text/plain", "hello", vec!["text hello"]),
        (
            "text/html",
            "<frameset cols='50%,50%'><frame title=A><frame title=B></frameset>",
            vec!["iframe A", "iframe B"],
        ),
        ("text/html", clobbered, vec!["img ", "textbox ", "form "]),
    ] {
        let site = serve(move |path| (path == "/").then(|| (kind, source.as_bytes().to_vec()))).await;
        page.open(&format!("{site}/")).await;
        let tree = page.capture().await;
        let lines: Vec<_> = tree.nodes().map(|n| format!("{} {}", n.role(), n.name())).collect();
        assert!(expected.iter().all(|want| lines.iter().any(|line| line == want)), "{kind}: {lines:?}");
        assert_eq!(tree.documents()[0].url, format!("{site}/"));
        // A document without a root element is still a document.
        page.page_eval("document.removeChild([...document.childNodes].find(n => n.nodeType === 1)) && 0")
            .await;
        page.capture().await;
        assert!(page.ask("changes().count").await.as_u64().unwrap() > 0);
    }
}

#[tokio::test]
async fn ids_stay_with_their_element_and_hidden_is_not_gone() {
    let Some(mut page) = Page::start().await else { return };
    show(&mut page, "<button id=a>A</button><button id=b>B</button><div id=c><button>C</button></div>").await;
    let before = page.capture().await;
    let (a, b) = (page.id("#a").await, page.id("#b").await);
    assert!(before.nodes().any(|n| n.name() == "A" && n.handle().is_some_and(|h| h.id == a)));
    page.page_eval(
        "document.body.append(document.getElementById('a')); document.getElementById('b').hidden = true;
        document.getElementById('c').innerHTML = '<button>C</button>'",
    )
    .await;
    assert_eq!(page.id("#a").await, a);
    let json: String =
        page.eval(&format!("__stickpin.capture({{ watch: [{a}, {b}, 99999] }})")).await.unwrap();
    let hidden: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(hidden["hidden"], json!([b]));
    let after = page.capture().await;
    let c =
        |tree: &stickpin_tree::Tree| tree.nodes().find(|n| n.name() == "C" && !n.is_text()).unwrap().handle();
    // A new element never gets a number that was used before.
    assert_ne!(c(&before), c(&after));
}

#[tokio::test]
async fn what_is_too_long_or_too_deep_is_cut_and_the_rest_is_read() {
    let Some(mut page) = Page::start().await else { return };
    show(&mut page, "<p id=text></p><img id=alt><button id=labelled></button><button id=long></button><div id=deep></div><button id=wide></button><div id=items></div>
        <button>Still here</button><script>
        const big = 'word '.repeat(200000), nest = (e, n, tag, role) => { for (let i = 0; i < n; i++) { e = e.appendChild(document.createElement(tag)); if (role) e.setAttribute('role', role) } return e };
        text.textContent = long.textContent = alt.alt = alt.id = big; labelled.setAttribute('aria-label', big); labelled.title = big; labelled.setAttribute('data-testid', big);
        nest(deep, 1200, 'div').innerHTML = '<button>Unreachable</button>'; nest(wide, 500, 'span').textContent = 'x'; nest(items, 300, 'div', 'treeitem').textContent = 'leaf'</script>").await;
    let json: String = page.eval("__stickpin.capture({})").await.unwrap();
    assert!(json.len() < 1_000_000, "{} bytes", json.len());
    let tree = page.capture().await;
    assert!(tree.is_truncated());
    let has = |name: &str| tree.nodes().any(|n| n.role() == Role::Button && n.name() == name);
    assert!(has("Still here") && !has("Unreachable"));
    let longest = tree.nodes().map(|n| n.name().len()).max().unwrap();
    assert!((4_000..=100_000).contains(&longest), "{longest}");
    assert_eq!(tree.nodes().filter(|n| n.role() == Role::TreeItem).count(), 300);
}

#[tokio::test]
async fn who_acts_is_told_of_changes_at_once_however_soon_they_follow() {
    let Some(mut page) = Page::start().await else { return };
    show(&mut page, "<p id=p></p>").await;
    let told: Value = page
        .eval(
            "(async () => {
                const told = [], p = document.getElementById('p');
                globalThis.__stickpinSignal = message => told.push(JSON.parse(message).changed);
                const change = async () => { p.append('x'); await null; return __stickpin.changes().count };
                await change();
                const second = await change();
                __stickpin.tell();
                const after = told.at(-1);
                return [after, second, await change(), told.at(-1)];
            })()",
        )
        .await
        .unwrap();
    assert!(told[0] == told[1] && told[2] == told[3], "{told}");
    assert_ne!(told[1], told[2]);
}
