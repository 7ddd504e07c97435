//! Files that are dropped onto an app's own drop zones, without an input. The page reports the
//! files and the zone.

use super::web::{Web, html};
use stickpin_kernel::ErrorCode;

/// Reports the files of a drop on an element.
const DROPS: &str = "<style>.zone { width: 300px; height: 120px; border: 1px dashed }</style><script>\
    const took = (where, files) => Promise.all(Array.from(files, f => f.text().then(t => f.name + '=' + t))).then(all => tell(where + ':' + all.join('+')));\
    const takes = (e, where) => { e.addEventListener('dragover', v => v.preventDefault());\
        e.addEventListener('drop', v => { v.preventDefault(); took(where + (v.dataTransfer.types.includes('Files') ? '' : '-untyped'), v.dataTransfer.files); }); };</script>";

const PAGES: &[(&str, &str)] = &[
    ("/plain", "<div class=zone id=z>Drop here</div><script>takes(z, 'zone')</script>"),
    // The zone shows that files are over it, and accepts them only then.
    (
        "/says",
        "<div class=zone id=z>Drag files here</div><script>z.addEventListener('dragenter', () => setTimeout(() => {\
            z.textContent = 'Release to add'; takes(z, 'zone'); }, 30))</script>",
    ),
    // An overlay over the whole page accepts them.
    (
        "/over",
        "<div class=zone id=z>Work</div><div id=o hidden style='position: fixed; inset: 0; background: #fff8'>Drop files</div>\
         <script>takes(o, 'overlay'); document.addEventListener('dragenter', () => o.hidden = false)</script>",
    ),
    // Re-rendered as another element while files are over it.
    (
        "/anew",
        "<div id=place><div class=zone id=z>Attach</div></div><script>z.addEventListener('dragenter', () => {\
            place.innerHTML = '<div class=zone id=y>Let go</div>'; takes(y, 'anew'); })</script>",
    ),
    (
        "/input",
        "<div class=zone id=z role=button tabindex=0>Choose or drop</div><script>z.onclick = () => { const i = document.createElement('input');\
            i.type = 'file'; i.multiple = true; i.onchange = () => took('chooser', i.files); i.click(); }</script>",
    ),
    (
        "/picker",
        "<div class=zone id=z role=button tabindex=0>Open</div><script>takes(z, 'zone'); z.onclick = () => showOpenFilePicker().catch(() => {})</script>",
    ),
    (
        "/frame",
        "<p style='height: 40px'>Above</p><iframe style='width: 400px; height: 200px' src=/plain></iframe>",
    ),
    ("/none", "<div class=zone id=z>Nothing</div>"),
    // An element that opens by itself at that moment, and accepts nothing.
    (
        "/covered",
        "<div class=zone id=z>Zone</div><div id=o hidden role=dialog style='position: fixed; inset: 0; background: #fff8'>Sale</div>\
         <script>takes(z, 'zone'); document.addEventListener('dragenter', () => o.hidden = false)</script>",
    ),
];

fn drop_site() -> Option<(Web, String, String)> {
    let pages: Vec<_> = PAGES.iter().map(|(path, body)| (*path, html(&format!("{DROPS}{body}")))).collect();
    let site = Web::new(&pages)?;
    let file = |name: &str, text: &str| {
        let path = site.dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (a, b) = (file("a.txt", "alpha"), file("b.csv", "beta"));
    Some((site, a, b))
}

#[test]
fn files_dropped_onto_zones_reach_what_takes_them() {
    let Some((mut site, a, b)) = drop_site() else { return };
    for (page, zone, took) in [
        ("/plain", "text=\"Drop here\"", "zone"),
        ("/says", "text=\"Drag files here\"", "zone"),
        ("/over", "text=Work", "overlay"),
        ("/anew", "text=Attach", "anew"),
        ("/input", "text=\"Choose or drop\"", "chooser"),
        ("/picker", "text=Open", "zone"),
        ("/frame", "text=\"Drop here\"", "zone"),
    ] {
        site.open(page);
        let found = site.text(&["find", zone]);
        let zone = found.trim().split(' ').next().unwrap();
        site.ok(&["upload", zone, &a, &b]);
        site.was_asked(&format!("/log?{took}:a.txt=alpha+b.csv=beta"));
    }
}

#[test]
fn files_are_dropped_on_nothing_that_does_not_take_them() {
    let Some((mut site, a, _)) = drop_site() else { return };
    site.open("/none");
    site.fails(&["upload", "text=Nothing", &a], ErrorCode::InvalidArgs);
    assert!(site.text(&["get", "url"]).contains("/none"), "the browser opened the file");
    site.open("/covered");
    let e = site.fails(&["upload", "text=Zone", &a], ErrorCode::ElementCovered);
    assert!(e.message.contains("div#o"), "{e:?}");
    assert_eq!(site.times("/log?zone:a.txt=alpha"), 0);
}
