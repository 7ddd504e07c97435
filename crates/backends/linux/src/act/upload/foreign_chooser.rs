//! File choosers that another process shows for the app, as portals do.
//!
//! Such a chooser is driven as a separate app, over a separate connection, from the press that
//! opened it until it has the files or is closed. None of its elements gets a ref. The process may
//! also show choosers of other apps: only the window that appeared with the press counts, and only
//! if its title is unique.

use crate::act::Act;
use crate::act::upload::{self, is_chooser};
use crate::app::window_stack::FRESH;
use crate::app::{App, Chooser, FOREIGN, ForeignChooser, LinuxDevice, ask};
use crate::bus::{BusError, BusResult, Link, RegisteredApp};
use crate::events::AppEvents;
use crate::limits::STRANGER;
use crate::model::Object;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use stickpin_device::{
    CancellationToken, DesktopObject, Dispatched, Error, InputOutcome, Notice, Result, element_gone,
};
use stickpin_tree::{Handle, quote_whole};
use stickpin_x11desk::Window;
use tokio::time::{Instant, sleep};

/// Timeout for the chooser's process to register on the accessibility bus with its window.
const REACH_TIMEOUT: Duration = Duration::from_secs(4);

/// The reason for refusing a chooser that cannot be told from other windows of its process.
const NOT_UNIQUE: &str = "its process has other windows with this title";

/// The interval at which to check whether the chooser's process has registered.
const LOOK: Duration = Duration::from_millis(50);

/// Returns notices about the [`windows_beside`] the app's own that have opened or closed since the
/// last call; a window with a new title counts as opened. Windows without a parent are included
/// only if the app is alone on its display. In a desktop session, there are no notices, because the
/// tree contains all windows.
pub(crate) async fn foreign_window_notices(device: &mut LinuxDevice) -> Vec<Notice> {
    if device.app.is_on_desktop {
        return Vec::new();
    }
    let listed = match device.listed.take().filter(|(at, _)| at.elapsed() < FRESH) {
        Some((_, listed)) => Ok(listed),
        None => upload::on_screen(&device.app).await,
    };
    // Any command that needs the display reports the error.
    let listed =
        listed.inspect_err(|e| tracing::debug!("the windows of other apps could not be listed: {e}"));
    let Ok(listed) = listed else { return Vec::new() };
    let alone = device.app.is_alone();
    let mut beside = windows_beside(listed, device.app.info.pid);
    beside.retain(|window| alone || window.transient_for.is_some());
    let now: Vec<(u32, String)> = beside.into_iter().map(|window| (window.id, window.title)).collect();
    let what = DesktopObject::ForeignWindow;
    let opened = now.iter().filter(|window| !device.foreign_windows.contains(window));
    let closed = device.foreign_windows.iter().filter(|(id, _)| now.iter().all(|(known, _)| known != id));
    let opened = opened.map(|(_, title)| Notice::Appeared { what, name: title.clone() });
    let closed = closed.map(|(_, title)| Notice::Disappeared { what, name: title.clone() });
    let notices = opened.chain(closed).collect();
    device.foreign_windows = now;
    notices
}

/// Returns one of the [`windows_beside`] the app's own that is not in `before`. Waits briefly for
/// such a window, because its process may be starting.
pub(crate) async fn new_foreign_window(act: &Act<'_>, before: &[u32]) -> Result<Option<Window>> {
    let found = ask::wait_for_value(STRANGER, || async {
        let windows = upload::on_screen(&act.device.app).await?;
        let beside = windows_beside(windows, act.device.app.info.pid);
        let new = beside.into_iter().find(|window| !before.contains(&window.id));
        // A window that has opened counts even if the action was cancelled meanwhile.
        Ok(if new.is_none() && act.cancel.is_cancelled() { Some(None) } else { new.map(Some) })
    });
    found.await.map(Option::flatten)
}

