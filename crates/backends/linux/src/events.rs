//! The events of an app, counted and summarized. Waiting for a change, for quiet or for the app's
//! end means waiting for events.

use crate::bus::{DAEMON, Message, text};
use parking_lot::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::time::Instant;
use stickpin_device::{DesktopObject, MAX_NOTICES, Notice, push_latest};
use tokio::sync::Notify;
use zbus::OwnedVariant;

/// The maximum number of characters that are kept from a text in an event.
const MAX_TEXT: usize = 2_000;

/// The maximum number of shown objects that are kept; the oldest are dropped.
const MAX_SHOWN: usize = 64;

/// The state of an app according to its events.
#[derive(Debug, Default)]
pub(crate) struct AppEvents {
    state: Mutex<EventState>,
    /// Notified of each relevant signal.
    heard: Notify,
}

/// The facts gathered from an app's events: changes, shown objects, notices, and whether the app is
/// gone.
#[derive(Debug, Default)]
pub(crate) struct EventState {
    /// The app's name on the bus. Events from other senders are not the app's own.
    pub(crate) app: String,
    /// The bus names of other processes whose objects are in the app's windows.
    pub(crate) guests: Vec<String>,
    /// Counts everything that may have changed what the app shows.
    pub(crate) changes: u64,
    /// The time of the last change.
    pub(crate) changed_at: Option<Instant>,
    /// A description of the last change.
    pub(crate) last: String,
    /// The paths of objects that have reported being shown and not yet being hidden, latest last.
    pub(crate) shown: VecDeque<String>,
    /// Whether the app has left the bus.
    pub(crate) gone: bool,
    pub(crate) notices: VecDeque<Notice>,
}

impl AppEvents {
    pub(crate) fn state(&self) -> MutexGuard<'_, EventState> {
        self.state.lock()
    }

    /// Processes one signal.
    pub(crate) fn handle_signal(&self, message: &Message) {
        if self.state().take(message) {
            self.heard.notify_waiters();
        }
    }

    /// Waits until `look` returns a value. `look` is called immediately and after every event.
    pub(crate) async fn until<T>(&self, mut look: impl FnMut(&EventState) -> Option<T>) -> T {
        loop {
            // Created before looking, so that it completes even if the signal arrives meanwhile.
            let heard = self.heard.notified();
            if let Some(found) = look(&self.state()) {
                return found;
            }
            heard.await;
        }
    }
}

impl EventState {
    /// Processes one signal. Returns whether it was relevant.
    fn take(&mut self, message: &Message) -> bool {
        let header = message.header();
        let (Some(sender), Some(member)) = (header.sender(), header.member()) else { return false };
        // Accept this signal only from the bus itself, because an app may send one with the same
        // name.
        if sender == DAEMON && member == "NameOwnerChanged" {
            let (name, _old, new): (String, String, String) = message.read().unwrap_or_default();
            let left = name == self.app && new.is_empty();
            self.gone |= left;
            let guest = self.guests.contains(&name);
            if guest {
                self.change("a process in the window has ended".to_owned());
            }
            return left || guest;
        }
        let own = *sender == *self.app;
        if !own && !self.guests.iter().any(|guest| *sender == **guest) {
            return false;
        }
        let event = header.interface().and_then(|name| name.strip_prefix("org.a11y.atspi."));
        let Some(event) = event else { return false };
        let detail = truncate(&message.read::<String>().unwrap_or_default());
        // The text of an event (`siiv…`); empty if it has another shape.
        let said = || {
            let event = message.read::<(String, i32, i32, OwnedVariant)>();
            event.map_or_else(|_| String::new(), |(.., value)| truncate(text(&value).trim()))
        };
        let what = DesktopObject::Window;
        let notice = match (event, member.as_str()) {
            // A new object in the cache need not be visible.
            ("Cache", _) => return false,
            ("Event.Window", "Create") => Some(Notice::Appeared { what, name: said() }),
            ("Event.Window", "Destroy") => Some(Notice::Disappeared { what, name: said() }),
            ("Event.Object", "Announcement") => Some(Notice::LiveRegionText { text: said() }),
            _ => None,
        };
        if let Some(notice) = notice {
            push_latest(&mut self.notices, notice, MAX_NOTICES);
        }
        let showing = own && member == "StateChanged" && detail == "showing";
        if let Some(path) = header.path().filter(|_| showing) {
            self.shown.retain(|other| *other != **path);
            if message.read::<(String, i32)>().is_ok_and(|(_, on)| on != 0) {
                push_latest(&mut self.shown, path.to_string(), MAX_SHOWN);
            }
        }
        let of = event.strip_prefix("Event.").unwrap_or(event);
        self.change(format!("{of} {member} {detail}").trim_end().to_owned());
        true
    }

    /// Records a possible change; `what` describes it.
    pub(crate) fn change(&mut self, what: String) {
        self.changes += 1;
        self.changed_at = Some(Instant::now());
        self.last = what;
    }
}

/// Truncates a long text.
fn truncate(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::peer::SENDER;

    fn heard() -> AppEvents {
        let heard = AppEvents::default();
        heard.state().app = SENDER.to_owned();
        heard
    }

    /// Returns the signal that a name has left the bus, from a given sender.
    fn left(sender: &str, interface: &str, name: &str) -> Message {
        let signal = zbus::Message::signal("/org/freedesktop/DBus", interface, "NameOwnerChanged");
        Message::new(signal.sender(sender).build(&(name, name, "")).unwrap())
    }

    #[test]
    fn who_has_left_says_the_bus_and_no_app() {
        let heard = heard();
        heard.handle_signal(&left(":1.9", "org.a11y.atspi.Event.Object", SENDER));
        heard.handle_signal(&left(":1.9", DAEMON, SENDER));
        heard.handle_signal(&left(DAEMON, DAEMON, ":1.9"));
        assert!(!heard.state().gone);
        heard.handle_signal(&left(DAEMON, DAEMON, SENDER));
        assert!(heard.state().gone);
    }

    #[test]
    fn of_a_long_text_the_beginning_is_kept() {
        let heard = heard();
        let long = "ä".repeat(MAX_TEXT + 1);
        let body = (long.as_str(), 0_i32, 0_i32, zbus::Variant::from(long.as_str()));
        let signal = zbus::Message::signal("/a", "org.a11y.atspi.Event.Object", "Announcement");
        heard.handle_signal(&Message::new(signal.sender(SENDER).build(&body).unwrap()));
        let mut state = heard.state();
        let Some(Notice::LiveRegionText { text }) = state.notices.pop_front() else {
            panic!("it was announced")
        };
        assert_eq!(text.chars().count(), MAX_TEXT);
        assert_eq!(state.last.chars().filter(|c| *c == 'ä').count(), MAX_TEXT);
    }
}
