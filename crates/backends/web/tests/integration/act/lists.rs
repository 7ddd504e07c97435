//! A list that was opened but not used is closed again, and nothing else is affected: the page logs
//! its events.

use crate::support::Page;
use stickpin_device::Device;
use stickpin_tree::{Handle, Role};

/// A page that logs presses, keys, and what they closed. A hidden element counts as closed.
const PAGE: &str = "<!doctype html><meta charset=utf-8><style>[hidden]{display:none}</style><script>log=[];
    addEventListener('click',e=>log.push('click '+e.target.id),true);
    const say=(e,open)=>e.setAttribute('aria-expanded',open);
    const closing=(e,list)=>{list.hidden=true;say(e,false);log.push('closed '+list.id)};
    const onEscape=(where,who,done)=>where.addEventListener('keydown',e=>{
      if(e.key==='Escape'){log.push('Escape at '+who);done()}})
    </script>";

const LIST: &str = "<ul role=listbox id=list hidden><li role=option>One<li role=option>Two</ul>";

async fn opened(body: &str, role: Role) -> Option<(Page, Handle)> {
    let mut page = Page::show(&format!("{PAGE}{body}")).await?;
    let opener = page.find(role, "City").await;
    page.press(opener).await;
    Some((page, opener))
}

#[tokio::test]
async fn what_says_that_it_is_expanded_is_pressed_again() {
    let body = format!(
        "<button id=city aria-haspopup=listbox aria-expanded=false>City</button>{LIST}
        <script>city.onclick=()=>{{if(list.hidden){{list.hidden=false;say(city,true)}}else closing(city,list)}};
        onEscape(document,'page',()=>{{}})</script>"
    );
    let Some((mut page, city)) = opened(&body, Role::Button).await else { return };
    assert!(page.device.popups().unwrap().close_popup(city, &[]).await.unwrap());
    assert_eq!(page.log().await, ["click city", "click city", "closed list"]);
    // Nothing remains to be closed.
    assert!(!page.device.popups().unwrap().close_popup(city, &[]).await.unwrap());
    assert_eq!(page.log().await.len(), 3);
    page.close().await;
}

/// Builds a field that opens a list on every press and closes it on Escape, inside an element that
/// Escape also closes.
fn field_in(open: &str, close: &str) -> String {
    format!(
        "{open}<input id=city aria-label=City role=combobox aria-expanded=false aria-controls=list>{LIST}{close}
        <script>city.onclick=()=>{{list.hidden=false;say(city,true)}};
        onEscape(city,'city',()=>closing(city,list));</script>"
    )
}

#[tokio::test]
async fn escape_closes_the_list_and_not_what_it_is_in() {
    let around = [
        // The browser itself would close the dialog.
        (
            "<dialog id=around>",
            "</dialog><script>around.showModal();around.onclose=()=>log.push('closed around')</script>",
        ),
        (
            "<div role=dialog id=around aria-label=Order>",
            "</div><script>onEscape(document,'page',()=>{around.hidden=true})</script>",
        ),
        (
            "<table><tr id=around><td>",
            "</table><script>onEscape(around,'row',()=>{around.hidden=true})</script>",
        ),
    ];
    for (open, close) in around {
        let body = field_in(open, close);
        let Some((mut page, city)) = opened(&body, Role::Combobox).await else { return };
        assert!(page.device.popups().unwrap().close_popup(city, &[]).await.unwrap(), "{open}");
        assert_eq!(page.log().await, ["click city", "Escape at city", "closed list"], "{open}");
        assert!(page.truth::<bool>("around.checkVisibility()").await, "{open}");
        // The next Escape is the user's and has its usual effect.
        page.key(Default::default(), "Escape").await;
        page.until("!around.checkVisibility()").await;
        page.close().await;
    }
}

#[tokio::test]
async fn focused_popup_is_closed_with_escape() {
    let body = "<button id=city aria-haspopup=listbox aria-expanded=false>City</button><script>
        city.onclick=()=>{document.querySelector('ul')?.remove();say(city,true);
          document.body.insertAdjacentHTML('beforeend','<ul role=listbox id=list tabindex=-1><li role=option>One</ul>');list.focus()};
        onEscape(document,'page',()=>{list.remove();say(city,false)})</script>";
    let Some((mut page, city)) = opened(body, Role::Button).await else { return };
    assert!(page.device.popups().unwrap().close_popup(city, &[]).await.unwrap());
    assert_eq!(page.log().await, ["click city", "click city", "Escape at page"]);
    assert!(page.truth::<bool>("!document.querySelector('ul')").await);
    page.close().await;
}

#[tokio::test]
async fn nothing_is_sent_for_what_is_not_open_or_was_there_before() {
    let body =
        "<button id=city>City</button><ul role=listbox aria-label=Old tabindex=0><li role=option>One</ul>
        <script>onEscape(document,'page',()=>{})</script>";
    let Some((mut page, city)) = opened(body, Role::Button).await else { return };
    let old = page.find(Role::ListBox, "Old").await;
    assert!(!page.device.popups().unwrap().close_popup(city, &[old]).await.unwrap());
    // A list that opened by itself while another element has the focus.
    page.truth::<bool>("(document.body.insertAdjacentHTML('beforeend','<ul role=listbox><li role=option>New</ul><input id=other>'),other.focus(),true)").await;
    assert!(!page.device.popups().unwrap().close_popup(city, &[old]).await.unwrap());
    assert_eq!(page.log().await, ["click city"]);
    page.close().await;
}

#[tokio::test]
async fn a_list_in_a_frame_is_closed_as_well() {
    let inner = format!("{PAGE}{}", field_in("", ""));
    let outer = format!(
        "{PAGE}<script>onEscape(document,'outer',()=>{{}})</script><iframe src=/in title=In></iframe>"
    );
    let Some(mut page) = Page::site(&[("/", &outer), ("/in", &inner)]).await else { return };
    page.until("frames[0]?.document.readyState==='complete'").await;
    let city = page.find(Role::Combobox, "City").await;
    page.press(city).await;
    assert!(page.device.popups().unwrap().close_popup(city, &[]).await.unwrap());
    assert_eq!(
        page.truth::<Vec<String>>("frames[0].log").await,
        ["click city", "Escape at city", "closed list"]
    );
    page.press(city).await;
    // Keys now go to the surrounding page: Escape would reach it.
    page.truth::<bool>(
        "(document.body.insertAdjacentHTML('beforeend','<input id=other>'),other.focus(),true)",
    )
    .await;
    assert!(!page.device.popups().unwrap().close_popup(city, &[]).await.unwrap());
    assert!(page.log().await.is_empty());
    page.close().await;
}
