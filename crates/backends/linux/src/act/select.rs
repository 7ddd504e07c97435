//! Choosing options from a list through its selection interface.
//!
//! The interface expects the index of an option, and indices shift when options come or go. An
//! option is therefore identified by its object. Immediately before the option is chosen, its index
//! and the texts by which it was found are queried again; afterwards, exactly that object must be
//! chosen.

use crate::act::delivered_to_target;
use crate::app::{App, AppView, LinuxDevice, ask, capture, unknown};
use crate::bus::calls::property;
use crate::bus::{ACCESSIBLE, Answer, BusError, BusResult, Call, Reference, SELECTION};
use crate::model::{Interfaces, Object, role as n, states as s};
use stickpin_device::{Error, InputOutcome, Result};
use stickpin_tree::{Handle, NodeRef, quote, quote_first};

/// The maximum number of chosen options that are read. If more options are chosen, none of them is
/// read.
const MAX_SELECTED: usize = 16;

/// The maximum number of attempts while the options change.
const MAX_ROUNDS: usize = 3;

/// The maximum number of objects inside an option whose names are checked again.
const PARTS: usize = 40;

/// The maximum number of options that a message lists.
const NAMED: usize = 12;

/// A list and its options, as they were when the list was read.
struct OptionList {
    object: Object,
    /// The parent of the options: the object itself, or the list or menu inside a combo box.
    holder: String,
    offered: Vec<ListOption>,
    /// The options that were chosen when the list was read; `None` if unknown.
    before: Option<Vec<String>>,
}

/// An option of the list.
struct ListOption {
    path: String,
    /// The accessible name.
    name: String,
    /// The texts by which the option can be found: its name, then the texts inside it.
    reads: Vec<String>,
    /// Whether the entry is a group, which contains options but is not an option.
    group: bool,
}

/// An option that was chosen.
struct Choice {
    path: String,
    /// The last known index of the option.
    at: usize,
}

impl OptionList {
    /// Returns the only option with this text; `None` if the texts of all options are unknown.
    ///
    /// # Errors
    /// Returns `AMBIGUOUS_MATCH` if several options have this text, or `ELEMENT_NOT_FOUND` if no
    /// option has it.
    fn option(&self, label: &str) -> Result<Option<&ListOption>> {
        let reads = |offered: &&ListOption| offered.reads.iter().any(|text| text == label);
        let mut found = self.offered.iter().filter(reads);
        match (found.next(), found.next()) {
            (Some(found), None) => Ok(Some(found)),
            (Some(_), Some(_)) => {
                Err(Error::ambiguous_match(format!("several options match {}", quote(label))))
            }
            (None, _) if self.offered.iter().all(|offered| offered.reads.is_empty()) => Ok(None),
            (None, _) => {
                let named =
                    self.offered.iter().filter_map(|offered| offered.reads.first()).map(String::as_str);
                Err(Error::element_not_found(format!("there is no option {}", quote(label)))
                    .hint(format!("choose one of: {}", quote_first(named, NAMED))))
            }
        }
    }
}

/// Chooses options from a list or combo box by their labels. Returns `None` if the app offers no
/// selection interface or does not accept the choice. The caller then opens the list and presses
/// the options.
///
/// # Errors
/// Returns `ELEMENT_NOT_FOUND`, `AMBIGUOUS_MATCH` or `INVALID_ARGS`; `FILL_MISMATCH` when another
/// option was or may have been chosen; or `BACKEND_LOST`, `TIMEOUT` or `INTERNAL`.
pub(crate) async fn select(
    device: &mut LinuxDevice,
    target: Handle,
    options: &[String],
) -> Result<Option<InputOutcome>> {
    let object = device.view().object(target)?;
    let combo = object.role == n::COMBO_BOX;
    if combo && options.len() > 1 {
        return Err(takes_one(&object, options));
    }
    // GTK 4 does not list the options of its combo boxes. The selection of a table chooses rows,
    // not cells.
    let mute = combo && device.app.profile().combo_boxes_list_nothing;
    let table = matches!(object.role, n::TABLE | n::TREE_TABLE);
    if !object.has(Interfaces::SELECTION) || mute || table {
        return Ok(None);
    }
    let Some(mut list) = list_of(device.view(), object).await? else { return Ok(None) };
    for label in options {
        if list.option(label)?.is_none() {
            return Ok(None);
        }
    }
    // GTK does not report which lists accept several options. Only lists that do so keep the other
    // options chosen.
    let mut cleared = options.len() > 1 || list.object.is(s::MULTISELECTABLE);
    if cleared {
        clear_selection(&device.app, &list.object).await?;
    }
    let (mut chosen, mut others, mut sent) = (Vec::new(), false, cleared);
    for again in [false, true] {
        chosen.clear();
        for label in options {
            let taken = choose_option(device, &mut list, label).await;
            let Some(choice) = taken.map_err(|e| if sent { unknown(e) } else { e })? else { return Ok(None) };
            chosen.push(choice);
            sent = true;
        }
        others = selected_count(&device.app, &list.object).await?.is_some_and(|count| count > chosen.len());
        if again || !others {
            break;
        }
        // The list is multi-select, and other options are still chosen.
        clear_selection(&device.app, &list.object).await?;
        cleared = true;
    }
    let (taken, moved) = are_chosen(&device.app, &list, &mut chosen).await?;
    if others || !taken {
        let kept = if cleared { None } else { list.before.as_ref() };
        let meant: Vec<&String> =
            chosen.iter().map(|choice| &choice.path).chain(kept.into_iter().flatten()).collect();
        no_others(device, &list, options, &meant, moved).await?;
    }
    if taken {
        return Ok(Some(delivered_to_target().value(Some(options.join(", ")))));
    }
    if chosen.len() == 1 {
        return Ok(None);
    }
    Err(is_chosen_now(takes_one(&list.object, options)))
}

