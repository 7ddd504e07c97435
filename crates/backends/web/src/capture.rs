//! From what the page script captured to a [`Tree`].
//!
//! The script answers with columns and a table of strings, one answer per document; frames are put in below the
//! element that shows them. What comes from a page is data of a stranger: every index is checked.

use crate::unseen::{Said, TOLD};
use hashbrown::HashMap;
use serde::Deserialize;
use stickpin_tree::{
    Attr, Document, Handle, IdentityGrade, NodeSpec, Role, States, SurfaceId, Tree, TreeBuilder, TreeError,
};

/// What one call of `capture` or `locate` in the page returned.
#[derive(Debug, Clone, Deserialize)]
pub struct Columns {
    /// Version of the format.
    v: u32,
    /// The address of the document.
    pub url: String,
    /// Its title.
    pub title: String,
    depth: Vec<u32>,
    role: Vec<u32>,
    tag: Vec<u32>,
    name: Vec<u32>,
    states: Vec<u32>,
    id: Vec<u64>,
    /// (row, level) in turns.
    level: Vec<u32>,
    /// (row, string) in turns.
    value: Vec<u32>,
    /// (row, string of the key, string) in turns.
    attrs: Vec<u32>,
    /// Rows of defined custom elements: their internals may say what they are.
    custom: Vec<u32>,
    /// Numbers of elements that may have a closed shadow root.
    hosts: Vec<u64>,
    /// Those of the watched elements that are connected, but not in the tree.
    hidden: Vec<u64>,
    strings: Vec<String>,
    /// What to ask the script later whether this capture still holds; 0 where that cannot be told.
    #[serde(default)]
    pub seal: u32,
    /// How often the document had changed by then.
    #[serde(default)]
    pub changes: u64,
    /// Whether a limit cut the walk.
    pub truncated: bool,
    /// How long the page took, in milliseconds.
    pub ms: f64,
    /// What the browser says of some rows instead.
    #[serde(skip)]
    amended: HashMap<u32, Said>,
}

/// The version of the columns that this side reads.
const FORMAT: u32 = 1;

