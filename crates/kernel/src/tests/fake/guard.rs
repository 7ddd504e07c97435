//! The content guard of the fake. Its inputs are single events, so that it compares only once.

use stickpin_tree::{Handle, NodeRef, Role, States, Tree};

/// States that count as content.
const SELECTION: States = States::CHECKED
    .union(States::MIXED)
    .union(States::EXPANDED)
    .union(States::SELECTED)
    .union(States::PRESSED);

/// The content of a guarded node.
#[derive(Debug, Clone, PartialEq)]
struct Content {
    role: Role,
    name: String,
    value: String,
    states: States,
    /// The URL, for documents.
    url: Option<String>,
}

impl Content {
    /// Copies the content of a node. The input may change the value and selection of the target and
    /// its descendants.
    fn of(node: NodeRef<'_>, in_target: bool) -> Self {
        Self {
            role: node.role(),
            name: node.name().to_owned(),
            value: if in_target { String::new() } else { node.value().to_owned() },
            states: if in_target { States::empty() } else { node.states() & SELECTION },
            url: (node.role() == Role::Document).then(|| node.document().url.clone()),
        }
    }
}

/// The guard of one aimed element.
#[derive(Debug)]
pub(super) struct Guard {
    pub(super) target: Handle,
    own: Option<(String, bool)>,
    contents: Vec<(Handle, Option<Content>)>,
}

impl Guard {
    /// Copies the content of the target and the guarded nodes in a tree.
    pub(super) fn new(tree: &Tree, target: Handle, guarded: impl IntoIterator<Item = Handle>) -> Self {
        let at = tree.find_address(target);
        let content = |handle| {
            let node = tree.find_address(handle)?;
            Some(Content::of(node, at.is_some_and(|target| target.contains(node.id()))))
        };
        Self {
            target,
            own: at.map(|node| (node.name().to_owned(), node.is(States::DISABLED))),
            contents: guarded.into_iter().map(|handle| (handle, content(handle))).collect(),
        }
    }

    /// Returns whether all nodes exist in another tree with equal content.
    pub(super) fn holds(&self, tree: &Tree) -> bool {
        let now = Self::new(tree, self.target, self.contents.iter().map(|(handle, _)| *handle));
        self.own == now.own && self.contents.iter().all(|(_, c)| c.is_some()) && self.contents == now.contents
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::fake::{Fake, World};
    use std::time::Duration;
    use stickpin_device::{Action, AimOptions, CancellationToken, Delivery, Device, OpenRequest, Provider};
    use stickpin_tree::Handle;

    type Change = fn(&mut World);

    const OUTLINE: &str = "text \"Ada\" #2\ntextbox \"Name\" #3\ncheckbox \"Done\" #4\nbutton \"Delete\" #5";

    async fn open(fake: &Fake) -> Box<dyn Device> {
        let request = OpenRequest::new("fake:/", "s", std::env::temp_dir());
        fake.open(request).await.unwrap()
    }

    /// Aims at an element while others are guarded, changes the app, and performs the action.
    async fn changed(
        target: u64,
        guarded: &[u64],
        change: Change,
        action: fn(Handle) -> Action,
    ) -> (Delivery, Vec<String>) {
        let fake = Fake::new(OUTLINE);
        let mut device = open(&fake).await;
        let handle = |id| Handle { scope: 1, id };
        let guarded: Vec<Handle> = guarded.iter().copied().map(handle).collect();
        let options = AimOptions::default().guarded(&guarded);
        device.aim(handle(target), options).await.unwrap();
        change(&mut fake.world());
        let cancel = CancellationToken::new();
        let first = device.perform(&action(handle(target)), &cancel).await.unwrap().delivery;
        if first != Delivery::Confirmed {
            let again = device.perform(&action(handle(target)), &cancel).await.unwrap().delivery;
            assert_eq!(again, Delivery::Confirmed, "the guard ended");
        }
        let log = std::mem::take(&mut fake.world().log);
        (first, log)
    }

    fn press(target: Handle) -> Action {
        Action::press((0.0, 0.0), Some(target))
    }

    fn fill(target: Handle) -> Action {
        Action::Fill { target, text: "Eve".into() }
    }

    #[tokio::test]
    async fn changed_content_stops_the_input_once() {
        let stopped = Delivery::Changed { stopped: true };
        let cases: [(&[u64], Change, &Delivery); 8] = [
            (&[2], |w| w.replace("Ada", "Nils"), &stopped),
            (&[2], |w| w.replace("text \"Ada\" #2\n", ""), &stopped),
            (&[3], |w| w.replace("\"Name\" #3", "\"Name\" #3 value=Nils"), &stopped),
            (&[4], |w| w.replace("#4", "#4 checked"), &stopped),
            (&[1], |w| w.url = "fake:/other".into(), &stopped),
            (&[2], |w| w.replace("#5", "#5 disabled"), &stopped),
            (&[2], |w| w.replace("#4", "#4 checked"), &Delivery::Confirmed),
            (&[], |w| w.replace("Ada", "Nils"), &Delivery::Confirmed),
        ];
        for (nth, (guarded, change, landed)) in cases.into_iter().enumerate() {
            let done = changed(5, guarded, change, press).await;
            assert_eq!((&done.0, done.1), (landed, vec!["press 5".to_owned()]), "case {nth}");
        }
        // Filling changes the content of a field.
        let own = changed(3, &[3], |w| w.replace("#3", "#3 value=Nils"), fill).await.0;
        assert_eq!(own, Delivery::Confirmed);
        let other = changed(3, &[2], |w| w.replace("Ada", "Nils"), fill).await.0;
        assert_eq!(other, stopped);
    }

    #[tokio::test(start_paused = true)]
    async fn press_that_is_already_down_is_not_stopped_in_time() {
        let change: Change = |w| {
            w.slow_input = Some(Duration::from_millis(10));
            w.on_perform = Some(Box::new(|w| w.replace("Ada", "Nils")));
        };
        let (landed, log) = changed(5, &[2], change, press).await;
        assert_eq!(landed, Delivery::Changed { stopped: false });
        assert_eq!(log, ["down 5", "up 5", "down 5", "up 5", "press 5"]);
    }
}