/// Chooses an option at its current index, if it still has the texts by which it was found. Returns
/// `None` if the app does not accept the choice.
async fn choose_option(
    device: &mut LinuxDevice,
    list: &mut OptionList,
    label: &str,
) -> Result<Option<Choice>> {
    for _ in 0..MAX_ROUNDS {
        let Some(option) = list.option(label)? else { return Ok(None) };
        if let Some(at) = place_of(device.view(), list, &option.path).await? {
            let choice = Choice { path: option.path.clone(), at };
            let taken = ask::send_order(&device.app, &of_child(&list.object, "SelectChild", at)).await?;
            return Ok(taken.then_some(choice));
        }
        tracing::debug!("the options of {} have changed", list.object.describe());
        capture::capture_app(device, &[]).await?;
        let Some(now) = list_of(device.view(), list.object.clone()).await? else { return Ok(None) };
        // The new capture may already include the choice, so the earlier state is kept.
        *list = OptionList { before: list.before.take(), ..now };
    }
    // The objects are not stable, or the list keeps changing. Pressing the option is safer, if it
    // is still there.
    list.option(label).map(|_| None)
}

/// Returns the current index of an option in its list. Returns `None` if the option is no longer in
/// the list, or if its name or a name inside it has changed since the option was read.
async fn place_of(view: AppView<'_>, list: &OptionList, path: &str) -> Result<Option<usize>> {
    // The names inside the option when it was read, starting with its own.
    let inside = view.last.at(path).into_iter().flat_map(|at| view.last.picture.inside(at));
    let named = inside.map(|at| &view.last[at]).filter(|object| !object.name.is_empty()).take(PARTS);
    let mut parts: Vec<(&str, &str)> = named.map(|object| (&*object.path, &*object.name)).collect();
    if parts.first().is_none_or(|(first, _)| *first != path) {
        let own = list.offered.iter().find(|offered| offered.path == path);
        parts.extend(own.map(|own| (path, &*own.name)));
    }
    let mut calls = vec![children(&list.holder)];
    calls.extend(parts.iter().map(|(path, _)| property(path, ACCESSIBLE, "Name")));
    let mut answers = view.app.link.calls(&calls).await.into_iter();
    let now = paths(view.app, &list.holder, answers.next());
    let Some(now) = ask::unless_vanished(view.app, &list.holder, now).await? else { return Ok(None) };
    for ((_, name), answer) in parts.into_iter().zip(answers) {
        let same = answer.and_then(|answer| Ok(answer.property_text()? == name));
        // The object may be gone.
        if ask::or_none(view.app, same).await? != Some(true) {
            return Ok(None);
        }
    }
    Ok(now.iter().position(|child| child == path))
}

