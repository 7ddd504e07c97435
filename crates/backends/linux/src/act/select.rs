//! Choosing options of a list through the selection that the app offers for it.
//!
//! An app is told the place of an option among the others, and places change when another one comes
//! or goes. So an option is an object: its place is asked right before it is chosen, with what it
//! was found by, and whether that very object is chosen is looked at after it.

use crate::act::done;
use crate::app::{App, Last, LinuxDevice, View, ask, reading, unknown};
use crate::bus::body::Reference;
use crate::bus::calls::property;
use crate::bus::fault::Fault;
use crate::bus::names::{ACCESSIBLE, SELECTION};
use crate::bus::{Call, Message};
use crate::model::roles::number as n;
use crate::model::{Interfaces, Object, states as s};
use stickpin_device::{Error, Performed, Result};
use stickpin_tree::{Handle, quote};

/// Chosen children of a list that are asked for.
const CHOSEN: usize = 16;

/// How often options are looked at that change while one of them is chosen.
const ROUNDS: usize = 3;

/// Objects inside an option that are asked once more what they are called.
const PARTS: usize = 40;

/// Options that a message names.
const NAMED: usize = 12;

/// A list as it was looked at.
struct List {
    object: Object,
    /// What the options are the children of: the list, or the only child of a combo box.
    holder: String,
    offered: Vec<Offered>,
    /// What was chosen when it was looked at; none where it does not say.
    before: Option<Vec<String>>,
}

/// One of its options.
struct Offered {
    path: String,
    /// What it is called.
    name: String,
    /// How it reads: first its name, then what is written in it.
    reads: Vec<String>,
    /// A group: no option itself, but it holds some.
    group: bool,
}

/// An option that is to be chosen.
struct Choice {
    label: String,
    path: String,
    /// Its place when that was asked last.
    at: usize,
    /// Whether that was another one in between.
    moved: bool,
}

impl List {
    /// The one option that reads like this; none where nobody knows how they read.
    fn option(&self, label: &str) -> Result<Option<&Offered>> {
        let reads = |offered: &&Offered| offered.reads.iter().any(|text| text == label);
        let mut found = self.offered.iter().filter(reads);
        match (found.next(), found.next()) {
            (Some(found), None) => Ok(Some(found)),
            (Some(_), Some(_)) => {
                let message = format!("several options are called {}", quote(label));
                Err(Error::ambiguous_match(message))
            }
            (None, _) if self.offered.iter().all(|offered| offered.reads.is_empty()) => Ok(None),
            (None, _) => {
                let named = self.offered.iter().filter_map(|offered| offered.reads.first());
                let some: Vec<String> = named.take(NAMED).map(|name| quote(name)).collect();
                let message = format!("there is no option {}", quote(label));
                Err(Error::element_not_found(message).hint(format!("its options: {}", some.join(", "))))
            }
        }
    }
}

/// Chooses options of a list or combo box by their labels. Not handled where the app offers no
/// selection, or does not take the choice: then it is opened, and the options are pressed.
///
/// # Errors
/// `ELEMENT_NOT_FOUND`, `AMBIGUOUS_MATCH`, `INVALID_ARGS`; `FILL_MISMATCH` when another option was
/// chosen.
pub(crate) async fn select(
    device: &mut LinuxDevice,
    target: Handle,
    options: &[String],
) -> Result<Performed> {
    let object = device.view().object(target)?;
    let combo = object.role == n::COMBO_BOX;
    if combo && options.len() > 1 {
        return Err(takes_one(&object, options));
    }
    // Of its combo boxes GTK 4 does not say what can be chosen; what a table would choose are rows,
    // not
    // cells.
    let mute = combo && device.app.link.toolkit.profile().combo_boxes_list_nothing;
    let table = matches!(object.role, n::TABLE | n::TREE_TABLE);
    if !object.has(Interfaces::SELECTION) || mute || table {
        return Ok(Performed::default());
    }
    let Some(mut list) = list_of(device.view(), object).await? else {
        return Ok(Performed::default());
    };
    let mut chosen = Vec::new();
    for label in options {
        let Some(option) = list.option(label)? else { return Ok(Performed::default()) };
        let (label, path) = (label.clone(), option.path.clone());
        chosen.push(Choice { label, path, at: usize::MAX, moved: false });
    }
    // GTK does not say which lists take several: what becomes of the other choices tells.
    let mut cleared = options.len() > 1 || list.object.is(s::MULTISELECTABLE);
    if cleared {
        clear_selection(&device.app, &list.object).await?;
    }
    let (mut others, mut sent) = (false, cleared);
    for again in [false, true] {
        for choice in &mut chosen {
            let taken = choose_option(device, &mut list, choice).await;
            if !taken.map_err(|e| if sent { unknown(e) } else { e })? {
                return Ok(Performed::default());
            }
            sent = true;
        }
        others = selected_count(&device.app, &list.object).await?.is_some_and(|count| count > chosen.len());
        if again || !others {
            break;
        }
        // It takes several, and held others.
        clear_selection(&device.app, &list.object).await?;
        cleared = true;
    }
    let taken = are_chosen(&device.app, &list, &mut chosen).await?;
    if others || !taken {
        no_others(device, &list, &chosen, cleared).await?;
    }
    if taken {
        return Ok(done().value(Some(options.join(", "))));
    }
    if chosen.len() == 1 {
        return Ok(Performed::default());
    }
    Err(is_chosen_now(takes_one(&list.object, options)))
}

