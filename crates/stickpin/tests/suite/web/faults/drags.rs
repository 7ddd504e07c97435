//! Drags that end at a point: on a canvas, in a drawing, after a scroll. The page reports the point
//! of the drop.

use super::web::{Web, html};
use stickpin_kernel::ErrorCode;

/// A canvas of 500 x 300 at 200,100, and elements that are dragged onto it in three ways.
const STAGE: &str = "<style>body { margin: 0; height: 2000px } canvas { position: absolute; left: 200px; top: 100px; border: 0 }\
        .tool { position: absolute; left: 10px; width: 120px; height: 30px; background: #ddd; user-select: none; touch-action: none }</style>\
     <div class=tool id=mouse style='top: 100px'>Mouse node</div>\
     <div class=tool id=pointer style='top: 150px'>Pointer node</div>\
     <div class=tool id=native draggable=true style='top: 200px'>Native node</div>\
     <div class=tool id=low style='top: 1500px'>Low node</div>\
     <canvas id=c width=500 height=300 aria-label=Drawing></canvas><script>\
     const at = v => Math.round(v.clientX - c.getBoundingClientRect().left) + ',' + Math.round(v.clientY - c.getBoundingClientRect().top);\
     let held = '', helper = null;\
     for (const e of [mouse, low]) e.onmousedown = v => { held = e.id; v.preventDefault(); helper = e.cloneNode(true); helper.style.pointerEvents = 'none'; document.body.append(helper); };\
     document.addEventListener('mousemove', v => { if (helper) { helper.style.left = v.pageX + 'px'; helper.style.top = v.pageY + 'px'; } });\
     document.addEventListener('mouseup', v => { if (held) tell(held + ':' + (v.target === c) + ':' + at(v)); held = ''; helper?.remove(); helper = null; });\
     pointer.onpointerdown = v => pointer.setPointerCapture(v.pointerId);\
     pointer.onpointerup = v => tell('pointer:' + (document.elementFromPoint(v.clientX, v.clientY) === c) + ':' + at(v));\
     native.ondragstart = v => v.dataTransfer.setData('text/plain', 'native');\
     c.ondragover = v => v.preventDefault();\
     c.ondrop = v => { v.preventDefault(); tell(v.dataTransfer.getData('text/plain') + ':true:' + at(v)); };\
     let from = '';\
     c.onpointerdown = v => from = at(v);\
     c.onpointerup = v => { if (from) tell('line:' + from + ':' + at(v)); from = ''; };</script>";

/// Returns the ref of an element.
fn ref_of(site: &mut Web, query: &str) -> String {
    let found = site.text(&["find", query]);
    found.trim().split(' ').next().unwrap().to_owned()
}

#[test]
fn drags_onto_a_point_of_a_canvas_end_there() {
    let Some(mut site) = Web::new(&[("/stage", html(STAGE))]) else { return };
    site.open("/stage");
    for (node, name) in [("mouse", "Mouse node"), ("pointer", "Pointer node"), ("native", "Native node")] {
        let node_ref = ref_of(&mut site, name);
        site.ok(&["drag", &node_ref, "500,300"]);
        site.was_asked(&format!("/log?{node}:true:300,200"));
    }
    // From the middle of the canvas, and from point to point in it.
    let canvas = ref_of(&mut site, "css=canvas");
    site.ok(&["drag", &canvas, "500,300"]);
    site.was_asked("/log?line:250,150:300,200");
    site.ok(&["drag", "220,120", "300,200"]);
    site.was_asked("/log?line:20,20:100,100");
    // By points of a screenshot.
    site.ok(&["screenshot"]);
    let node = ref_of(&mut site, "Mouse node");
    site.ok(&["drag", &node, "600,350"]);
    site.was_asked("/log?mouse:true:400,250");
    // The syntax of other front ends.
    let steps = format!(r#"[{{"command":"drag","input":{{"source":"{node}","destination":"400,200"}}}}]"#);
    site.ok(&["batch", "--steps", &steps]);
    site.was_asked("/log?mouse:true:200,100");
}

/// The dragged element is scrolled into view. The point must still refer to the earlier content;
/// otherwise, nothing is dragged.
#[test]
fn drag_from_out_of_view_does_not_end_at_what_came_to_the_point() {
    let Some(mut site) = Web::new(&[("/stage", html(STAGE))]) else { return };
    site.open("/stage");
    let low = ref_of(&mut site, "Low node");
    let e = site.fails(&["drag", &low, "500,300"], ErrorCode::ElementOffscreen);
    assert!(e.message.contains("500,300"), "{e:?}");
}

/// A picture belongs to its page: on another page, points refer to the viewport.
#[test]
fn point_on_another_page_is_not_vetoed_by_an_old_picture() {
    let button = |name: &str| {
        html(&format!(
            "<button style='position: absolute; left: 50px; top: 300px; width: 200px; height: 60px' onclick=\"tell('{name}')\">{name}</button>"
        ))
    };
    let first = html("<h1>First</h1><a href=/second>Next</a>");
    let Some(mut site) =
        Web::new(&[("/first", first), ("/second", button("Buy")), ("/third", button("Sell"))])
    else {
        return;
    };
    site.open("/first");
    site.ok(&["screenshot"]);
    // By an address, by a link with a diff, and by a link with a receipt only.
    site.open("/third");
    site.ok(&["press", "150,330"]);
    site.was_asked("/log?Sell");
    for settle in [true, false] {
        site.open("/first");
        site.ok(&["screenshot"]);
        let press = ["press", "role=link \"Next\"", "--settle"];
        site.ok(if settle { &press[..] } else { &press[..2] });
        site.ok(&["wait", "text", "Buy"]);
        site.ok(&["press", "150,330"]);
        site.was_asked("/log?Buy");
    }
}

/// The dragged element covers the middle of the end point: it moves away with the pointer.
#[test]
fn source_over_the_destination_is_dragged_to_its_center() {
    const BOXES: &str = "<style>div{position:absolute;user-select:none}</style>\
        <div id=large style='left:60px;top:60px;width:60px;height:60px;background:#88f'>Large</div>\
        <div id=small style='left:80px;top:80px;width:20px;height:20px;background:#f88;z-index:2'>s</div>\
        <script>let from=null;small.onmousedown=e=>{from=[e.clientX-small.offsetLeft,e.clientY-small.offsetTop]};\
        onmousemove=e=>{if(from){small.style.left=e.clientX-from[0]+'px';small.style.top=e.clientY-from[1]+'px'}};\
        onmouseup=()=>{if(from)tell('at:'+small.offsetLeft+','+small.offsetTop);from=null};large.onclick=()=>{}</script>";
    let boxes = BOXES.replace("left:80px;top:80px;width", "left:84px;top:86px;width");
    let Some(mut site) = Web::new(&[("/boxes", html(&boxes))]) else { return };
    site.open("/boxes");
    site.ok(&["drag", "css=#small", "css=#large"]);
    site.was_asked("/log?at:80,80");
}
