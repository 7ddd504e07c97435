use super::*;
use crate::toolkit::profile::Toolkit;

/// Returns a window with a list of two rows of two cells each, and a button.
fn picture() -> ObjectTree {
    let object = |role, children: &[usize]| Object {
        role,
        children: children.to_vec(),
        shown: true,
        ..Object::default()
    };
    let mut objects = vec![
        object(75, &[1]),
        object(role::FRAME, &[2, 9]),
        object(role::LIST, &[3, 6]),
        object(role::LIST_ITEM, &[4, 5]),
        object(role::LABEL, &[]),
        object(role::PUSH_BUTTON, &[]),
        object(role::LIST_ITEM, &[7, 8]),
        object(role::LABEL, &[]),
        object(role::PUSH_BUTTON, &[]),
        object(role::PUSH_BUTTON, &[]),
    ];
    for (at, object) in objects.iter_mut().enumerate() {
        object.path = format!("/{at}");
    }
    ObjectTree { toolkit: Toolkit::Gtk3, objects, truncated: false }
}

/// Returns the objects that are queried again for an element. The paths of `picture` are the
/// indices of its objects.
fn again_of(picture: &ObjectTree, target: u64, context: &[u64]) -> Option<RecheckedObjects> {
    let ids = PathNumbers::default();
    let path = |at: u64| picture.objects.get(usize::try_from(at).ok()?).map(|object| object.path.as_str());
    let handle = |at: u64| ids.handle(path(at).unwrap_or("/nowhere"));
    let context: Vec<Handle> = context.iter().copied().map(handle).collect();
    RecheckedObjects::of(&capture(picture), &ids, handle(target), &context)
}

/// Returns the capture of these objects.
fn capture(picture: &ObjectTree) -> LastCapture {
    let tree = tree::build(picture, &PathNumbers::default(), "linux:app", &[]).unwrap();
    LastCapture::new(picture.clone(), Arc::new(tree), 0)
}

/// Returns the queries that are repeated for an element, each with the index of its object.
fn asked_of(picture: &ObjectTree, target: u64, context: &[u64]) -> Vec<(usize, Question)> {
    let again = again_of(picture, target, context).expect("it is there");
    let questions = again.questions(picture);
    let mut asked: Vec<(usize, Question)> =
        questions.0.iter().map(|&(at, ask)| (again.objects[at], ask)).collect();
    asked.sort_by_key(|&(at, _)| at);
    asked
}

fn again(target: u64, context: &[u64]) -> Option<(Vec<usize>, Vec<usize>)> {
    let again = again_of(&picture(), target, context)?;
    let mut objects: Vec<usize> = again.objects.into_iter().collect();
    let mut above: Vec<usize> = again.above.into_iter().collect();
    objects.sort_unstable();
    above.sort_unstable();
    Some((objects, above))
}

#[test]
fn row_is_rechecked_whole_and_ancestors_by_children() {
    assert_eq!(again(5, &[]), Some((vec![0, 1, 2, 3, 4, 5], vec![0, 1, 2, 3])));
    assert_eq!(again(9, &[]), Some((vec![0, 1, 9], vec![0, 1])));
}

#[test]
fn all_that_is_compared_is_asked_what_it_is_but_the_app_itself() {
    let own = [Question::Name, Question::States, Question::Role];
    let mut picture = picture();
    // The role of an object of GTK 4 never changes.
    for (toolkit, own) in [(Toolkit::Gtk3, &own[..]), (Toolkit::Gtk4, &own[..2])] {
        picture.toolkit = toolkit;
        let expected = [
            vec![(0, Question::Children)],
            own.iter().map(|&ask| (1, ask)).collect(),
            vec![(1, Question::Children)],
            own.iter().map(|&ask| (9, ask)).collect(),
        ];
        assert_eq!(asked_of(&picture, 9, &[]), expected.concat(), "{toolkit:?}");
    }
}

#[test]
fn what_the_record_is_told_by_is_asked_too() {
    assert_eq!(again(9, &[4]), Some((vec![0, 1, 2, 3, 4, 5, 9], vec![0, 1, 2, 3, 4])));
}

#[test]
fn what_is_not_in_the_picture_proves_nothing() {
    assert_eq!(again(77, &[]), None);
}

#[test]
fn an_element_by_itself_is_asked_with_what_names_it() {
    let mut picture = picture();
    picture.objects[9].labelled_by = vec!["/7".to_owned(), "/nowhere".to_owned()];
    let itself = |picture: &ObjectTree, at: u64| {
        let ids = PathNumbers::default();
        let again = RecheckedObjects::itself(&capture(picture), &ids, ids.handle(&format!("/{at}")))?;
        Some(again.objects.into_iter().collect::<Vec<_>>())
    };
    assert_eq!(itself(&picture, 9), Some(vec![9, 7, 1]), "and its window");
    assert_eq!(itself(&picture, 2), Some(vec![2, 1]));
    // A row is named by the text inside it.
    assert_eq!(itself(&picture, 3).map(|objects| objects[0]), Some(3));
    assert_eq!(itself(&picture, 77), None);
    // A button that contains a label.
    picture.objects[8].children = vec![7];
    assert_eq!(itself(&picture, 8), Some(vec![8, 7, 1]));
    picture.objects[8].labelled_by = vec!["/4".to_owned()];
    assert_eq!(itself(&picture, 8), Some(vec![8, 7, 4, 1]), "another names it");
}

#[test]
fn recheck_replaces_objects_unless_children_changed() {
    let mut picture = picture();
    picture.objects.iter_mut().for_each(|object| object.states = states::SHOWING | states::VISIBLE);
    let again = RecheckedObjects { objects: [9, 7].into(), ..RecheckedObjects::default() };
    let now = |there, states| {
        let mut objects = vec![picture.objects[9].clone(), picture.objects[7].clone()];
        objects[0].states = states;
        RecheckAnswers { objects, there, same: false }
    };
    let checked = states::SHOWING | states::VISIBLE | states::CHECKED;
    assert!(!again.fits(&now(false, checked), &picture), "its children are others");
    assert!(!again.fits(&now(true, states::CHECKED), &picture), "it is hidden now");
    let mut now = now(true, checked);
    assert!(again.fits(&now, &picture), "it is where it was");
    let mut put = picture.clone();
    again.exchange(&mut now, &mut put);
    assert_eq!(put.objects[9].states, checked);
    assert_eq!((&put.objects[..9], put.objects[9].path.as_str()), (&picture.objects[..9], "/9"));
    again.exchange(&mut now, &mut put);
    assert_eq!(put, picture, "as it was");
}