/// Returns whether the app reports that all these options are chosen, and whether options have
/// moved since they were chosen, so that others may have been chosen instead. If the options keep
/// moving, the result is unknown, and the first value is false.
async fn are_chosen(app: &App, list: &OptionList, chosen: &mut [Choice]) -> Result<(bool, bool)> {
    let mut moved = false;
    for _ in 0..MAX_ROUNDS {
        let mut calls = vec![children(&list.holder)];
        calls.extend(chosen.iter().map(|choice| of_child(&list.object, "IsChildSelected", choice.at)));
        calls.push(children(&list.holder));
        // An answer counts only if the option has the same index before and after the answer.
        let mut answers = app.link.calls(&calls).await.into_iter();
        let order = |answer| paths(app, &list.holder, answer);
        let (before, after) = (order(answers.next()), order(answers.next_back()));
        let said: BusResult<Vec<bool>> = answers.map(|answer| answer?.read()).collect();
        let read = said.and_then(|said| Ok((before?, said, after?)));
        let Some((before, said, after)) = ask::unless_vanished(app, &list.object.path, read).await? else {
            break;
        };
        let stands = |choice: &Choice| {
            [&before, &after].iter().all(|order| order.get(choice.at) == Some(&choice.path))
        };
        if chosen.iter().all(stands) {
            return Ok((said.into_iter().all(|is| is), moved));
        }
        moved = true;
        for choice in &mut *chosen {
            let Some(at) = after.iter().position(|path| *path == choice.path) else {
                return Ok((false, moved));
            };
            choice.at = at;
        }
    }
    Ok((false, moved))
}

/// Checks that the app did not choose options other than those `meant`. Succeeds if the app ignored
/// the choice. `moved` states whether options have moved since they were chosen.
///
/// # Errors
/// Returns `FILL_MISMATCH` if other options were chosen; the earlier choice is then restored if
/// possible. Also returns `FILL_MISMATCH` if an option moved and it is unknown which options are
/// chosen.
async fn no_others(
    device: &mut LinuxDevice,
    list: &OptionList,
    options: &[String],
    meant: &[&String],
    moved: bool,
) -> Result<()> {
    let all = children_of(&device.app, &list.holder).await?;
    let now = selected_options(&device.app, &list.object).await?;
    let what = list.object.describe();
    let labels = options.iter().map(|label| quote(label)).collect::<Vec<_>>().join(", ");
    let error = |message: String| Err(is_chosen_now(Error::fill_mismatch(message)));
    let Some((all, mut wrong)) = all.zip(now) else {
        if !moved {
            return Ok(());
        }
        return error(format!(
            "the options of {what} changed during the choice of {labels}; it is unknown what is chosen now"
        ));
    };
    // Objects outside the list are recreated for each query, so they prove nothing.
    wrong.retain(|path| all.contains(path) && !meant.contains(&path));
    if wrong.is_empty() {
        return Ok(());
    }
    capture::capture_app(device, &[]).await?;
    let offered = read_options(device.view(), wrong).await;
    let chose = ask::unless_vanished(&device.app, &list.object.path, offered).await?.unwrap_or_default();
    let chose = chose.iter().map(|offered| offered.reads.first().map_or("", String::as_str));
    let chose: Vec<String> = chose.take(NAMED).map(quote).collect();
    let now = if restore(device.view(), list).await? { "is" } else { "is not" };
    error(format!(
        "{what} chose {} instead of {labels}, because its options changed at that moment; the previous choice {now} selected again",
        chose.join(", ")
    ))
}

