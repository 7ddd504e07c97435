//! Builds a [`Tree`] from what the in-page agent captured.
//!
//! The script returns columns and a string table, one answer per document. The documents of frames
//! are inserted below the elements that show them. Page data is untrusted: every index is checked.

mod columns;
mod self_description;

pub use columns::Columns;
use hashbrown::HashMap;
pub(crate) use self_description::SelfDescription;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::StrDeserializer;
use stickpin_tree::{
    Attr, Document, Handle, IdentityGrade, NodeSpec, Role, States, SurfaceId, Tree, TreeBuilder, TreeError,
};

/// Why an answer from the in-page agent could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The answer is not JSON of the expected shape.
    #[error("stickpin's script in the page returned an invalid capture: {0}")]
    Json(#[from] serde_json::Error),
    /// The answer contradicts itself or the format, for example with an index out of range, columns
    /// of different lengths or an unknown role.
    #[error("stickpin's script in the page returned an inconsistent capture: {0}")]
    Corrupt(&'static str),
    /// The rows do not form a tree.
    #[error(transparent)]
    Tree(#[from] TreeError),
}

/// One document's capture, with what only the device knows about the document.
#[derive(Debug)]
pub struct DocumentCapture {
    /// The answer from the document's script.
    pub columns: Columns,
    /// The scope of the document's handles.
    pub scope: u64,
    /// The frame that shows the document, as in [`Document::frame`].
    pub frame: String,
}

/// Combines the captures of a tab: the top document, and the documents of frames by the handle of
/// the element that shows them. A frame whose element is not in the tree (hidden or gone) is left
/// out.
///
/// # Errors
/// Returns an error when an answer is inconsistent or too large.
pub fn assemble(
    top: &DocumentCapture,
    frames: &HashMap<Handle, DocumentCapture>,
    surface: SurfaceId,
) -> Result<Tree, CaptureError> {
    let mut assembly = Assembly {
        builder: TreeBuilder::new(IdentityGrade::NeverReused),
        frames,
        hidden: Vec::new(),
        truncated: false,
    };
    let nodes = top.columns.len() + frames.values().map(|part| part.columns.len()).sum::<usize>();
    assembly.builder.set_surface(surface).reserve(nodes);
    assembly.add(top, 0, 0)?;
    let Assembly { mut builder, hidden, truncated, .. } = assembly;
    builder.set_truncated(truncated).add_hidden(hidden);
    Ok(builder.finish()?)
}

struct Assembly<'a> {
    builder: TreeBuilder,
    frames: &'a HashMap<Handle, DocumentCapture>,
    hidden: Vec<Handle>,
    truncated: bool,
}

/// The maximum nesting of frames in the tree.
const FRAME_LIMIT: usize = 32;

impl Assembly<'_> {
    fn add(&mut self, part: &DocumentCapture, base: usize, nesting: usize) -> Result<(), CaptureError> {
        let c = &part.columns;
        self.truncated |= c.wire.truncated;
        let document = Document {
            scope: part.scope,
            frame: part.frame.clone(),
            url: c.wire.url.clone(),
            title: c.wire.title.clone(),
        };
        if c.wire.depth.first() != Some(&0) || c.wire.depth[1..].contains(&0) {
            return Err(CaptureError::Corrupt("root"));
        }
        self.builder.document(base, document, c.id[0])?;
        let roles = Roles::new(c);
        let mut levels = c.wire.level.chunks_exact(2).peekable();
        let mut values = c.wire.value.chunks_exact(2).peekable();
        let mut attrs = c.wire.attrs.chunks_exact(3).peekable();
        let mut extra_attrs: Vec<(Attr, &str)> = Vec::new();
        for i in 1..c.len() {
            let row = u32::try_from(i).map_err(|_| CaptureError::Corrupt("rows"))?;
            let depth = base + c.wire.depth[i] as usize;
            extra_attrs.clear();
            while let Some(a) = attrs.next_if(|a| a[0] == row) {
                if let Some(attr) = attr_of(c.string(a[1])?) {
                    extra_attrs.push((attr, c.string(a[2])?));
                }
            }
            let level = levels.next_if(|l| l[0] == row).map_or(0, |l| u8::try_from(l[1]).unwrap_or(u8::MAX));
            let value = match values.next_if(|v| v[0] == row) {
                Some(v) => c.string(v[1])?,
                None => "",
            };
            let mut spec = NodeSpec {
                role: Some(roles.get(c.role[i])?),
                name: c.name_of(i),
                value,
                tag: c.string(c.tag[i])?,
                states: States::from_bits_truncate(c.states[i]),
                level,
                id: c.id[i],
                attrs: &extra_attrs,
            };
            if let Some(said) = c.self_descriptions.get(&row) {
                spec.role = said.role.or(spec.role);
                spec.name = &said.name;
                spec.level = said.level;
                if !said.value.is_empty() {
                    spec.value = &said.value;
                }
            }
            let frames = self.frames;
            let inner = match spec.tag {
                "iframe" | "frame" | "object" | "embed" => {
                    frames.get(&Handle { scope: part.scope, id: c.id[i] })
                }
                _ => None,
            };
            if inner.is_some() {
                // An `object` or `embed` that shows a document is in effect a frame.
                spec.role = Some(Role::Iframe);
            }
            self.builder.node(depth, spec)?;
            if let Some(inner) = inner {
                if nesting < FRAME_LIMIT {
                    self.add(inner, depth + 1, nesting + 1)?;
                } else {
                    // Deeper frames exist but are not in the tree.
                    self.truncated = true;
                }
            }
        }
        self.hidden.extend(c.wire.hidden.iter().map(|&id| Handle { scope: part.scope, id }));
        Ok(())
    }
}

/// The roles of a capture's strings, each parsed once.
struct Roles(Vec<Option<Role>>);

impl Roles {
    fn new(c: &Columns) -> Self {
        let mut roles = vec![None; c.wire.strings.len()];
        for &at in &c.role {
            if let Some(slot @ None) = roles.get_mut(at as usize) {
                *slot = c.wire.strings[at as usize].parse().ok();
            }
        }
        Self(roles)
    }

    fn get(&self, at: u32) -> Result<Role, CaptureError> {
        self.0.get(at as usize).copied().flatten().ok_or(CaptureError::Corrupt("roles"))
    }
}

/// Returns the attribute for a name used by the script's `rareAttributes`.
fn attr_of(key: &str) -> Option<Attr> {
    let name: StrDeserializer<'_, serde::de::value::Error> = key.into_deserializer();
    Attr::deserialize(name).ok()
}

#[cfg(test)]
mod tests;
