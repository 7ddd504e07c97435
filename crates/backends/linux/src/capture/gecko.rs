//! What Firefox is not asked. Each answer costs it and us some 15 µs, and a page has a thousand objects, most of which
//! only hold text: cells, rows, headings, paragraphs. Their roles are asked for all at once; then states, and then each of
//! these is asked for what it may differ in (ADR 33).

use super::ask::Ask;
use crate::bus::body::Reference;
use crate::bus::fault::Fault;
use crate::bus::{Call, Link, calls};
use crate::model::roles::{self, Facts, number as role};
use crate::model::states;
use crate::model::{EMBEDDED, Interfaces, Object};
use hashbrown::HashMap;

/// What text that nobody acts on says of itself, and no more. One that has the focus, or can have it, can be selected,
/// edited or opened, is asked everything.
const PLAIN: u64 = states::ENABLED
    | states::OPAQUE
    | states::SENSITIVE
    | states::SHOWING
    | states::VISIBLE
    | states::SELECTABLE_TEXT;

/// What Gecko gives to everything that holds text.
const INTERFACES: [Interfaces; 5] = [
    Interfaces::ACTION,
    Interfaces::COMPONENT,
    Interfaces::EDITABLE,
    Interfaces::TEXT,
    Interfaces::HYPERTEXT,
];

/// Objects of one role that a document names at once. It takes time with the square of their number.
const MATCHES: i32 = 2_000;

/// The order of the tree (`AtspiCollectionSortOrder`).
const CANONICAL: u32 = 1;

/// What in these documents has one of these roles, by path: asked for each role instead of each object, which costs
/// Firefox a tenth where they are common.
///
/// # Errors
/// When the app is gone or silent.
pub(crate) async fn roles<'d>(link: &Link, documents: &'d [String]) -> Result<HashMap<String, u32>, Fault> {
    let asked =
        documents.iter().flat_map(|document| roles::with(Facts::COMMON).map(move |role| (document, role)));
    let asked: Vec<(&String, u32)> = asked.collect();
    let in_role = |&(document, role): &(&'d String, u32)| calls::in_role(document, role, CANONICAL, MATCHES);
    let calls: Vec<Call<'_>> = asked.iter().map(in_role).collect();
    let mut out = HashMap::new();
    for ((document, role), named) in asked.iter().zip(link.each::<Vec<Reference>>(&calls).await?) {
        // Where a document does not tell them, each object is asked itself.
        let named = named.unwrap_or_default().into_iter();
        out.extend(named.map(|named| (link.named(document, named), *role)));
    }
    Ok(out)
}

/// Whether an object is a page that can be seen: it names what stands in it.
pub(super) fn is_page(object: &Object) -> bool {
    object.role == role::DOCUMENT_WEB && object.is(states::VISIBLE)
}

/// Whether an object of Firefox only holds text and what stands in it.
pub(super) fn is_plain(object: &Object) -> bool {
    let holds_text = roles::is(object.role, Facts::CELL)
        || names_by_markup(object.role)
        || matches!(object.role, role::HEADING | role::PARAGRAPH | role::LIST_ITEM);
    object.states & !PLAIN == 0 && holds_text
}

/// What is asked of plain text before its children. How many these are, the text says.
pub(super) fn asks(number: u32) -> &'static [Ask] {
    match number {
        // Rows of HTML have no text of their own, and the others say which they are (`later`). They have cells.
        role::TABLE_ROW => &[],
        role::SECTION => &[Ask::Text],
        _ => &[Ask::Name, Ask::Text],
    }
}

/// Takes over what the answers to [`asks`] say beside themselves.
pub(super) fn answered(object: &mut Object) {
    INTERFACES.into_iter().for_each(|interface| object.interfaces.insert(interface));
    if object.role == role::TABLE_ROW {
        return;
    }
    match &object.text {
        // An image with the role of a heading, say.
        None => object.interfaces.remove(Interfaces::TEXT),
        // A character stands for each child. Without any text there may be children that have no place in it.
        Some(text) if !text.is_empty() && !text.contains(EMBEDDED) => {
            object.count = 0;
            object.complete = true;
        }
        Some(_) => {}
    }
}

/// What is asked when the attributes are there: whether the page names it, and whether it is a row of HTML.
pub(super) fn later(object: &Object) -> impl Iterator<Item = Ask> {
    let (explicit, tag) = (object.attribute("explicit-name"), object.attribute("tag"));
    let unnamed = is_plain(object) && names_by_markup(object.role) && object.name.is_empty();
    let name = unnamed && (explicit.is_some() || tag.is_none());
    let text = has_text_later(object) && tag != Some("tr");
    name.then_some(Ask::Name).into_iter().chain(text.then_some(Ask::Text))
}

/// Whether it is asked for its text when its attributes are there.
pub(super) fn has_text_later(object: &Object) -> bool {
    is_plain(object) && object.role == role::TABLE_ROW
}

/// Whether a plain object is as little hidden as the row that it stands in, and so is not asked where it is.
pub(super) fn is_where_its_row_is(object: &Object) -> bool {
    is_plain(object) && roles::is(object.role, Facts::CELL) && object.count == 0
}

