//! Objects with two parents.
//!
//! Some objects are listed twice. The list of an open combo box is also in the window that shows
//! it, and a popover is in its button and in the window. In the tree, such an object would be two
//! elements with one handle, so each object is kept at one position.

use crate::model::ObjectTree;
use hashbrown::{HashMap, HashSet};
use std::collections::VecDeque;

/// Keeps each object below the parent that the object itself names (`named`), otherwise below its
/// first parent, and removes it from its other parents.
pub(super) fn remove_duplicates(picture: &mut ObjectTree, named: &HashMap<usize, usize>) {
    let objects = &mut picture.objects;
    let mut places: Vec<Option<usize>> = vec![None; objects.len()];
    let mut again: Vec<usize> = Vec::new();
    let mut next = VecDeque::from([0]);
    while let Some(at) = next.pop_front() {
        for &child in objects[at].children.iter().filter(|&&child| child != 0 && objects[child].shown) {
            match places[child] {
                None => {
                    places[child] = Some(at);
                    next.push_back(child);
                }
                Some(_) => again.push(child),
            }
        }
    }
    if again.is_empty() {
        return;
    }
    for &at in &again {
        let Some(&home) = named.get(&at) else { continue };
        // Objects must never contain themselves, whatever an app reports.
        let up: Vec<usize> = std::iter::successors(Some(home), |&at| places[at]).collect();
        if objects[home].children.contains(&at) && up.last() == Some(&0) && !up.contains(&at) {
            places[at] = Some(home);
        }
    }
    let again: HashSet<usize> = again.into_iter().collect();
    for (at, object) in objects.iter_mut().enumerate() {
        let mut kept = HashSet::new();
        let here =
            |child: &usize| !again.contains(child) || places[*child] == Some(at) && kept.insert(*child);
        let (children, aside) = std::mem::take(&mut object.children).into_iter().partition(here);
        (object.children, object.duplicate_children) = (children, aside);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Object;
    use crate::toolkit::profile::Toolkit;

    fn picture(children: &[&[usize]]) -> ObjectTree {
        let object =
            |children: &&[usize]| Object { children: children.to_vec(), shown: true, ..Object::default() };
        let objects = children.iter().map(object).collect();
        ObjectTree { toolkit: Toolkit::Gtk3, objects, truncated: false }
    }

    fn children(picture: &ObjectTree) -> Vec<(Vec<usize>, Vec<usize>)> {
        picture.objects.iter().map(|o| (o.children.clone(), o.duplicate_children.clone())).collect()
    }

    #[test]
    fn what_stands_at_two_places_stays_where_it_says_that_it_is() {
        // Two windows; the list 4 of the combo box 2 is also in the second.
        let at: &[&[usize]] = &[&[1, 3], &[2], &[4], &[4], &[]];
        let mut named = picture(at);
        remove_duplicates(&mut named, &HashMap::from_iter([(4, 2)]));
        assert_eq!(children(&named)[2..4], [(vec![4], vec![]), (vec![], vec![4])]);
        let mut mute = picture(&[&[3, 1], &[2], &[4], &[4], &[]]);
        remove_duplicates(&mut mute, &HashMap::new());
        assert_eq!(children(&mute)[2..4], [(vec![], vec![4]), (vec![4], vec![])], "the first counts");
        let mut closed = picture(at);
        closed.objects[4].shown = false;
        remove_duplicates(&mut closed, &HashMap::from_iter([(4, 2)]));
        assert_eq!(children(&closed)[2..4], [(vec![4], vec![]), (vec![4], vec![])], "nobody sees it");
    }

    #[test]
    fn an_app_cannot_make_what_it_shows_disappear_by_what_it_says() {
        // Each of the two reports the other as its parent.
        let mut picture = picture(&[&[1, 2], &[2], &[1]]);
        remove_duplicates(&mut picture, &HashMap::from_iter([(1, 2), (2, 1)]));
        assert_eq!(children(&picture), [(vec![1], vec![2]), (vec![2], vec![]), (vec![], vec![1])]);
    }

    #[test]
    fn what_is_listed_twice_by_one_is_there_once() {
        let mut picture = picture(&[&[1, 1], &[]]);
        remove_duplicates(&mut picture, &HashMap::new());
        assert_eq!(children(&picture)[0], (vec![1], vec![1]));
    }
}
