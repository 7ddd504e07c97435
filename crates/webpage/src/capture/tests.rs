use super::*;
use serde_json::json;

fn page() -> serde_json::Value {
    json!({
        "v": 2, "url": "http://shop/", "title": "Shop", "truncated": false, "ms": 1.5,
        "depth": [0, 1, 2, 1], "kind": [0, 1, 2, 3], "name": [0, 1, 2, 0], "names": ["Buy"], "ids": [1, 3],
        "kinds": [1, 0, 0, 2, 5, 1 << 24, 3, 0, 0, 4, 6, 0],
        "level": [], "value": [1, 8], "attrs": [1, 9, 10, 1, 11, 10],
        "custom": [], "hosts": [], "hidden": [9],
        "strings": ["", "document", "button", "text", "iframe", "button", "iframe", "Buy", "v", "testId", "buy-1", "newer"],
    })
}

fn part(value: &serde_json::Value, scope: u64, frame: &str) -> DocumentCapture {
    DocumentCapture { columns: Columns::parse(&value.to_string()).unwrap(), scope, frame: frame.to_owned() }
}

#[test]
fn columns_become_a_tree() {
    let tree = assemble(&part(&page(), 5, ""), &HashMap::new(), SurfaceId(4)).unwrap();
    assert_eq!((tree.len(), tree.surface(), tree.is_truncated()), (4, SurfaceId(4), false));
    assert_eq!(tree.documents()[0].url, "http://shop/");
    let button = tree.root().children().next().unwrap();
    assert_eq!(
        (button.role(), button.name(), button.value(), button.tag()),
        (Role::Button, "Buy", "v", "button")
    );
    assert!(button.is(States::ACTIONABLE));
    // An attribute from a newer script is skipped.
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
        // The element of this frame is not in any tree.
        (Handle { scope: 2, id: 77 }, part(&page(), 4, "0/1")),
    ]);
    let tree = assemble(&part(&page(), 1, ""), &frames, SurfaceId(0)).unwrap();
    let iframe = tree.root().children().find(|n| n.role() == Role::Iframe).unwrap();
    let document = iframe.children().next().unwrap();
    assert_eq!((document.role(), document.document().frame.as_str()), (Role::Document, "0"));
    let frames: Vec<_> = tree.documents().iter().map(|d| d.frame.as_str()).collect();
    assert_eq!(frames, ["", "0", "0/0"]);
    // Equal numbers in three documents are three handles.
    let buttons =
        tree.nodes().filter(|n| n.role() == Role::Button).filter_map(stickpin_tree::NodeRef::handle);
    let buttons: Vec<_> = buttons.map(|h| (h.scope, h.id)).collect();
    assert_eq!(buttons, [(1, 2), (2, 2), (3, 2)]);
}

#[test]
fn what_contradicts_itself_is_refused() {
    for (key, value) in [
        ("v", json!(1)),
        ("depth", json!([0, 1, 2])),
        ("depth", json!([0, 3, 2, 1])),
        ("depth", json!([0, 0, 1, 1])),
        ("kind", json!([0, 1, 2])),
        ("kind", json!([0, 1, 2, 4])),
        ("kinds", json!([1, 0, 0, 2, 5, 1 << 24, 3, 0, 0, 4, 6])),
        ("kinds", json!([1, 0, 0, 7, 5, 1 << 24, 3, 0, 0, 4, 6, 0])),
        ("kinds", json!([1, 0, 0, 2, 99, 1 << 24, 3, 0, 0, 4, 6, 0])),
        ("ids", json!([])),
        ("ids", json!([1])),
        ("ids", json!([1, 2])),
        ("ids", json!([1, 4])),
        ("ids", json!([1, 0, 2, 3])),
        ("ids", json!([u64::MAX, 3])),
        ("name", json!([0, 1, 2])),
        ("name", json!([0, 1, 3, 0])),
        ("name", json!([0, 1, 1, 0])),
        ("name", json!([0, 2, 1, 0])),
        ("names", json!([])),
        ("names", json!(["Buy", "More"])),
        ("strings", json!([])),
        ("value", json!([1, 99])),
    ] {
        let mut broken = page();
        broken[key] = value;
        let read = Columns::parse(&broken.to_string()).and_then(|columns| {
            let part = DocumentCapture { columns, scope: 1, frame: String::new() };
            assemble(&part, &HashMap::new(), SurfaceId(0))
        });
        assert!(read.is_err(), "{key}: {broken}");
    }
}

proptest::proptest! {
    /// Any rows decode to what was encoded; the test encodes them as the script does.
    #[test]
    fn columns_are_read_as_they_are_written(rows in proptest::collection::vec((0..3_u32, 0..6_u32, 0..40_u64), 0..60)) {
        let (mut kind, mut name, mut names, mut ids) = (vec![0], vec![0], Vec::<String>::new(), vec![7, 1]);
        let (mut next, mut expected) = (8, vec![(0, String::new(), 7)]);
        for (k, text, number) in rows {
            let text = if text == 0 { String::new() } else { format!("name {text}") };
            name.push(match names.iter().rposition(|n| *n == text) {
                _ if text.is_empty() => 0,
                Some(at) => names.len() - at + 1,
                None => {
                    names.push(text.clone());
                    1
                }
            });
            kind.push(k + 1);
            let number = if k == 2 { 0 } else { number + 1 };
            if number == next {
                *ids.last_mut().unwrap() += 1;
            } else if number != 0 {
                ids.extend([number, 1]);
            }
            next = if number == 0 { next } else { number + 1 };
            expected.push((k + 1, text, number));
        }
        let depth: Vec<u32> = (0..).take(kind.len()).map(|i| u32::from(i > 0)).collect();
        let mut page = page();
        for (key, column) in [("depth", json!(depth)), ("kind", json!(kind)), ("name", json!(name)), ("names", json!(names)),
            ("ids", json!(ids)), ("kinds", json!([1, 0, 0, 2, 5, 8, 4, 6, 0, 3, 0, 1])), ("value", json!([])), ("attrs", json!([]))] {
            page[key] = column;
        }
        let columns = Columns::parse(&page.to_string()).unwrap();
        let roles = ["document", "button", "iframe", "text"];
        for (row, (kind, text, number)) in expected.iter().enumerate() {
            let role = columns.role_of(row).unwrap();
            proptest::prop_assert_eq!((role.name(), columns.name_of(row), columns.id_of(row)), (roles[*kind as usize], text.as_str(), *number));
        }
    }
}
