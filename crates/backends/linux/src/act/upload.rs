//! Uploading files by typing their paths, as a person would: pressing the element that opens a file
//! chooser, putting the path into the chooser's field, and confirming with Enter.

mod chooser_kinds;
pub(crate) mod foreign_chooser;

use crate::act::{self, Act, focus, keyboard, mouse};
use crate::app::{
    self, App, AppView, Chooser, LastCapture, LinuxDevice, WindowStack, ask, capture, is_foreign, lifecycle,
    query, settle, unknown,
};
use crate::bus::BusError;
use crate::limits::DONE;
use crate::model::extents::only_window_of;
use crate::model::{Interfaces, Object, ObjectTree, Point, is_field, states as s};
use async_trait::async_trait;
use chooser_kinds::{as_text, is_chooser, is_to_save_in, path_field, says_it_opens, takes_the_name};
use std::path::{Path, PathBuf};
use std::time::Duration;
use stickpin_device::{
    Action, CancellationToken, Error, ErrorCode, FileInput, Files, InputOutcome, Modifiers, Result,
    element_gone,
};
use stickpin_tree::{Handle, quote};
use stickpin_x11desk::{Window, windows};
use tokio::time::Instant;

/// Timeout for a chooser to open, to show its field, and to close.
const CHOOSER: Duration = Duration::from_secs(5);

/// The silence after which the wait for a change, such as a newly opened chooser, ends.
const SILENT: Duration = Duration::from_millis(600);

/// Timeout for a window to appear on the screen.
const SHOWN: Duration = Duration::from_secs(2);

/// The maximum number of times that a path is given to a chooser that does not accept it.
const TRIES: usize = 4;

/// The maximum number of times that Escape is sent to a chooser: the first Escape may close only
/// the list below the chooser's field.
const ESCAPES: usize = 3;

/// The hint for a chooser without a field for paths.
const CHOOSER_HINT: &str =
    "run `stickpin snapshot -i` to see what the file chooser contains, or `stickpin key Escape` to close it";

/// The hint for a chooser that saves and was closed.
const CLOSED: &str = "the file chooser was closed with nothing chosen; to save, open it with \
    `stickpin press @BUTTON`, then enter the name with `stickpin fill @FIELD NAME`";

/// The hint for a chooser that may accept several files, but only one through its field.
const ONE_BY_ONE: &str = "the file chooser's path field accepts one file: run `stickpin upload TARGET FILE` \
    once for each file, if the app accepts them one after another; if the chooser's list accepts several, \
    open the chooser with `stickpin press @REF`, then run `stickpin snapshot -i`";

#[async_trait]
impl Files for LinuxDevice {
    /// Returns the file chooser that a handle refers to; `None` unless the handle is that of a
    /// chooser's window or of a field in that window.
    async fn file_input(&mut self, handle: Handle) -> Result<Option<FileInput>> {
        if is_foreign(handle) {
            let foreign = self.foreign.as_ref().filter(|foreign| foreign.handle == handle);
            return Ok(foreign.map(|foreign| file_input(foreign.device.view(), handle, &foreign.chooser.top)));
        }
        let (view, picture) = (self.view(), &self.last.picture);
        let Some(at) = view.index(handle) else { return Ok(None) };
        let top = view.last.top(at);
        let stands_for_it = is_chooser(picture, top) && (at == top || is_field(picture[at].role));
        let path = &picture[top].path;
        Ok(stands_for_it.then(|| file_input(view, view.app.ids.handle(path), path)))
    }

    /// Closes a chooser. Returns whether it is gone.
    async fn close_chooser(&mut self, chooser: Handle) -> Result<Option<bool>> {
        lifecycle::alive(&self.app).await?;
        if is_foreign(chooser) {
            let mut foreign = foreign_chooser::take_chooser(self, chooser)?;
            return escape(&mut foreign.device, &foreign.chooser).await.map(Some);
        }
        let path = self.app.path(chooser)?;
        let chooser = chooser_known(self, &path).await?;
        escape(self, &chooser).await.map(Some)
    }
}

