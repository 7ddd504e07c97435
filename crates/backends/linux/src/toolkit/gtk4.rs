//! Peculiarities of GTK 4: the page that a stack or notebook shows.
//!
//! All pages report that they are visible, and their content keeps the positions that it had when
//! it was last shown. However, `GetAccessibleAtPoint` (`gtk_widget_pick` in 4.8) returns what a
//! press at a point would reach, which is always on the current page.
//!
//! All pages of an `AdwViewStack` that have ever been shown report that they are visible at the
//! same position. The stack is a mere panel without a connection to its tabs. However, the tabs
//! report which one is selected, and are in the order of the pages.
//!
//! A page of such a stack is therefore omitted only if its tab is not selected and the app returns
//! no part of the page at any point of its content. A page that is merely covered belongs to the
//! selected tab, or is not in such a stack.

use crate::bus::{BusResult, Call, Link, Reference, calls};
use crate::model::parents::{parents, top};
use crate::model::{Interfaces, Object, ObjectTree, ancestors, role, states};
use crate::toolkit::profile::Toolkit;
use hashbrown::HashSet;

/// Hides the pages that the app does not show.
///
/// # Errors
/// Returns an error if the app is gone or silent.
pub(super) async fn hide_other_pages(link: &Link, picture: &mut ObjectTree) -> BusResult<()> {
    for find in [stacks, stacks_of_tabs] {
        for stack in find(picture) {
            let points = stack.pages.iter().flat_map(|page| &page.points).copied();
            let there = at_points(link, picture, stack.at, points).await?;
            stack.hide(picture, &there);
        }
    }
    Ok(())
}

/// Returns the position of an object on a page of a stack, which the app may switch without a
/// signal. `above` contains the parent of each object.
pub(crate) fn page_point(picture: &ObjectTree, above: &[usize], at: usize) -> Option<PagePoint> {
    if picture.toolkit != Toolkit::Gtk4 {
        return None;
    }
    let is_stack = |at: usize| {
        let object = &picture[at];
        let pages = picture.children(object).filter(|child| child.has_no_appearance());
        object.has(Interfaces::COMPONENT) && pages.count() > 1
    };
    let is_page = |&at: &usize| picture[at].has_no_appearance() && is_stack(above[at]);
    let mut pages = ancestors(above, at).filter(is_page);
    let page = pages.next()?;
    let point = middle(&picture[at])?;
    Some(PagePoint { stack: above[pages.last().unwrap_or(page)], page, point })
}

/// The maximum number of ancestors of the object at a point that are searched for one that the app
/// lists.
const MAX_ANCESTORS: usize = 4;

/// The maximum number of points that are queried per page.
const POINTS: usize = 8;

/// Pages of which only one is shown.
#[derive(Debug, PartialEq, Eq)]
struct Stack {
    /// The parent of the pages.
    at: usize,
    /// The pages that may be hidden, with their content and points on it.
    pages: Vec<Page>,
    /// The pages that have never been shown.
    bare: Vec<usize>,
    /// Whether the current page is known from the tabs. If not, it is known only if the app returns
    /// an object on it.
    is_told: bool,
}

#[derive(Debug, PartialEq, Eq)]
struct Page {
    at: usize,
    inside: Vec<usize>,
    points: Vec<(i32, i32)>,
}

/// Returns the paths of the objects that a press at these points of an object would reach. For an
/// internal part of a control, its ancestors follow, up to the nearest one that was read.
///
/// # Errors
/// Returns an error if the app is gone or silent.
async fn at_points(
    link: &Link,
    picture: &ObjectTree,
    of: usize,
    points: impl Iterator<Item = (i32, i32)>,
) -> BusResult<Vec<String>> {
    let path = picture[of].path.as_str();
    let calls: Vec<Call<'_>> = points.map(|point| calls::at_point(path, point, Toolkit::Gtk4)).collect();
    let mut there = paths(link.each(&calls).await?);
    let known: HashSet<&str> = picture.objects.iter().map(|object| object.path.as_str()).collect();
    let mut from = 0;
    for _ in 0..MAX_ANCESTORS {
        // Internal parts of controls are not listed as children.
        let inner = there[from..].iter().map(String::as_str).filter(|path| !known.contains(path));
        let above = paths(link.parents(&inner.collect::<Vec<_>>()).await?);
        from = there.len();
        there.extend(above);
    }
    Ok(there)
}

