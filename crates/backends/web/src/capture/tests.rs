use super::*;
use serde_json::json;

fn page() -> serde_json::Value {
    json!({
        "v": 1, "agent": "a1", "truncated": false, "ms": 1.5,
        "depth": [0, 1, 2, 1], "role": [1, 2, 3, 4], "tag": [0, 5, 0, 6], "name": [0, 7, 7, 0],
        "states": [0, 1 << 24, 0, 0], "id": [1, 2, 0, 3],
        "level": [], "value": [1, 8], "attrs": [1, 9, 10, 1, 11, 10],
        "docs": [{"row": 0, "number": 1, "frame": "", "url": "http://shop/", "title": "Shop"}],
        "custom": [], "hidden": [9, 1],
        "strings": ["", "document", "button", "text", "iframe", "button", "iframe", "Buy", "v", "testId", "buy-1", "newer"],
    })
}

fn columns(value: &serde_json::Value) -> Columns {
    Columns::parse(&value.to_string()).unwrap()
}

#[test]
fn columns_become_a_tree() {
    let mut scopes = Scopes::default();
    let tree = assemble(&columns(&page()), &HashMap::new(), &mut scopes, SurfaceId(4)).unwrap();
    assert_eq!((tree.len(), tree.surface(), tree.truncated()), (4, SurfaceId(4), false));
    assert_eq!(tree.documents()[0].url, "http://shop/");
    let button = tree.root().children().next().unwrap();
    assert_eq!(
        (button.role(), button.name(), button.value(), button.tag()),
        (Role::Button, "Buy", "v", "button")
    );
    assert!(button.is(States::ACTIONABLE));
    // An attribute of a newer script is passed over.
    assert_eq!(button.attrs().collect::<Vec<_>>(), [(Attr::TestId, "buy-1")]);
    let text = button.children().next().unwrap();
    assert!(text.is_text() && text.handle().is_none());
    assert_eq!(tree.hidden(), [Handle { scope: 1, id: 9 }]);
    assert_eq!(scopes.agent(1), Some("a1"));
}

#[test]
fn a_frame_of_another_process_hangs_below_its_element() {
    let mut inner = page();
    inner["agent"] = "a2".into();
    let frames = HashMap::from([(("a1".to_owned(), 3), columns(&inner))]);
    let tree = assemble(&columns(&page()), &frames, &mut Scopes::default(), SurfaceId(0)).unwrap();
    let iframe = tree.root().children().find(|n| n.role() == Role::Iframe).unwrap();
    let document = iframe.children().next().unwrap();
    assert_eq!((document.role(), document.document().frame.as_str()), (Role::Document, "/3"));
    // The same numbers in two documents are two handles.
    let handles: Vec<_> = tree
        .nodes()
        .filter(|n| n.role() == Role::Button)
        .filter_map(stickpin_tree::NodeRef::handle)
        .collect();
    assert_eq!((handles.len(), handles[0].id), (2, handles[1].id));
    assert_ne!(handles[0].scope, handles[1].scope);
}

#[test]
fn a_reload_gets_another_scope_and_the_same_document_the_same() {
    let mut scopes = Scopes::default();
    let first = scopes.scope("a1", 1);
    assert_eq!(scopes.scope("a1", 1), first);
    assert_ne!(scopes.scope("a2", 1), first);
    assert_ne!(scopes.scope("a1", 2), first);
    assert_eq!(scopes.agent(0), None);
}

#[test]
fn what_contradicts_itself_is_refused() {
    for (key, value) in [
        ("v", json!(2)),
        ("depth", json!([0, 1, 2])),
        ("depth", json!([0, 3, 2, 1])),
        ("name", json!([0, 99, 7, 0])),
        ("role", json!([1, 7, 3, 4])),
        ("strings", json!([])),
        ("value", json!([1, 99])),
    ] {
        let mut broken = page();
        broken[key] = value;
        let read = Columns::parse(&broken.to_string())
            .and_then(|c| assemble(&c, &HashMap::new(), &mut Scopes::default(), SurfaceId(0)));
        assert!(read.is_err(), "{key}: {broken}");
    }
}
