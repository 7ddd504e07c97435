//! A session over the states of a situation, and a client that uses its ref.

use super::fixture::{Grade, Situation, State};
use std::fmt;
use stickpin_refs::{Generation, Ref, RefToken};
use stickpin_session::{
    ClientId, EndReason, InMemoryNumbers, Ladder, Origin, RefFault, Session, SessionConfig,
};
use stickpin_tree::{Handle, NodeId, States, Tree, Verdict};

/// What was captured after the snapshot that issued the ref.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Captures {
    None,
    Looks,
    Shown,
}

/// The result of a use.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Acts,
    ActsWithWarning,
    /// The response states the current name of the element.
    ActsWithName,
    /// The response states the current heading above the row of the element.
    ActsWithHeading,
    /// The client is notified that the context of the element changed; nothing is sent.
    Told,
    Stale(EndReason),
    NotFound,
    /// Another element would have received the input.
    Wrong(String),
}

impl Outcome {
    pub(crate) fn refuses(&self) -> bool {
        matches!(self, Self::Stale(_) | Self::NotFound)
    }

    pub(crate) fn acts(&self) -> bool {
        use Outcome::{Acts, ActsWithHeading, ActsWithName, ActsWithWarning};
        matches!(self, Acts | ActsWithWarning | ActsWithName | ActsWithHeading)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Acts => f.write_str("acts"),
            Self::ActsWithWarning => f.write_str("acts+warning"),
            Self::ActsWithName => f.write_str("acts+name"),
            Self::ActsWithHeading => f.write_str("acts+heading"),
            Self::Told => f.write_str("told"),
            Self::Stale(reason) => write!(f, "refuses STALE_REF {}", reason.name()),
            Self::NotFound => f.write_str("refuses REF_NOT_FOUND"),
            Self::Wrong(what) => write!(f, "WRONG ACT: {what}"),
        }
    }
}

pub(crate) struct World {
    session: Session,
    client: ClientId,
    states: Vec<State>,
    grade: Grade,
    captures: Captures,
    /// The index of the app's state.
    at: usize,
    /// Refs by label; the generation of the first snapshot.
    refs: Vec<(String, Ref)>,
    first: Generation,
}

impl World {
    /// Returns a client that was shown the first state with the target.
    pub(crate) fn start(situation: &Situation, grade: Grade, captures: Captures) -> Self {
        let session = Session::new(SessionConfig {
            lifetime: "test".into(),
            seed: Generation::new(482_913),
            ladder: Ladder::Warn,
            numbers: Box::new(InMemoryNumbers::new()),
        });
        let states = situation.states();
        let shown = states.iter().position(|s| s.mark("target").is_some()).expect("a target");
        let mut world = Self {
            session,
            client: ClientId::new("me"),
            states,
            grade,
            captures,
            at: 0,
            refs: Vec::new(),
            first: Generation::new(0),
        };
        world.session.replace_tree(world.states[0].tree(grade), Origin::Internal);
        while world.at < shown {
            world.step(Captures::Looks);
        }
        world.show();
        world.first = world.session.generation().expect("a tree");
        let marks = world.states[shown].marks.clone();
        for (label, handle) in marks {
            let node = world.node(handle).expect("a marked node");
            world.refs.push((label, world.session.ref_of(node).expect("a ref of a marked node")));
        }
        world
    }

    fn node(&self, handle: Handle) -> Option<NodeId> {
        self.session.tree()?.find_address(handle).map(|n| n.id())
    }

    /// Takes a snapshot: every actionable element is issued a ref.
    fn show(&mut self) {
        self.session.replace_tree(self.states[self.at].tree(self.grade), Origin::Snapshot);
        let tree = self.session.tree().expect("a tree").clone();
        let nodes: Vec<NodeId> = tree.nodes().filter(|n| n.is(States::ACTIONABLE)).map(|n| n.id()).collect();
        self.session.issue(&self.client, &nodes).expect("numbers");
        self.session.mark_read_in_full(&self.client);
    }

    fn step(&mut self, captures: Captures) {
        self.at += 1;
        if let Some(id) = self.states[self.at].act {
            let node = self.node(Handle { scope: 1, id }).expect("what was acted on");
            self.session.note_act(node);
            let before = self.session.tree().expect("a tree").clone();
            let after = self.states[self.at].tree(self.grade);
            self.session.note_effects(&self.client, &before, &after, None);
        }
        match captures {
            Captures::None => {}
            Captures::Looks => {
                self.session.replace_tree(self.states[self.at].tree(self.grade), Origin::Internal);
            }
            Captures::Shown => self.show(),
        }
    }