/// Returns the paths of the existing objects that answers name.
fn paths(named: Vec<Option<Reference>>) -> Vec<String> {
    named.into_iter().flatten().map(|(_, path)| path).filter(|path| !path.ends_with("/null")).collect()
}

impl Stack {
    /// Hides the pages without any of these objects, and those that were never shown, if the
    /// current page is known.
    fn hide(&self, picture: &mut ObjectTree, there: &[String]) {
        let is_there = |page: &&Page| page.inside.iter().any(|&at| there.contains(&picture[at].path));
        let (shown, hidden): (Vec<&Page>, Vec<&Page>) = self.pages.iter().partition(is_there);
        if shown.is_empty() && !self.is_told {
            return;
        }
        // Include the content: it is hidden, not gone, because the page may be shown again.
        for &at in hidden.into_iter().flat_map(|page| &page.inside).chain(&self.bare) {
            picture[at].shown = false;
        }
    }
}

/// Returns the stacks whose current page is unknown.
fn stacks(picture: &ObjectTree) -> Vec<Stack> {
    let holds = |at: &usize| picture[*at].shown && picture[*at].has(Interfaces::COMPONENT);
    let stacks = (1..picture.objects.len()).filter(holds).filter_map(|at| {
        let is_page = |&&c: &&usize| picture[c].shown && picture[c].has_no_appearance();
        let pages = picture[at].children.iter().filter(is_page).map(|&page| read(picture, page));
        let (pages, bare): (Vec<Page>, Vec<Page>) = pages.partition(|page| !page.points.is_empty());
        let bare: Vec<usize> = bare.iter().map(|page| page.at).collect();
        let several = pages.len() + bare.len() > 1;
        (several && !pages.is_empty()).then_some(Stack { at, pages, bare, is_told: false })
    });
    stacks.collect()
}

/// A position on one of several pages. Switching pages is not signaled, and the objects on the
/// pages answer as before.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PagePoint {
    /// The outermost stack that contains the object.
    stack: usize,
    /// The innermost page that contains the object.
    page: usize,
    /// The center of the object when the app was read.
    point: (i32, i32),
}

impl PagePoint {
    /// Returns whether the app returns an object of that page at the point.
    ///
    /// # Errors
    /// Returns an error if the app is gone or silent.
    pub(crate) async fn is_shown(&self, link: &Link, picture: &ObjectTree) -> BusResult<bool> {
        let call = calls::at_point(&picture[self.stack].path, self.point, Toolkit::Gtk4);
        let there = paths(link.each(&[call]).await?);
        let on = read(picture, self.page).inside;
        Ok(on.iter().any(|&at| there.contains(&picture[at].path)))
    }
}

/// Returns the center of an object.
fn middle(object: &Object) -> Option<(i32, i32)> {
    object.extents.map(|[x, y, width, height]| (x.saturating_add(width / 2), y.saturating_add(height / 2)))
}

/// Returns the content of a page and points on it.
fn read(picture: &ObjectTree, at: usize) -> Page {
    let (mut inside, mut next, mut points) = (Vec::new(), vec![at], Vec::new());
    while let Some(here) = next.pop() {
        inside.push(here);
        let object = &picture[here];
        let count = next.len();
        // Hidden objects may contain themselves.
        next.extend(object.children.iter().filter(|&&child| picture[child].shown));
        // A container may be as large as the page, with nothing at its own center.
        points.extend(middle(object).filter(|_| next.len() == count));
    }
    // Spread the points over the page.
    let step = points.len().div_ceil(POINTS).max(1);
    Page { at, inside, points: points.into_iter().step_by(step).collect() }
}

/// The class that the list of tabs is named after.
const SWITCHER: &str = "AdwViewSwitcher";

/// Returns the stacks whose current page is known from the tabs.
fn stacks_of_tabs(picture: &ObjectTree) -> Vec<Stack> {
    let above = parents(picture);
    let mut found: Vec<Stack> = Vec::new();
    for (tabs, selected, count) in tabs(picture) {
        let mut alike = (1..picture.objects.len())
            .filter(|&at| top(&above, at) == top(&above, tabs))
            .filter_map(|at| other_pages(picture, at, selected, count));
        // If two candidates look alike, it is unknown which one the tabs belong to.
        if let (Some(one), None) = (alike.next(), alike.next())
            && !found.iter().any(|stack| stack.at == one.at)
        {
            found.push(one);
        }
    }
    found
}

