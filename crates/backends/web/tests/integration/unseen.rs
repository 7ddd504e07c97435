//! What our scripts cannot see from inside the page: internals of custom elements, closed shadow
//! roots, listeners.

use crate::support::{Page, names};
use stickpin_device::{Action, Device, HitResult};
use stickpin_tree::{Attr, NodeRef, Role, States, Tree};

fn node<'a>(tree: &'a Tree, role: Role, name: &str) -> NodeRef<'a> {
    let found = tree.nodes().find(|n| n.role() == role && n.name() == name);
    found.unwrap_or_else(|| panic!("no {role} {name:?} in {:?}", names(tree)))
}

const INTERNALS: &str = "
    class Switch extends HTMLElement {
      constructor() {
        super();
        this.i = this.attachInternals();
        this.i.role = 'switch';
        this.i.ariaLabel = 'Dark';
        this.i.ariaChecked = 'true';
        this.onclick = () => { this.i.ariaChecked = this.i.ariaChecked === 'true' ? 'false' : 'true'; log.push('switch') };
      }
    }
    customElements.define('x-switch', Switch);
    customElements.define('x-plain', class extends HTMLElement {});
    customElements.define('x-button', class extends HTMLElement {
      constructor() { super(); this.i = this.attachInternals(); this.i.role = 'button'; }
    });
    customElements.define('x-attributed', class extends HTMLElement {
      constructor() { super(); this.i = this.attachInternals(); this.i.role = 'button'; this.i.ariaDisabled = 'true'; }
    });";

#[tokio::test]
async fn custom_elements_are_what_their_internals_say() {
    let html = format!(
        "<!doctype html><script>log=[];{INTERNALS}</script><x-switch>On</x-switch><x-plain>text</x-plain>
        <x-button>Save <b>all</b></x-button><x-attributed role=link>Go</x-attributed><x-undefined>u</x-undefined>"
    );
    let Some(mut page) = Page::show(&html).await else { return };
    let tree = page.capture().await;
    let switch = node(&tree, Role::Switch, "Dark");
    assert!(switch.is(States::CHECKABLE | States::CHECKED | States::ACTIONABLE), "{:?}", switch.states());
    assert!(!switch.is(States::NAME_FROM_CONTENT));
    let save = node(&tree, Role::Button, "Save all");
    assert!(save.is(States::ACTIONABLE | States::NAME_FROM_CONTENT));
    // An attribute takes precedence over internals, but states that only the internals have count
    // (HTML-AAM, "ElementInternals").
    assert!(node(&tree, Role::Link, "Go").is(States::DISABLED));
    for tag in ["x-plain", "x-undefined"] {
        assert_eq!(tree.nodes().find(|n| n.tag() == tag).unwrap().role(), Role::Generic, "{tag}");
    }
    // Locating uses the same names, with the current state.
    let handle = switch.handle().unwrap();
    page.press(handle).await;
    assert_eq!(page.log().await, ["switch"]);
    let located = page.device.locate(handle, &[]).await.unwrap().unwrap();
    let now = located.tree.node(located.node);
    assert_eq!((now.role(), now.name()), (Role::Switch, "Dark"));
    assert!(now.is(States::CHECKABLE) && !now.is(States::CHECKED), "{:?}", now.states());
    // The other elements are as they were captured.
    assert_eq!(node(&located.tree, Role::Button, "Save all").handle(), save.handle());
    page.close().await;
}

#[tokio::test]
async fn internals_and_closed_roots_are_found_in_frames_too() {
    let inner = format!(
        "<!doctype html><script>log=[];{INTERNALS}</script><x-switch>On</x-switch><div id=host></div><script>
        host.attachShadow({{mode:'closed'}}).innerHTML='<button>Deep</button>'</script>"
    );
    let outer =
        "<!doctype html><iframe src=/inner></iframe><iframe src='http://localhost:PORT/inner'></iframe>";
    let Some(mut page) = Page::site(&[("/", outer), ("/inner", &inner)]).await else { return };
    let tree = page.capture().await;
    for (role, name) in [(Role::Switch, "Dark"), (Role::Button, "Deep")] {
        let count = tree.nodes().filter(|n| n.role() == role && n.name() == name).count();
        assert_eq!(count, 2, "{role} {name}: {:?}", names(&tree));
    }
    page.close().await;
}

