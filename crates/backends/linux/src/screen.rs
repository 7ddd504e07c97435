//! The screen of a session: a private display, the person's display, or none that accepts input.

use async_trait::async_trait;
use std::sync::Arc;
use stickpin_device::{Clipboard, Error, Result};
use stickpin_x11desk::{
    Address, JOB_TIMEOUT, PrivateDisplay, Visibility, Window, X11, clipboard, window_manager,
};
use tokio::sync::OnceCell;
use tokio::time::Instant;

/// The purpose of a display in messages about the clipboard.
const CLIPBOARD: &str = "use the clipboard";

/// The purposes for which the pointer or the keyboard is needed.
const INPUT: &[&str] =
    &["send keys", "send input", "press with the pointer", "move the pointer", "drag", "scroll"];

/// The screen of a session.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    /// The connection to the display, made on first use and shared by all apps on the display.
    x11: Arc<OnceCell<X11>>,
    address: Option<Address>,
    /// Whether the person's session is a Wayland session.
    wayland: bool,
    /// Whether only this session uses the display, so that windows may be moved.
    pub(crate) own: bool,
    /// Whether the app's windows are unknown: input could go to those of another app.
    has_unknown_process: bool,
    /// The programs of a private display, owned by the screen that ends them.
    pub(crate) private: Option<PrivateDisplay>,
}

impl Screen {
    /// Returns the screen of a private display to which `x11` is connected.
    pub(crate) fn own(private: PrivateDisplay, x11: X11) -> Self {
        let x11 = Arc::new(OnceCell::new_with(Some(x11)));
        Self { x11, address: Some(private.address()), own: true, private: Some(private), ..Self::default() }
    }

    /// Returns the screen that the person uses. Without a display, that screen has neither pointer
    /// nor keyboard.
    pub(crate) fn shared(display: Option<&str>, wayland: bool) -> Self {
        Self { address: display.map(Address::shared), wayland, ..Self::default() }
    }

    /// Returns a screen for the app of a process on the same display, with the same pointer and
    /// keyboard, or with neither if the process is unknown. The new screen does not end the
    /// display.
    pub(crate) fn for_process(&self, pid: Option<u32>) -> Self {
        let (x11, address) = pid.map(|_| (Arc::clone(&self.x11), self.address.clone())).unwrap_or_default();
        let has_unknown_process = pid.is_none();
        Self { x11, address, wayland: self.wayland, own: self.own, has_unknown_process, private: None }
    }

    /// Returns the screen for the only app of the session. If the process is unknown and there may
    /// be windows of other apps, the screen has neither pointer nor keyboard.
    pub(crate) fn of_process(self, pid: Option<u32>) -> Self {
        if pid.is_some() || self.own { self } else { self.for_process(None) }
    }

    /// Waits until a program of the private display has ended, and returns the resulting error.
    /// Never returns if there is no private display.
    pub(crate) async fn wait_for_failure(&self) -> Error {
        let Some(private) = &self.private else { return std::future::pending().await };
        private.wait_for_failure().await
    }

    /// Returns whether there is a pointer.
    pub(crate) fn has_pointer(&self) -> bool {
        self.address.is_some()
    }

    /// Returns the display, for tasks that the accessibility bus cannot perform.
    ///
    /// # Errors
    /// Returns `UNSUPPORTED`, with the reason, when the screen has neither pointer nor keyboard, or
    /// `DEVICE_NOT_FOUND` when the display cannot be used.
    pub(crate) async fn x11(&self, to: &str) -> Result<X11> {
        let Some(address) = &self.address else { return Err(self.none(to)) };
        let connect = || X11::connect(address.clone(), Instant::now() + JOB_TIMEOUT);
        self.x11.get_or_try_init(connect).await.cloned()
    }

    /// Returns the display, if there is one.
    pub(crate) async fn x11_if_any(&self) -> Result<Option<X11>> {
        if self.address.is_none() { Ok(None) } else { self.x11("list windows").await.map(Some) }
    }

    fn none(&self, to: &str) -> Error {
        if self.has_unknown_process {
            // The desktop session stays open with the other apps.
            return Error::unsupported(format!(
                "stickpin cannot {to}: the bus does not report the process of the app, so any window may belong to another app"
            ))
            .hint(
                "use `press`, `fill` and `select` where the app supports them through accessibility actions; for the \
                 pointer and the keyboard, open the app on a private display: \
                 `stickpin open linux:APP --private --session NAME`",
            );
        }
        let needed =
            |tool| format!(" in a Wayland session: that would need {tool}, which stickpin does not support");
        let why = match to {
            _ if !self.wayland => ": there is no display".to_owned(),
            "take screenshots" | "take a screenshot of the app" => needed("grim"),
            CLIPBOARD => needed("wl-clipboard"),
            _ if INPUT.contains(&to) => needed("wtype and ydotool"),
            _ => ": in a Wayland session, only the windows of X11 apps are known".to_owned(),
        };
        Error::unsupported(format!("stickpin cannot {to}{why}"))
            .hint("run `stickpin open linux:APP --private --relaunch` to give the app a private display")
    }