/// Returns the lists of tabs, each with the index of the selected tab and the number of tabs.
fn tabs(picture: &ObjectTree) -> impl Iterator<Item = (usize, usize, usize)> {
    picture.objects.iter().enumerate().filter_map(|(at, list)| {
        let is_list = list.role == role::PAGE_TAB_LIST && list.name == SWITCHER && list.shown;
        let tabs = picture.children(list);
        let mut selected = tabs.clone().enumerate().filter(|(_, tab)| tab.is(states::SELECTED));
        let (Some((selected, _)), None) = (selected.next(), selected.next()) else { return None };
        let only_tabs = list.children.len() > 1 && tabs.clone().all(|tab| tab.role == role::PAGE_TAB);
        (is_list && only_tabs).then_some((at, selected, list.children.len()))
    })
}

/// Returns the pages of an object except that of the selected tab and those that were never shown.
/// Returns `None` if the object cannot be the stack of the tabs. A stack has one page per tab, and
/// each page has the rectangle of the stack or, if the page was never shown, an empty one.
fn other_pages(picture: &ObjectTree, at: usize, selected: usize, count: usize) -> Option<Stack> {
    let object = &picture[at];
    let place = object.extents.filter(|_| object.shown && object.has(Interfaces::COMPONENT))?;
    let seen = |at: &usize| states::is_visible(picture[*at].states, picture.toolkit);
    let pages: Vec<usize> = object.children.iter().copied().filter(seen).collect();
    let is_shown = |at: usize| picture[at].extents == Some(place);
    let is_bare = |at: usize| picture[at].extents.is_some_and(|[_, _, w, h]| w <= 0 && h <= 0);
    let fits = pages.len() == count
        && pages.iter().all(|&page| is_shown(page) || is_bare(page))
        && pages.get(selected).is_some_and(|&page| is_shown(page));
    let rest = pages.into_iter().enumerate().filter(|&(nth, page)| nth != selected && is_shown(page));
    let pages = rest.map(|(_, page)| read(picture, page)).collect();
    fits.then_some(Stack { at, pages, bare: Vec::new(), is_told: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a window with a stack of three pages, of which two have been shown; each contains a
    /// box with two labels.
    fn picture() -> ObjectTree {
        let mut objects = vec![Object::default()];
        let mut add = |role, place: Option<[i32; 4]>, children: &[usize]| {
            let mut object = Object {
                role,
                extents: place,
                children: children.to_vec(),
                shown: true,
                ..Object::default()
            };
            object.path = format!("/{}", objects.len());
            if place.is_some() {
                object.interfaces.insert(Interfaces::COMPONENT);
            }
            objects.push(object);
            objects.len() - 1
        };
        let mut pages = Vec::new();
        for top in [0, 100] {
            let labels = [0, 50].map(|left| add(role::LABEL, Some([left, top, 40, 20]), &[]));
            let inner = add(role::FILLER, Some([0, 0, 200, 200]), &labels);
            pages.push(add(role::PANEL, None, &[inner]));
        }
        pages.push(add(role::PANEL, None, &[]));
        let stack = add(role::FILLER, Some([0, 0, 200, 200]), &pages);
        objects[0].children = vec![stack];
        ObjectTree { toolkit: Toolkit::Gtk4, objects, truncated: false }
    }

    fn shown(picture: &ObjectTree, stack: &Stack) -> Vec<bool> {
        let pages = stack.pages.iter().map(|page| page.at).chain(stack.bare.iter().copied());
        pages.map(|at| picture.objects[at].shown).collect()
    }

    #[test]
    fn the_page_is_shown_that_has_what_the_app_has_at_its_points() {
        let mut picture = picture();
        let [stack] = <[Stack; 1]>::try_from(stacks(&picture)).unwrap();
        let points: Vec<_> = stack.pages.iter().flat_map(|page| page.points.clone()).collect();
        assert_eq!(points, [(70, 10), (20, 10), (70, 110), (20, 110)]);
        stack.hide(&mut picture, &["/10".to_owned(), "/9".to_owned()]);
        assert_eq!(shown(&picture, &stack), [true, true, true], "nothing of any of them");
        // A label of the second page, and another object of the app.
        stack.hide(&mut picture, &["/9".to_owned(), "/6".to_owned()]);
        assert_eq!(shown(&picture, &stack), [false, true, false]);
    }

    #[test]
    fn what_is_on_a_page_of_several_is_asked_for_where_it_was() {
        let mut picture = picture();
        let above = crate::model::parents::parents(&picture);
        let stack = picture.objects[0].children[0];
        let page = picture.objects[stack].children[1];
        let label =
            (1..picture.objects.len()).find(|&at| picture.objects[at].extents == Some([50, 100, 40, 20]));
        let label = label.expect("it is there");
        let spot = PagePoint { stack, page, point: (70, 110) };
        assert_eq!(page_point(&picture, &above, label), Some(spot));
        assert_eq!(page_point(&picture, &above, stack), None, "it is on none");
        picture.toolkit = Toolkit::Gtk3;
        assert_eq!(page_point(&picture, &above, label), None, "others say what can be seen");
        picture.toolkit = Toolkit::Gtk4;
        picture.objects[page].interfaces.insert(Interfaces::TEXT);
        assert_eq!(page_point(&picture, &above, label), None, "that is something itself");
    }

    #[test]
    fn only_nonempty_page_is_shown_if_hit_at_its_points() {
        let mut picture = picture();
        picture.objects[5].shown = false;
        picture.objects[6].shown = false;
        picture.objects[7].extents = None;
        let [stack] = <[Stack; 1]>::try_from(stacks(&picture)).unwrap();
        assert_eq!((stack.pages.len(), stack.bare.len()), (1, 2));
        stack.hide(&mut picture, &[]);
        assert_eq!(shown(&picture, &stack), [true, true, true], "one with nothing on it may be");
        let there = stack.pages[0].inside.iter().map(|&at| picture.objects[at].path.clone());
        let there: Vec<String> = there.collect();
        stack.hide(&mut picture, &there);
        assert_eq!(shown(&picture, &stack), [true, false, false]);
    }
}

#[cfg(test)]
mod told_tests {
    use super::*;

    const ALL: [i32; 4] = [0, 50, 200, 150];

    /// Returns a window with three tabs, of which `selected` is selected, and a stack of three
    /// pages, of which the first two have been shown; each contains two labels.
    fn picture(selected: usize) -> ObjectTree {
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
        ObjectTree { toolkit: Toolkit::Gtk4, objects, truncated: false }
    }

    /// Returns which pages are shown after the app has answered with these objects.
    fn shown(mut picture: ObjectTree, there: &[usize]) -> Vec<bool> {
        let paths: Vec<String> = there.iter().map(|at| format!("/{at}")).collect();
        for stack in stacks_of_tabs(&picture) {
            stack.hide(&mut picture, &paths);
        }
        let stack = picture.objects.iter().rev().find(|object| object.role == role::PANEL);
        stack.expect("it is there").children.iter().map(|&page| picture.objects[page].shown).collect()
    }

    #[test]
    fn the_page_of_the_selected_tab_is_shown() {
        assert_eq!(shown(picture(0), &[5]), [true, false, false]);
        assert_eq!(shown(picture(1), &[8]), [false, true, false]);
        // The page is covered completely, but its tab still reports that it is selected.
        assert_eq!(shown(picture(1), &[]), [false, true, false]);
    }

    #[test]
    fn what_the_app_has_at_a_point_is_shown() {
        assert_eq!(shown(picture(0), &[8]), [true, true, false], "the tabs are for something else");
    }

    #[test]
    fn what_is_no_stack_of_the_tabs_stays() {
        let stays = |change: fn(&mut ObjectTree)| {
            let mut picture = picture(0);
            change(&mut picture);
            assert!(stacks_of_tabs(&picture).is_empty());
        };
        stays(|p| p.toolkit = Toolkit::Gtk3);
        stays(|p| p.objects[4].name = "Views".to_owned());
        stays(|p| p.objects[2].states |= states::SELECTED);
        // Layers of an overlay, one of which has its own position.
        stays(|p| p.objects[10].extents = Some([10, 60, 30, 30]));
        stays(|p| p.objects[12].children.truncate(2));
        // A second stack that looks equal.
        stays(|p| {
            let twin = p.objects[12].clone();
            p.objects.push(Object { path: "/14".to_owned(), ..twin });
            let at = p.objects.len() - 1;
            p.objects[13].children.push(at);
        });
    }
}
