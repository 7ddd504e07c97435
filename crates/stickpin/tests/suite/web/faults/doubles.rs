//! Double presses on rows that the first press re-renders, and single presses on such rows. The
//! page reports which row opened.

use super::web::{Web, html};

/// Files in a list that selects at the first press (`mousedown` or `click`) and opens at the
/// second. `anew` selects the part that is re-rendered.
fn files(selects: &str, anew: &str) -> String {
    format!(
        "<style>li {{ padding: 6px; cursor: pointer }} .on {{ background: #cdf }}</style>\
         <p id=said>Nothing is selected</p><ul id=list></ul><script>\
         let files = ['notes.txt', 'photo.png', 'report.ipynb'], on = '';\
         const row = f => `<li class=\"${{f === on ? 'on' : ''}}\" aria-selected=\"${{f === on}}\"><span class=icon></span><span>${{f}}</span></li>`;\
         const bind = li => {{ li.addEventListener('{selects}', () => {{ if (on === li.textContent) return; on = li.textContent; {anew}; said.textContent = on + ' is selected'; }});\
             li.addEventListener('dblclick', () => tell('opened:' + li.textContent)); }};\
         const draw = () => {{ list.innerHTML = files.map(row).join(''); list.querySelectorAll('li').forEach(bind); }};\
         const redraw = li => {{ const t = document.createElement('ul'); t.innerHTML = row(li.textContent); bind(t.firstChild); li.replaceWith(t.firstChild); }};\
         draw()</script>"
    )
}

#[test]
fn a_double_press_after_find_opens_the_row_that_was_meant() {
    let mut lists = Vec::new();
    for selects in ["click", "mousedown", "pointerdown"] {
        for (anew, what) in [
            ("li.setAttribute('aria-selected', 'true')", "marked"),
            ("li.classList.add('item-selected')", "styled"),
            ("redraw(li)", "row"),
            ("draw()", "list"),
        ] {
            lists.push((format!("/{selects}/{what}"), html(&files(selects, anew))));
        }
    }
    let pages: Vec<_> = lists.iter().map(|(path, page)| (path.as_str(), page.clone())).collect();
    let Some(mut site) = Web::new(&pages) else { return };
    for (path, _) in &pages {
        site.open(path);
        let found = site.text(&["find", "report.ipynb"]);
        let row = found.trim().split(' ').next().unwrap().to_owned();
        site.ok(&["press", &row, "--count", "2"]);
        site.was_asked("/log?opened:report.ipynb");
        site.ok(&["press", "text=photo.png"]);
        assert!(site.text(&["read"]).contains("photo.png is selected"), "{path}");
    }
}

/// The second press belongs to the first press's row, not to another row in its place.
#[test]
fn a_second_press_never_reaches_the_row_that_moved_up() {
    let page = |draw: &str| {
        html(&format!(
            "<ul id=list></ul><script>let mails = ['one', 'two', 'three'];\
             const draw = () => {{ list.innerHTML = mails.map(m => `<li>{draw}</li>`).join('');\
                 list.querySelectorAll('button').forEach((b, i) => b.onclick = () => {{ tell('deleted:' + mails[i]); mails.splice(i, 1); draw(); }}); }};\
             draw()</script>"
        ))
    };
    let pages = [
        ("/named", page("Mail ${m} <button>Delete</button>")),
        ("/alike", page("Mail <button>Delete</button>")),
    ];
    let Some(mut site) = Web::new(&pages) else { return };
    for (path, _) in &pages {
        site.open(path);
        let found = site.text(&["find", "role=button \"Delete\" nth=1"]);
        let first = found.trim().split(' ').next().unwrap().to_owned();
        let pressed = site.surface.request(&["press", &first, "--count", "2"], |_| {});
        assert!(!pressed.ok, "{path}: {pressed:#?}");
        site.was_asked("/log?deleted:one");
        // Pending input has arrived once the next press has.
        site.ok(&["press", "role=listitem nth=2"]);
        assert_eq!(site.times("/log?deleted:two"), 0, "{path}");
    }
}
