//! Reads the facts of a tree, segment by segment.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use super::fact::{Content, Fact, FactKind, Segment, SegmentBuilder, SegmentKey, number, place_of};
use super::map::{Context, ContextMap};
use crate::identity::compare::Records;
use crate::identity::rows::numbers::{is_volatile, without_counts};
use crate::identity::rows::text::{is_field, leaf_text};
use crate::identity::surroundings::heading::steady_title;
use crate::identity::surroundings::popup::is_popup;
use crate::{Attr, NodeId, NodeRef, Role, States};

/// Characters of one fact that are kept.
const MAX_TEXT: usize = 500;

/// Texts that name a selected item.
const MAX_ITEM_TEXTS: usize = 4;

/// Reads contexts from one tree.
pub struct ContextReader<'r, 't> {
    records: &'r Records<'t>,
    ends_segment: fn(&Records<'_>, NodeRef<'_>) -> bool,
    /// Nodes that are selected, current or checked, in order.
    marked: Vec<NodeId>,
    /// Buttons whose menu or part of the page is open, in order.
    expanded: Vec<NodeId>,
    /// Dialogs, in order.
    dialogs: Vec<NodeId>,
}

/// Whether a node is a segment of its own, inside of the one around it.
#[doc(hidden)]
#[must_use]
pub fn ends_segment(records: &Records<'_>, node: NodeRef<'_>) -> bool {
    match node.role() {
        Role::Complementary => true,
        Role::Document => !is_of_page_around(node),
        Role::Row => !(is_header_row(node) || is_property(node)) && records.is_list_row(node),
        _ => is_message(node) || is_popup(node) || records.is_list_row(node),
    }
}

/// A live region, a log, a timer: what it says comes and goes by itself.
fn is_message(node: NodeRef<'_>) -> bool {
    let is_live = |n: NodeRef<'_>| {
        n.is(States::LIVE)
            || matches!(n.role(), Role::Alert | Role::Log | Role::Marquee | Role::Status | Role::Timer)
    };
    is_live(node) && !node.parent().is_some_and(is_live)
}

/// A document in a frame that has the origin of the document around it: both are parts of one page.
fn is_of_page_around(node: NodeRef<'_>) -> bool {
    let Some(around) = node.parent() else { return false };
    let (inner, outer) = (&node.document().url, &around.document().url);
    inner.starts_with("about:") || origin_of(inner) == origin_of(outer)
}

/// Scheme, host and port of an address.
fn origin_of(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    url[host..].find('/').map_or(url, |end| &url[..host + end])
}

/// A row header and one cell without controls: a property of the record that the table shows, not a record.
fn is_property(row: NodeRef<'_>) -> bool {
    let cells = row.children().filter(|n| n.role() != Role::Text).map(NodeRef::role);
    cells.eq([Role::RowHeader, Role::Cell]) && !row.subtree().skip(1).any(|n| n.role().is_control())
}

/// A row of column headers belongs to all rows of its table.
fn is_header_row(row: NodeRef<'_>) -> bool {
    let mut cells = row.children().filter(|n| n.role() != Role::Text).peekable();
    cells.peek().is_some() && cells.all(|n| n.role() == Role::ColumnHeader)
}

impl<'r, 't> ContextReader<'r, 't> {
    /// A reader of the tree of these records.
    #[must_use]
    pub fn new(records: &'r Records<'t>) -> Self {
        Self::with_segments(records, ends_segment)
    }