/// Why an answer of the page script could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// No JSON of the expected shape.
    #[error("the page script's answer is no capture: {0}")]
    Json(#[from] serde_json::Error),
    /// An index points nowhere, or columns differ in length.
    #[error("the page script's answer contradicts itself at {0}")]
    Corrupt(&'static str),
    /// The rows are no tree.
    #[error(transparent)]
    Tree(#[from] TreeError),
}

/// One document's capture with what only the device knows of it.
#[derive(Debug)]
pub struct Part {
    /// What its script returned.
    pub columns: Columns,
    /// The scope of the handles of its elements.
    pub scope: u64,
    /// Which frame shows it, as in [`Document::frame`].
    pub frame: String,
}

impl Columns {
    /// Reads the script's answer.
    ///
    /// # Errors
    /// If it is no capture, or columns differ in length.
    pub fn parse(json: &str) -> Result<Self, CaptureError> {
        let columns: Self = serde_json::from_str(json)?;
        if columns.v != FORMAT {
            return Err(CaptureError::Corrupt("version"));
        }
        let n = columns.id.len();
        let equal = [&columns.depth, &columns.role, &columns.tag, &columns.name, &columns.states];
        if equal.iter().any(|c| c.len() != n) {
            return Err(CaptureError::Corrupt("columns"));
        }
        Ok(columns)
    }

    /// How many rows it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// Whether it has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.id.is_empty()
    }

    /// Rows and numbers of custom elements that may have a role of their own by `ElementInternals`.
    pub(crate) fn custom_elements(&self) -> impl Iterator<Item = (u32, u64)> {
        self.custom.iter().filter_map(|&row| Some((row, *self.id.get(row as usize)?)))
    }

    /// The numbers of elements that may have a closed shadow root.
    pub(crate) fn hosts(&self) -> impl Iterator<Item = u64> {
        self.hosts.iter().copied()
    }

    /// What the browser says of a row counts instead of what the script said.
    pub(crate) fn amend(&mut self, row: u32, said: Said) {
        let Some(states) = self.states.get_mut(row as usize) else { return };
        let mut known = States::from_bits_truncate(*states).difference(TOLD).union(said.states);
        if said.role.is_some_and(Role::is_control) {
            known |= States::ACTIONABLE;
        }
        *states = known.bits();
        self.amended.insert(row, said);
    }

    /// Makes a row actionable, and one without a role `clickable`.
    pub(crate) fn press(&mut self, row: usize, clickable: bool) {
        self.states[row] |= States::ACTIONABLE.bits();
        if clickable {
            let name = Role::Clickable.name();
            let at = self.strings.iter().position(|s| s == name).unwrap_or_else(|| {
                self.strings.push(name.to_owned());
                self.strings.len() - 1
            });
            // The table has as many entries as fit into the numbers that point into it.
            self.role[row] = u32::try_from(at).unwrap_or(self.role[row]);
        }
    }

    pub(crate) fn depth_of(&self, row: usize) -> usize {
        self.depth[row] as usize
    }

    pub(crate) fn id_of(&self, row: usize) -> u64 {
        self.id[row]
    }

    pub(crate) fn is_actionable(&self, row: usize) -> bool {
        States::from_bits_truncate(self.states[row]).contains(States::ACTIONABLE)
    }

    pub(crate) fn is_body(&self, row: usize) -> bool {
        matches!(self.string(self.tag[row]), Ok("body" | "html"))
    }

    pub(crate) fn role_of(&self, row: usize) -> Option<Role> {
        match self.amended.get(&u32::try_from(row).ok()?) {
            Some(Said { role: Some(role), .. }) => Some(*role),
            _ => self.string(self.role[row]).ok()?.parse().ok(),
        }
    }

    fn string(&self, at: u32) -> Result<&str, CaptureError> {
        self.strings.get(at as usize).map(String::as_str).ok_or(CaptureError::Corrupt("strings"))
    }
}

/// Puts the captures of a tab together: the top document, and those of frames by the handle of the element that
/// shows them. A frame whose element is not in the tree (hidden, or gone since) is left out.
///
/// # Errors
/// If an answer contradicts itself or is too large.
pub fn assemble(
    top: &Part,
    frames: &HashMap<Handle, Part>,
    surface: SurfaceId,
) -> Result<Tree, CaptureError> {
    let mut assembly = Assembly {
        builder: TreeBuilder::new(IdentityGrade::NeverReused),
        frames,
        hidden: Vec::new(),
        truncated: false,
    };
    let nodes = top.columns.len() + frames.values().map(|part| part.columns.len()).sum::<usize>();
    assembly.builder.surface(surface).reserve(nodes);
    assembly.add(top, 0, 0)?;
    let Assembly { mut builder, hidden, truncated, .. } = assembly;
    builder.truncated(truncated).hidden(hidden);
    Ok(builder.finish()?)
}

struct Assembly<'a> {
    builder: TreeBuilder,
    frames: &'a HashMap<Handle, Part>,
    hidden: Vec<Handle>,
    truncated: bool,
}

/// Frames in frames beyond this are not put in.
const FRAME_LIMIT: usize = 32;