/// Returns what a chooser of this app accepts.
fn file_input(view: AppView<'_>, input: Handle, top: &str) -> FileInput {
    // Qt's field accepts several quoted paths, but not reliably after it has contained another
    // name. GTK's field accepts only one path, even if the chooser's list accepts several.
    let multiple = view.app.profile().choosers_say_what_they_do
        && of_chooser(view.last, top, says_it_opens).flatten() == Some(true);
    let one_by_one = (!multiple).then(|| ONE_BY_ONE.to_owned());
    FileInput::new(input).multiple(multiple).one_by_one(one_by_one)
}

/// Presses an element that may open a file chooser, and waits for the chooser.
pub(crate) async fn choose(act: &mut Act<'_>, point: Point, target: Handle) -> Result<InputOutcome> {
    let before: Vec<String> = choosers(&act.device.last);
    let there: Vec<u32> = on_screen(&act.device.app).await?.into_iter().map(|window| window.id).collect();
    app::until_activated(act.device, target).await?;
    let mut performed = match act::press(act.device, target, None).await? {
        Some(performed) => performed,
        None => mouse::press_at(act, &Action::press(point, Some(target))).await?,
    };
    performed.chooser = opened_chooser(act, &before, &there).await.map_err(unknown)?;
    Ok(performed)
}

/// Waits for a file chooser that opens. `before` and `there` list the choosers of the app and the
/// windows of the display before the press. Closes a chooser that saves.
///
/// # Errors
/// Returns `INVALID_ARGS` for a chooser that saves, and `UNSUPPORTED` for one that may save, which
/// stays open.
async fn opened_chooser(act: &mut Act<'_>, before: &[String], there: &[u32]) -> Result<Option<Handle>> {
    let opened = until_shown(act, |d| choosers(d).into_iter().find(|path| !before.contains(path)));
    let Some(top) = opened.await? else {
        let Some(window) = foreign_chooser::new_foreign_window(act, there).await? else { return Ok(None) };
        return foreign_chooser::register_chooser(act, window).await.map(Some);
    };
    let chooser = chooser_window(act.device.view(), &top, Some(there)).await?;
    if is_to_save(act.device, &top).await? {
        let error = to_save_in(&title_of(&act.device.last, &top));
        let closed = escape(act.device, &chooser).await?;
        return Err(if closed { error.hint(CLOSED) } else { error });
    }
    act.device.chooser = Some(chooser);
    Ok(Some(act.device.app.ids.handle(&top)))
}

