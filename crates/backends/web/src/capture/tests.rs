use super::*;
use serde_json::json;

fn page() -> serde_json::Value {
    json!({
        "v": 1, "url": "http://shop/", "title": "Shop", "truncated": false, "ms": 1.5,
        "depth": [0, 1, 2, 1], "role": [1, 2, 3, 4], "tag": [0, 5, 0, 6], "name": [0, 7, 7, 0],
        "states": [0, 1 << 24, 0, 0], "id": [1, 2, 0, 3],
        "level": [], "value": [1, 8], "attrs": [1, 9, 10, 1, 11, 10],
        "custom": [], "hosts": [], "hidden": [9],
        "strings": ["", "document", "button", "text", "iframe", "button", "iframe", "Buy", "v", "testId", "buy-1", "newer"],
    })
}

fn part(value: &serde_json::Value, scope: u64, frame: &str) -> Part {
    Part { columns: Columns::parse(&value.to_string()).unwrap(), scope, frame: frame.to_owned() }
}

#[test]
fn columns_become_a_tree() {
    let tree = assemble(&part(&page(), 5, ""), &HashMap::new(), SurfaceId(4)).unwrap();
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
    assert_eq!(tree.hidden(), [Handle { scope: 5, id: 9 }]);
}

#[test]
fn a_frame_hangs_below_its_element() {
    let frames = HashMap::from([
        (Handle { scope: 1, id: 3 }, part(&page(), 2, "0")),
        (Handle { scope: 2, id: 3 }, part(&page(), 3, "0/0")),
        // Its element is in no tree.
        (Handle { scope: 2, id: 77 }, part(&page(), 4, "0/1")),
    ]);
    let tree = assemble(&part(&page(), 1, ""), &frames, SurfaceId(0)).unwrap();
    let iframe = tree.root().children().find(|n| n.role() == Role::Iframe).unwrap();
    let document = iframe.children().next().unwrap();
    assert_eq!((document.role(), document.document().frame.as_str()), (Role::Document, "0"));
    let frames: Vec<_> = tree.documents().iter().map(|d| d.frame.as_str()).collect();
    assert_eq!(frames, ["", "0", "0/0"]);
    // The same numbers in three documents are three handles.
    let buttons =
        tree.nodes().filter(|n| n.role() == Role::Button).filter_map(stickpin_tree::NodeRef::handle);
    let buttons: Vec<_> = buttons.map(|h| (h.scope, h.id)).collect();
    assert_eq!(buttons, [(1, 2), (2, 2), (3, 2)]);
}

#[test]
fn what_contradicts_itself_is_refused() {
    for (key, value) in [
        ("v", json!(2)),
        ("depth", json!([0, 1, 2])),
        ("depth", json!([0, 3, 2, 1])),
        ("depth", json!([0, 0, 1, 1])),
        ("id", json!([])),
        ("name", json!([0, 99, 7, 0])),
        ("role", json!([1, 7, 3, 4])),
        ("strings", json!([])),
        ("value", json!([1, 99])),
    ] {
        let mut broken = page();
        broken[key] = value;
        let read = Columns::parse(&broken.to_string()).and_then(|columns| {
            let part = Part { columns, scope: 1, frame: String::new() };
            assemble(&part, &HashMap::new(), SurfaceId(0))
        });
        assert!(read.is_err(), "{key}: {broken}");
    }
}
