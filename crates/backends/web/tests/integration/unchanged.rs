//! "Nothing changed" is true whenever it is reported: these tests use every way in which a page can
//! change what a capture reads, first those without a mutation record, then random ones.

use crate::support::Page;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stickpin_device::{CaptureRequest, CaptureResult, Device};
use stickpin_devtools::Method;
use stickpin_devtools::protocol::Done;
use stickpin_tree::Tree;
use stickpin_webpage::read;

/// The tree that a client has of a page, and how often it was reported as unchanged.
#[derive(Default)]
struct Seen {
    tree: Option<Arc<Tree>>,
    unchanged: u32,
    /// How often a subsequent walk gave an equal tree.
    confirmed: u32,
}

impl Seen {
    fn tree(&self) -> Arc<Tree> {
        self.tree.clone().expect("the page was captured")
    }
}

/// Returns whether a capture for a client with a tree found changes. If it reports none, a walk
/// confirms that.
async fn look(page: &mut Page, seen: &mut Seen) -> bool {
    if !capture(page, seen).await {
        return false;
    }
    seen.unchanged += 1;
    let mut anew = stickpin_webpage::Page::new(page.device.driven().tab.clone());
    let request = CaptureRequest::default();
    let CaptureResult::Tree(walked) = read::capture(&mut anew, request).await.unwrap() else {
        panic!("who has no tree is given one")
    };
    if walked == seen.tree() {
        seen.confirmed += 1;
        return true;
    }
    // Something changed before the walk, or the report was wrong.
    assert!(!capture(page, seen).await, "reported as unchanged, but a walk found changes");
    false
}

/// Returns whether the device reports no change; otherwise stores the new tree.
async fn capture(page: &mut Page, seen: &mut Seen) -> bool {
    let request = CaptureRequest::default().stored(seen.tree.as_ref());
    match page.device.capture(request).await.unwrap_or_else(|e| panic!("{e}")) {
        CaptureResult::Unchanged => true,
        CaptureResult::Tree(tree) => {
            seen.tree = Some(tree);
            false
        }
        other => panic!("{other:?}"),
    }
}

#[derive(serde::Serialize)]
struct CollectGarbage {}

impl Method for CollectGarbage {
    const NAME: &'static str = "HeapProfiler.collectGarbage";
    type Output = Done;
}

/// Collects the page's garbage, so that removed listeners are not counted.
async fn collect(page: &Page) {
    let (client, session) = page.device.devtools();
    client.call(Some(session), &CollectGarbage {}).await.unwrap();
}

const CONTROLS: &str = "<!doctype html><title>T</title><style>.hide{display:none} #late{visibility:hidden} .made::before{content:'Made'}</style>
    <h1>Controls</h1><input id=text value=a><input id=box type=checkbox><input id=one type=radio name=r checked><input id=two type=radio name=r>
    <select id=list><option>a<option id=b>b<option>c</select><select id=many multiple><option>x<option>x</select>
    <textarea id=area>t</textarea><button id=button>Press</button><div id=late>later</div><div id=host></div>
    <details id=details><summary>More</summary>inside</details><dialog id=dialog>ask</dialog><div id=pop popover>pop</div>
    <p id=edit contenteditable>edit</p><p id=plain>plain</p><a id=link href=#there>link</a><span id=hint hidden>hint</span>
    <button id=hinted aria-labelledby=hint>x</button><meter id=meter value=0.5></meter><progress id=progress value=0.5></progress>
    <div style='display:none' id=away><div id=inpop popover>in</div></div><div id=slots><span id=slotted>slotted</span></div>
    <p id=generated></p><img id=picture src=/a.png alt=p><input list=towns><datalist id=towns><option id=town>Oslo</datalist>
    <canvas id=canvas>fall<button id=incanvas>back</button></canvas>
    <script>host.attachShadow({mode:'open'}).innerHTML='<input id=inner><button>Shadow</button>';
      slots.attachShadow({mode:'open',slotAssignment:'manual'}).innerHTML='<slot></slot>';
      var log=[], f=()=>{}; var host2</script>";