/// Tells the app to choose an option where it stands now, if it still is what it was found by;
/// whether it took it.
async fn choose_option(device: &mut LinuxDevice, list: &mut List, choice: &mut Choice) -> Result<bool> {
    for _ in 0..ROUNDS {
        if let Some(at) = place_of(device.view(), list, &choice.path).await? {
            (choice.at, choice.moved) = (at, false);
            return ask::ordered(&device.app, &of_child(&list.object, "SelectChild", at)).await;
        }
        tracing::debug!("the options of {} have changed", list.object.words());
        reading::look(device, &[]).await?;
        let Some(now) = list_of(device.view(), list.object.clone()).await? else {
            return Ok(false);
        };
        // What was chosen before is not what this may have chosen since.
        *list = List { before: list.before.take(), ..now };
        let Some(option) = list.option(&choice.label)? else { return Ok(false) };
        choice.path.clone_from(&option.path);
    }
    // It has no objects that last, or is never at rest: a press sees what it presses.
    Ok(false)
}

/// The place of an option among the children of its list, as they are now; none where it is none of
/// them, or where it or something in it is not called what it was when it was read.
async fn place_of(view: View<'_>, list: &List, path: &str) -> Result<Option<usize>> {
    let mut parts = parts_of(view.last, path);
    let own = || list.offered.iter().find(|offered| offered.path == path).map(|o| o.name.clone());
    if let Some(name) = own().filter(|_| parts.first().is_none_or(|(first, _)| first != path)) {
        parts.push((path.to_owned(), name));
    }
    let mut calls = vec![children(&list.holder)];
    calls.extend(parts.iter().map(|(path, _)| property(path, ACCESSIBLE, "Name")));
    let mut answers = view.app.link.calls(&calls).await.into_iter();
    let now = answers.next().unwrap_or(Err(Fault::Vanished));
    let now = now.and_then(|answer| paths(view.app, &list.holder, &answer));
    let Some(now) = ask::answered(view.app, &list.holder, now).await? else { return Ok(None) };
    for ((_, name), answer) in parts.iter().zip(answers) {
        let same = answer.and_then(|answer| Ok(answer.property_text()? == *name));
        // It may not be there any more.
        if ask::or_none(view.app, same).await? != Some(true) {
            return Ok(None);
        }
    }
    Ok(now.iter().position(|child| child == path))
}

/// What was called something in an option when it was read, itself first: by that it was found.
fn parts_of(last: &Last, path: &str) -> Vec<(String, String)> {
    let inside = last.at(path).into_iter().flat_map(|at| last.picture.inside(at));
    let named = inside.map(|at| &last.objects()[at]).filter(|object| !object.name.is_empty());
    named.take(PARTS).map(|object| (object.path.clone(), object.name.clone())).collect()
}

