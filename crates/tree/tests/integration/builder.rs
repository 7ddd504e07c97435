//! Properties of every tree that can be built.

use proptest::prelude::*;
use stickpin_tree::{
    Attr, Document, Handle, IdentityGrade, NodeId, NodeSpec, Role, States, Tree, TreeBuilder, TreeError,
};

/// A node to push: how many levels to go up first, and the node.
#[derive(Debug, Clone)]
struct Step {
    up: usize,
    role: Role,
    name: String,
    value: String,
    states: States,
    id: u64,
    attr: Option<(Attr, String)>,
}

fn step() -> impl Strategy<Value = Step> {
    let attr =
        prop::option::of((prop::sample::select(vec![Attr::Href, Attr::Id, Attr::Class]), "[a-z]{0,5}"));
    (
        0..4_usize,
        prop::sample::select(Role::ALL),
        "[ a-zé]{0,12}",
        "[a-z]{0,4}",
        any::<u32>(),
        0..50_u64,
        attr,
    )
        .prop_map(|(up, role, name, value, states, id, attr)| Step {
            up,
            role,
            name,
            value,
            states: States::from_bits_truncate(states),
            id,
            attr,
        })
}

/// Builds a tree. Also returns the depths that were used.
fn build(steps: &[Step], grade: IdentityGrade) -> (Tree, Vec<usize>) {
    let mut builder = TreeBuilder::new(grade);
    let top = Document { scope: 9, frame: String::new(), url: "http://h/".into(), title: "Top".into() };
    builder.document(0, top, 1).expect("the root");
    let mut depths = vec![0_usize];
    for step in steps {
        let depth = (depths[depths.len() - 1] + 1).saturating_sub(step.up).max(1);
        let attrs: Vec<(Attr, &str)> = step.attr.iter().map(|(a, s)| (*a, s.as_str())).collect();
        let spec = NodeSpec {
            role: Some(step.role),
            name: &step.name,
            value: &step.value,
            states: step.states,
            id: step.id,
            attrs: &attrs,
            ..NodeSpec::default()
        };
        builder.node(depth, spec).expect("the depth fits");
        depths.push(depth);
    }
    (builder.finish().expect("not empty"), depths)
}

proptest! {
    #[test]
    fn built_tree_contains_all_pushed_nodes(steps in prop::collection::vec(step(), 0..60)) {
        let (tree, depths) = build(&steps, IdentityGrade::NeverReused);
        prop_assert_eq!(tree.len(), steps.len() + 1);
        for (node, step) in tree.nodes().skip(1).zip(&steps) {
            let words: Vec<&str> = step.name.split_whitespace().collect();
            prop_assert_eq!(node.name(), words.join(" "));
            prop_assert_eq!(node.value(), &step.value);
            prop_assert_eq!(node.role(), step.role);
            prop_assert_eq!(node.states(), step.states);
            let handle = (step.id != 0).then_some(Handle { scope: 9, id: step.id });
            prop_assert_eq!(node.handle(), handle);
            let attr = step.attr.clone().filter(|(_, s)| !s.is_empty());
            prop_assert_eq!(node.attrs().map(|(a, s)| (a, s.to_owned())).collect::<Vec<_>>(), Vec::from_iter(attr.clone()));
            if let Some((attr, text)) = attr {
                prop_assert_eq!(node.attr(attr), Some(text.as_str()));
            }
        }
        for (node, depth) in tree.nodes().zip(depths) {
            prop_assert_eq!(node.ancestors().count(), depth);
        }
    }

    #[test]
    fn parents_children_and_subtrees_agree(steps in prop::collection::vec(step(), 0..60)) {
        let (tree, depths) = build(&steps, IdentityGrade::NeverReused);
        let mut seen = 1;
        for node in tree.nodes() {
            for child in node.children() {
                prop_assert_eq!(child.parent(), Some(node));
                seen += 1;
            }
            let below: Vec<NodeId> = node.subtree().map(|n| n.id()).collect();
            let expected: Vec<NodeId> = tree
                .nodes()
                .filter(|n| *n == node || n.ancestors().any(|a| a == node))
                .map(|n| n.id())
                .collect();
            prop_assert_eq!(&below, &expected);
            prop_assert_eq!(node.subtree_end().index(), node.id().index() + below.len());
            for other in tree.nodes() {
                prop_assert_eq!(node.contains(other.id()), below.contains(&other.id()));
            }
        }
        // Every node but the root is the child of exactly one node.
        prop_assert_eq!(seen, depths.len());
    }

    #[test]
    fn trees_are_equal_iff_reports_are_equal(steps in prop::collection::vec(step(), 1..30), at in any::<prop::sample::Index>(), what in 0..6_u8) {
        for grade in [IdentityGrade::NeverReused, IdentityGrade::None] {
            let (tree, _) = build(&steps, grade);
            let (again, _) = build(&steps, grade);
            prop_assert_eq!(&tree, &again);
            let mut other = steps.clone();
            let step = &mut other[at.index(steps.len())];
            match what {
                0 => step.name.push('x'),
                1 => step.value.push('x'),
                2 => step.states.toggle(States::CHECKED),
                3 => step.role = if step.role == Role::Button { Role::Link } else { Role::Button },
                4 => step.attr = Some((Attr::Description, "new".into())),
                _ => step.id += 1,
            }
            let (changed, _) = build(&other, grade);
            // Without identity, the numbers of handles have no meaning from one capture to the
            // next.
            prop_assert_eq!(tree == changed, what == 5 && grade == IdentityGrade::None);
        }
    }

    #[test]
    fn impossible_depth_is_refused(steps in prop::collection::vec(step(), 0..10), too_deep in 1..5_usize) {
        let mut builder = TreeBuilder::new(IdentityGrade::None);
        builder.document(0, Document { scope: 1, frame: String::new(), url: String::new(), title: String::new() }, 1).expect("the root");
        for (depth, step) in steps.iter().enumerate() {
            builder.node(depth + 1, NodeSpec { name: &step.name, ..NodeSpec::default() }).expect("one deeper fits");
        }
        let node = builder.len();
        let depth = steps.len() + 1 + too_deep;
        prop_assert_eq!(builder.node(depth, NodeSpec::default()), Err(TreeError::Depth { node, depth }));
        prop_assert_eq!(builder.node(0, NodeSpec::default()), Err(TreeError::Depth { node, depth: 0 }));
    }
}

#[test]
fn tree_without_root_is_refused() {
    assert_eq!(TreeBuilder::new(IdentityGrade::None).finish(), Err(TreeError::Empty));
    let first_is_no_document = TreeBuilder::new(IdentityGrade::None).node(0, NodeSpec::default());
    assert_eq!(first_is_no_document, Err(TreeError::Depth { node: 0, depth: 0 }));
}

#[test]
fn refused_document_is_not_in_the_tree() {
    let document = |title: &str| Document {
        scope: 1,
        frame: String::new(),
        url: String::new(),
        title: title.to_owned(),
    };
    let mut builder = TreeBuilder::new(IdentityGrade::None);
    builder.document(0, document("shop"), 1).expect("the root");
    assert_eq!(builder.document(2, document("frame"), 2), Err(TreeError::Depth { node: 1, depth: 2 }));
    let frame = builder.document(1, document("pay"), 3).expect("one deeper fits");
    let tree = builder.finish().expect("a tree");
    assert_eq!(tree.documents().iter().map(|d| d.title.as_str()).collect::<Vec<_>>(), ["shop", "pay"]);
    assert_eq!(tree.node(frame).document().title, "pay");
}
