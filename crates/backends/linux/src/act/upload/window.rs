//! Which window of the display a file chooser is. It is found out once, when the chooser is seen:
//! what is typed later goes to that window, or nowhere.

use crate::act::upload;
use crate::app::{App, Chooser, LinuxDevice, View, ask, gone};
use crate::model::extents::only_window_of;
use std::time::Duration;
use stickpin_device::{Error, Result};
use stickpin_x11desk::{Window, windows};

/// How long a window may take to be on the screen that the app says it shows.
const SHOWN: Duration = Duration::from_secs(2);

/// The windows of the display; none where there is no display.
pub(crate) async fn on_screen(app: &App) -> Result<Vec<Window>> {
    match app.screen.x11_if_any().await? {
        Some(x11) => x11.run(windows::all).await,
        None => Ok(Vec::new()),
    }
}

/// The chooser with this path: as it was met, or as it is now.
pub(crate) async fn chooser_known(device: &mut LinuxDevice, top: &str) -> Result<Chooser> {
    match device.chooser.take().filter(|chooser| chooser.top == top) {
        Some(chooser) => Ok(chooser),
        None => window_of_chooser(device.view(), top, None).await,
    }
}

/// The chooser with this path and its window. `before`: what was on the screen before it came,
/// where that is known.
///
/// # Errors
/// `ELEMENT_NOT_FOUND` where it is gone, `UNSUPPORTED` where its window cannot be told from others.
pub(crate) async fn window_of_chooser(view: View<'_>, top: &str, before: Option<&[u32]>) -> Result<Chooser> {
    let x11 = view.app.screen.x11("type keys").await?;
    let title = upload::title_of(view.last, top);
    let alike = upload::windows_that(view.last, |_, window| window.shown && window.name == title).len();
    let window = ask::comes(SHOWN, || async {
        let windows = x11.run(windows::all).await?;
        let size = ask::place(view.app, top).await?.map(|rect| (rect.width, rect.height));
        let window = only_window_of(&windows, view.app.info.pid, &title, size, alike, before).cloned();
        // It was among them when they were listed, if it is still there.
        if upload::is_shown(view.app, top).await? { Ok(window) } else { Err(gone()) }
    });
    let window = window.await?.ok_or_else(|| unknown_window(&title))?;
    Ok(Chooser { top: top.to_owned(), window })
}

/// The error of a chooser that nothing can be typed into, as it could go elsewhere.
fn unknown_window(title: &str) -> Error {
    let title = stickpin_tree::quote(title);
    let message =
        format!("the file chooser {title} is open, but its window cannot be told from others of the app");
    Error::unsupported(message).hint(
        "it has no file yet: stickpin snapshot -i shows it; press what closes the others, or fill its field",
    )
}