/// Connects to a file chooser window of another process.
///
/// # Errors
/// Returns `UNSUPPORTED` if the window is not a chooser, cannot be distinguished from others or has
/// already closed, or if its process cannot be reached. Also returns `UNSUPPORTED` if the window
/// names no parent and the app is not alone on its display.
pub(crate) async fn register_chooser(act: &mut Act<'_>, window: Window) -> Result<Handle> {
    let refused = |why: &str| foreign_window_error(&act.device.app, &window, why);
    let unread = |e: Error| {
        tracing::debug!("{} cannot be read: {e}", window.describe());
        refused("its process cannot be reached over the accessibility bus")
    };
    if window.transient_for.is_none() && !act.device.app.is_alone() {
        return Err(refused("it does not name its parent window"));
    }
    let reached = reach(&act.device.app, &window, act.cancel).await;
    let mut other = reached.map_err(|fault| {
        tracing::debug!("{} cannot be reached: {fault}", window.describe());
        refused("its process is not on the accessibility bus")
    })?;
    let mut inner = Act { device: &mut other, cancel: act.cancel };
    let tops = upload::until_shown(&mut inner, |last| {
        let called = |at, top: &Object| top.name == window.title && is_chooser(&last.picture, at);
        Some(upload::windows_that(last, called)).filter(|tops| !tops.is_empty())
    });
    let tops = tops.await.map_err(unread)?.unwrap_or_default();
    let top = match &tops[..] {
        [top] => top,
        [] => return Err(refused("it is not a file chooser")),
        _ => return Err(refused(NOT_UNIQUE)),
    };
    // The path belongs to this window only if the process has no other window with that title on
    // the display.
    let mut alike = upload::on_screen(&act.device.app).await?;
    alike.retain(|w| w.pid == window.pid && w.title == window.title);
    if !matches!(&alike[..], [only] if only.id == window.id) {
        return Err(refused(NOT_UNIQUE));
    }
    if !upload::is_shown(&other.app, top).await.map_err(unread)? {
        return Err(refused("it closed immediately"));
    }
    act.device.choosers_met += 1;
    let handle = Handle { scope: FOREIGN, id: act.device.choosers_met };
    let chooser = Chooser { top: top.clone(), window };
    act.device.foreign = Some(ForeignChooser { handle, chooser, device: Box::new(other) });
    Ok(handle)
}

/// Takes the connected chooser, to give it files or to close it.
///
/// # Errors
/// Returns `ELEMENT_NOT_FOUND` if the handle is not that of the connected chooser, which then stays
/// connected.
pub(super) fn take_chooser(device: &mut LinuxDevice, chooser: Handle) -> Result<ForeignChooser> {
    device.foreign.take_if(|foreign| foreign.handle == chooser).ok_or_else(element_gone)
}

/// Gives files to the chooser of another process, and closes the chooser if that fails.
///
/// # Errors
/// Returns the errors of [`upload::give_files`]; the hint states whether the chooser is still open.
pub(crate) async fn give_elsewhere(
    act: &mut Act<'_>,
    chooser: Handle,
    files: &[PathBuf],
) -> Result<InputOutcome> {
    let mut foreign = take_chooser(act.device, chooser)?;
    let top = foreign.device.app.ids.handle(&foreign.chooser.top);
    foreign.device.chooser = Some(foreign.chooser.clone());
    // This recursion ends: the handle is one of the chooser's own.
    let mut inner = Act { device: &mut foreign.device, cancel: act.cancel };
    let given = Box::pin(upload::give_files(&mut inner, top, files)).await;
    let Err(error) = given else { return given };
    // If the path was typed, the chooser may have taken the file just before it closed.
    let typed = error.dispatched != Dispatched::No;
    let error = error.dispatched(Dispatched::Unknown);
    match upload::escape(&mut foreign.device, &foreign.chooser).await {
        Ok(true) if typed => Err(error.hint(
            "the file chooser belonged to another process and has been closed again; run \
             `stickpin snapshot -i` to see whether the app has a file now; the app may accept only other file types",
        )),
        Ok(true) => {
            Err(error.hint("the file chooser belonged to another process and was closed with nothing chosen"))
        }
        left => {
            tracing::debug!(?left, "{} stays open", foreign.chooser.window.describe());
            let open = foreign_window_error(&act.device.app, &foreign.chooser.window, "it is still open");
            Err(Error { hint: open.hint, ..error })
        }
    }
}

