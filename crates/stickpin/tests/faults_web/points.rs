//! Points where the page shows what no tree has: the page around a short body, and drawings hidden from assistive technology.

use crate::web::{Web, html};

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
    // A picture of it vetoes none of them.
    site.ok(&["screenshot"]);
    site.ok(&["press", "225,25"]);
    site.ok(&["press", "125,25"]);
    site.ok(&["press", "600,400"]);
}