/// Whether the app says that these very options are chosen. Not where they move on and on: nobody
/// knows then.
async fn are_chosen(app: &App, list: &List, chosen: &mut [Choice]) -> Result<bool> {
    for _ in 0..ROUNDS {
        let mut calls = vec![children(&list.holder)];
        calls.extend(chosen.iter().map(|choice| of_child(&list.object, "IsChildSelected", choice.at)));
        calls.push(children(&list.holder));
        // Before and behind it: what it says is of what stands there in both.
        let mut answers = app.link.calls(&calls).await.into_iter();
        let order = |answer: Option<Result<Message, Fault>>| {
            paths(app, &list.holder, &answer.unwrap_or(Err(Fault::Vanished))?)
        };
        let (before, after) = (order(answers.next()), order(answers.next_back()));
        let said: Result<Vec<bool>, Fault> = answers.map(|answer| answer?.read()).collect();
        let read = said.and_then(|said| Ok((before?, said, after?)));
        let Some((before, said, after)) = ask::answered(app, &list.object.path, read).await? else {
            return Ok(false);
        };
        let stands = |choice: &Choice| {
            [&before, &after].iter().all(|order| order.get(choice.at) == Some(&choice.path))
        };
        if chosen.iter().all(stands) {
            return Ok(said.into_iter().all(|is| is));
        }
        for choice in &mut *chosen {
            choice.moved = true;
            match after.iter().position(|path| *path == choice.path) {
                Some(at) => choice.at = at,
                None => return Ok(false),
            }
        }
    }
    Ok(false)
}

/// Makes sure that no others were chosen than those that it was told to choose: it may merely not
/// have taken the choice.
///
/// # Errors
/// `FILL_MISMATCH` where others were, after the choice before was restored as far as the app does
/// that.
async fn no_others(device: &mut LinuxDevice, list: &List, chosen: &[Choice], cleared: bool) -> Result<()> {
    let before = list.before.as_ref().filter(|_| !cleared).map_or(&[][..], Vec::as_slice);
    let meant = |path: &String| chosen.iter().any(|choice| choice.path == *path) || before.contains(path);
    let all = children_of(&device.app, &list.holder).await?;
    let now = chosen_in(&device.app, &list.object).await?;
    let what = list.object.words();
    let labels = chosen.iter().map(|choice| quote(&choice.label)).collect::<Vec<_>>().join(", ");
    let error = |message: String| Err(is_chosen_now(Error::fill_mismatch(message)));
    let Some((all, mut wrong)) = all.zip(now) else {
        if !chosen.iter().any(|choice| choice.moved) {
            return Ok(());
        }
        return error(format!(
            "the options of {what} changed while {labels} was chosen, and it does not say which one is chosen now"
        ));
    };
    // What is none of them has another object each time that it is asked for.
    wrong.retain(|path| all.contains(path) && !meant(path));
    if wrong.is_empty() {
        return Ok(());
    }
    reading::look(device, &[]).await?;
    let offered = offered(device.view(), wrong).await;
    let chose = ask::answered(&device.app, &list.object.path, offered).await?.unwrap_or_default();
    let chose = chose.iter().map(|offered| offered.reads.first().map_or("", String::as_str));
    let chose: Vec<String> = chose.take(NAMED).map(quote).collect();
    let now = if restore(device.view(), list).await? { "is" } else { "is not" };
    error(format!(
        "{what} chose {} instead of {labels}: its options changed at that moment; what was chosen before {now} chosen again",
        chose.join(", ")
    ))
}

