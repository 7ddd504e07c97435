//! What a capture includes besides names: sources of images, generated text, descriptions,
//! fingerprints of options, and the selected item of a list. The context rule reads these.

use super::harness::{Page, serve};
use stickpin_tree::{Attr, NodeRef, Role, States, Tree};

async fn show(page: &mut Page, html: &str) -> Tree {
    let html = format!("<!doctype html><meta charset=utf-8><title>t</title>{html}");
    let site = serve(move |_| Some(("text/html", html.clone().into_bytes()))).await;
    page.open(&format!("{site}/app/page")).await;
    page.capture().await
}

/// Returns the element with an `id`.
fn by_id<'t>(tree: &'t Tree, id: &str) -> NodeRef<'t> {
    tree.nodes().find(|n| n.attr(Attr::Id) == Some(id)).unwrap_or_else(|| panic!("{id} is not in the tree"))
}

/// Returns the value of an attribute for each id, `-` if the attribute is not set.
fn attrs(tree: &Tree, ids: &str, attr: Attr) -> Vec<String> {
    ids.split(' ').map(|id| by_id(tree, id).attr(attr).unwrap_or("-").to_owned()).collect()
}

fn texts(tree: &Tree) -> Vec<&str> {
    tree.nodes().filter(|n| n.is_text()).map(|n| n.name()).collect()
}

#[tokio::test]
async fn pictures_carry_path_and_query_of_their_source() {
    let Some(mut page) = Page::start().await else { return };
    let html = "<img id=plain src=/img/ada.png?w=2#f alt=Ada><img id=far src=http://127.0.0.1:1/b/c.jpg alt=far>
        <img id=relative src=d.png alt=relative><img id=none alt=none><a href=/x>Ada <img id=decoration src=/img/x.png alt=''></a>
        <img id=set src=/low.png srcset='/high.png 2x, /higher.png 3x' alt=set>
        <picture><source srcset='/wide.webp 1x'><img id=art src=/wide.jpg alt=art></picture>
        <img id=blank alt=blank src='data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'>
        <svg id=use width=9 height=9><use href=#trash></use></svg><svg id=sprite width=9 height=9><use href='/icons.svg#bin'></use></svg>
        <input id=image type=image src=/go.png alt=Go><video id=video poster=/still.jpg src=/film.mp4></video>
        <video id=film><source src=/other.mp4></video>
        <div id=style style='width:9px;background:red url(\"/bg/ada.png\") no-repeat'></div><div id=plainstyle style='color:red'></div>
        <svg width=9 height=9><image id=drawn href=/in.png></image></svg>";
    let tree = show(&mut page, html).await;
    let ids =
        "plain far relative none decoration set art blank use sprite image video film style plainstyle drawn";
    let expected = "/img/ada.png?w=2 /b/c.jpg /app/d.png - /img/x.png /high.png /wide.webp - #trash /icons.svg#bin /go.png \
        /still.jpg /other.mp4 /bg/ada.png - /in.png";
    assert_eq!(attrs(&tree, ids, Attr::Source).join(" "), expected);
}

#[tokio::test]
async fn long_and_embedded_sources_are_short_and_differ_all_the_same() {
    let Some(mut page) = Page::start().await else { return };
    let tail = "x".repeat(9_000);
    let html = format!(
        "<img id=a alt=a src='data:image/png;base64,{tail}A'><img id=b alt=b src='data:image/png;base64,{tail}B'>
         <img id=c alt=c src='data:image/png;base64,{tail}A'><img id=d alt=d src='/one/{tail}.png'><img id=e alt=e src='/two/{tail}.png'>"
    );
    let tree = show(&mut page, &html).await;
    let found = attrs(&tree, "a b c d e", Attr::Source);
    assert!(found.iter().all(|s| s.chars().count() <= 48 && s.contains('#')), "{found:?}");
    assert!(found[0].starts_with("data:image/png#") && found[3].starts_with('…'), "{found:?}");
    assert_eq!(found[0], found[2]);
    assert!(found[0] != found[1] && found[3] != found[4], "{found:?}");
    // A cached fingerprint is that of the address it was computed from.
    page.page_eval("c.src = b.src").await;
    let after = attrs(&page.capture().await, "a b c", Attr::Source);
    assert_eq!(after.iter().collect::<Vec<_>>(), [&found[0], &found[1], &found[1]]);
}

#[tokio::test]
async fn generated_text_is_in_the_tree() {
    let Some(mut page) = Page::start().await else { return };
    let css = ".name::before{content:attr(data-n)} .unit::after{content:' km'} .state.on::before{content:'Enabled'} .both::before{content:'<'} \
        .both::after{content:'ok'} .off::before{content:'Off';display:none} .ghost::before{content:'Ghost';visibility:hidden} \
        .icon::before{content:'home';font-family:'Material Icons'} .glyph::before{content:'\\e001'} .bullet::before{content:'\\2022'} \
        .arrow::after{content:'\\25be'} .sm\\:tag:not(.x)::before{content:'Tagged'} .upper{text-transform:uppercase} \
        .upper::before{content:'made '} .wrap::before{content:'Front'} .wrap::after{content:'Back'} i.x[data-y='a,b']::before{content:'Attr'} \
        :is(u)::before{content:'Any'} .count{counter-increment:c} .count::before{content:counter(c) '. '}";
    let html = format!(
        "<style>{css}</style><p><span class=name data-n='Ada Berg'></span></p><p class=unit>12</p><p class='state on'></p><p class=both>x</p>
         <p class=off></p><p class=ghost></p><p class=icon></p><p class=glyph>glyph</p><p class=bullet>bullet</p><p class=arrow>arrow</p>
         <p class='sm:tag'></p><p class=upper>text</p><div class=wrap><b>middle</b></div><i class=x data-y='a,b'></i><u></u><p class=count>counted</p><button class=name data-n=Del></button>"
    );
    let tree = show(&mut page, &html).await;
    let expected = [
        "Ada Berg",
        "12 km",
        "Enabled",
        "xok",
        "glyph",
        "bullet",
        "arrow",
        "Tagged",
        "MADE TEXT",
        "Front",
        "middle",
        "Back",
        "Attr",
        "Any",
        "counted",
        "Del",
    ];
    assert_eq!(texts(&tree), expected);
    page.page_eval("document.querySelector('.name').dataset.n = 'Nils Falk'").await;
    assert_eq!(texts(&page.capture().await)[0], "Nils Falk");
}

