//! Objects of other processes inside a window of the app: the page of a WebKitGTK app, what a
//! socket holds.
//!
//! Such a guest goes by its process's name on the bus and its path there in one string,
//! `:1.9/org/a11y/...`; an object of the app itself by its path alone. What an app names as its own
//! child is believed only where that one says the same of its parent: else an app could show
//! another one's buttons as its own.

use crate::bus::body::{Call, Reference};
use crate::bus::calls::of_bus;
use crate::bus::fault::Fault;
use crate::bus::link::Link;
use crate::bus::names::DAEMON;
use crate::bus::wire::Answer;
use hashbrown::HashMap;
use std::time::Duration;

/// How long a guest may take for its answers. Its host does not hang with it.
const PATIENCE: Duration = Duration::from_millis(800);

/// The process on the bus and the path there, where an object is a guest.
pub(crate) fn guest(path: &str) -> Option<(&str, &str)> {
    match path.find('/') {
        None | Some(0) => None,
        Some(at) => Some(path.split_at(at)),
    }
}

impl Link {
    /// What an object is called here that an answer of another one (or of the app) refers to.
    pub(crate) fn named(&self, by: &str, (bus, path): Reference) -> String {
        let nearby = guest(by).map(|(bus, _)| bus);
        match nearby {
            Some(nearby) if bus.is_empty() => format!("{nearby}{path}"),
            _ if bus.is_empty() || bus == self.name => path,
            _ => format!("{bus}{path}"),
        }
    }

    /// Whether two objects are of the same process.
    pub(crate) fn same_process(one: &str, other: &str) -> bool {
        guest(one).map(|(bus, _)| bus) == guest(other).map(|(bus, _)| bus)
    }

    /// What an object of another process is called here, if that says itself that it belongs below
    /// `host`.
    pub(crate) async fn admitted(&self, host: &str, child: &str) -> Option<String> {
        let (bus, path) = guest(child)?;
        let bus = if bus.starts_with(':') { bus.to_owned() } else { self.owner(bus).await.ok()? };
        let child = format!("{bus}{path}");
        let parent = self.parents(&[&child]).await.ok()?.pop()??;
        (self.named(&child, parent) == host).then_some(child)
    }

    /// The process that has a well-known name.
    async fn owner(&self, name: &str) -> Result<String, Fault> {
        self.bus.call(Some(DAEMON), &of_bus("GetNameOwner").with((name,)), PATIENCE).await?.read()
    }

    /// Calls of which some are for guests. What a guest does not answer, because it is gone or
    /// hangs, is an object that is not there: the app itself goes on.
    pub(super) async fn mixed(&self, calls: &[Call<'_>]) -> Vec<Answer> {
        let mut answers: Vec<Answer> = calls.iter().map(|_| Err(Fault::Vanished)).collect();
        let mut groups: HashMap<Option<&str>, Vec<usize>> = HashMap::new();
        for (at, call) in calls.iter().enumerate() {
            groups.entry(guest(call.path).map(|(bus, _)| bus)).or_default().push(at);
        }
        for (bus, places) in groups {
            let local = |&at: &usize| {
                let path = guest(calls[at].path).map_or(calls[at].path, |(_, path)| path);
                Call { path, ..calls[at].clone() }
            };
            let some: Vec<Call<'_>> = places.iter().map(local).collect();
            let answered = match bus {
                None => self.own(&some).await,
                Some(bus) => self.bus.calls(Some(bus), &some, PATIENCE).await,
            };
            for (at, answer) in places.into_iter().zip(answered) {
                answers[at] = match answer {
                    Err(Fault::Closed(_) | Fault::Silent(_)) if bus.is_some() => Err(Fault::Vanished),
                    answer => answer,
                };
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
        assert_eq!(guest("/org/a11y/7"), None);
        assert_eq!(guest(""), None);
        assert_eq!(guest(":1.9/org/a11y/7"), Some((":1.9", "/org/a11y/7")));
        assert_eq!(guest("app.Web-1/org/a11y/7"), Some(("app.Web-1", "/org/a11y/7")));
        assert!(Link::same_process("/a", "/b") && Link::same_process(":1.9/a", ":1.9/b"));
        assert!(!Link::same_process("/a", ":1.9/a") && !Link::same_process(":1.8/a", ":1.9/a"));
    }
}