    /// Returns the error for a window that is unknown to the X server, such as a Wayland window.
    pub(crate) fn unseen(&self, to: &str) -> Error {
        self.unshown(to, "the app has no visible window", "see what is open")
    }

    /// Returns the error for an element without a position, such as one in a Wayland window.
    pub(crate) fn unplaced(&self, to: &str) -> Error {
        self.unshown(to, "the element has no position on the screen", "see what is there now")
    }

    fn unshown(&self, to: &str, why: &str, purpose: &str) -> Error {
        if self.wayland || self.has_unknown_process {
            return self.none(to);
        }
        Error::element_offscreen(format!("stickpin cannot {to}: {why}"))
            .hint(format!("run `stickpin snapshot -i` to {purpose}"))
    }

    /// Checks that a window is visible to a person. On a private display, restores the window if
    /// necessary.
    ///
    /// # Errors
    /// Returns `ELEMENT_OFFSCREEN` when the window is minimized or on another workspace, and the
    /// display is shared or the window cannot be restored.
    pub(crate) async fn check_visible(&self, window: &Window) -> Result<()> {
        let (what, hint) = match window.visibility {
            Visibility::Shown => return Ok(()),
            Visibility::Minimised => (
                "minimized",
                "restore the window first, or open the app with `--private`, where stickpin restores it",
            ),
            Visibility::Elsewhere => (
                "on another workspace",
                "move the window to the current workspace first, or open the app with `--private`, where stickpin shows it",
            ),
        };
        if self.own {
            let (x11, window) = (self.x11("restore a window").await?, window.clone());
            if x11.run(move |d| window_manager::raise(d, &window)).await? {
                return Ok(());
            }
        }
        let hint = if self.own { "run `stickpin snapshot -i` to see what is open" } else { hint };
        Err(Error::element_offscreen(format!("{} is {what}", window.describe())).hint(hint))
    }

    /// Ends what was started for the session.
    ///
    /// # Errors
    /// Returns `IO` when a folder cannot be removed.
    pub(crate) async fn end(&mut self) -> Result<()> {
        self.x11 = Arc::default();
        let Some(private) = &mut self.private else { return Ok(()) };
        private.end().await
    }
}

#[async_trait]
impl Clipboard for Screen {
    async fn read_clipboard(&mut self) -> Result<String> {
        self.x11(CLIPBOARD).await?.run(clipboard::read).await
    }

    async fn write_clipboard(&mut self, text: &str) -> Result<()> {
        let text = text.to_owned();
        self.x11(CLIPBOARD).await?.run(move |d| clipboard::write(d, text)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stickpin_device::ErrorCode;

    #[tokio::test]
    async fn without_a_display_it_is_said_what_is_missing() {
        let none = Screen::shared(None, false);
        let error = none.x11("send keys").await.unwrap_err();
        assert_eq!(error.code, ErrorCode::Unsupported);
        assert!(error.message.contains("no display") && error.hint.contains("--private"), "{error}");
        assert!(none.x11_if_any().await.unwrap().is_none());
        let wayland = Screen::shared(None, true);
        for (to, tool) in [("send keys", "wtype"), ("take screenshots", "grim"), (CLIPBOARD, "wl-clipboard")]
        {
            let error = wayland.x11(to).await.unwrap_err();
            assert!(error.message.contains(tool), "{error}");
        }
    }

    #[tokio::test]
    async fn an_app_of_which_no_window_is_known_gets_no_input() {
        assert!(Screen::shared(Some(":4095"), false).of_process(Some(7)).has_pointer());
        let nameless = Screen::shared(Some(":4095"), false).of_process(None);
        assert!(!nameless.has_pointer() && nameless.x11_if_any().await.unwrap().is_none());
        let error = nameless.x11("send keys").await.unwrap_err();
        assert_eq!(error.code, ErrorCode::Unsupported);
        assert!(error.message.contains("the process of the app"), "{error}");
        assert!(error.hint.starts_with("use `press`, `fill` and `select`"), "{error}");
        assert!(error.hint.ends_with("--private --session NAME`"), "{error}");
        assert_eq!(nameless.unseen("scroll").code, ErrorCode::Unsupported);
    }

    #[tokio::test]
    async fn a_display_that_is_not_there_is_named() {
        let gone = Screen::shared(Some(":4095"), false);
        let error = gone.x11("send keys").await.unwrap_err();
        assert_eq!(error.code, ErrorCode::DeviceNotFound);
        assert!(error.message.contains(":4095"), "{error}");
    }
}