impl Assembly<'_> {
    fn add(&mut self, part: &Part, base: usize, nesting: usize) -> Result<(), CaptureError> {
        let c = &part.columns;
        self.truncated |= c.truncated;
        let document = Document {
            scope: part.scope,
            frame: part.frame.clone(),
            url: c.url.clone(),
            title: c.title.clone(),
        };
        if c.depth.first() != Some(&0) || c.depth[1..].contains(&0) {
            return Err(CaptureError::Corrupt("the root"));
        }
        self.builder.document(base, document, c.id[0])?;
        let roles = Roles::new(c);
        let mut levels = c.level.chunks_exact(2).peekable();
        let mut values = c.value.chunks_exact(2).peekable();
        let mut attrs = c.attrs.chunks_exact(3).peekable();
        let mut rare: Vec<(Attr, &str)> = Vec::new();
        for i in 1..c.len() {
            let row = u32::try_from(i).map_err(|_| CaptureError::Corrupt("rows"))?;
            let depth = base + c.depth[i] as usize;
            rare.clear();
            while let Some(a) = attrs.next_if(|a| a[0] == row) {
                if let Some(attr) = attr_of(c.string(a[1])?) {
                    rare.push((attr, c.string(a[2])?));
                }
            }
            let level = levels.next_if(|l| l[0] == row).map_or(0, |l| u8::try_from(l[1]).unwrap_or(u8::MAX));
            let value = match values.next_if(|v| v[0] == row) {
                Some(v) => c.string(v[1])?,
                None => "",
            };
            let mut spec = NodeSpec {
                role: Some(roles.get(c.role[i])?),
                name: c.string(c.name[i])?,
                value,
                tag: c.string(c.tag[i])?,
                states: States::from_bits_truncate(c.states[i]),
                level,
                id: c.id[i],
                attrs: &rare,
            };
            if let Some(said) = c.amended.get(&row) {
                spec.role = said.role.or(spec.role);
                spec.name = &said.name;
                spec.level = said.level;
                if !said.value.is_empty() {
                    spec.value = &said.value;
                }
            }
            self.builder.node(depth, spec)?;
            if matches!(spec.tag, "iframe" | "frame") {
                let frames = self.frames;
                if let Some(inner) = frames.get(&Handle { scope: part.scope, id: c.id[i] }) {
                    if nesting < FRAME_LIMIT {
                        self.add(inner, depth + 1, nesting + 1)?;
                    } else {
                        // What is deeper is there, and not in the tree.
                        self.truncated = true;
                    }
                }
            }
        }
        self.hidden.extend(c.hidden.iter().map(|&id| Handle { scope: part.scope, id }));
        Ok(())
    }
}

/// The roles of a capture's strings, each looked up once.
struct Roles(Vec<Option<Role>>);

impl Roles {
    fn new(c: &Columns) -> Self {
        let mut roles = vec![None; c.strings.len()];
        for &at in &c.role {
            if let Some(slot @ None) = roles.get_mut(at as usize) {
                *slot = c.strings[at as usize].parse().ok();
            }
        }
        Self(roles)
    }

    fn get(&self, at: u32) -> Result<Role, CaptureError> {
        self.0.get(at as usize).copied().flatten().ok_or(CaptureError::Corrupt("roles"))
    }
}

/// The attribute with the name that `rareAttributes` of the script gives it.
fn attr_of(key: &str) -> Option<Attr> {
    Some(match key {
        "id" => Attr::Id,
        "testId" => Attr::TestId,
        "dataTest" => Attr::DataTest,
        "dataCy" => Attr::DataCy,
        "dataTestId" => Attr::DataTestId,
        "dataId" => Attr::DataId,
        "dataKey" => Attr::DataKey,
        "dataRowKey" => Attr::DataRowKey,
        "dataItemId" => Attr::DataItemId,
        "rowIndex" => Attr::RowIndex,
        "href" => Attr::Href,
        "controls" => Attr::Controls,
        "labelledBy" => Attr::LabelledBy,
        "class" => Attr::Class,
        "placeholder" => Attr::Placeholder,
        "description" => Attr::Description,
        "current" => Attr::Current,
        "live" => Attr::Live,
        "valueText" => Attr::ValueText,
        "roleDescription" => Attr::RoleDescription,
        "preformatted" => Attr::Preformatted,
        "start" => Attr::Start,
        "colSpan" => Attr::ColSpan,
        "rowSpan" => Attr::RowSpan,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