/// Types the paths of files into a chooser and confirms the choice.
pub(crate) async fn give_files(
    act: &mut Act<'_>,
    chooser: Handle,
    files: &[PathBuf],
) -> Result<InputOutcome> {
    if is_foreign(chooser) {
        return foreign_chooser::give_elsewhere(act, chooser, files).await;
    }
    let at = act.device.view().index(chooser).ok_or_else(element_gone)?;
    let top = act.device.last[at].path.clone();
    let chooser = chooser_known(act.device, &top).await?;
    let title = title_of(&act.device.last, &top);
    let text = as_text(files);
    let not_taken = |why: &str| {
        let message = format!("the file chooser {} did not accept {}{why}", quote(&title), quote(&text));
        unknown(Error::invalid_args(message))
    };
    // These are read only once, because windows that the first attempt opens still exist during the
    // second.
    let before = modal_windows(&act.device.last);
    let mut field = shown_field(act, &chooser).await?.ok_or_else(|| {
        let message = format!("the file chooser {} shows no path field", quote(&title));
        Error::unsupported(message).hint(CHOOSER_HINT)
    })?;
    if is_to_save(act.device, &top).await? {
        return Err(to_save_in(&title));
    }
    // A chooser that is still reading a folder does not accept a path, and may even close its
    // field.
    for again in 0..TRIES {
        if again > 0 {
            // The earlier attempt may have succeeded.
            let Some(shown) = shown_field(act, &chooser).await.map_err(unknown)? else { break };
            field = shown;
        }
        type_path(act.device, &chooser, &field, &text).await.map_err(unknown)?;
        let became = until_shown(act, |d| {
            let asks = || modal_windows(d).into_iter().find(|window| !before.contains(window)).map(Some);
            if choosers(d).contains(&top) { asks() } else { Some(None) }
        });
        match became.await.map_err(unknown)? {
            Some(None) => {
                let name =
                    |file: &PathBuf| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let value = files.iter().map(name).collect::<Vec<_>>().join(", ");
                return Ok(InputOutcome::done().value(Some(value)));
            }
            // Enter would confirm whatever the new window asks.
            Some(Some(window)) => {
                let over = quote(&title_of(&act.device.last, &window));
                return Err(not_taken(&format!(": {over} opened over the chooser")).hint(
                    "the chooser and the new window are still open: run `stickpin snapshot -i` to read the window, then `stickpin key Escape` to close one at a time",
                ));
            }
            None if act.cancel.is_cancelled() => break,
            None => {}
        }
    }
    Err(not_taken("").hint(
        "the file chooser is still open and may accept only other file types: run `stickpin snapshot -i` to look at it, or `stickpin key Escape` to close it",
    ))
}

/// Closes a chooser with Escape, as a person would. Returns whether it is gone.
async fn escape(device: &mut LinuxDevice, chooser: &Chooser) -> Result<bool> {
    let left = |last: &LastCapture| (!choosers(last).contains(&chooser.top)).then_some(());
    if left(&device.last).is_some() {
        return Ok(true);
    }
    for _ in 0..ESCAPES {
        match keyboard::chord_in(&device.app, &chooser.window, Modifiers::default(), "Escape").await {
            Err(e) if e.code != ErrorCode::ElementNotFound => return Err(e),
            // The chooser has just closed, or is about to report that it has.
            sent => {
                let mut act = Act { device, cancel: &CancellationToken::new() };
                if until_shown(&mut act, left).await?.is_some() {
                    return Ok(true);
                }
                sent?;
            }
        }
    }
    Ok(false)
}

/// Returns the path field of a chooser; `None` if it does not appear. GTK shows this field only on
/// request (Control+L).
async fn shown_field(act: &mut Act<'_>, chooser: &Chooser) -> Result<Option<Object>> {
    if let Some(field) = field_of(&act.device.last, &chooser.top) {
        return Ok(Some(field));
    }
    let control = Modifiers { control: true, ..Modifiers::default() };
    keyboard::chord_in(&act.device.app, &chooser.window, control, "l").await?;
    until_shown(act, |last| field_of(last, &chooser.top)).await
}

/// Puts a path into a field and confirms it.
async fn type_path(device: &mut LinuxDevice, chooser: &Chooser, field: &Object, text: &str) -> Result<()> {
    let handle = device.app.ids.handle(&field.path);
    if !act::set_text(&device.app, field, text).await? {
        return Err(takes_no_text(&chooser.window.title));
    }
    if device.app.profile().choosers_say_what_they_do {
        // The button may have shown the action for the field's earlier content.
        capture::capture_app(device, &[]).await?;
        if of_chooser(&device.last, &chooser.top, says_it_opens).flatten() == Some(false) {
            return Err(to_save_in(&chooser.window.title));
        }
    }
    if !activate(&device.app, field).await? {
        // The field has the focus now, so Enter goes nowhere else.
        focus::focus_element(device, handle).await?;
        keyboard::chord_in(&device.app, &chooser.window, Modifiers::default(), "Enter").await?;
    }
    Ok(())
}

