//! Random apps whose elements have a hidden logical id that no capture reports.
//!
//! A ref must never resolve to a logical element other than the one that it was issued for, unless
//! the two are equal in everything that is reported. It must resolve while its element exists
//! unchanged under its handle. Generations increase by one.

use proptest::prelude::*;
use std::collections::HashMap;
use stickpin_refs::{Generation, Ref, RefToken};
use stickpin_session::{
    ClientId, EndReason, InMemoryNumbers, Ladder, Origin, RefFault, Session, SessionConfig,
};
use stickpin_tree::{
    Attr, Document, Handle, IdentityGrade, NodeId, NodeSpec, Role, States, SurfaceId, Tree, TreeBuilder,
};

const WORDS: [&str; 8] = ["anna", "boats", "cellar", "dunes", "ember", "fjord", "glass", "harbour"];
const KEYS: [&str; 8] = ["qa", "xu", "ke", "zo", "pi", "wy", "om", "ly"];
const CONTROLS: [&str; 2] = ["Open", "Delete"];

/// What happens to the app between two captures.
#[derive(Debug, Clone)]
enum Op {
    Insert {
        at: usize,
        word: usize,
        keyed: bool,
    },
    Remove {
        at: usize,
    },
    Move {
        from: usize,
        to: usize,
    },
    /// All rows get new nodes.
    Rerender,
    /// The nodes of a row show another record.
    Recycle {
        at: usize,
        word: usize,
    },
    Hide {
        at: usize,
    },
    Toggle,
    /// Another document, whose elements may look the same.
    Navigate {
        elsewhere: bool,
    },
    SwitchTab,
}

#[derive(Debug, Clone)]
struct Step {
    ops: Vec<Op>,
    snapshot: bool,
    cut: bool,
    /// The elements that are issued, as bits.
    issued: u32,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    logical: u32,
    word: usize,
    key: Option<usize>,
    node: u64,
    hidden: bool,
}

/// One tab.
#[derive(Debug, Clone)]
struct Tab {
    scope: u64,
    url: u32,
    list: u64,
    rows: Vec<Row>,
    toggle: (u32, u64, bool),
}

/// Everything that a capture reports about an element, and its logical id, which is not reported.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Truth {
    logical: (u32, usize),
    handle: Handle,
    reported: (usize, u32, String, Option<usize>, Option<usize>),
}

impl Truth {
    /// Returns whether nothing that was reported at issue distinguishes the two. A row may get its
    /// key later.
    fn is_like(&self, at_issue: &Self) -> bool {
        let (tab, url, name, word, key) = &at_issue.reported;
        (tab, url, name, word) == (&self.reported.0, &self.reported.1, &self.reported.2, &self.reported.3)
            && (key.is_none() || *key == self.reported.4)
    }
}

#[derive(Debug)]
struct App {
    grade: IdentityGrade,
    tabs: [Tab; 2],
    shown: usize,
    next_node: u64,
    next_logical: u32,
    next_scope: u64,
    /// Node numbers of removed elements, which some devices reuse.
    freed: Vec<u64>,
}

impl App {
    fn new(grade: IdentityGrade) -> Self {
        let tab = |scope| Tab { scope, url: 1, list: 2, rows: Vec::new(), toggle: (0, 3, false) };
        let mut app = Self {
            grade,
            tabs: [tab(1), tab(2)],
            shown: 0,
            next_node: 10,
            next_logical: 2,
            next_scope: 3,
            freed: Vec::new(),
        };
        app.tabs[1].toggle.0 = 1;
        app
    }

    /// Allocates four consecutive numbers: for a row, the parent of its text, and its two controls.
    fn node(&mut self) -> u64 {
        if self.grade == IdentityGrade::WhileAlive
            && let Some(node) = self.freed.pop()
        {
            return node;
        }
        self.next_node += 4;
        self.next_node
    }

    fn logical(&mut self) -> u32 {
        self.next_logical += 1;
        self.next_logical
    }

    fn free_word(&self, from: usize) -> Option<usize> {
        let rows = &self.tabs[self.shown].rows;
        (0..WORDS.len()).map(|i| (from + i) % WORDS.len()).find(|w| rows.iter().all(|r| r.word != *w))
    }