#[tokio::test]
async fn closed_shadow_roots_are_read_and_acted_in() {
    let html = "<!doctype html><script>log=[];
        const closed = (host, html) => { const root = host.attachShadow({mode:'closed'}); root.innerHTML = html; return root };
        customElements.define('x-card', class extends HTMLElement { constructor() { super();
          const root = closed(this, '<button id=b>Inner</button><p><slot></slot></p><input aria-label=Field><x-nested></x-nested>');
          root.getElementById('b').onclick = () => log.push('inner');
          root.querySelector('input').oninput = e => log.push('input ' + e.target.value); } });
        customElements.define('x-nested', class extends HTMLElement { constructor() { super();
          closed(this, '<button>Nested</button>').firstChild.onclick = () => log.push('nested'); } });
        </script><x-card>light <a href=/x>slotted</a></x-card><div id=plain></div><div id=hides><b>gone</b></div><x-late></x-late><script>
        closed(plain, '<button>Of a div</button>').firstChild.onclick = () => log.push('div');
        closed(hides, '<button>Instead</button>')</script>";
    let Some(mut page) = Page::show(html).await else { return };
    let tree = page.capture().await;
    for name in ["Inner", "Nested", "Of a div", "Instead"] {
        node(&tree, Role::Button, name);
    }
    let slotted = node(&tree, Role::Link, "slotted");
    assert_eq!(slotted.parent().unwrap().role(), Role::Generic, "the slot encloses the link");
    assert!(!names(&tree).iter().any(|n| n.contains("gone")), "{:?}", names(&tree));
    for (name, said) in [("Inner", "inner"), ("Nested", "nested"), ("Of a div", "div")] {
        let button = node(&tree, Role::Button, name).handle().unwrap();
        let done = page.press(button).await;
        assert!(done.handled, "{name}");
        assert_eq!(page.log().await.last().unwrap(), said);
    }
    let link = slotted.handle().unwrap();
    assert_eq!(page.aim(link).await.hit, HitResult::Target);
    let field = node(&tree, Role::TextBox, "Field").handle().unwrap();
    page.fill(field, "typed").await;
    assert_eq!(page.log().await.last().unwrap(), "input typed");
    let tree = page.capture().await;
    let field = node(&tree, Role::TextBox, "Field");
    assert_eq!((field.value(), field.is(States::FOCUSED)), ("typed", true));
    // Attached later, without a change of the document.
    page.truth::<()>("void closed(document.querySelector('x-late'), '<button>Late</button>')").await;
    let tree = page.capture().await;
    let late = node(&tree, Role::Button, "Late").handle().unwrap();
    assert!(page.device.locate(late, &[]).await.unwrap().is_some());
    page.close().await;
}

#[tokio::test]
async fn what_listens_for_clicks_is_clickable() {
    let html = "<!doctype html><style>div{width:200px}</style><script>log=[]</script>
        <div id=own>own</div><div id=wrapper><div id=inner>inner</div></div><ul id=list><li id=item>item</li><li>other</li></ul>
        <div id=plain>plain</div><div id=hover>hover</div><button id=button>b</button>
        <div id=app><div id=late>late</div></div><div id=host></div><iframe srcdoc='<div id=framed>framed</div>'></iframe><script>
        const on = (e, type = 'click') => e.addEventListener(type, () => e.id && log.push(e.id));
        host.attachShadow({mode:'open'}).innerHTML = '<div id=shadowed>shadowed</div>';
        for (const e of [own, wrapper, inner, item, button, document.body, document, host.shadowRoot.firstChild]) on(e);
        on(plain, 'keydown'); on(hover, 'mouseover');
        addEventListener('load', () => on(frames[0].document.getElementById('framed')))</script>";
    let Some(mut page) = Page::show(html).await else { return };
    let clickables = |tree: &Tree| -> Vec<String> {
        let pressed = tree.nodes().filter(|n| n.is(States::ACTIONABLE));
        pressed.map(|n| format!("{} {}", n.role(), n.children().next().map_or("", |c| c.name()))).collect()
    };
    let tree = page.capture().await;
    let expected = [
        "clickable own",
        "clickable inner",
        "listitem item",
        "button b",
        "clickable shadowed",
        "clickable framed",
    ];
    assert_eq!(clickables(&tree), expected);
    let own = tree.nodes().find(|n| n.role() == Role::Clickable).unwrap().handle().unwrap();
    page.press(own).await;
    assert_eq!(page.log().await, ["own"]);
    let located = page.device.locate(own, &[]).await.unwrap().unwrap();
    assert_eq!(located.tree.node(located.node).role(), Role::Clickable);
    // Listeners are added without a change of the document.
    page.truth::<()>("on(late)").await;
    let tree = page.capture().await;
    assert!(clickables(&tree).contains(&"clickable late".to_owned()), "{:?}", clickables(&tree));
    page.close().await;
}

/// Returns the ids of the actionable elements, in page order.
fn acted_on(tree: &Tree) -> Vec<&str> {
    tree.nodes().filter(|n| n.is(States::ACTIONABLE)).map(|n| n.attr(Attr::Id).unwrap_or("")).collect()
}