/// Activates a field through its own action, as Enter does. Returns false if the action does not
/// activate the field. GTK 4's action is not used: it reports success without doing anything.
async fn activate(app: &App, field: &Object) -> Result<bool> {
    if !field.has(Interfaces::ACTION) || app.profile().fields_activate_nothing {
        return Ok(false);
    }
    let actions = ask::actions_of(app, &field.path).await?;
    let Some(index) = actions.iter().position(|action| action.eq_ignore_ascii_case("activate")) else {
        return Ok(false);
    };
    match app.link.order(&ask::do_action(&field.path, index), DONE).await {
        Ok(Some(answer)) => Ok(answer.read().unwrap_or(true)),
        // The chooser shows a dialog from inside the action, or the action failed after taking
        // effect.
        Ok(None) | Err(BusError::Refused(_)) => Ok(true),
        Err(fault) => ask::refused(app, &field.path, fault).await.map(|()| false),
    }
}

/// Returns the paths of the app's windows that satisfy a condition.
fn windows_that(last: &LastCapture, are: impl Fn(usize, &Object) -> bool) -> Vec<String> {
    let windows = last.picture.root().children.iter().map(|&at| (at, &last[at]));
    windows.filter(|&(at, window)| are(at, window)).map(|(_, window)| window.path.clone()).collect()
}

/// Returns the paths of the windows that are file choosers.
fn choosers(last: &LastCapture) -> Vec<String> {
    windows_that(last, |at, _| is_chooser(&last.picture, at))
}

/// Returns the paths of the windows that block all others of the app.
fn modal_windows(last: &LastCapture) -> Vec<String> {
    windows_that(last, |_, window| window.shown && window.is(s::MODAL))
}

/// Returns whether the chooser with this path saves files, or may do so. If a Qt chooser does not
/// reveal this, a nonexistent name is put into its field to observe the reaction, and the earlier
/// content is restored.
async fn is_to_save(device: &mut LinuxDevice, top: &str) -> Result<bool> {
    if !device.app.profile().choosers_say_what_they_do {
        return Ok(of_chooser(&device.last, top, is_to_save_in).unwrap_or(false));
    }
    if let Some(opens) = of_chooser(&device.last, top, says_it_opens).flatten() {
        return Ok(!opens);
    }
    let Some(field) = field_of(&device.last, top) else { return Ok(false) };
    let before = query::whole_text(&device.app, &field.path).await;
    let title = title_of(&device.last, top);
    // Without the earlier content, it could not be restored.
    let Some(before) = ask::or_none(&device.app, before).await? else { return Err(is_unread(&title)) };
    let nonexistent = (0..).map(|n: u32| format!("/stickpin-{n}")).find(|path| !Path::new(path).exists());
    if !act::set_text(&device.app, &field, &nonexistent.unwrap_or_default()).await? {
        return Err(takes_no_text(&title));
    }
    let captured = capture::capture_app(device, &[]).await;
    let saves = captured.map(|_| of_chooser(&device.last, top, takes_the_name).unwrap_or(true));
    act::set_text(&device.app, &field, &before).await?;
    saves
}

fn of_chooser<T>(last: &LastCapture, top: &str, what: impl Fn(&ObjectTree, usize) -> T) -> Option<T> {
    Some(what(&last.picture, last.at(top)?))
}

/// Returns the title of the window with this path; empty if the last capture lacks the window.
fn title_of(last: &LastCapture, top: &str) -> String {
    last.object(top).map_or_else(String::new, |object| object.name.clone())
}

/// Returns whether the object with this path is shown now.
async fn is_shown(app: &App, path: &str) -> Result<bool> {
    let states = ask::or_none(app, ask::states_now(app, path).await).await?;
    Ok(states.is_some_and(|states| s::is_visible(states, app.link.toolkit)))
}

/// Returns the path field of the chooser with this path.
fn field_of(last: &LastCapture, top: &str) -> Option<Object> {
    path_field(&last.picture, last.at(top)?).map(|field| last.picture[field].clone())
}

