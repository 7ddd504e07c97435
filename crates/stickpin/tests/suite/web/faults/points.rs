//! Points at which the page shows content that is in no tree: the area around a short body, and
//! drawings hidden from assistive technology.

use super::web::{Web, html};
use stickpin_kernel::ErrorCode;

#[test]
fn points_on_what_no_tree_has_are_pressed() {
    let body = "<style>body{margin:0;width:300px;height:60px}.box{position:absolute;top:0;width:50px;height:50px}</style>\
        <button class=box style='left:0'><i aria-hidden=true>+</i></button>\
        <a class=box style='left:100px' href='#x'><svg aria-hidden=true width=50 height=50><rect width=50 height=50 /></svg></a>\
        <canvas class=box style='left:200px' aria-hidden=true></canvas>\
        <script>onclick=e=>{e.preventDefault();document.title=e.target.tagName+' '+e.clientX}</script>";
    let Some(mut site) = Web::new(&[("/points", html(body))]) else { return };
    site.open("/points");
    for (point, got) in [
        ("600,400", "HTML 600"),
        ("225,25", "CANVAS 225"),
        ("125,25", "rect 125"),
        ("25,25", "I 25"),
        ("290,55", "BODY 290"),
    ] {
        site.ok(&["press", point]);
        assert_eq!(site.text(&["get", "title"]).trim(), got, "{point}");
    }
    // A screenshot of the page prevents none of these presses.
    site.ok(&["screenshot"]);
    site.ok(&["press", "225,25"]);
    site.ok(&["press", "125,25"]);
    site.ok(&["press", "600,400"]);
}

/// A resize handle outside the tree, over the corner of a field: a picture shows the field there.
const RESIZABLE: &str = "<style>body{margin:0}#wrap{position:absolute;left:50px;top:50px;width:200px;height:100px}\
    textarea{width:100%;height:100%;box-sizing:border-box;resize:none}\
    #grip{position:absolute;right:0;bottom:0;width:12px;height:12px;background:#888}</style>\
    <div id=wrap><textarea aria-label=Notes></textarea><div id=grip></div></div><button style='position:absolute;top:300px'>Save</button>\
    <script>let from=null;wrap.onmousedown=e=>{from=e.target===grip?[e.clientX,wrap.offsetWidth]:null};\
    document.onmousemove=e=>{if(from)wrap.style.width=from[1]+e.clientX-from[0]+'px'};\
    document.onmouseup=()=>{if(from)tell('width:'+wrap.offsetWidth);from=null}</script>";

#[test]
fn drag_by_screenshot_point_takes_a_resize_handle() {
    let Some(mut site) = Web::new(&[("/resize", html(RESIZABLE))]) else { return };
    site.open("/resize");
    site.ok(&["screenshot"]);
    // A press would go to the field.
    site.fails(&["press", "244,144"], ErrorCode::StaleRef);
    site.ok(&["drag", "244,144", "294,144"]);
    site.was_asked("/log?width:250");
    // The field has moved since the picture: its corner is elsewhere.
    site.fails(&["drag", "244,144", "264,144"], ErrorCode::StaleRef);
    assert_eq!(site.times("/log?width:270"), 0);
}

/// An overlay over the whole field is not part of the field.
#[test]
fn point_of_a_picture_under_a_veil_is_refused() {
    let veiled = RESIZABLE.replace(
        "<button",
        "<div id=veil hidden style='position:absolute;inset:0;z-index:9'></div><button onclick='veil.hidden=false'",
    );
    let Some(mut site) = Web::new(&[("/resize", html(&veiled))]) else { return };
    site.open("/resize");
    site.ok(&["screenshot"]);
    site.ok(&["press", "text=Save"]);
    site.fails(&["drag", "244,144", "294,144"], ErrorCode::StaleRef);
}
