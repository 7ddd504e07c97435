//! Guests: objects of other processes inside a window of the app, such as the page of a WebKitGTK
//! app or the content of a socket.
//!
//! The path of a guest is its process's bus name followed by its object path: `:1.9/org/a11y/...`.
//! Objects of the app itself have the object path alone. A child from another process is accepted
//! only if it reports that its parent is the object that lists it. Without this check, an app could
//! show another app's buttons as its own.

use crate::bus::body::{Call, Reference};
use crate::bus::calls::of_bus;
use crate::bus::error::BusError;
use crate::bus::link::Link;
use crate::bus::names::DAEMON;
use crate::bus::wire::Answer;
use hashbrown::HashMap;
use std::time::Duration;

/// Timeout for answers from a guest. The app that embeds the guest does not wait longer either.
const PATIENCE: Duration = Duration::from_millis(800);

/// Splits the path of a guest into its bus name and object path; `None` for an object of the app.
pub(crate) fn embedded_path(path: &str) -> Option<(&str, &str)> {
    path.find('/').filter(|&at| at > 0).map(|at| path.split_at(at))
}

impl Link {
    /// Returns the path of an object that the object `by` refers to. The path of a guest includes
    /// its bus name.
    pub(crate) fn resolve_path(&self, by: &str, (bus, path): Reference) -> String {
        match embedded_path(by) {
            Some((nearby, _)) if bus.is_empty() => format!("{nearby}{path}"),
            _ if bus.is_empty() || bus == self.name => path,
            _ => format!("{bus}{path}"),
        }
    }

    /// Returns whether two objects belong to the same process.
    pub(crate) fn same_process(one: &str, other: &str) -> bool {
        embedded_path(one).map(|(bus, _)| bus) == embedded_path(other).map(|(bus, _)| bus)
    }

    /// Returns the path of an object of another process, if it reports `host` as its parent.
    pub(crate) async fn embedded_child(&self, host: &str, child: &str) -> Option<String> {
        let (bus, path) = embedded_path(child)?;
        let bus = if bus.starts_with(':') {
            bus.to_owned()
        } else {
            let owner = of_bus("GetNameOwner").with((bus,));
            self.bus.call(Some(DAEMON), &owner, PATIENCE).await.ok()?.read().ok()?
        };
        let child = format!("{bus}{path}");
        let parent = self.parents(&[&child]).await.ok()?.pop()??;
        (self.resolve_path(&child, parent) == host).then_some(child)
    }

    /// Makes calls, some of which are for guests. A guest that is gone or hangs counts as vanished,
    /// and does not affect the app.
    pub(super) async fn call_with_embedded(&self, calls: &[Call<'_>]) -> Vec<Answer> {
        let mut answers = vec![Err(BusError::Vanished); calls.len()];
        let mut groups: HashMap<Option<&str>, (Vec<usize>, Vec<Call<'_>>)> = HashMap::new();
        for (at, call) in calls.iter().enumerate() {
            let guest = embedded_path(call.path);
            let (places, calls) = groups.entry(guest.map(|(bus, _)| bus)).or_default();
            places.push(at);
            calls.push(Call { path: guest.map_or(call.path, |(_, path)| path), ..call.clone() });
        }
        for (bus, (places, calls)) in groups {
            let answered = match bus {
                None => self.calls_to_app(&calls).await,
                Some(bus) => self.bus.calls(Some(bus), &calls, PATIENCE).await,
            };
            for (at, answer) in places.into_iter().zip(answered) {
                let is_lost = bus.is_some() && answer.as_ref().is_err_and(BusError::is_lost);
                answers[at] = if is_lost { Err(BusError::Vanished) } else { answer };
            }
        }
        answers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_goes_by_its_process_and_its_path() {
        assert_eq!(embedded_path("/org/a11y/7"), None);
        assert_eq!(embedded_path(""), None);
        assert_eq!(embedded_path(":1.9/org/a11y/7"), Some((":1.9", "/org/a11y/7")));
        assert_eq!(embedded_path("app.Web-1/org/a11y/7"), Some(("app.Web-1", "/org/a11y/7")));
        assert!(Link::same_process("/a", "/b") && Link::same_process(":1.9/a", ":1.9/b"));
        assert!(!Link::same_process("/a", ":1.9/a") && !Link::same_process(":1.8/a", ":1.9/a"));
    }
}