/// Returns the error for a window of another process that cannot be given a file.
fn foreign_window_error(app: &App, window: &Window, why: &str) -> Error {
    let pid = window.pid.map_or_else(String::new, |pid| format!(" (linux:{pid})"));
    let message = format!(
        "{} was opened; it belongs to another process{pid} and has no file yet: {why}",
        window.describe()
    );
    let hint = drive_hint(window, app.is_on_desktop, app.screen.own, &app.url);
    Error::unsupported(message).hint(hint)
}

/// Connects to the process of a window on the accessibility bus. The connection is separate, so
/// that its signals do not count as the app's.
async fn reach(app: &App, window: &Window, cancel: &CancellationToken) -> BusResult<LinuxDevice> {
    let until = Instant::now() + REACH_TIMEOUT;
    let heard = Arc::new(AppEvents::default());
    let listener = Arc::clone(&heard);
    let desktop =
        app.desktop.reconnect(Box::new(move |message| listener.handle_signal(message)), until).await?;
    let Some(pid) = window.pid else { return Err(BusError::Unknown) };
    let bus = loop {
        let running = desktop.running(until).await?;
        let is = |app: &&RegisteredApp| app.pid == Some(pid) && app.windows.is_some_and(|count| count > 0);
        match &running.iter().filter(is).collect::<Vec<_>>()[..] {
            [app] => break app.bus.clone(),
            _ if Instant::now() >= until || cancel.is_cancelled() => return Err(BusError::Unknown),
            _ => sleep(LOOK).await,
        }
    };
    heard.state().app.clone_from(&bus);
    desktop.listen(&bus, until).await?;
    let link = Link::to(&desktop, &bus, until).await?;
    let (screen, title) = (app.screen.for_process(window.pid), window.title.clone());
    Ok(LinuxDevice::new(desktop, link, heard, screen, (title, window.pid), None))
}

/// Returns the commands that drive an open window of another process.
fn drive_hint(window: &Window, among: bool, own: bool, app: &str) -> String {
    let title = quote_whole(&window.title);
    // A quote in the title would end the shell word.
    let named = window.title.is_empty()
        || window.title.contains(['\'', '!'])
        || window.title.contains(char::is_control);
    let target = if named { "role=dialog".to_owned() } else { format!("role=dialog label={title}") };
    match window.pid {
        _ if among => format!(
            "run `stickpin snapshot -i` to see it as a separate app, then `stickpin upload '{target}' FILE` to give it a file"
        ),
        Some(pid) if !own => format!(
            "run `stickpin --session chooser open --attach linux:{pid}`, then `stickpin --session chooser upload '{target}' FILE`"
        ),
        _ => {
            let app = if app.contains(['\'', '!']) { "linux:APP" } else { app };
            format!(
                "run `stickpin key Escape` to close it; to upload, open the app on a private desktop, whose \
                 tree includes the file chooser: `stickpin --session all open --private linux:desktop`, then \
                 `stickpin --session all open '{app}'`"
            )
        }
    }
}

