//! Which page an `AdwViewStack` shows. All of its pages that were shown once say that they are visible, and lie over one
//! another; the stack itself is a mere panel, tied to no list of tabs. But its tabs say which of them is selected, and stand
//! in the order of the pages.
//!
//! So a page is left out only where two things agree: it is not the one of the selected tab, and the app has nothing of it
//! at any point of what is on it. What only lies under something else is the page of the selected tab, or in no such stack.

use super::pages::{Stack, read};
use crate::model::parents::{parents, top};
use crate::model::roles::number as role;
use crate::model::states;
use crate::model::{Interfaces, Object, Picture};

/// What the tabs of such stacks stand in is called after its class.
const SWITCHER: &str = "AdwViewSwitcher";

/// The stacks of an app whose tabs say which page is shown.
pub(super) fn stacks(picture: &Picture) -> Vec<Stack> {
    if !picture.toolkit.profile().hides_pages_silently {
        return Vec::new();
    }
    let tabs = tabs(picture);
    if tabs.is_empty() {
        return Vec::new();
    }
    let above = parents(picture);
    let mut found: Vec<Stack> = Vec::new();
    for switcher in tabs {
        let mut alike = (1..picture.objects.len())
            .filter(|&at| top(&above, at) == top(&above, switcher.at))
            .filter_map(|at| others(picture, at, &switcher));
        // Of two that look alike nothing says which one the tabs are for.
        if let (Some(one), None) = (alike.next(), alike.next())
            && !found.iter().any(|stack| stack.at == one.at)
        {
            found.push(one);
        }
    }
    found
}

/// A list of tabs, and which of how many is selected.
#[derive(Debug)]
struct Switcher {
    at: usize,
    selected: usize,
    count: usize,
}

fn tabs(picture: &Picture) -> Vec<Switcher> {
    let lists =
        picture.objects.iter().enumerate().filter(|(_, object)| {
            object.role == role::PAGE_TAB_LIST && object.name == SWITCHER && object.shown
        });
    let read = |(at, list): (usize, &Object)| {
        let tabs: Vec<&Object> = list.children.iter().map(|&tab| &picture.objects[tab]).collect();
        let chosen = |(at, tab): (usize, &&Object)| tab.is(states::SELECTED).then_some(at);
        let mut selected = tabs.iter().enumerate().filter_map(chosen);
        let (Some(selected), None) = (selected.next(), selected.next()) else { return None };
        let only_tabs = tabs.len() > 1 && tabs.iter().all(|tab| tab.role == role::PAGE_TAB);
        only_tabs.then_some(Switcher { at, selected, count: tabs.len() })
    };
    lists.filter_map(read).collect()
}

/// The pages of an object besides the one of the selected tab, where it can be the stack of these tabs: it has a page per
/// tab, and each of them has its very place, or was never shown and has none.
fn others(picture: &Picture, at: usize, tabs: &Switcher) -> Option<Stack> {
    let object = &picture.objects[at];
    let place = object.extents.filter(|_| object.shown && object.has(Interfaces::COMPONENT))?;
    let pages: Vec<usize> = object
        .children
        .iter()
        .copied()
        .filter(|&child| states::seen(picture.objects[child].states, picture.toolkit))
        .collect();
    let is_shown = |at: usize| picture.objects[at].extents == Some(place);
    let is_bare = |at: usize| picture.objects[at].extents.is_some_and(|[_, _, w, h]| w <= 0 && h <= 0);
    let fits = pages.len() == tabs.count
        && pages.iter().all(|&page| is_shown(page) || is_bare(page))
        && pages.get(tabs.selected).is_some_and(|&page| is_shown(page));
    let rest = pages.into_iter().enumerate().filter(|&(nth, page)| nth != tabs.selected && is_shown(page));
    let pages = rest.map(|(_, page)| read(picture, page)).collect();
    fits.then_some(Stack { at, pages, bare: Vec::new(), is_told: true })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolkit::Toolkit;

    const ALL: [i32; 4] = [0, 50, 200, 150];

    /// A window with three tabs, of which `selected` is, and a stack of three pages, of which the first two have been
    /// shown; each holds two labels.
    fn picture(selected: usize) -> Picture {
        let mut objects = vec![Object::default()];
        let mut add = |role, place: [i32; 4], children: &[usize]| {
            let mut object = Object {
                role,
                extents: Some(place),
                children: children.to_vec(),
                states: states::VISIBLE,
                shown: place[2] > 0,
                ..Object::default()
            };
            object.path = format!("/{}", objects.len());
            object.interfaces.insert(Interfaces::COMPONENT);
            objects.push(object);
            objects.len() - 1
        };
        let tabs: Vec<usize> = (0..3).map(|nth| add(role::PAGE_TAB, [60 * nth, 0, 60, 50], &[])).collect();
        let list = add(role::PAGE_TAB_LIST, [0, 0, 180, 50], &tabs);
        let mut pages = Vec::new();
        for top in [60, 120] {
            let labels = [0, 50].map(|left| add(role::LABEL, [left, top, 40, 20], &[]));
            pages.push(add(role::FILLER, ALL, &labels));
        }
        pages.push(add(role::FILLER, [0, 50, 0, 0], &[]));
        let stack = add(role::PANEL, ALL, &pages);
        let window = add(role::FRAME, [0, 0, 200, 200], &[list, stack]);
        objects[0].children = vec![window];
        objects[list].name = SWITCHER.to_owned();
        objects[tabs[selected]].states |= states::SELECTED;
        Picture { toolkit: Toolkit::Gtk4, objects, truncated: false }
    }

    /// Which pages are shown after the app has answered with these objects.
    fn shown(mut picture: Picture, there: &[usize]) -> Vec<bool> {
        let paths: Vec<String> = there.iter().map(|at| format!("/{at}")).collect();
        for stack in stacks(&picture) {
            stack.hide(&mut picture, &paths);
        }
        let stack = picture.objects.iter().rev().find(|object| object.role == role::PANEL);
        stack.expect("it is there").children.iter().map(|&page| picture.objects[page].shown).collect()
    }

    #[test]
    fn the_page_of_the_selected_tab_is_shown() {
        assert_eq!(shown(picture(0), &[5]), [true, false, false]);
        assert_eq!(shown(picture(1), &[8]), [false, true, false]);
        // All of it lies under something: the tab says that it is shown all the same.
        assert_eq!(shown(picture(1), &[]), [false, true, false]);
    }

    #[test]
    fn what_the_app_has_at_a_point_is_shown() {
        assert_eq!(shown(picture(0), &[8]), [true, true, false], "the tabs are for something else");
    }

    #[test]
    fn what_is_no_stack_of_the_tabs_stays() {
        let stays = |change: fn(&mut Picture)| {
            let mut picture = picture(0);
            change(&mut picture);
            assert!(stacks(&picture).is_empty());
        };
        stays(|p| p.toolkit = Toolkit::Gtk3);
        stays(|p| p.objects[4].name = "Views".to_owned());
        stays(|p| p.objects[2].states |= states::SELECTED);
        // Layers of an overlay: one of them has a place of its own.
        stays(|p| p.objects[10].extents = Some([10, 60, 30, 30]));
        stays(|p| p.objects[12].children.truncate(2));
        // A second one that looks like it.
        stays(|p| {
            let twin = p.objects[12].clone();
            p.objects.push(Object { path: "/14".to_owned(), ..twin });
            let at = p.objects.len() - 1;
            p.objects[13].children.push(at);
        });
    }
}