/// Chooses what was chosen when a list was looked at, and nothing else; whether that is chosen now.
async fn restore(view: View<'_>, list: &List) -> Result<bool> {
    let Some(before) = &list.before else { return Ok(false) };
    // What takes one lets go of the other by itself, and may have to have one.
    let clearings = if before.len() == 1 { &[false, true][..] } else { &[true][..] };
    for &clear in clearings {
        if clear {
            clear_selection(view.app, &list.object).await?;
        }
        for path in before {
            let Some(at) = place_of(view, list, path).await? else { return Ok(false) };
            ask::ordered(view.app, &of_child(&list.object, "SelectChild", at)).await?;
        }
        let now = chosen_in(view.app, &list.object).await?;
        if now.is_some_and(|now| now.len() == before.len() && now.iter().all(|path| before.contains(path))) {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn clear_selection(app: &App, list: &Object) -> Result<()> {
    let call = Call::new(&list.path, SELECTION, "ClearSelection");
    ask::ordered(app, &call).await.map(drop)
}

/// How many children of a list are chosen; none where it does not say.
async fn selected_count(app: &App, list: &Object) -> Result<Option<usize>> {
    let count = ask::count(app, &list.path, SELECTION, "NSelectedChildren").await;
    Ok(ask::answered(app, &list.path, count).await?.flatten())
}

/// What is chosen in a list; none where it does not say, or where it is more than is asked for.
async fn chosen_in(app: &App, list: &Object) -> Result<Option<Vec<String>>> {
    let Some(count) = selected_count(app, list).await?.filter(|count| *count <= CHOSEN) else {
        return Ok(None);
    };
    let calls: Vec<Call<'_>> = (0..count).map(|at| of_child(list, "GetSelectedChild", at)).collect();
    let child = |answer: Result<Message, Fault>| Ok(app.link.named(&list.path, answer?.read()?));
    let chosen: Result<Vec<_>, Fault> = app.link.calls(&calls).await.into_iter().map(child).collect();
    ask::answered(app, &list.path, chosen).await
}

/// The children of an object; none where it does not say.
async fn children_of(app: &App, path: &str) -> Result<Option<Vec<String>>> {
    let answer = app.link.call(children(path)).await;
    ask::answered(app, path, answer.and_then(|answer| paths(app, path, &answer))).await
}

/// The objects that an answer of this one refers to.
fn paths(app: &App, of: &str, answer: &Message) -> Result<Vec<String>, Fault> {
    let all: Vec<Reference> = answer.read()?;
    Ok(all.into_iter().map(|path| app.link.named(of, path)).collect())
}

/// What can be chosen in a list: its children, or those of the list or menu that the only child of
/// a combo box is; and what is chosen. None where it says nothing of that, or where some are in
/// groups.
async fn list_of(view: View<'_>, object: Object) -> Result<Option<List>> {
    let mut holder = object.path.clone();
    for _ in 0..3 {
        let Some(options) = children_of(view.app, &holder).await? else { return Ok(None) };
        if let [only] = &options[..]
            && object.role == n::COMBO_BOX
        {
            holder.clone_from(only);
            continue;
        }
        let offered = offered(view, options).await;
        let Some(offered) = ask::answered(view.app, &object.path, offered).await? else { return Ok(None) };
        // Firefox counts the options in groups, too, and names the groups when it is asked for its
        // children: the place of a child is another option's number.
        if offered.iter().any(|offered| offered.group) {
            return Ok(None);
        }
        let before = chosen_in(view.app, &object).await?;
        return Ok(Some(List { object, holder, offered, before }));
    }
    Ok(None)
}

/// What options are called and how they read.
async fn offered(view: View<'_>, options: Vec<String>) -> Result<Vec<Offered>, Fault> {
    let names = options.iter().map(|path| property(path, ACCESSIBLE, "Name"));
    let roles = options.iter().map(|path| Call::new(path, ACCESSIBLE, "GetRole"));
    let asked: Vec<_> = names.chain(roles).collect();
    let mut answers = view.app.link.calls(&asked).await;
    let roles = answers.split_off(options.len());
    let mut all = Vec::with_capacity(options.len());
    for (path, (name, role)) in options.into_iter().zip(answers.into_iter().zip(roles)) {
        let name = name?.property_text()?;
        let group = matches!(role?.read()?, n::PANEL | n::GROUPING | n::MENU);
        let handle = view.app.ids.handle(&path);
        let node = view.last.node(handle);
        let inside = node.into_iter().flat_map(|node| {
            let texts = node.subtree().filter(|n| n.is_text());
            std::iter::once(node.name()).chain(texts.map(|n| n.name())).collect::<Vec<_>>()
        });
        let mut reads: Vec<String> = vec![name.trim().to_owned()];
        reads.extend(inside.map(|text| text.trim().to_owned()));
        reads.retain(|text| !text.is_empty());
        reads.dedup();
        all.push(Offered { path, name, reads, group });
    }
    Ok(all)
}

/// The question for the children of an object.
fn children(path: &str) -> Call<'_> {
    Call::new(path, ACCESSIBLE, "GetChildren")
}

/// A question to a list about one of its children, or an order for it.
fn of_child<'a>(list: &'a Object, member: &'a str, at: usize) -> Call<'a> {
    Call::new(&list.path, SELECTION, member).with((i32::try_from(at).unwrap_or(i32::MAX),))
}

/// An error of a choice that may have been made.
fn is_chosen_now(error: Error) -> Error {
    unknown(error.hint("stickpin snapshot -i shows what is chosen now"))
}

fn takes_one(list: &Object, options: &[String]) -> Error {
    let what = list.words();
    Error::invalid_args(format!("{what} takes one option, not {}", options.len()))
        .hint("name the one that it is to show")
}
