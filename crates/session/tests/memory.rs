//! What is held of what clients were shown, where each of many was shown another version of a large page.

use peak_alloc::PeakAlloc;
use std::sync::{Arc, Weak};
use std::time::Instant;
use stickpin_refs::Generation;
use stickpin_session::{ClientId, ContextPolicy, InMemoryNumbers, Ladder, Origin, Session, SessionConfig};
use stickpin_tree::{Document, Handle, IdentityGrade, NodeId, NodeSpec, Role, States, Tree, TreeBuilder};

const NODES: usize = 100_000;
const CLIENTS: u64 = 10;
const BAR: usize = 30_000_000;

fn node(role: Role, name: &str, id: u64) -> NodeSpec<'_> {
    NodeSpec { role: Some(role), name, id, tag: "p", ..NodeSpec::default() }
}

/// A version of a page that is one large segment: one text in a hundred differs from all other versions.
fn page(version: u64) -> Tree {
    let mut b = TreeBuilder::new(IdentityGrade::NeverReused);
    let doc =
        Document { scope: 1, frame: String::new(), url: "http://app.test/".into(), title: "App".into() };
    b.document(0, doc, 1).unwrap();
    let button = NodeSpec { states: States::ACTIONABLE, ..node(Role::Button, "Delete", 2) };
    b.node(1, button).unwrap();
    let mut at = 10_u64;
    while b.len() + 1 < NODES {
        // Spread over the page as by a hash.
        let differs =
            (at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32).wrapping_add(version * 7).is_multiple_of(100);
        let word = if differs { char::from(b'a' + u8::try_from(version).unwrap()) } else { 'z' };
        let text = format!("some text {at} of {word} here");
        b.node(1, node(Role::Paragraph, "", at)).unwrap();
        b.node(2, NodeSpec { id: 0, ..node(Role::Text, &text, 0) }).unwrap();
        at += 1;
    }
    b.finish().unwrap()
}

#[global_allocator]
static COUNTING: PeakAlloc = PeakAlloc;

/// Bytes of old trees that are still held.
fn old_trees(session: &Session, trees: &[Weak<Tree>]) -> usize {
    let current = session.tree().unwrap();
    let old = trees.iter().filter_map(Weak::upgrade).filter(|tree| !Arc::ptr_eq(tree, current));
    old.map(|tree| tree.heap_bytes()).sum::<usize>()
}

#[test]
fn what_ten_clients_were_shown_of_100_000_nodes_takes_at_most_30_mb() {
    // What a session holds that compares no contexts, its old trees aside, is nothing that clients were shown.
    let [all, other] = [ContextPolicy::Tell, ContextPolicy::Off].map(held);
    let stages = ["shown", "shown and told", "after own acts"];
    for (stage, ((all, _), (other, old))) in stages.iter().zip(all.into_iter().zip(other)) {
        let held = all - (other - old);
        println!("{held} bytes {stage}");
        assert!(held <= BAR, "{held} bytes {stage}");
    }
}

/// Bytes that are held at each stage, and how many of them are old trees.
fn held(policy: ContextPolicy) -> [(usize, usize); 3] {
    let begin = COUNTING.current_usage();
    let held = |session: &Session, trees: &[Weak<Tree>]| {
        (COUNTING.current_usage() - begin, old_trees(session, trees))
    };
    let mut session = Session::new(SessionConfig {
        lifetime: "memory".into(),
        seed: Generation::new(500_000),
        ladder: Ladder::Warn,
        numbers: Box::new(InMemoryNumbers::new()),
    });
    session.set_context_policy(policy);
    let clients: Vec<ClientId> = (0..CLIENTS).map(|n| ClientId::new(&format!("client {n}"))).collect();
    let mut trees = Vec::new();
    let button = |tree: &Tree| -> NodeId { tree.find_address(Handle { scope: 1, id: 2 }).unwrap().id() };
    for (client, version) in clients.iter().zip(1..) {
        let tree = Arc::new(page(version));
        trees.push(Arc::downgrade(&tree));
        let begin = Instant::now();
        session.replace_tree(tree, Origin::Snapshot);
        println!("version {version} stored in {:?}", begin.elapsed());
        session.mark_full_reading(client);
        let node = button(session.tree().unwrap());
        session.issue(client, &[node]).unwrap();
    }
    session.replace_tree(page(CLIENTS + 1), Origin::Snapshot);
    let shown = held(&session, &trees);

    // Each is told once, of all that its page has in common with the button.
    let tree = session.tree().unwrap().clone();
    let node = button(&tree);
    for client in &clients {
        let begin = Instant::now();
        let changes = session.unseen_changes(client, &tree, node);
        println!("{client}: {} changes in {:?}", changes.len(), begin.elapsed());
        assert!(policy == ContextPolicy::Off || changes.len() > NODES / 200, "{client}: {}", changes.len());
        session.note_told(client, &tree, node, &changes);
        assert_eq!(session.unseen_changes(client, &tree, node), []);
    }
    let told = held(&session, &trees);
    drop(tree);

    // An own act of each that changes another one in a hundred texts.
    for (client, version) in clients.iter().zip(CLIENTS + 2..) {
        let before = session.tree().unwrap().clone();
        session.replace_tree(page(version), Origin::Snapshot);
        let after = session.tree().unwrap().clone();
        let begin = Instant::now();
        session.note_effects(client, &before, &after, None);
        println!("{client}: effects in {:?}", begin.elapsed());
    }
    [shown, told, held(&session, &trees)]
}