    fn apply(&mut self, op: &Op) {
        let count = self.tabs[self.shown].rows.len();
        match *op {
            Op::Insert { at, word, keyed } => {
                let Some(word) = self.free_word(word) else { return };
                let row = Row {
                    logical: self.logical(),
                    word,
                    key: keyed.then_some(word),
                    node: self.node(),
                    hidden: false,
                };
                self.tabs[self.shown].rows.insert(at % (count + 1), row);
            }
            Op::Remove { at } if count > 0 => {
                let row = self.tabs[self.shown].rows.remove(at % count);
                self.freed.push(row.node);
            }
            Op::Move { from, to } if count > 0 => {
                let row = self.tabs[self.shown].rows.remove(from % count);
                self.tabs[self.shown].rows.insert(to % count, row);
            }
            Op::Rerender => {
                let mut freed: Vec<u64> = Vec::new();
                for i in 0..count {
                    freed.push(self.tabs[self.shown].rows[i].node);
                    self.tabs[self.shown].rows[i].node = self.node();
                }
                self.next_node += 4;
                self.tabs[self.shown].list = self.next_node;
                self.freed.extend(freed);
            }
            Op::Recycle { at, word } if count > 0 => {
                let Some(word) = self.free_word(word) else { return };
                let logical = self.logical();
                let row = &mut self.tabs[self.shown].rows[at % count];
                (row.logical, row.word, row.key) = (logical, word, row.key.map(|_| word));
            }
            Op::Hide { at } if count > 0 => {
                let row = &mut self.tabs[self.shown].rows[at % count];
                row.hidden = !row.hidden;
            }
            Op::Toggle => self.tabs[self.shown].toggle.2 ^= true,
            Op::Navigate { elsewhere } => {
                self.next_scope += 1;
                let (scope, logical) = (self.next_scope, self.logical());
                let mut rows = std::mem::take(&mut self.tabs[self.shown].rows);
                for row in &mut rows {
                    row.logical = self.logical();
                }
                let tab = &mut self.tabs[self.shown];
                tab.rows = rows;
                tab.scope = scope;
                tab.toggle.0 = logical;
                tab.url += u32::from(elsewhere);
            }
            Op::SwitchTab => self.shown ^= 1,
            _ => {}
        }
    }

    /// Returns the capture, and the truth about each element that can be issued.
    fn capture(&self, cut: bool, salt: u64) -> (Tree, HashMap<NodeId, Truth>) {
        let tab = &self.tabs[self.shown];
        let mut b = TreeBuilder::new(self.grade);
        // Without identity, the numbers of one capture have no meaning in the next.
        let number = |id: u64| if self.grade == IdentityGrade::None { id ^ (salt << 32) } else { id };
        let url = format!("http://app.test/{}", tab.url);
        let doc = Document { scope: tab.scope, frame: String::new(), url, title: "App".into() };
        let mut truths = HashMap::new();
        let spec = |role, name, id| NodeSpec { role: Some(role), name, id: number(id), ..Default::default() };
        b.document(0, doc, number(1)).unwrap();
        b.node(1, spec(Role::Heading, "Things", 4)).unwrap();
        let button = |name, id| NodeSpec { states: States::ACTIONABLE, ..spec(Role::Button, name, id) };
        let name = if tab.toggle.2 { "Pause" } else { "Play" };
        let node = b.node(1, button(name, tab.toggle.1)).unwrap();
        let handle = |id| Handle { scope: tab.scope, id: number(id) };
        let reported = (self.shown, tab.url, name.to_owned(), None, None);
        truths.insert(node, Truth { logical: (tab.toggle.0, 9), handle: handle(tab.toggle.1), reported });
        b.node(1, spec(Role::List, "", tab.list)).unwrap();
        let mut hidden = Vec::new();
        let shown = if cut { tab.rows.len() / 2 } else { tab.rows.len() };
        for (i, row) in tab.rows.iter().enumerate() {
            if row.hidden || i >= shown {
                hidden.extend((0..4).map(|i| handle(row.node + i)));
                continue;
            }
            let key = row.key.map(|k| (Attr::DataKey, KEYS[k]));
            let attrs: Vec<(Attr, &str)> = key.into_iter().collect();
            b.node(2, NodeSpec { attrs: &attrs, tag: "li", ..spec(Role::ListItem, "", row.node) }).unwrap();
            b.node(3, NodeSpec { id: 0, ..spec(Role::Text, WORDS[row.word], 0) }).unwrap();
            for (c, control) in CONTROLS.into_iter().enumerate() {
                let id = row.node + 2 + c as u64;
                let node = b.node(3, button(control, id)).unwrap();
                let reported = (self.shown, tab.url, control.to_owned(), Some(row.word), row.key);
                truths.insert(node, Truth { logical: (row.logical, c), handle: handle(id), reported });
            }
        }
        if self.grade != IdentityGrade::None {
            b.add_hidden(hidden);
        }
        b.set_surface(SurfaceId(self.shown as u64)).set_truncated(cut);
        (b.finish().unwrap(), truths)
    }
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (0..8usize, 0..8usize, any::<bool>()).prop_map(|(at, word, keyed)| Op::Insert { at, word, keyed }),
        3 => (0..8usize).prop_map(|at| Op::Remove { at }),
        2 => (0..8usize, 0..8usize).prop_map(|(from, to)| Op::Move { from, to }),
        2 => Just(Op::Rerender),
        3 => (0..8usize, 0..8usize).prop_map(|(at, word)| Op::Recycle { at, word }),
        2 => (0..8usize).prop_map(|at| Op::Hide { at }),
        2 => Just(Op::Toggle),
        1 => any::<bool>().prop_map(|elsewhere| Op::Navigate { elsewhere }),
        1 => Just(Op::SwitchTab),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    (proptest::collection::vec(op(), 0..4), any::<bool>(), proptest::bool::weighted(0.1), any::<u32>())
        .prop_map(|(ops, snapshot, cut, issued)| Step { ops, snapshot, cut, issued })
}