/// Changes that leave no mutation record, or need not leave one: each is followed by a new capture
/// that shows the expected result.
const SILENT: &[(&str, bool)] = &[
    ("text.value = 'typed'", true),
    ("box.checked = true", true),
    ("box.indeterminate = true", true),
    ("two.checked = true", true),
    ("list.selectedIndex = 2", true),
    // Another option with the same text.
    ("many.options[0].selected = true", true),
    ("many.options[0].selected = false; many.options[1].selected = true", true),
    ("area.value = 'typed'", true),
    ("host.shadowRoot.getElementById('inner').value = 'typed'", true),
    ("document.styleSheets[0].cssRules[1].style.visibility = 'visible'", true),
    ("document.styleSheets[0].insertRule('#b{display:none}')", true),
    ("document.styleSheets[0].deleteRule(0)", true),
    (
        "{ const s = new CSSStyleSheet(); s.replaceSync('#plain{display:none}'); document.adoptedStyleSheets = [s] }",
        true,
    ),
    ("document.adoptedStyleSheets = []", true),
    ("text.focus()", true),
    ("host.shadowRoot.getElementById('inner').focus()", true),
    ("document.activeElement.blur()", true),
    ("details.open = true", true),
    ("dialog.show()", true),
    ("dialog.close()", true),
    ("dialog.showModal()", true),
    ("dialog.close()", true),
    ("pop.showPopover()", true),
    ("pop.hidePopover()", true),
    ("history.pushState(0, '', '?q=1')", true),
    ("location.hash = 'there'", true),
    ("document.title = 'Other'", true),
    ("edit.firstChild.data = 'edited'", true),
    ("meter.value = 0.75", true),
    ("progress.value = 0.75", true),
    ("host2 = document.createElement('div'), host2.id = 'h2', document.body.append(host2)", true),
    ("h2.attachShadow({mode:'open'}).innerHTML = '<button>Late</button>'", true),
    ("h2.shadowRoot.firstChild.textContent = 'Later'", true),
    ("slots.shadowRoot.firstChild.assign(slotted)", true),
    ("slots.shadowRoot.firstChild.assign()", true),
    ("plain.animate([{display:'none'},{display:'none'}],{duration:1,fill:'both'})", true),
    ("plain.getAnimations().forEach(a => a.cancel())", true),
    ("plain.addEventListener('click', f)", true),
    ("plain.removeEventListener('click', f); edit.addEventListener('keydown', f)", true),
    ("generated.className = 'made'", true),
    (
        "[...document.styleSheets[0].cssRules].find(r => r.selectorText == '.made::before').style.content = '\"Other\"'",
        true,
    ),
    ("picture.src = '/b.png'", true),
    ("picture.title = 'Of Ada'", true),
    ("generated.style.backgroundImage = 'url(/c.png)'", true),
    // Changes the value of an option but not its label.
    ("many.options[0].value = 'another'", true),
    ("town.label = 'Bergen'", true),
    ("hint.firstChild.data = 'Other hint'", true),
    ("document.fonts.add(new FontFace('f', 'local(x)'))", false),
    ("window.scrollTo(0, 10)", false),
    ("void document.body.offsetHeight", false),
    ("document.styleSheets[0].insertRule('#hint{text-transform:uppercase}')", true),
];

#[tokio::test]
async fn what_leaves_no_record_is_noticed_all_the_same() {
    let Some(mut page) = Page::site(&[("/", CONTROLS)]).await else { return };
    let mut stored = Seen::default();
    look(&mut page, &mut stored).await;
    for &(change, shows) in SILENT {
        // Loading, and the effects of the last change, may still be in progress.
        let until = Instant::now() + Duration::from_secs(10);
        while !(look(&mut page, &mut stored).await && look(&mut page, &mut stored).await) {
            assert!(Instant::now() < until, "not quiet before {change}");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let before = stored.tree();
        page.truth::<serde_json::Value>(&format!("(()=>{{{change}}})()")).await;
        let same = look(&mut page, &mut stored).await;
        let after = stored.tree();
        assert_eq!(*before != *after, shows, "{change}");
        assert!(!shows || !same, "{change}");
        if !shows {
            // The first capture may skip the walk or walk in vain; the next one does not.
            look(&mut page, &mut stored).await;
        }
    }
    // Nothing reports a style change that is not rendered, so every check needs a walk.
    assert!(!look(&mut page, &mut stored).await && !look(&mut page, &mut stored).await);
    let Seen { unchanged, confirmed, .. } = stored;
    assert!(unchanged >= 40 && confirmed >= 40, "{unchanged} {confirmed}");
    page.close().await;
}

/// Waits until nothing changes any more: loading and the effects of the last change may still be in
/// progress.
async fn quiet(page: &mut Page, stored: &mut Seen) {
    let until = Instant::now() + Duration::from_secs(10);
    while !(look(page, stored).await && look(page, stored).await) {
        assert!(Instant::now() < until, "not quiet");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Garbage makes the browser's count of listeners unreliable. In that case, the listeners are
/// queried, and the page is not walked.
#[tokio::test]
async fn garbage_is_no_change() {
    let Some(mut page) = Page::site(&[("/", CONTROLS)]).await else { return };
    let mut stored = Seen::default();
    quiet(&mut page, &mut stored).await;
    for _ in 0..3 {
        collect(&page).await;
        assert!(look(&mut page, &mut stored).await);
        assert!(look(&mut page, &mut stored).await);
    }
    // Replaces one listener with another, so that the number of listeners is the same after garbage
    // is collected.
    page.truth::<serde_json::Value>("void(plain.addEventListener('click', f))").await;
    quiet(&mut page, &mut stored).await;
    let before = stored.tree();
    page.truth::<serde_json::Value>(
        "void(plain.removeEventListener('click', f), edit.addEventListener('click', f))",
    )
    .await;
    collect(&page).await;
    assert!(!look(&mut page, &mut stored).await);
    assert_ne!(*before, *stored.tree());
    // Locating an element does not query the listeners; the next capture does.
    quiet(&mut page, &mut stored).await;
    let link = stored.tree().nodes().find(|n| n.name() == "link").unwrap().handle().unwrap();
    collect(&page).await;
    assert!(page.device.locate(link, &[]).await.unwrap().is_some());
    page.truth::<serde_json::Value>(
        "void(late.addEventListener('click', f), plain.addEventListener('click', f))",
    )
    .await;
    collect(&page).await;
    assert!(page.device.locate(link, &[]).await.unwrap().is_some());
    assert!(!look(&mut page, &mut stored).await);
    page.close().await;
}

/// How long the random part runs, in seconds. `STICKPIN_FUZZ_SECONDS` sets a longer time.
const SECONDS: u64 = 8;

/// The number of changes to a page before the next page is created.
const STEPS: u64 = 25;

/// Seeds that have failed before.
const FAILED: &[u64] = &[];

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|e| panic!("{name}: {e}")))
}