    /// Advances to the last state and uses the target there.
    pub(crate) fn finish(&mut self, pinned: bool) -> Outcome {
        while self.at + 1 < self.states.len() {
            self.step(self.captures);
        }
        self.use_again(pinned)
    }

    pub(crate) fn use_again(&mut self, pinned: bool) -> Outcome {
        self.use_label("target", pinned)
    }

    /// Uses every marked element in every later state. A ref that the app's response handed over
    /// replaces the old one.
    pub(crate) fn walk(situation: &Situation, grade: Grade, captures: Captures) -> Vec<(usize, Outcome)> {
        let mut world = Self::start(situation, grade, captures);
        let mut outcomes = Vec::new();
        while world.at + 1 < world.states.len() {
            world.step(captures);
            if world.states[world.at].handed_over {
                let handle = world.states[world.at].mark("target").expect("what was handed over");
                let node = world.node(handle).expect("its node");
                let refs = world.session.issue(&world.client, &[node]).expect("a number");
                world.refs.iter_mut().filter(|(l, _)| l == "target").for_each(|(_, r)| *r = refs[0]);
            }
            let labels: Vec<String> = world.states[world.at].marks.iter().map(|(l, _)| l.clone()).collect();
            for label in labels {
                outcomes.push((world.at, world.use_label(&label, false)));
            }
        }
        outcomes
    }

    /// Does what the kernel does with a ref before it acts.
    fn use_label(&mut self, label: &str, pinned: bool) -> Outcome {
        let r#ref = self.refs.iter().find(|(l, _)| l == label).expect("a ref").1;
        let token = RefToken { id: r#ref, pin: pinned.then_some(self.first) };
        let resolved = match self.session.resolve(&self.client, token) {
            Ok(resolved) => resolved,
            Err(fault) => return Self::refusal(fault),
        };
        let now = self.states[self.at].tree(self.grade);
        let located = resolved.handle.filter(|_| self.grade != Grade::None).and_then(|h| now.find_handle(h));
        let warned = resolved.warning.is_some();
        let acts = |reads_now: Option<String>, heading: Option<String>| match (warned, reads_now, heading) {
            (true, ..) => Outcome::ActsWithWarning,
            (false, Some(_), _) => Outcome::ActsWithName,
            (false, None, Some(_)) => Outcome::ActsWithHeading,
            (false, None, None) => Outcome::Acts,
        };
        if let Some(node) = located.map(|n| n.id()) {
            let records = self.session.records(&now);
            if let Verdict::Same { reads_now } = records.judge(&resolved.meaning, node) {
                let heading = records.changed_heading(&resolved.meaning, node);
                return self.compared(label, &now, node, acts(reads_now, heading));
            }
            self.session.replace_tree(now, Origin::Internal);
        } else {
            self.session.replace_tree(now, Origin::Internal);
        }
        // If the handle finds nothing, the tree is captured and aligned; then the use acts or is
        // refused.
        match self.session.resolve(&self.client, token) {
            Ok(again) => {
                let tree = self.session.tree().expect("a tree").clone();
                let node = again.node.expect("a node of a complete capture");
                let records = self.session.records(&tree);
                let verdict = records.judge(&again.meaning, node);
                let Verdict::Same { reads_now } = verdict else { panic!("resolved, and judged {verdict:?}") };
                let heading = records.changed_heading(&again.meaning, node);
                self.compared(label, &tree, node, acts(reads_now, heading))
            }
            Err(fault) => Self::refusal(fault),
        }
    }

    fn refusal(fault: RefFault) -> Outcome {
        match fault {
            RefFault::NotIssued { .. } => Outcome::NotFound,
            RefFault::Ended { reason, .. } => Outcome::Stale(reason),
        }
    }

    /// Checks the context: if it changed unnoticed, nothing is sent and the client is notified.
    fn compared(&mut self, label: &str, tree: &Tree, node: NodeId, acts: Outcome) -> Outcome {
        let changes = self.session.unseen_changes(&self.client, tree, node);
        if changes.is_empty() {
            return self.checked(label, tree.node(node).address(), acts);
        }
        self.session.note_notice(&self.client, tree, node, &changes);
        Outcome::Told
    }

    /// Checks that an action is on the element itself, or on one that nothing reported
    /// distinguishes from it.
    fn checked(&self, label: &str, handle: Option<Handle>, acts: Outcome) -> Outcome {
        let state = &self.states[self.at];
        let truth = state.mark(label).or_else(|| state.mark("alike"));
        if handle.is_some() && handle == truth {
            return acts;
        }
        Outcome::Wrong(format!("{handle:?} instead of {truth:?}"))
    }
}