fn session() -> Session {
    Session::new(SessionConfig {
        lifetime: "random".into(),
        seed: Generation::new(500_000),
        ladder: Ladder::Warn,
        numbers: Box::new(InMemoryNumbers::new()),
    })
}

/// Runs the steps and checks every ref after each. Returns how many uses resolved and how many were
/// refused.
fn play(grade: IdentityGrade, steps: &[Step]) -> Result<(usize, usize), TestCaseError> {
    let mut app = App::new(grade);
    let mut session = session();
    let client = ClientId::new("me");
    let mut issued: HashMap<Ref, Truth> = HashMap::new();
    let (mut resolved, mut refused) = (0, 0);
    for (salt, step) in steps.iter().enumerate() {
        step.ops.iter().for_each(|op| app.apply(op));
        let (tree, truths) = app.capture(step.cut, salt as u64 + 1);
        let equal = session.tree().is_some_and(|stored| **stored == tree);
        let before = session.generation();
        let origin = if step.snapshot { Origin::Snapshot } else { Origin::Internal };
        let replaced = session.replace_tree(tree, origin);
        let expected = match before {
            None => Generation::new(500_000),
            Some(g) if equal && origin == Origin::Internal => g,
            Some(g) => Generation::new(g.get() + 1),
        };
        prop_assert_eq!(replaced.generation, expected);

        for (&r#ref, at_issue) in &issued {
            match session.resolve(&client, RefToken::plain(r#ref)) {
                Ok(found) => {
                    resolved += 1;
                    let Some(node) = found.node else {
                        prop_assert!(step.cut, "{} resolves to nothing in a complete capture", r#ref);
                        continue;
                    };
                    let now = &truths[&node];
                    prop_assert!(
                        now.logical == at_issue.logical || now.is_like(at_issue),
                        "{} was issued for {:?} and resolves to {:?}",
                        r#ref,
                        at_issue,
                        now
                    );
                    prop_assert!(
                        now.reported.2 == at_issue.reported.2,
                        "{} resolves with another name: {:?} was {:?}",
                        r#ref,
                        now,
                        at_issue
                    );
                    prop_assert!(!replaced.ended.contains(&r#ref), "{} ended and resolves", r#ref);
                }
                Err(RefFault::Ended { reason, .. }) => {
                    refused += 1;
                    // A node whose text is unchanged is never refused if handles can be trusted.
                    let there = truths.values().find(|t| t.handle == at_issue.handle);
                    let same = there.is_some_and(|t| t == at_issue);
                    prop_assert!(
                        !(same && grade == IdentityGrade::NeverReused),
                        "{} is refused as {:?}, and {:?} is there",
                        r#ref,
                        reason,
                        at_issue
                    );
                    if app.shown != at_issue.reported.0 {
                        prop_assert!(matches!(reason, EndReason::Elsewhere | EndReason::Gone));
                    }
                }
                Err(fault) => return Err(TestCaseError::fail(format!("{fault:?}"))),
            }
        }

        let mut nodes: Vec<NodeId> = truths.keys().copied().collect();
        nodes.sort_unstable();
        let mut bits = step.issued;
        nodes.retain(|_| {
            bits = bits.rotate_left(1);
            bits & 1 == 1
        });
        let refs = session.issue(&client, &nodes).unwrap();
        for (&node, &r#ref) in nodes.iter().zip(&refs) {
            prop_assert_eq!(session.ref_of(node), Some(r#ref));
            let fresh = session.resolve(&client, RefToken::plain(r#ref)).unwrap();
            prop_assert_eq!((fresh.node, fresh.warning), (Some(node), None));
            // A number that was issued before refers to what it was issued for then.
            issued.entry(r#ref).or_insert_with(|| truths[&node].clone());
        }
        let unique: std::collections::HashSet<_> = refs.iter().collect();
        prop_assert_eq!(unique.len(), refs.len(), "one number for two elements");
    }
    Ok((resolved, refused))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_ref_never_resolves_to_another_element(
        steps in proptest::collection::vec(step(), 2..14),
        grade in prop_oneof![
            Just(IdentityGrade::NeverReused), Just(IdentityGrade::WhileAlive), Just(IdentityGrade::None)
        ],
    ) {
        play(grade, &steps)?;
    }

    /// A complete diff renews exactly the refs that the client was issued since the base, that are
    /// alive and that are not listed.
    #[test]
    fn renewal_covers_exactly_the_refs_since_the_base(
        steps in proptest::collection::vec(step(), 2..10),
        base_at in 0..8usize,
    ) {
        let mut app = App::new(IdentityGrade::NeverReused);
        let mut session = session();
        let (me, other) = (ClientId::new("me"), ClientId::new("other"));
        let mut given: HashMap<Ref, Generation> = HashMap::new();
        let mut base = None;
        for (i, step) in steps.iter().enumerate() {
            step.ops.iter().for_each(|op| app.apply(op));
            let (tree, truths) = app.capture(false, i as u64);
            let at = session.replace_tree(tree, Origin::Snapshot).generation;
            let mut nodes: Vec<NodeId> = truths.into_keys().collect();
            nodes.sort_unstable();
            // Some steps show everything to this client, others to another one.
            let client = if step.snapshot { &me } else { &other };
            let refs = session.issue(client, &nodes).unwrap();
            if step.snapshot {
                given.extend(refs.iter().map(|&r| (r, at)));
            }
            if i == base_at.min(steps.len() - 1) {
                session.mark_read_in_full(&me);
                base = session.base(&me, None);
            }
        }
        let base = base.expect("a base");
        let now = session.generation().unwrap();
        let listed = session.ended_since(&base).expect("whole captures");
        for r in &listed {
            prop_assert!(session.resolve(&me, RefToken::plain(*r)).is_err(), "{} is listed and lives", r);
        }
        let renewed = session.renew(&me, &base, &listed);
        for (&r, &at) in &given {
            let lives = session.resolve(&me, RefToken::plain(r)).is_ok();
            let moved = at >= base.generation && at < now && lives;
            prop_assert_eq!(renewed.contains(&r), moved, "{} given at {}", r, at);
            if let Ok(found) = session.resolve(&me, RefToken::plain(r)) {
                prop_assert_eq!(found.warning.is_none(), moved || at == now, "{}", r);
            }
        }
        prop_assert!(renewed.iter().all(|r| given.contains_key(r)), "only what this client was given");
    }
}

/// The properties above are meaningless if nearly everything is refused or nearly nothing ends.
#[test]
fn random_apps_keep_and_end_refs() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut resolved, mut refused) = (0, 0);
    for grade in [IdentityGrade::NeverReused, IdentityGrade::WhileAlive, IdentityGrade::None] {
        for _ in 0..60 {
            let steps = proptest::collection::vec(step(), 10..14).new_tree(&mut runner).unwrap().current();
            let (ok, not) = play(grade, &steps).unwrap();
            resolved += ok;
            refused += not;
        }
    }
    println!("{resolved} uses resolved, {refused} were refused");
    assert!(resolved > 1_000 && refused > 1_000);
}