fn frame(port: &str, seed: u64) -> String {
    format!("<iframe src='http://{port}/inner?seed={seed}'></iframe>")
}

/// Random pages with random changes, each followed by one or two captures that verify themselves.
/// `STICKPIN_FUZZ_SEED=N` starts with the page of that seed and its changes.
#[tokio::test]
async fn unchanged_is_true_at_random() {
    let script = format!("<script>{}</script>", include_str!("fuzz/page.js"));
    let html = |frames: &str| {
        format!(
            "<!doctype html><title>Fuzz</title><style>.c9{{color:red}}</style><div id=content></div>{frames}{script}"
        )
    };
    let frames = frame("127.0.0.1:PORT", 1) + &frame("localhost:PORT", 2);
    let pages = [("/", html("")), ("/framed", html(&frames)), ("/inner", html(""))];
    let pages: Vec<(&str, &str)> = pages.iter().map(|(path, html)| (*path, html.as_str())).collect();
    let Some(mut page) = Page::site(&pages).await else { return };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let first = setting("STICKPIN_FUZZ_SEED");
    let mut seed = first.unwrap_or(u64::try_from(now.as_nanos() % 1_000_000_000).unwrap());
    let until = Instant::now() + Duration::from_secs(setting("STICKPIN_FUZZ_SECONDS").unwrap_or(SECONDS));
    let mut again = FAILED.iter().copied();
    let (mut rounds, mut steps, mut unchanged, mut confirmed) = (0, 0, 0, 0);
    while Instant::now() < until {
        let of = again.next().unwrap_or(seed);
        let path = if of % 3 == 0 { "/framed" } else { "/" };
        let url = page.site.url(&format!("{path}?seed={of}"));
        page.go(&url).await;
        let mut stored = Seen::default();
        for n in 0..STEPS {
            let change: String = page.truth(&format!("step({})", of * 1000 + n)).await;
            // Printed if a capture fails.
            println!("STICKPIN_FUZZ_SEED={of} {change}");
            if n % 6 == 0 {
                collect(&page).await;
            }
            for _ in 0..2 {
                look(&mut page, &mut stored).await;
            }
            steps += 1;
        }
        rounds += 1;
        seed += 1;
        (unchanged, confirmed) = (unchanged + stored.unchanged, confirmed + stored.confirmed);
    }
    eprintln!(
        "{rounds} pages up to seed {seed}, {steps} changes, {unchanged} times nothing had changed, {confirmed} confirmed"
    );
    // A check that always reports changes would pass everything above.
    assert!(confirmed * 4 > steps, "{confirmed} of {steps}");
    page.close().await;
}
/// A browser whose listeners are queried through an object of a world other than the page's crashes
/// after a few dozen queries.
#[tokio::test]
async fn a_page_that_listens_is_looked_at_again_and_again() {
    let Some(mut page) = Page::show(CONTROLS).await else { return };
    page.truth::<serde_json::Value>("void(plain.addEventListener('click', f))").await;
    let mut stored = Seen::default();
    for _ in 0..300 {
        page.truth::<serde_json::Value>("void(document.body.dataset.x = Math.random())").await;
        assert!(!look(&mut page, &mut stored).await);
    }
    page.close().await;
}
