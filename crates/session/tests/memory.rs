//! Measures, with a counting allocator, the memory for what clients were shown if each of many
//! clients was shown a different version of a large page. This is the only test of its program,
//! because the memory of any other test would be counted as well.

use peak_alloc::PeakAlloc;
use std::sync::{Arc, Weak};
use std::time::Instant;
use stickpin_refs::Generation;
use stickpin_session::{ClientId, ContextPolicy, InMemoryNumbers, Ladder, Origin, Session, SessionConfig};
use stickpin_tree::{
    ContextReader, Document, Handle, IdentityGrade, NodeId, NodeSpec, Role, States, Tree, TreeBuilder,
};

const NODES: usize = 100_000;
const CLIENTS: u64 = 10;
const BAR: usize = 30_000_000;

fn node(role: Role, name: &str, id: u64) -> NodeSpec<'_> {
    NodeSpec { role: Some(role), name, id, tag: "p", ..NodeSpec::default() }
}

/// Returns a version of a page that is one large segment: one text in a hundred differs from its
/// counterparts in all other versions.
fn page(version: u64) -> Tree {
    let mut b = TreeBuilder::new(IdentityGrade::NeverReused);
    let doc =
        Document { scope: 1, frame: String::new(), url: "http://app.test/".into(), title: "App".into() };
    b.document(0, doc, 1).unwrap();
    let button = NodeSpec { states: States::ACTIONABLE, ..node(Role::Button, "Delete", 2) };
    b.node(1, button).unwrap();
    let mut at = 10_u64;
    while b.len() + 1 < NODES {
        // Distributed over the page as by a hash.
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

/// Returns the bytes of old trees that are still held.
fn old_trees(session: &Session, trees: &[Weak<Tree>]) -> usize {
    let current = session.tree().unwrap();
    let old = trees.iter().filter_map(Weak::upgrade).filter(|tree| !Arc::ptr_eq(tree, current));
    old.map(|tree| tree.heap_bytes()).sum::<usize>()
}

/// Returns the bytes on the heap, excluding old trees.
fn beside_old_trees(session: &Session, trees: &[Weak<Tree>]) -> usize {
    COUNTING.current_usage() - old_trees(session, trees)
}

fn session() -> Session {
    Session::new(SessionConfig {
        lifetime: "memory".into(),
        seed: Generation::new(500_000),
        ladder: Ladder::Warn,
        numbers: Box::new(InMemoryNumbers::new()),
    })
}

/// Returns the bytes held by a session whose client was shown nothing: after a few queries about
/// the tree, and after reading it.
fn unshown() -> [usize; 2] {
    let begin = COUNTING.current_usage();
    let mut session = session();
    session.set_context_policy(ContextPolicy::Off);
    let client = ClientId::new("nobody");
    let mut trees = Vec::new();
    for version in 1..3 {
        let tree = Arc::new(page(version));
        trees.push(Arc::downgrade(&tree));
        session.replace_tree(tree, Origin::Snapshot);
        session.issue(&client, &[button(session.tree().unwrap())]).unwrap();
    }
    let stored = beside_old_trees(&session, &trees) - begin;
    let tree = session.tree().unwrap().clone();
    drop(ContextReader::new(&session.records(&tree)).map());
    [stored, beside_old_trees(&session, &trees) - begin]
}

fn button(tree: &Tree) -> NodeId {
    tree.find_address(Handle { scope: 1, id: 2 }).unwrap().id()
}

#[test]
fn views_of_ten_clients_take_at_most_30_megabytes() {
    let [stored, read] = unshown();
    let begin = COUNTING.current_usage();
    let mut session = session();
    // Trees that no client was shown.
    let mut others = Vec::new();
    let held = |session: &Session, others: &[Weak<Tree>], unshown: usize| {
        (beside_old_trees(session, others) - begin).saturating_sub(unshown)
    };
    let clients: Vec<ClientId> = (0..CLIENTS).map(|n| ClientId::new(&format!("client {n}"))).collect();
    for (client, version) in clients.iter().zip(1..) {
        let begin = Instant::now();
        session.replace_tree(page(version), Origin::Snapshot);
        println!("version {version} stored in {:?}", begin.elapsed());
        session.mark_read_in_full(client);
        let node = button(session.tree().unwrap());
        session.issue(client, &[node]).unwrap();
    }
    session.replace_tree(page(CLIENTS + 1), Origin::Snapshot);
    others.push(Arc::downgrade(session.tree().unwrap()));
    let shown = held(&session, &others, stored);
    println!("{shown} bytes, a tree has {}", session.tree().unwrap().heap_bytes());
    assert!(shown <= BAR, "{shown} bytes of what was shown");

    // Each client is notified once, of everything that its page has in common with the button.
    let tree = session.tree().unwrap().clone();
    let node = button(&tree);
    for client in &clients {
        let begin = Instant::now();
        let changes = session.unseen_changes(client, &tree, node);
        println!("{client}: {} changes in {:?}", changes.len(), begin.elapsed());
        assert!(changes.len() > NODES / 200, "{client}: {}", changes.len());
        session.note_notice(client, &tree, node, &changes);
        assert_eq!(session.unseen_changes(client, &tree, node), []);
    }
    drop(tree);
    let told = held(&session, &others, read);
    println!("{told} bytes after telling");
    assert!(told <= BAR, "{told} bytes of what was shown and told");

    // Each client performs an action of its own, which changes a different one in a hundred texts.
    for (client, version) in clients.iter().zip(CLIENTS + 2..) {
        let before = session.tree().unwrap().clone();
        session.replace_tree(page(version), Origin::Snapshot);
        let after = session.tree().unwrap().clone();
        others.push(Arc::downgrade(&after));
        let begin = Instant::now();
        session.note_effects(client, &before, &after, None);
        println!("{client}: effects in {:?}", begin.elapsed());
    }
    let told = held(&session, &others, stored);
    println!("{told} bytes after effects");
    assert!(told <= BAR, "{told} bytes after own acts");
}