/// Roles that have a name only where the page gives them one (ARIA, "name from author"), and are asked for their
/// attributes anyway.
fn names_by_markup(number: u32) -> bool {
    matches!(number, role::TABLE_ROW | role::SECTION)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Heard;
    use crate::tests::peer::App;
    use std::sync::Arc;

    const SEEN: u64 = states::VISIBLE | states::SHOWING | states::ENABLED | states::SENSITIVE;

    fn object(role: u32) -> Object {
        Object { role, states: SEEN, count: -1, ..Object::default() }
    }

    fn after(role: u32, text: Option<&str>) -> Object {
        let mut object = Object { text: text.map(str::to_owned), ..object(role) };
        answered(&mut object);
        object
    }

    #[test]
    fn what_is_acted_on_is_asked_everything() {
        for number in
            [role::LINK, role::PUSH_BUTTON, role::ENTRY, role::TABLE, role::DOCUMENT_WEB, role::STATIC]
        {
            assert!(!is_plain(&object(number)), "{number}");
        }
        for number in [role::TABLE_CELL, role::TABLE_ROW, role::HEADING, role::SECTION, role::LIST_ITEM] {
            assert!(is_plain(&object(number)), "{number}");
            let states = [
                states::FOCUSABLE,
                states::SELECTABLE,
                states::EDITABLE,
                states::EXPANDABLE,
                states::MANAGES_DESCENDANTS,
                states::BUSY,
                states::DEFUNCT,
            ];
            for state in states {
                assert!(!is_plain(&Object { states: SEEN | state, ..object(number) }), "{number} {state:#x}");
            }
        }
    }

    #[test]
    fn plain_text_is_asked_for_its_name_and_its_text_and_a_row_for_neither() {
        assert_eq!(asks(role::TABLE_CELL), [Ask::Name, Ask::Text]);
        assert_eq!(asks(role::HEADING), [Ask::Name, Ask::Text]);
        assert_eq!(asks(role::SECTION), [Ask::Text]);
        assert_eq!(asks(role::TABLE_ROW), []);
    }

    #[test]
    fn a_text_in_which_nothing_stands_has_no_children() {
        assert_eq!(after(role::TABLE_CELL, Some("Firefox")).count, 0);
        assert!(after(role::TABLE_CELL, Some("Firefox")).complete);
        for open in [Some("see \u{fffc}"), Some(""), None] {
            let object = after(role::TABLE_CELL, open);
            assert!(object.count < 0 && !object.complete, "{open:?}");
        }
        assert!(!after(role::TABLE_ROW, None).complete);
    }

    #[test]
    fn what_has_no_text_after_all_is_not_asked_for_it_again() {
        assert!(!after(role::HEADING, None).has(Interfaces::TEXT));
        assert!(after(role::HEADING, None).has(Interfaces::ACTION));
        assert!(after(role::HEADING, Some("")).has(Interfaces::TEXT));
    }

    #[test]
    fn a_row_is_asked_for_its_name_where_the_page_gives_it_one() {
        let later = |number, attributes: &[(&str, &str)]| {
            let attributes = attributes.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
            super::later(&Object { attributes, ..object(number) }).collect::<Vec<_>>()
        };
        assert_eq!(later(role::TABLE_ROW, &[("tag", "tr")]), []);
        assert_eq!(later(role::TABLE_ROW, &[("tag", "tr"), ("explicit-name", "true")]), [Ask::Name]);
        assert_eq!(later(role::TABLE_ROW, &[("tag", "div")]), [Ask::Text]);
        assert_eq!(later(role::SECTION, &[("tag", "div")]), []);
        assert_eq!(later(role::SECTION, &[("tag", "div"), ("explicit-name", "true")]), [Ask::Name]);
        // It did not say.
        assert_eq!(later(role::TABLE_ROW, &[]), [Ask::Name, Ask::Text]);
        assert_eq!(later(role::TABLE_CELL, &[]), []);
    }

    #[test]
    fn only_a_cell_with_nothing_but_text_is_not_asked_where_it_is() {
        assert!(is_where_its_row_is(&after(role::TABLE_CELL, Some("Firefox"))));
        assert!(!is_where_its_row_is(&after(role::TABLE_CELL, Some("\u{fffc}"))));
        assert!(!is_where_its_row_is(&after(role::SECTION, Some("folded"))));
        let link = Object { states: SEEN | states::FOCUSABLE, ..after(role::TABLE_CELL, Some("Firefox")) };
        assert!(!is_where_its_row_is(&link));
    }

    #[tokio::test]
    async fn a_document_that_tells_no_roles_costs_a_question_for_each_of_them_and_no_more() {
        let app = App::start();
        let link = app.link(&Arc::new(Heard::new())).await;
        assert_eq!(roles(&link, &["/document".to_owned()]).await, Ok(HashMap::new()));
        assert_eq!(app.calls(), roles::with(Facts::COMMON).count());
        assert_eq!(roles(&link, &[]).await, Ok(HashMap::new()));
        assert_eq!(app.calls(), roles::with(Facts::COMMON).count());
    }

    #[tokio::test]
    async fn an_app_that_is_gone_is_not_one_that_tells_no_roles() {
        let app = App::start();
        let link = app.link(&Arc::new(Heard::new())).await;
        app.hold();
        let silent = roles(&link, &["/document".to_owned()]).await;
        assert!(matches!(silent, Err(Fault::Silent(_))), "{silent:?}");
    }
}
