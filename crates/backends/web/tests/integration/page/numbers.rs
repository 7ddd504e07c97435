//! The numbers of elements: what a number refers to, for how long, and which ones are queried.

use super::harness::{CollectGarbage, Page, serve};
use serde_json::json;

/// More elements than are released at once.
const MANY: usize = 2_500;

async fn many(page: &mut Page) {
    let rows: String = (0..MANY).map(|i| format!("<p id=p{i}>Row {i}</p>")).collect();
    let html = format!("<!doctype html><title>t</title>{rows}");
    let site = serve(move |_| Some(("text/html", html.clone().into_bytes()))).await;
    page.open(&site).await;
}

#[tokio::test]
async fn a_number_is_good_at_once_and_holds_nothing() {
    let Some(mut page) = Page::start().await else { return };
    many(&mut page).await;
    let found = "(() => {
        __stickpin.capture({});
        return [...document.querySelectorAll('p')].every(p => __stickpin.nodeOf(__stickpin.idOf(p)) === p);
    })()";
    assert_eq!(page.eval::<bool>(found).await, Some(true));
    let last = page.id(&format!("#p{}", MANY - 1)).await;
    let kept = page.id("#p0").await;
    page.page_eval(&format!("document.getElementById('p{}').remove()", MANY - 1)).await;
    let mut gone = false;
    for _ in 0..100 {
        page.eval::<bool>("new Promise(done => setTimeout(done, 20, true))").await;
        page.call(CollectGarbage(json!({}))).await;
        gone = page.eval::<bool>(&format!("__stickpin.nodeOf({last}) === undefined")).await == Some(true);
        if gone {
            break;
        }
    }
    assert!(gone, "the script keeps an element that the page has released");
    let same = format!("__stickpin.nodeOf({kept}) === document.getElementById('p0')");
    assert_eq!(page.eval::<bool>(&same).await, Some(true));
}

#[tokio::test]
async fn what_is_hidden_is_told_of_what_is_watched() {
    let Some(mut page) = Page::start().await else { return };
    many(&mut page).await;
    let ids: Vec<u64> = page
        .eval("(__stickpin.capture({}), ['p3', 'p4', 'p5', 'p9'].map(id => __stickpin.idOf(document.getElementById(id))))")
        .await
        .unwrap();
    let [a, hidden, gone, other] = ids[..] else { panic!("{ids:?}") };
    page.page_eval("p4.style.display = p9.style.display = 'none', p5.remove()").await;
    let ask = |ranges: String| format!("JSON.parse(__stickpin.capture({{watch:{ranges}}})).hidden");
    assert_eq!(page.eval::<Vec<u64>>(&ask(format!("[{a},{gone}]"))).await, Some(vec![hidden]));
    let two = ask(format!("[{a},{a},{gone},{other}]"));
    assert_eq!(page.eval::<Vec<u64>>(&two).await, Some(vec![other]));
    assert_eq!(page.eval::<Vec<u64>>(&ask("[1,1000000000]".to_owned())).await, Some(vec![hidden, other]));
    assert_eq!(page.eval::<Vec<u64>>(&ask("[]".to_owned())).await, Some(vec![]));
}