/// Restores the earlier choice. Returns whether the app now reports exactly that choice.
async fn restore(view: AppView<'_>, list: &OptionList) -> Result<bool> {
    let Some(before) = &list.before else { return Ok(false) };
    // A single-choice list replaces the chosen option, and may require that one be chosen.
    let clearings = if before.len() == 1 { &[false, true][..] } else { &[true][..] };
    for &clear in clearings {
        if clear {
            clear_selection(view.app, &list.object).await?;
        }
        for path in before {
            let Some(at) = place_of(view, list, path).await? else { return Ok(false) };
            ask::send_order(view.app, &of_child(&list.object, "SelectChild", at)).await?;
        }
        let now = selected_options(view.app, &list.object).await?;
        if now.is_some_and(|now| now.len() == before.len() && now.iter().all(|path| before.contains(path))) {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn clear_selection(app: &App, list: &Object) -> Result<()> {
    let call = Call::new(&list.path, SELECTION, "ClearSelection");
    ask::send_order(app, &call).await.map(drop)
}

/// Returns how many options are chosen; `None` if unknown.
async fn selected_count(app: &App, list: &Object) -> Result<Option<usize>> {
    let count = ask::count(app, &list.path, SELECTION, "NSelectedChildren").await;
    Ok(ask::unless_vanished(app, &list.path, count).await?.flatten())
}

/// Returns the paths of the chosen options; `None` if they are unknown, or if there are more than
/// [`MAX_SELECTED`].
async fn selected_options(app: &App, list: &Object) -> Result<Option<Vec<String>>> {
    let Some(count) = selected_count(app, list).await?.filter(|count| *count <= MAX_SELECTED) else {
        return Ok(None);
    };
    let calls: Vec<Call<'_>> = (0..count).map(|at| of_child(list, "GetSelectedChild", at)).collect();
    let child = |answer: Answer| Ok(app.link.resolve_path(&list.path, answer?.read()?));
    let chosen: BusResult<Vec<_>> = app.link.calls(&calls).await.into_iter().map(child).collect();
    ask::unless_vanished(app, &list.path, chosen).await
}

/// Returns the paths of an object's children; `None` if they are unknown.
async fn children_of(app: &App, path: &str) -> Result<Option<Vec<String>>> {
    let answer = app.link.call(children(path)).await;
    ask::unless_vanished(app, path, paths(app, path, Some(answer))).await
}

/// Returns the paths of the objects that an answer from the object `of` refers to.
fn paths(app: &App, of: &str, answer: Option<Answer>) -> BusResult<Vec<String>> {
    let all: Vec<Reference> = answer.unwrap_or(Err(BusError::Vanished))?.read()?;
    Ok(all.into_iter().map(|path| app.link.resolve_path(of, path)).collect())
}

/// Reads the options of a list, and determines which of them are chosen. The options are its
/// children, or those of the list or menu that is the only child of a combo box. Returns `None` if
/// the options are unknown, or if some of them are in groups.
async fn list_of(view: AppView<'_>, object: Object) -> Result<Option<OptionList>> {
    let mut holder = object.path.clone();
    for _ in 0..3 {
        let Some(options) = children_of(view.app, &holder).await? else { return Ok(None) };
        if let [only] = &options[..]
            && object.role == n::COMBO_BOX
        {
            holder.clone_from(only);
            continue;
        }
        let offered = read_options(view, options).await;
        let Some(offered) = ask::unless_vanished(view.app, &object.path, offered).await? else {
            return Ok(None);
        };
        // Firefox counts options in groups, but lists the groups as children, so the indices
        // differ.
        if offered.iter().any(|offered| offered.group) {
            return Ok(None);
        }
        let before = selected_options(view.app, &object).await?;
        return Ok(Some(OptionList { object, holder, offered, before }));
    }
    Ok(None)
}

/// Reads the names and texts of options.
async fn read_options(view: AppView<'_>, options: Vec<String>) -> BusResult<Vec<ListOption>> {
    let names = options.iter().map(|path| property(path, ACCESSIBLE, "Name"));
    let roles = options.iter().map(|path| Call::new(path, ACCESSIBLE, "GetRole"));
    let asked: Vec<_> = names.chain(roles).collect();
    let mut answers = view.app.link.calls(&asked).await;
    let roles = answers.split_off(options.len());
    let mut all = Vec::with_capacity(options.len());
    for (path, (name, role)) in options.into_iter().zip(answers.into_iter().zip(roles)) {
        let name = name?.property_text()?;
        let group = matches!(role?.read()?, n::PANEL | n::GROUPING | n::MENU);
        let node = view.last.node(view.app.ids.handle(&path));
        let texts = node.into_iter().flat_map(NodeRef::subtree).filter(|n| n.is_text());
        let captured = node.into_iter().chain(texts).map(|n| n.name());
        let reads = std::iter::once(&*name).chain(captured).map(str::trim).filter(|text| !text.is_empty());
        let mut reads: Vec<String> = reads.map(str::to_owned).collect();
        reads.dedup();
        all.push(ListOption { path, name, reads, group });
    }
    Ok(all)
}

/// Creates the call that gets the children of an object.
fn children(path: &str) -> Call<'_> {
    Call::new(path, ACCESSIBLE, "GetChildren")
}

/// Creates a call about one of a list's children: a query or an order.
fn of_child<'a>(list: &'a Object, member: &'a str, at: usize) -> Call<'a> {
    Call::new(&list.path, SELECTION, member).with((i32::try_from(at).unwrap_or(i32::MAX),))
}

/// Marks an error after which the choice may have been made.
fn is_chosen_now(error: Error) -> Error {
    unknown(error.hint("run `stickpin snapshot -i` to see what is chosen now"))
}

fn takes_one(list: &Object, options: &[String]) -> Error {
    let what = list.describe();
    Error::invalid_args(format!("{what} accepts one option, not {}", options.len())).hint("name one option")
}