/// Reads the app until `look` finds something. Returns `None` after a silence, a timeout or a
/// cancellation.
async fn until_shown<T>(
    act: &mut Act<'_>,
    mut look: impl FnMut(&LastCapture) -> Option<T>,
) -> Result<Option<T>> {
    let until = Instant::now() + CHOOSER;
    loop {
        lifecycle::alive(&act.device.app).await?;
        capture::capture_app(act.device, &[]).await?;
        let found = look(&act.device.last);
        let left = until.saturating_duration_since(Instant::now());
        if found.is_some() || left.is_zero() || act.cancel.is_cancelled() {
            return Ok(found);
        }
        let seen = act.device.last.changes_when_read;
        if settle::wait_for_signal(&act.device.app, seen, left.min(SILENT), act.cancel).await == Some(false) {
            // A busy app may not have signaled yet.
            lifecycle::barrier(&act.device.app).await?;
            if act.device.app.events.state().changes == seen {
                return Ok(None);
            }
        }
    }
}

/// Returns the error for a chooser that saves: it would overwrite the file instead of uploading it.
fn to_save_in(title: &str) -> Error {
    let title = quote(title);
    let message = format!(
        "the file chooser {title} saves a file: it would overwrite the given file instead of uploading it"
    );
    Error::invalid_args(message)
        .hint("the file chooser is still open: enter a name with `stickpin fill @REF NAME`, or run `stickpin key Escape` to close it")
}

fn is_unread(title: &str) -> Error {
    let message = format!(
        "the file chooser {} may save files; stickpin did not try a name in its path field, because it could not restore the content of the field",
        quote(title)
    );
    Error::unsupported(message).hint(CHOOSER_HINT)
}

fn takes_no_text(title: &str) -> Error {
    let message = format!("the path field of the file chooser {} does not accept text", quote(title));
    Error::unsupported(message).hint(CHOOSER_HINT)
}

/// Returns the windows of the display; empty if there is no display.
pub(crate) async fn on_screen(app: &App) -> Result<Vec<Window>> {
    Ok(WindowStack::of(app).await?.map_or_else(Vec::new, |sight| sight.windows))
}

/// Returns the chooser with this path: as recorded when it opened, or else as determined now.
pub(crate) async fn chooser_known(device: &mut LinuxDevice, top: &str) -> Result<Chooser> {
    match device.chooser.take_if(|chooser| chooser.top == top) {
        Some(chooser) => Ok(chooser),
        None => chooser_window(device.view(), top, None).await,
    }
}

/// Returns the chooser with this path and its window. `before` lists the windows that were on the
/// screen before the chooser opened, if they are known.
///
/// # Errors
/// Returns `ELEMENT_NOT_FOUND` if the chooser is gone, or `UNSUPPORTED` if its window cannot be
/// determined.
pub(crate) async fn chooser_window(view: AppView<'_>, top: &str, before: Option<&[u32]>) -> Result<Chooser> {
    let x11 = view.app.screen.x11("send keys").await?;
    let title = title_of(view.last, top);
    let alike = windows_that(view.last, |_, window| window.shown && window.name == title).len();
    let window = ask::wait_for_value(SHOWN, || async {
        let windows = x11.run(windows::list_windows).await?;
        let size = ask::place(view.app, top).await?.map(|rect| (rect.width, rect.height));
        let window = only_window_of(&windows, view.app.info.pid, &title, size, alike, before).cloned();
        // If the chooser is still shown, its window was among those listed.
        if is_shown(view.app, top).await? { Ok(window) } else { Err(element_gone()) }
    });
    // If the window is not certain, the keys could go elsewhere.
    let window = window.await?.ok_or_else(|| {
        let title = quote(&title);
        let message = format!(
            "the file chooser {title} is open, but its window cannot be distinguished from other windows of the app"
        );
        Error::unsupported(message).hint(
            "the file chooser has no file yet: run `stickpin snapshot -i`, then close the other windows or fill the path field",
        )
    })?;
    Ok(Chooser { top: top.to_owned(), window })
}
