//! Scrolling and dragging.

use crate::support::{Page, provider, request, start};
use std::time::Duration;
use stickpin_backend_web::WebOptions;
use stickpin_device::{
    Action, AimOptions, CancellationToken, Delivery, Device, ScreenshotRequest, SettleRequest,
};
use stickpin_tree::Role;

#[tokio::test]
async fn wheel_on_page_or_container_reports_movement() {
    let html = "<!doctype html><div id=box role=region aria-label=Box style='height:100px;overflow:auto' tabindex=0><div style='height:1000px'>b</div></div>
        <div style='height:3000px'>p</div><script>log=[];addEventListener('wheel',e=>log.push('wheel '+e.isTrusted))</script>";
    let Some(mut page) = Page::show(html).await else { return };
    let scroll = |target, dy| Action::Scroll { target, dx: 0.0, dy };
    assert!(page.perform(&scroll(None, 500.0)).await.moved);
    assert_eq!(page.truth::<f64>("scrollY").await, 500.0);
    assert_eq!(page.log().await, ["wheel true"]);
    page.truth::<serde::de::IgnoredAny>("scrollTo(0,0)").await;
    let container = page.find(Role::Region, "Box").await;
    assert!(page.perform(&scroll(Some(container), 200.0)).await.moved);
    assert_eq!(page.truth::<(f64, f64)>("[box.scrollTop,scrollY]").await, (200.0, 0.0));
    assert!(!page.perform(&scroll(None, -100.0)).await.moved);
    page.close().await;
}

#[tokio::test]
async fn things_are_dragged_by_mouse_and_by_the_browsers_own_drag() {
    let html = "<!doctype html><style>div{width:80px;height:40px;position:absolute;top:20px}</style>
        <div role=button aria-label=Knob id=k style='left:10px;background:#ccc'>k</div>
        <div role=button aria-label=Card id=c draggable=true style='left:200px;background:#cff'>c</div>
        <div role=region aria-label=Bin id=b style='left:500px;top:300px;background:#fcc'>b</div>
        <script>log=[];let held;k.onmousedown=()=>held=1;addEventListener('mousemove',e=>{if(held)k.style.left=e.clientX-40+'px'});
        addEventListener('mouseup',()=>{if(held)log.push('released');held=0});
        c.ondragstart=e=>{e.dataTransfer.setData('text/plain','card');log.push('start')};
        b.ondragover=e=>e.preventDefault();b.ondrop=e=>log.push('drop '+e.dataTransfer.getData('text/plain'));c.ondragend=()=>log.push('end')</script>";
    let Some(mut page) = Page::show(html).await else { return };
    let knob = page.find(Role::Button, "Knob").await;
    let from = page.aim(knob).await.point;
    let done =
        page.perform(&Action::Drag { from, source: Some(knob), to: (400.0, 40.0), target: None }).await;
    assert_eq!(done.delivery, Delivery::Confirmed);
    assert_eq!(page.truth::<String>("k.style.left").await, "360px");
    assert_eq!(page.log().await, ["released"]);
    let (card, bin) = (page.find(Role::Button, "Card").await, page.find(Role::Region, "Bin").await);
    let to = page.device.aim(bin, AimOptions::default()).await.unwrap().point;
    let from = page.aim(card).await.point;
    page.perform(&Action::Drag { from, source: Some(card), to, target: Some(bin) }).await;
    page.until("log.length>=3").await;
    let log = page.log().await;
    assert_eq!(&log[1..3], ["start", "drop card"], "{log:?}");
    // The next press is an ordinary one.
    page.truth::<u32>("log.length=0").await;
    assert_eq!(page.press(card).await.delivery, Delivery::Confirmed);
    page.close().await;
}

#[tokio::test]
async fn popup_opened_under_the_pointer_gets_its_events_first() {
    // As in jQuery UI's menu: the item under the pointer when the menu opens is not entered until
    // the pointer moves again.
    let html = "<!doctype html><style>button,li{position:absolute;width:120px;height:30px;margin:0;list-style:none}</style>
        <button id=open style='left:20px;top:20px'>Open</button>
        <ul role=menu hidden id=menu><li role=menuitem id=old style='left:20px;top:20px'>Bulgaria<li role=menuitem id=wanted style='left:20px;top:120px'>Burundi</ul>
        <script>log=[];let active;document.getElementById('open').onclick=()=>menu.hidden=false;
        menu.onmousemove=e=>{active=e.target.id;log.push('moved on '+active)};menu.onclick=()=>log.push('took '+active)</script>";
    let Some(mut page) = Page::show(html).await else { return };
    let open = page.find(Role::Button, "Open").await;
    page.press(open).await;
    page.until("!menu.hidden").await;
    page.truth::<u32>("log.length=0").await;
    let wanted = page.find(Role::MenuItem, "Burundi").await;
    assert_eq!(page.press(wanted).await.delivery, Delivery::Confirmed);
    let log = page.log().await;
    assert_eq!(log.first().map(String::as_str), Some("moved on old"), "{log:?}");
    assert_eq!(log.last().map(String::as_str), Some("took wanted"), "{log:?}");
    page.close().await;
}

#[tokio::test]
async fn a_worker_is_not_waited_for() {
    let html = "<!doctype html><button id=b>Start</button><script>
        b.onclick=()=>{new Worker('/worker.js').onmessage=e=>{b.textContent=e.data}}</script>";
    let Some(mut page) = Page::site(&[("/", html), ("/worker.js", "postMessage('Started')")]).await else {
        return;
    };
    let button = page.find(Role::Button, "Start").await;
    page.press(button).await;
    page.until("b.textContent==='Started'").await;
    let asked = Duration::from_millis(150);
    let request = SettleRequest::new(asked, Duration::from_secs(4));
    let settled = page.device.settle(request, &CancellationToken::new()).await.unwrap();
    assert!(settled.is_quiet, "{settled:?}");
    page.close().await;
}

#[tokio::test]
async fn a_viewport_is_1280_by_800_unless_another_one_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let Some((_, mut other)) = start().await else { return };
    other.close().await.unwrap();
    let request = request(&dir, "about:blank").with_options(WebOptions::default());
    let mut device = provider().start(&request).await.unwrap();
    let shot = device.screenshots().unwrap().screenshot(ScreenshotRequest::default()).await.unwrap();
    assert_eq!((shot.area.width, shot.area.height), (1280.0, 800.0));
    device.close().await.unwrap();
}