#[tokio::test]
async fn descriptions_come_from_references_attributes_and_titles() {
    let Some(mut page) = Page::start().await else { return };
    let html = "<p id=hint hidden>Deletes <b>Ada</b></p><button id=hidden aria-describedby=hint>Delete</button>
        <button id=said aria-description=Said title=T>A</button><button id=titled title='Of Ada'>B</button><button id=same title=C>C</button>
        <button id=only title=Only></button><div id=generic title='Row of Ada'>x</div><button>In <span id=inside title='Inside'>it</span></button>
        <input id=submit type=submit value=Send aria-label=N><table id=table aria-label=N><caption>Caption</caption><tr><th>h<td>d</table>
        <svg id=svg role=img width=9 height=9><title>S</title><desc>D</desc></svg><select><option id=option title='An option'>o</select>";
    let tree = show(&mut page, html).await;
    let ids = "hidden said titled same only generic inside submit table svg option";
    let expected = [
        "Deletes Ada",
        "Said",
        "Of Ada",
        "-",
        "-",
        "Row of Ada",
        "Inside",
        "Send",
        "Caption",
        "D",
        "An option",
    ];
    assert_eq!(attrs(&tree, ids, Attr::Description), expected);
}

#[tokio::test]
async fn lists_carry_a_fingerprint_of_what_their_options_mean() {
    let Some(mut page) = Page::start().await else { return };
    let html = "<select id=plain><option>Savings<option>Checking</select><select id=accounts><option value=a1>Savings<option value=a2>Checking</select>
        <select id=same><option value=a1>Savings<option value=a2>Checking</select><select id=other><option value=b1>Savings<option value=b2>Checking</select>
        <select id=label><option value=a1>Savings<option value=a2>Credit</select><select id=split><option value=a>1Savings<option value=a2>Checking</select>
        <input id=field list=towns><datalist id=towns><option>Bergen<option value=Oslo></datalist>";
    let tree = show(&mut page, html).await;
    let found = attrs(&tree, "plain accounts same other label split field", Attr::Options);
    assert_eq!(found[0], "-");
    assert_eq!(found[1], found[2]);
    assert!(found.iter().all(|print| print.len() <= 16), "{found:?}");
    let mut different = found.clone();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), 6, "{found:?}");
    page.page_eval("accounts.options[1].value = 'c2', towns.lastElementChild.value = 'Rena'").await;
    let after = attrs(&page.capture().await, "plain accounts same other label split field", Attr::Options);
    let changed: Vec<_> = (0..found.len()).filter(|&i| found[i] != after[i]).collect();
    assert_eq!(changed, [1, 6]);
}

#[tokio::test]
async fn the_chosen_item_of_every_list_is_marked() {
    let Some(mut page) = Page::start().await else { return };
    let html = "<ul role=listbox><li id=option role=option aria-selected=true>a</ul><div role=tablist><div id=tab role=tab aria-selected=true>a</div></div>
        <div role=grid><div id=row role=row aria-selected=true><div id=cell role=gridcell aria-selected=true>c</div></div></div>
        <ul role=tree><li id=item role=treeitem aria-selected=true>a</ul><div role=radiogroup><div id=radio role=radio aria-checked=true>r</div></div>
        <input type=radio id=native checked><select><option id=chosen selected>o</select>
        <a id=link href=/a aria-current=page>l</a><ul><li id=step aria-current=step>s</ul><div id=generic aria-current=true>g</div>
        <button>x <span id=within aria-current=true>y</span></button><div id=not aria-current=False>n</div>
        <ul><li id=li aria-selected=true>a<li id=class class='item item--active'>b<li id=mui class=Mui-selected>c<li id=plain class='active-list selectedx'>d</ul>
        <div id=box role=listbox aria-activedescendant=ada tabindex=0><div id=ada role=option>Ada Berg</div></div>
        <div id=lost role=listbox aria-activedescendant=nowhere tabindex=0></div>";
    let tree = show(&mut page, html).await;
    for id in ["option", "tab", "row", "cell", "item", "chosen"] {
        assert!(by_id(&tree, id).is(States::SELECTED), "{id}");
        assert_eq!(by_id(&tree, id).attr(Attr::Chosen), None, "{id}: its state says so");
    }
    for id in ["radio", "native"] {
        assert!(by_id(&tree, id).is(States::CHECKED), "{id}");
    }
    assert_eq!(
        attrs(&tree, "link step generic within not", Attr::Current),
        ["page", "step", "true", "true", "-"]
    );
    assert_eq!(by_id(&tree, "generic").role(), Role::Generic);
    assert_eq!(attrs(&tree, "li class mui plain", Attr::Chosen), ["true", "active", "selected", "-"]);
    assert_eq!(attrs(&tree, "box lost", Attr::ActiveDescendant), ["Ada Berg", "nowhere"]);
}