/// Selects the visible windows of other processes that belong to a window of the app, or that are
/// modal and have no parent. Returns an empty list if no window is known to be the app's own.
fn windows_beside(windows: Vec<Window>, own: Option<u32>) -> Vec<Window> {
    let ours: Vec<u32> =
        windows.iter().filter(|w| own.is_some() && w.pid == own).map(|window| window.id).collect();
    let belongs = |w: &Window| {
        let to = w.transient_for.map_or(w.modal && !w.popup && !ours.is_empty(), |host| ours.contains(&host));
        w.pid != own && w.is_shown() && to
    };
    windows.into_iter().filter(belongs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::is_foreign;
    use crate::tests::action_prefetch::read;
    use crate::tests::speaker::Speaker;
    use stickpin_device::{Action, Device as _, ErrorCode};

    fn window(id: u32, pid: Option<u32>, transient_for: Option<u32>) -> Window {
        Window { pid, transient_for, ..crate::model::extents::tests::window(id, "", (0.0, 0.0, 9.0, 9.0)) }
    }

    #[test]
    fn a_window_of_another_process_is_told_by_whose_it_belongs_to() {
        let all = || {
            vec![
                window(1, Some(7), None),
                window(2, Some(7), Some(1)),
                window(3, Some(8), Some(1)),
                window(4, None, Some(2)),
                window(5, Some(8), None),
                window(6, Some(9), Some(5)),
                Window { modal: true, ..window(7, Some(8), None) },
            ]
        };
        let ids = |own| windows_beside(all(), own).iter().map(|w| w.id).collect::<Vec<_>>();
        assert_eq!(ids(Some(7)), [3, 4, 7]);
        assert!(ids(None).is_empty(), "whose windows are whose is not known");
    }

    #[tokio::test]
    async fn windows_listed_for_an_action_serve_one_request_before_its_input() {
        let app = Speaker::start();
        let (mut device, _, [save, _]) = read(&app).await;
        device.app.info.pid = Some(7);
        // An hour ahead, so that the list stays valid on a busy machine.
        let at = std::time::Instant::now() + Duration::from_secs(3600);
        let listed = || {
            let windows = vec![window(1, Some(7), None), window(3, Some(8), Some(1))];
            Some((at, windows))
        };
        device.listed = listed();
        let first = foreign_window_notices(&mut device).await;
        assert!(matches!(first[..], [Notice::Appeared { .. }]), "{first:?}");
        // There is no display, so a new list has no windows.
        let second = foreign_window_notices(&mut device).await;
        assert!(matches!(second[..], [Notice::Disappeared { .. }]), "{second:?}");
        device.listed = listed();
        let action = Action::press((50.0, 25.0), Some(save));
        device.perform(&action, &CancellationToken::new()).await.unwrap();
        let after = foreign_window_notices(&mut device).await;
        assert!(after.is_empty(), "the windows are those from before the input: {after:?}");
    }

    #[test]
    fn hint_names_the_window_only_if_shell_safe() {
        let titled = |title: &str| Window { title: title.to_owned(), ..window(3, Some(8), Some(1)) };
        let said = drive_hint(&titled("Open \"it\""), false, false, "");
        assert!(said.ends_with(r#"upload 'role=dialog label="Open \"it\""' FILE`"#), "{said}");
        for title in ["", "Don't", "a\u{1b}b"] {
            let said = drive_hint(&titled(title), false, false, "");
            assert!(said.ends_with("upload 'role=dialog' FILE`"), "{said}");
        }
        assert!(
            drive_hint(&titled("Open"), true, true, "").contains(r#"upload 'role=dialog label="Open"' FILE"#)
        );
        let said = drive_hint(&titled("Open"), false, true, "linux:env A=1 gedit");
        assert!(
            said.ends_with(
                "open --private linux:desktop`, then `stickpin --session all open 'linux:env A=1 gedit'`"
            ),
            "{said}"
        );
    }

    #[tokio::test]
    async fn another_handle_or_path_leaves_the_open_chooser_known() {
        let app = Speaker::start();
        let (mut device, _) = app.device().await;
        let chooser = || Chooser { top: "/open".to_owned(), window: window(3, Some(8), None) };
        let [earlier, open] = [1, 2].map(|id| Handle { scope: FOREIGN, id });
        let other = Box::new(app.device().await.0);
        device.foreign = Some(ForeignChooser { handle: open, chooser: chooser(), device: other });
        let gone = take_chooser(&mut device, earlier).unwrap_err();
        assert_eq!(gone.code, ErrorCode::ElementNotFound, "{gone}");
        assert_eq!(take_chooser(&mut device, open).unwrap().handle, open);
        // The window of a chooser that was not recorded cannot be determined without a display.
        device.chooser = Some(chooser());
        upload::chooser_known(&mut device, "/other").await.unwrap_err();
        assert_eq!(upload::chooser_known(&mut device, "/open").await.unwrap().window.id, 3);
    }

    #[test]
    fn no_element_has_the_handle_of_a_chooser_of_another_process() {
        assert!(is_foreign(Handle { scope: FOREIGN, id: 1 }));
        assert!(!is_foreign(Handle { scope: crate::model::ids::APP, id: 1 }));
    }
}
