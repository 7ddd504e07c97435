//! Mapping file choosers to windows of the display. This happens once, when the chooser appears:
//! later keys go to that window or nowhere.

use crate::act::upload;
use crate::app::{App, AppView, Chooser, LinuxDevice, ask, gone};
use crate::model::extents::only_window_of;
use std::time::Duration;
use stickpin_device::{Error, Result};
use stickpin_x11desk::{Window, windows};

/// Timeout for a window to appear on the screen.
const SHOWN: Duration = Duration::from_secs(2);

/// Returns the windows of the display; empty if there is no display.
pub(crate) async fn on_screen(app: &App) -> Result<Vec<Window>> {
    match app.screen.x11_if_any().await? {
        Some(x11) => x11.run(windows::list_windows).await,
        None => Ok(Vec::new()),
    }
}

/// Returns the chooser with this path, as it was recorded or as it is now.
pub(crate) async fn chooser_known(device: &mut LinuxDevice, top: &str) -> Result<Chooser> {
    match device.chooser.take().filter(|chooser| chooser.top == top) {
        Some(chooser) => Ok(chooser),
        None => window_of_chooser(device.view(), top, None).await,
    }
}

/// Returns the chooser with this path and its window. `before` lists the windows on the screen
/// before it opened, if known.
///
/// # Errors
/// Returns `ELEMENT_NOT_FOUND` if it is gone, or `UNSUPPORTED` if its window cannot be determined.
pub(crate) async fn window_of_chooser(
    view: AppView<'_>,
    top: &str,
    before: Option<&[u32]>,
) -> Result<Chooser> {
    let x11 = view.app.screen.x11("type keys").await?;
    let title = upload::title_of(view.last, top);
    let alike = upload::windows_that(view.last, |_, window| window.shown && window.name == title).len();
    let window = ask::wait_for_value(SHOWN, || async {
        let windows = x11.run(windows::list_windows).await?;
        let size = ask::place(view.app, top).await?.map(|rect| (rect.width, rect.height));
        let window = only_window_of(&windows, view.app.info.pid, &title, size, alike, before).cloned();
        // If it is still shown, it was among the windows when they were listed.
        if upload::is_shown(view.app, top).await? { Ok(window) } else { Err(gone()) }
    });
    let window = window.await?.ok_or_else(|| unknown_window(&title))?;
    Ok(Chooser { top: top.to_owned(), window })
}

/// The error for a chooser that cannot be typed into, because the keys could go elsewhere.
fn unknown_window(title: &str) -> Error {
    let title = stickpin_tree::quote(title);
    let message = format!(
        "the file chooser {title} is open, but its window is not distinguishable from others of the app"
    );
    Error::unsupported(message).hint(
        "it has no file yet: `stickpin snapshot -i` shows it; press what closes the others, or fill its field",
    )
}
