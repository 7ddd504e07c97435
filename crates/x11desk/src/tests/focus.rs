//! Which window receives the keys, according to the server.

use super::window::TestWindow;
use super::{address, connect, desktop, soon};
use crate::{X11, focus, windows};
use std::time::Duration;
use stickpin_device::ErrorCode;
use x11rb::protocol::xproto::ConnectionExt as _;

#[tokio::test]
async fn it_is_told_which_window_has_the_keys() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut private) = desktop(dir.path()).await else { return };
    let show = |title, x| TestWindow::show(&private, title, (x, 100, 200, 150));
    let shown = (show("One", 50), show("Other", 400));
    let x11 = connect(&private).await;
    let (one, other) = (shown.0.id, shown.1.id);
    let given = async {
        while !x11
            .run(move |d| {
                Ok(windows::list_windows(d)?.iter().filter(|w| [one, other].contains(&w.id)).count() == 2)
            })
            .await
            .unwrap()
        {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), given).await.expect("both are shown");
    for (to, beside) in [(one, other), (other, one)] {
        let (kept, elsewhere) = x11
            .run(move |d| {
                focus::give_keyboard(d, to)?;
                Ok((focus::foreign_focus_after_grab(d, to)?, focus::foreign_focus(d, beside)?))
            })
            .await
            .unwrap();
        assert_eq!((kept, elsewhere.map(|window| window.id)), (None, Some(to)));
    }
    drop(x11);
    drop(shown);
    private.end().await.unwrap();
}

#[tokio::test]
async fn refusal_that_concerns_no_window_is_no_missing_element() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut private) = desktop(dir.path()).await else { return };
    let x11 = X11::connect(address(&private, true), soon()).await.unwrap();
    // 0 and 1 have a meaning of their own as a focus.
    let no_window = x11.run(|d| focus::give_keyboard(d, 2)).await.unwrap_err();
    assert_eq!(no_window.code, ErrorCode::ElementNotFound, "{no_window}");
    // Our own window is never shown.
    let hidden = x11.run(|d| focus::give_keyboard(d, d.own)).await.unwrap_err();
    assert_eq!(hidden.code, ErrorCode::ElementNotFound, "{hidden}");
    let no_atom = x11.run(|d| Ok(d.conn.get_atom_name(0)?.reply()?.name)).await.unwrap_err();
    assert_eq!(no_atom.code, ErrorCode::Io, "{no_atom}");
    drop(x11);
    private.end().await.unwrap();
}
