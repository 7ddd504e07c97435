//! Which window receives the keys, according to the server.

use super::window::TestWindow;
use super::{connect, desktop};
use crate::{focus, windows};
use std::time::Duration;

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
