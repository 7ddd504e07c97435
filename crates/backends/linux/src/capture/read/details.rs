//! Details of visible objects that no cache contains: texts, values, rectangles and labels.

use super::ObjectReader;
use crate::bus::{BusResult, Link, embedded_path};
use crate::capture::labels::takes_label;
use crate::capture::question::{Question, Questions, is_mute};
use crate::model::{Facts, Interfaces, Object, ObjectTree, is_field, role, roles, states};
use crate::toolkit::{self, profile::Toolkit};

impl ObjectReader {
    /// Reads all details.
    pub(super) async fn details(&mut self, link: &Link) -> BusResult<()> {
        let toolkit = self.picture.toolkit;
        let (mut questions, mut texts) = (Questions::default(), Questions::default());
        let shown = |(_, object): &(usize, &Object)| object.shown;
        for (at, object) in self.picture.objects.iter().enumerate().skip(1).filter(shown) {
            for ask in details_of(object, toolkit) {
                texts.0.extend((ask == Question::Length).then_some((at, Question::Text)));
                questions.0.push((at, ask));
            }
        }
        let places = beside_labels(&self.picture).into_iter().chain(toolkit::positioned(&self.picture));
        places.for_each(|at| questions.0.push((at, Question::Extents)));
        let gone = questions.ask(link, &mut self.picture).await?.vanished;
        gone.into_iter().for_each(|at| self.picture[at].shown = false);
        for (at, object) in self.picture.objects.iter().enumerate().filter(shown) {
            texts.add_all(at, toolkit::late_questions(toolkit, object));
        }
        texts.ask(link, &mut self.picture).await?;
        for object in self.picture.objects.iter_mut().skip(1) {
            object.shown &= !object.is_flat();
        }
        toolkit::hide_by_position(&mut self.picture);
        Ok(())
    }
}

/// Returns the fields without a name and the labels next to them. Their rectangles determine which
/// field and label belong together.
fn beside_labels(picture: &ObjectTree) -> Vec<usize> {
    // In GTK 4, all rectangles are queried anyway.
    if picture.profile().is_asked_for_places {
        return Vec::new();
    }
    let label = |at: usize| picture[at].role == role::LABEL;
    let mut out = Vec::new();
    for parent in picture.objects.iter().filter(|parent| parent.shown) {
        let nameless = |at: usize| takes_label(parent, &picture[at], picture.toolkit);
        let shown = || parent.children.iter().copied().filter(|&child| picture[child].shown);
        if shown().any(nameless) && shown().any(label) {
            out.extend(shown().filter(|&child| nameless(child) || label(child)));
        }
    }
    out
}

/// Returns the queries about a visible object.
fn details_of(object: &Object, toolkit: Toolkit) -> impl Iterator<Item = Question> {
    let has = |interface| object.has(interface);
    let is = |facts| roles::is(object.role, facts);
    let profile = toolkit.profile();
    let scrolled_away =
        !profile.is_asked_for_places && !object.is(states::SHOWING) && !is_mute(object, toolkit);
    let placed = profile.is_asked_for_places || scrolled_away;
    let field = is_field(object.role);
    // Some labels of LibreOffice, which may identify as GTK 3, have no name: those in the line
    // below a document.
    let nameless = profile.labels_lack_names && object.role == role::LABEL && object.name.trim().is_empty();
    // The name of other labels is their text. Passwords are never read.
    let named = matches!(object.role, role::LABEL | role::STATIC) && !profile.labels_differ_from_their_names;
    let reads = nameless || !named && !is(Facts::TEXTLESS);
    let web = profile.is_browser || embedded_path(&object.path).is_some();
    let keyed = field || matches!(object.role, role::HEADING | role::LANDMARK) || web && is(Facts::KEYED);
    // The name of a combo box is its selected option, and all pages of a notebook have the same
    // name.
    let unnamed = (object.name.is_empty() || object.role == role::COMBO_BOX) && is(Facts::LABELLED);
    let page = profile.tabs_have_one_name && object.has_no_appearance();
    // A document may have millions of characters, so its length is read first.
    let text = if field && object.is(states::MULTI_LINE) { Question::Length } else { Question::Text };
    let asks = [
        (has(Interfaces::COMPONENT) && placed, Question::Extents),
        (has(Interfaces::TEXT) && reads, text),
        (has(Interfaces::VALUE) && is(Facts::NUMBER), Question::Number),
        (keyed, Question::Attributes),
        (unnamed || page, Question::Relations),
        (web && has(Interfaces::ACTION) && is(Facts::MUTE), Question::Actions),
        (object.role == role::LINK && has(Interfaces::HYPERLINK), Question::Link),
        (object.role == role::DOCUMENT_WEB && has(Interfaces::DOCUMENT), Question::Address),
    ];
    let skips = move |ask| toolkit::skips(toolkit, object, ask);
    asks.into_iter().filter_map(move |(asked, ask)| (asked && !skips(ask)).then_some(ask))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_without_a_name_is_asked_for_its_text() {
        let asked = |name: &str, toolkit| {
            let mut label = Object { role: role::LABEL, name: name.to_owned(), ..Object::default() };
            label.interfaces.insert(Interfaces::TEXT);
            details_of(&label, toolkit).any(|ask| ask == Question::Text)
        };
        assert!(asked("", Toolkit::Gtk3) && asked(" ", Toolkit::Office));
        assert!(!asked("Page 1", Toolkit::Gtk3), "its name is its text");
        assert!(!asked("", Toolkit::Gecko));
    }
}