#[tokio::test]
async fn what_listens_in_something_that_is_pressed_is_clickable() {
    let html = "<!doctype html><style>.hand{cursor:pointer;width:200px}i{display:inline-block;width:12px;height:12px}</style>
        <script>log=[]</script><div class=hand id=row>Ann <i id=star></i><i id=trash></i></div>
        <div class=hand id=bar><span id=reply><b>Reply</b></span> <span id=forward>Forward</span></div>
        <div class=hand id=whole><span id=all>All of it</span></div><button id=save>Save <i id=inner></i></button><script>
        for (const e of [row, star, trash, reply, forward, whole, all, save, inner])
          e.addEventListener('click', event => { log.push(e.id); event.stopPropagation() })</script>";
    let Some(mut page) = Page::show(html).await else { return };
    let tree = page.capture().await;
    let expected = ["row", "star", "trash", "bar", "reply", "forward", "whole", "save"];
    assert_eq!(acted_on(&tree), expected);
    for id in ["star", "forward", "row"] {
        let handle = tree.nodes().find(|n| n.attr(Attr::Id) == Some(id)).unwrap().handle().unwrap();
        page.press(handle).await;
        assert_eq!(page.log().await.last().unwrap(), id);
    }
    page.close().await;
}

#[tokio::test]
async fn shapes_that_are_pressed_are_clickable() {
    let html = "<!doctype html><style>.hand{cursor:pointer}</style><script>log=[]</script>
        <svg id=chart width=200 height=100><rect width=200 height=100 fill=none /><circle id=one cx=20 cy=20 r=8 />
          <circle id=two cx=60 cy=20 r=8 /><path id=arc d='M100 60 A40 40 0 0 1 180 60' fill=none stroke=black stroke-width=4 />
          <line id=thin x1=10 y1=90 x2=90 y2=50 stroke=black /></svg>
        <svg id=bars width=100 height=50><rect id=bar class=hand width=20 height=20 /><rect id=plain x=40 width=20 height=20 /></svg>
        <svg id=still width=20 height=20><path d='M0 0h20v20z' /></svg>
        <button id=save>Save <svg width=10 height=10><path class=hand d='M0 0h9v9z' /></svg></button>
        <svg id=many width=300 height=30></svg><script>
        for (const e of [one, two, arc, thin]) e.addEventListener('click', () => log.push(e.id));
        bars.addEventListener('click', e => log.push(e.target.id));
        for (let i = 0; i < 201; i++) {
          const dot = document.createElementNS('http://www.w3.org/2000/svg', 'circle');
          dot.setAttribute('r', 1), dot.setAttribute('cx', i), dot.classList.add('hand');
          dot.onclick = () => log.push('dot'), many.append(dot);
        }</script>";
    let Some(mut page) = Page::show(html).await else { return };
    let tree = page.capture().await;
    assert_eq!(acted_on(&tree), ["one", "two", "arc", "thin", "bar", "save"]);
    for id in ["two", "arc", "thin", "bar"] {
        let handle = tree.nodes().find(|n| n.attr(Attr::Id) == Some(id)).unwrap().handle().unwrap();
        assert_eq!(page.aim(handle).await.hit, HitResult::Target, "{id}");
        page.press(handle).await;
        assert_eq!(page.log().await.last().unwrap(), id);
    }
    // A point in the drawing resolves to the part there or, in a picture without parts, to the
    // drawing.
    let two = tree.nodes().find(|n| n.attr(Attr::Id) == Some("two")).unwrap().handle();
    let [x, y] = page
        .truth::<[f64; 2]>("(r => [r.x + r.width / 2, r.y + r.height / 2])(two.getBoundingClientRect())")
        .await;
    assert_eq!(page.device.geometry().unwrap().element_at(x, y).await.unwrap(), two);
    // A part that gets a listener later, in a drawing that was one picture until then.
    page.truth::<()>("void still.firstElementChild.addEventListener('click', () => log.push('late'))").await;
    let tree = page.capture().await;
    assert_eq!(acted_on(&tree).len(), 7, "{:?}", acted_on(&tree));
    page.close().await;
}

#[tokio::test]
async fn keys_reach_a_field_in_a_closed_root() {
    let html = "<!doctype html><script>log=[]</script><div id=host></div><script>
        const root = host.attachShadow({mode:'closed'}); root.innerHTML = '<input aria-label=F>';
        root.firstChild.oninput = e => log.push(e.target.value)</script>";
    let Some(mut page) = Page::show(html).await else { return };
    let field = page.find(Role::TextBox, "F").await;
    let text = "ab".to_owned();
    page.perform(&Action::Type { target: Some(field), text }).await;
    assert_eq!(page.log().await.last().unwrap(), "ab");
    page.close().await;
}
