//! The contract of the session, line by line, on small trees.

mod bounds;
mod client_views;
mod count_changes;
mod lifetime;
mod promise;
mod renewing;
mod standing;
mod summary;
mod table;

use crate::{
    ClientId, EndReason, InMemoryNumbers, Ladder, Origin, RefFault, Resolved, Session, SessionConfig,
    StoreOutcome,
};
use stickpin_refs::{Generation, Ref, RefToken};
use stickpin_tree::testing::tree;
use stickpin_tree::{Handle, NodeId, States};

const SEED: u64 = 482_913;

/// A session with two clients, driven by trees written as text.
struct Bench {
    session: Session,
    grade: &'static str,
}

fn me() -> ClientId {
    ClientId::new("me")
}

fn other() -> ClientId {
    ClientId::new("other")
}

fn r(number: u32) -> Ref {
    Ref::new(number).unwrap()
}

/// Returns the generation `after` replacements after the first.
fn g(after: u64) -> Generation {
    Generation::new(SEED + after)
}

impl Bench {
    fn new(grade: &'static str) -> Self {
        Self::with(grade, Ladder::Warn)
    }

    fn with(grade: &'static str, ladder: Ladder) -> Self {
        let session = Session::new(SessionConfig {
            lifetime: "test".into(),
            seed: Generation::new(SEED),
            ladder,
            numbers: Box::new(InMemoryNumbers::new()),
        });
        Self { session, grade }
    }

    fn store(&mut self, page: &str, body: &str, origin: Origin) -> StoreOutcome {
        let mut text = format!("page \"P\" / grade={} {page}\n", self.grade);
        for line in body.lines().filter(|l| !l.trim().is_empty()) {
            text.push_str("  ");
            text.push_str(line);
            text.push('\n');
        }
        self.session.replace_tree(tree(&text), origin)
    }

    /// Stores a capture that a command made for itself.
    fn capture(&mut self, body: &str) -> StoreOutcome {
        self.store("", body, Origin::Internal)
    }

    /// Shows a full snapshot to a client: every actionable element is issued a ref.
    fn show(&mut self, client: &ClientId, body: &str) -> Vec<Ref> {
        self.store("", body, Origin::Snapshot);
        self.issue_all(client)
    }

    fn issue_all(&mut self, client: &ClientId) -> Vec<Ref> {
        let tree = self.session.tree().unwrap().clone();
        let nodes: Vec<NodeId> = tree.nodes().filter(|n| n.is(States::ACTIONABLE)).map(|n| n.id()).collect();
        self.session.mark_read_in_full(client);
        self.session.issue(client, &nodes).unwrap()
    }

    fn issue(&mut self, client: &ClientId, id: u64) -> Ref {
        let node = self.session.tree().unwrap().find_address(Handle { scope: 1, id }).unwrap().id();
        self.session.issue(client, &[node]).unwrap()[0]
    }

    fn plain(&self, client: &ClientId, r#ref: Ref) -> Result<Resolved, RefFault> {
        self.session.resolve(client, RefToken::plain(r#ref))
    }

    fn pinned(&self, r#ref: Ref, pin: Generation) -> Result<Resolved, RefFault> {
        self.session.resolve(&me(), RefToken::pinned(r#ref, pin))
    }

    /// Returns the name of the element that a plain ref refers to, or the reason why the ref has
    /// ended.
    fn name(&self, r#ref: Ref) -> Result<String, EndReason> {
        match self.plain(&me(), r#ref) {
            Ok(found) => Ok(self.session.tree().unwrap().node(found.node.unwrap()).name().to_owned()),
            Err(RefFault::Ended { reason, .. }) => Err(reason),
            Err(fault) => panic!("{fault:?}"),
        }
    }
}

fn precise(r#ref: u32, from: u64, now: u64) -> String {
    format!(
        "Ref @e{ref} was minted from snapshot {} but the session tree is now {} — re-run snapshot -i.",
        g(from),
        g(now)
    )
}

fn fault(result: Result<Resolved, RefFault>) -> RefFault {
    match result {
        Ok(resolved) => panic!("{resolved:?}"),
        Err(fault) => fault,
    }
}