    /// With other segments, to measure what they are worth.
    #[doc(hidden)]
    #[must_use]
    pub fn with_segments(
        records: &'r Records<'t>,
        ends_segment: fn(&Records<'_>, NodeRef<'_>) -> bool,
    ) -> Self {
        let marks = States::SELECTED | States::CHECKED;
        let is_marked = |n: &NodeRef<'_>| {
            n.states().intersects(marks) || n.attr(Attr::Current).or(n.attr(Attr::Chosen)).is_some()
        };
        let (mut marked, mut expanded, mut dialogs) = (Vec::new(), Vec::new(), Vec::new());
        for node in records.tree().nodes() {
            if is_marked(&node) {
                marked.push(node.id());
            }
            if node.is(States::EXPANDED) && matches!(node.role(), Role::Button | Role::Clickable) {
                expanded.push(node.id());
            }
            if matches!(node.role(), Role::Dialog | Role::AlertDialog) {
                dialogs.push(node.id());
            }
        }
        Self { records, ends_segment, marked, expanded, dialogs }
    }

    /// The segments around a node, the innermost first: a dialog stands on those that were opened before it.
    fn around(&self, node: NodeRef<'t>) -> Vec<NodeRef<'t>> {
        let tree = self.records.tree();
        let mut found: Vec<NodeRef<'t>> = Vec::new();
        for segment in std::iter::once(node).chain(node.ancestors()).filter(|n| self.is_segment(*n)) {
            found.push(segment);
            if self.dialogs.binary_search(&segment.id()).is_ok() {
                let below = self.dialogs.iter().map(|&d| tree.node(d));
                let below = below.take_while(|d| d.id() < segment.id());
                let apart = below.filter(|d| !d.contains(segment.id()) && self.is_segment(*d));
                found.extend(apart);
            }
        }
        found
    }

    /// The context of an element: the chain of segments around it.
    #[must_use]
    pub fn context(&self, element: NodeId) -> Context {
        let element = self.records.tree().node(element);
        let segments = self.around(element);
        let mut keys: Vec<SegmentKey> =
            std::iter::once(element).chain(element.ancestors()).map(key).collect();
        for below in segments.iter().map(|n| key(*n)) {
            if !keys.contains(&below) {
                keys.push(below);
            }
        }
        keys.retain(|key| *key != SegmentKey::Unnamed);
        Context { segments: segments.into_iter().map(|n| Arc::new(self.read(n))).collect(), around: keys }
    }

    /// The facts of the whole tree.
    #[must_use]
    pub fn map(&self) -> ContextMap {
        let segments = self.records.tree().nodes().filter(|n| self.is_segment(*n));
        let segments = segments.filter(|n| key(*n) != SegmentKey::Unnamed).map(|n| Arc::new(self.read(n)));
        ContextMap::new(segments.collect())
    }

    /// The titles of the windows of the tree, and no other fact.
    #[must_use]
    pub fn titles(&self) -> ContextMap {
        let mut found: Vec<(NodeRef<'t>, SegmentBuilder)> = Vec::new();
        for window in self.records.tree().nodes().filter(|n| n.role() == Role::Window) {
            let Some(&segment) = self.around(window).first() else { continue };
            if key(segment) == SegmentKey::Unnamed {
                continue;
            }
            let at = found.iter().position(|(n, _)| *n == segment).unwrap_or_else(|| {
                found.push((segment, SegmentBuilder::default()));
                found.len() - 1
            });
            let title = fact(window, FactKind::WindowTitle, &mut HashMap::new());
            found[at].1.push(title, &steady_title(window.name()));
        }
        ContextMap::new(found.into_iter().map(|(n, facts)| Arc::new(facts.finish(key(n)))).collect())
    }

    /// Adds to `seen` what the segments around these nodes show, where neither `seen` has them nor what was shown before,
    /// of which `known` picks the segments: a client is shown them for the first time.
    pub fn adopt_new(
        &self,
        nodes: &[NodeId],
        seen: &mut ContextMap,
        known: impl Fn(&HashSet<SegmentKey>) -> HashSet<SegmentKey>,
    ) {
        let tree = self.records.tree();
        let mut asked = HashSet::new();
        let mut new = Vec::new();
        for &node in nodes {
            for segment in self.around(tree.node(node)) {
                // Around a segment that was asked about everything was asked about.
                if !asked.insert(segment.id()) {
                    break;
                }
                if !seen.has(key(segment)) {
                    new.push(segment);
                }
            }
        }
        if new.is_empty() {
            return;
        }
        let known = known(&new.iter().map(|segment| key(*segment)).collect());
        new.retain(|segment| !known.contains(&key(*segment)));
        seen.replace(new.into_iter().map(|segment| Arc::new(self.read(segment))));
    }

    /// Filters keys down to the segments of this tree.
    #[must_use]
    pub fn segments_among(&self, keys: &HashSet<SegmentKey>) -> HashSet<SegmentKey> {
        let nodes = self.records.tree().nodes();
        nodes.filter(|n| keys.contains(&key(*n)) && self.is_segment(*n)).map(key).collect()
    }

    /// What the segments of a later context showed in this tree: the context then of an element whose context now is
    /// `now`, whether they are segments now or not. Those that are not there are left out.
    #[must_use]
    pub fn context_of(&self, now: &Context) -> Context {
        let order: HashMap<SegmentKey, usize> =
            now.around.iter().enumerate().map(|(at, &key)| (key, at)).collect();
        let mut found: Vec<(usize, NodeRef<'t>)> = Vec::new();
        for node in self.records.tree().nodes() {
            if let Some(&at) = order.get(&key(node))
                && self.is_segment(node)
            {
                found.push((at, node));
            }
        }
        found.sort_unstable_by_key(|&(at, node)| (at, node.id()));
        let segments = found.into_iter().map(|(_, node)| Arc::new(self.read(node)));
        Context { segments: segments.collect(), around: now.around.clone() }
    }

    /// The nodes that say something in the context of an element, for a device that watches over their content until an
    /// input has arrived. At most `most`, the nearest first.
    #[must_use]
    pub fn nodes(&self, element: NodeId, most: usize) -> Vec<NodeId> {
        let tree = self.records.tree();
        let element = tree.node(element);
        let mut found = Vec::new();
        for segment in self.around(element) {
            self.visit(segment, |node, _, _| {
                if found.last() != Some(&node.id()) && !element.contains(node.id()) {
                    found.push(node.id());
                }
            });
            if found.len() >= most {
                break;
            }
        }
        found.truncate(most);
        found
    }

    /// What belongs to an element itself, so that it is judged as its name and states are: what is in a control. A card
    /// or a row that is pressed as a whole is told by what is in it.
    #[must_use]
    pub fn content_of(&self, element: NodeId) -> Content {
        let element = self.records.tree().node(element);
        let named = element.is(States::NAME_FROM_CONTENT)
            || element.role().is_control() && !element.name().is_empty();
        let nodes = element.subtree().take(if named || is_field(element) { usize::MAX } else { 1 });
        let mut content = Content::default();
        let mut texts = HashMap::new();
        for node in nodes {
            if let Some(handle) = node.handle() {
                content.ids.insert(place_of(Some(handle)));
                continue;
            }
            let mut found = |node, kind, text: &str| {
                content.unnamed.insert((kind, fact(node, kind, &mut texts).shape, text.to_owned()));
            };
            if !node.is_text() {
                own(node, &mut found);
            } else if let Some(text) = leaf_text(node) {
                found(node, FactKind::Text, &text);
            }
        }
        content
    }

    fn is_segment(&self, node: NodeRef<'t>) -> bool {
        node.id() == NodeId::ROOT || (self.ends_segment)(self.records, node)
    }

    fn read(&self, segment: NodeRef<'t>) -> Segment {
        let mut builder = SegmentBuilder::default();
        let mut texts: HashMap<u64, u64> = HashMap::new();
        self.visit(segment, |node, kind, text| {
            let fact = fact(node, kind, &mut texts);
            let end = text.char_indices().nth(MAX_TEXT).map_or(text.len(), |(at, _)| at);
            builder.push(fact, &text[..end]);
        });
        builder.finish(key(segment))
    }

    /// Visits the facts of a segment in document order: the node that says it, what kind it is, what it says.
    fn visit(&self, segment: NodeRef<'t>, mut found: impl FnMut(NodeRef<'t>, FactKind, &str)) {
        if segment.role() == Role::Document {
            document(segment, &mut found);
        }
        let tree = segment.tree();
        // Which items of which list are selected: known when the list is through.
        let mut selected: BTreeMap<NodeId, String> = BTreeMap::new();
        let mut next = segment.id();
        let end = segment.subtree_end();
        while next < end {
            let node = tree.node(next);
            if node != segment && self.is_segment(node) {
                if node.role() == Role::Document {
                    // What another document shows is its own; which one it is belongs to what it is shown in.
                    document(node, &mut found);
                } else {
                    self.selection_in(node, &mut selected);
                }
                next = node.subtree_end();
                continue;
            }
            if node.is_text() {
                if let Some(text) = leaf_text(node) {
                    found(node, FactKind::Text, &text);
                }
            } else {
                if node != segment && node.role() == Role::Document && is_of_page_around(node) {
                    document(node, &mut found);
                }
                own(node, &mut found);
                if node != segment && self.marked.binary_search(&node.id()).is_ok() && !is_box(node) {
                    note_selected(&mut selected, list_of(node), node);
                }
                if node.is(States::EDIT_HOST) {
                    // What a person writes there is one value, not the app's text.
                    found(node, FactKind::Value, &content(node));
                    next = node.subtree_end();
                    continue;
                }
            }
            next.0 += 1;
        }
        for (list, items) in &selected {
            found(tree.node(*list), FactKind::Selected, items);
        }
        if let Some(words) = self.expanded_in(segment) {
            found(segment, FactKind::Expanded, &words);
        }
    }

    /// The one button in a segment whose menu is open, and the row that it stands in: what shows elsewhere may belong to
    /// it. Nothing where several are open.
    fn expanded_in(&self, segment: NodeRef<'t>) -> Option<String> {
        let from = self.expanded.partition_point(|&n| n < segment.id());
        let mut inside = self.expanded[from..].iter().take_while(|&&n| n < segment.subtree_end());
        let (&one, None) = (inside.next()?, inside.next()) else { return None };
        let button = segment.tree().node(one);
        let mut words = button.name().to_owned();
        let row = button.ancestors().take_while(|n| *n != segment).find(|n| self.is_segment(*n));
        if let Some(row) = row {
            steady_content(row, &mut words);
        }
        Some(words)
    }

    /// Notes which of its rows a list inside the segment has selected, and by what.
    fn selection_in(&self, row: NodeRef<'t>, selected: &mut BTreeMap<NodeId, String>) {
        let from = self.marked.partition_point(|&n| n < row.id());
        let marked = self.marked[from..].iter().take_while(|&&n| n < row.subtree_end());
        let tree = row.tree();
        let is_list = is_popup(row);
        if !is_list {
            // One mark is enough to say that the row is the selected one.
            if marked.clone().next().is_some() && !is_message(row) && row.role() != Role::Complementary {
                note_selected(selected, row.parent().map_or(row.id(), list_of), row);
            }
            return;
        }
        if row.role() == Role::ListBox {
            for &item in marked {
                note_selected(selected, row.id(), tree.node(item));
            }
        }
    }
}

/// The facts that a document itself is.
fn document<'t>(node: NodeRef<'t>, found: &mut impl FnMut(NodeRef<'t>, FactKind, &str)) {
    let document = node.document();
    found(node, FactKind::Address, page_of(&document.url));
    // Of several windows the title is that of the one in front, and each says its own.
    if !node.children().any(|n| n.role() == Role::Window) {
        found(node, FactKind::Title, &steady_title(&document.title));
    }
}

/// Path and query of an address. A fragment counts where it is a route (`#/orders/17`, `#!/orders/17`).
fn page_of(url: &str) -> &str {
    match url.split_once('#') {
        Some((_, fragment)) if fragment.starts_with(['/', '!']) => url,
        Some((page, _)) => page,
        None => url,
    }
}

/// What an element itself says.
fn own<'t>(node: NodeRef<'t>, found: &mut impl FnMut(NodeRef<'t>, FactKind, &str)) {
    use Role::{Document, Meter, ProgressBar, ScrollBar, Timer};
    if matches!(node.role(), Document | Meter | ProgressBar | ScrollBar | Timer) {
        return;
    }
    if node.role() == Role::Window {
        found(node, FactKind::WindowTitle, &steady_title(node.name()));
    } else if !node.name().is_empty() && !node.is(States::NAME_FROM_CONTENT) {
        found(node, FactKind::Name, node.name());
    }
    // An empty field has a value, too: what was in it may have been the record.
    if is_field(node) && !node.is(States::EDIT_HOST) && !is_box(node) && node.role() != Role::ListBox {
        found(node, FactKind::Value, node.value());
    }
    if is_box(node) {
        let on = node.states().intersects(States::CHECKED | States::PRESSED | States::MIXED);
        found(node, FactKind::Checked, if on { "on" } else { "off" });
    }
    let attributes = [
        (Attr::Description, FactKind::Description),
        (Attr::Placeholder, FactKind::Placeholder),
        (Attr::Source, FactKind::Source),
        (Attr::Options, FactKind::Options),
        (Attr::ActiveDescendant, FactKind::Selected),
    ];
    for (attr, kind) in attributes {
        if let Some(text) = node.attr(attr) {
            found(node, kind, text);
        }
    }
}

/// A box or toggle: it is on or off.
fn is_box(node: NodeRef<'_>) -> bool {
    node.states().intersects(States::CHECKABLE | States::PRESSABLE)
}

/// The list, table, set of tabs or tree that an item is in; itself where there is none.
fn list_of(item: NodeRef<'_>) -> NodeId {
    let groups =
        |n: &NodeRef<'_>| !matches!(n.role(), Role::Generic | Role::Clickable | Role::RowGroup | Role::Row);
    std::iter::once(item)
        .filter(|n| groups(n) && !matches!(n.role(), Role::Tab | Role::Link | Role::ListItem | Role::Option))
        .chain(item.ancestors().filter(groups))
        .next()
        .map_or(item.id(), NodeRef::id)
}

fn note_selected(selected: &mut BTreeMap<NodeId, String>, list: NodeId, item: NodeRef<'_>) {
    let items = selected.entry(list).or_default();
    if !items.is_empty() {
        items.push_str("; ");
    }
    let name = item.name();
    // `Inbox (7)` is still the one that is selected.
    if name.is_empty() { steady_content(item, items) } else { items.push_str(&without_counts(name)) }
}

/// The texts that say which item it is: not its prices, ages and counts, which change while it stays selected.
fn steady_content(item: NodeRef<'_>, items: &mut String) {
    let texts = item.subtree().filter(|n| n.is_text() && !n.name().is_empty() && !is_volatile(n.name()));
    for text in texts.take(MAX_ITEM_TEXTS) {
        if !items.is_empty() {
            items.push(' ');
        }
        items.push_str(text.name());
    }
}

/// The texts in a node, joined.
fn content(node: NodeRef<'_>) -> String {
    let mut text = String::new();
    for leaf in node.subtree().filter(|n| n.is_text() && !n.name().is_empty()) {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(leaf.name());
        if text.len() > MAX_TEXT {
            break;
        }
    }
    text
}

/// Roles and tags of a node and what is right above it, as one number.
pub(super) fn shape_of(node: NodeRef<'_>, kind: FactKind) -> u32 {
    let mut shape = DefaultHasher::new();
    (kind, node.role(), node.tag()).hash(&mut shape);
    for above in node.ancestors().take(3) {
        (above.role(), above.tag()).hash(&mut shape);
    }
    // Cut on purpose: shapes that are alike by chance only pair what may be paired anyway.
    #[allow(clippy::cast_possible_truncation, reason = "half of a hash is a hash")]
    let shape = shape.finish() as u32;
    shape
}

/// A fact without its text. `texts` counts the texts of each parent.
fn fact(node: NodeRef<'_>, kind: FactKind, texts: &mut HashMap<u64, u64>) -> Fact {
    let id = |n: Option<NodeRef<'_>>| place_of(n.and_then(NodeRef::handle));
    let parent = node.parent();
    let (own, parent_id) = (id(Some(node)), id(parent));
    let slot = match (kind, parent_id) {
        (FactKind::Text, 0) => 0,
        (FactKind::Text, _) => {
            let nth = texts.entry(parent_id).or_default();
            *nth += 1;
            number(&(parent_id, *nth))
        }
        (FactKind::Address | FactKind::Title, _) => number(&node.document().frame),
        _ => own,
    };
    let shape = shape_of(node, kind);
    let grandparent = id(parent.and_then(NodeRef::parent));
    Fact { slot, parent: parent_id, grandparent, shape, end: 0, kind }
}

fn key(segment: NodeRef<'_>) -> SegmentKey {
    match (segment.role(), segment.handle()) {
        (_, Some(handle)) => SegmentKey::Node(handle),
        (Role::Document, None) => SegmentKey::Document(number(&segment.document().frame)),
        (_, None) => SegmentKey::Unnamed,
    }
}

impl std::fmt::Debug for ContextReader<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ContextReader").field("marked", &self.marked.len()).finish_non_exhaustive()
    }
}
