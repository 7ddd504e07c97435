//! The small values that nodes are made of.

use serde::{Deserialize, Serialize};

/// The position of a node in one [`Tree`](crate::Tree): its index in document order (depth first, parents
/// before children). Means nothing in another tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The root of every tree.
    pub const ROOT: Self = Self(0);

    /// As an index into columns.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// How a device names an element: the document (or application) that it lives in, and a number in that scope.
///
/// What the numbers are is the device's business; it promises only what its [`IdentityGrade`] says. Two documents
/// never share a `scope` within one device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Handle {
    /// The document: one load of one frame, one run of one application.
    pub scope: u64,
    /// The element in it.
    pub id: u64,
}

/// What a device promises about its handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum IdentityGrade {
    /// A handle names one element for ever, also after that element is gone.
    NeverReused,
    /// A handle names one element while it lives; later it may come back for another one.
    WhileAlive,
    /// Handles mean nothing from one capture to the next.
    None,
}

/// A surface that shows one tree at a time: a browser tab, a desktop application, a screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct SurfaceId(pub u64);

/// A document of a tree: the top one or a frame's.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Document {
    /// The scope of the handles of its elements.
    pub scope: u64,
    /// Which frame shows it, the same over loads: empty for the top frame, a path below it else.
    pub frame: String,
    /// The address with query and fragment, as it should be compared and shown.
    pub url: String,
    /// The title; empty if it has none.
    pub title: String,
}

impl Document {
    /// Scheme, host and port of the address.
    pub(crate) fn origin(&self) -> &str {
        let host = self.url.find("://").map_or(0, |at| at + 3);
        let end = self.url[host..].find(['/', '?', '#']).map_or(self.url.len(), |at| host + at);
        &self.url[..end]
    }
}

/// A rectangle in CSS or logical pixels of the viewport (its top left corner is 0,0).
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Rect {
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Width, not negative.
    pub width: f64,
    /// Height, not negative.
    pub height: f64,
}

impl Rect {
    /// The middle of the rectangle.
    #[must_use]
    pub fn center(self) -> (f64, f64) {
        (self.x + self.width / 2.0, self.y + self.height / 2.0)
    }

    /// Whether a point lies inside.
    #[must_use]
    pub fn contains(self, x: f64, y: f64) -> bool {
        x >= self.x && x < self.x + self.width && y >= self.y && y < self.y + self.height
    }
}

/// Attributes that few nodes carry. Those of a test id, a data key or an id are *record keys* when they stand
/// on a row; on other elements they serve selectors only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[repr(u8)]
pub enum Attr {
    /// HTML `id`, AT-SPI accessible-id, Android resource-id.
    Id,
    /// `data-testid`.
    TestId,
    /// `data-test`.
    DataTest,
    /// `data-cy`.
    DataCy,
    /// `data-test-id`.
    DataTestId,
    /// `data-id`.
    DataId,
    /// `data-key`.
    DataKey,
    /// `data-row-key`.
    DataRowKey,
    /// `data-item-id`.
    DataItemId,
    /// `aria-rowindex`, `data-index` or the like: a place, not a key.
    RowIndex,
    /// Target of a link: path and query, with the origin if it is another one.
    Href,
    /// Ids (white space between) of what this element controls or owns while it is expanded.
    Controls,
    /// Ids (white space between) of what labels a popup.
    LabelledBy,
    /// The class attribute of elements without a role, cut at 80 bytes: tells repeated structure.
    Class,
    /// Placeholder of a text field.
    Placeholder,
    /// The accessible description.
    Description,
    /// `aria-current`, when it is not false.
    Current,
    /// Kind of a live region: `polite`, `assertive`, or the role that implies it.
    Live,
    /// `aria-valuetext` or the unit that a value is shown with.
    ValueText,
    /// `aria-roledescription`.
    RoleDescription,
    /// Text of which the white space counts, as it stands (`pre`).
    Preformatted,
    /// The number of the first item of a list, unless it is 1.
    Start,
    /// How many columns a cell stands in, if more than one.
    ColSpan,
    /// How many rows a cell stands in, if more than one.
    RowSpan,
    /// The source of a picture: path and query, or a fingerprint of a picture that is embedded in its address. Long ones
    /// are cut and end in a fingerprint of the whole.
    Source,
    /// A fingerprint of the values and labels of the options of a native list, where a value is not its label.
    Options,
    /// The text of the item that `aria-activedescendant` refers to.
    ActiveDescendant,
    /// Marks the chosen item of a list whose role has no state for it: `true` where ARIA attributes say so, else the word
    /// of its class (`active`, `selected`, `sel`, `current`).
    Chosen,
}
