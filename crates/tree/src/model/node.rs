//! The small values that make up nodes.

use serde::{Deserialize, Serialize};

/// The position of a node in one [`Tree`](crate::Tree): its index in document order (depth first,
/// parents before children). Means nothing in another tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The root of every tree.
    pub const ROOT: Self = Self(0);

    /// Returns the position as a vector index.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A device's name for an element: a scope, which is a document or an application, and an id that
/// is valid in this scope.
///
/// Only the device interprets these numbers. Its [`IdentityGrade`] states what they guarantee. Two
/// documents never share a `scope` within one device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Handle {
    /// The scope: one load of one frame, or one run of one application.
    pub scope: u64,
    /// The id of the element in the scope.
    pub id: u64,
}

/// A device's promise about its handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum IdentityGrade {
    /// A handle names one element forever, even after that element is gone.
    NeverReused,
    /// A handle names one element while it exists; later, it may name another one.
    WhileAlive,
    /// Handles mean nothing from one capture to the next.
    None,
}

/// The id of a surface that shows one tree at a time: a browser tab, a desktop application, a
/// screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct SurfaceId(pub u64);

/// A document in a tree: the top document or a frame's.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Document {
    /// The scope of the document's handles.
    pub scope: u64,
    /// The frame that shows the document, stable across loads: empty for the top frame, otherwise
    /// the path below the top frame, such as `0/2`.
    pub frame: String,
    /// The URL with query and fragment, as it is compared and shown; empty if there is none.
    pub url: String,
    /// The title; empty if there is none.
    pub title: String,
}

impl Document {
    /// Returns the scheme, host and port of the URL.
    pub(crate) fn origin(&self) -> &str {
        let host = self.url.find("://").map_or(0, |at| at + 3);
        let end = self.url[host..].find(['/', '?', '#']).map_or(self.url.len(), |at| host + at);
        &self.url[..end]
    }
}

/// A rectangle in CSS or logical pixels, relative to the top left corner of the viewport or screen.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Rect {
    /// The left edge.
    pub x: f64,
    /// The top edge.
    pub y: f64,
    /// The width, not negative.
    pub width: f64,
    /// The height, not negative.
    pub height: f64,
}

impl Rect {
    /// Returns the center of the rectangle.
    #[must_use]
    pub fn center(self) -> (f64, f64) {
        (self.x + self.width / 2.0, self.y + self.height / 2.0)
    }

    /// Returns whether a point is in the rectangle. The left and top edges belong to the rectangle,
    /// the right and bottom edges do not.
    #[must_use]
    pub fn contains(self, x: f64, y: f64) -> bool {
        x >= self.x && x < self.x + self.width && y >= self.y && y < self.y + self.height
    }

    /// Returns the rectangle moved by an offset.
    #[must_use]
    pub fn translate(self, (dx, dy): (f64, f64)) -> Self {
        Self { x: self.x + dx, y: self.y + dy, ..self }
    }

    /// Returns whether two rectangles overlap; touching edges do not count. A rectangle without
    /// area overlaps any rectangle whose interior contains it.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        self.x < other.x + other.width
            && self.x + self.width > other.x
            && self.y < other.y + other.height
            && self.y + self.height > other.y
    }

    /// Returns the area that two rectangles share; `None` if it is empty.
    #[must_use]
    pub fn intersection(self, other: Self) -> Option<Self> {
        let (x, y) = (self.x.max(other.x), self.y.max(other.y));
        let width = (self.x + self.width).min(other.x + other.width) - x;
        let height = (self.y + self.height).min(other.y + other.height) - y;
        (width > 0.0 && height > 0.0).then_some(Self { x, y, width, height })
    }

    /// Returns the smallest rectangle that contains both rectangles.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        let width = (self.x + self.width).max(other.x + other.width) - x;
        let height = (self.y + self.height).max(other.y + other.height) - y;
        Self { x, y, width, height }
    }
}

/// Attributes that few nodes have. On a row, ids, test ids and data keys are *record keys*.
/// Selectors match ids and test ids of any element, and references such as [`Attr::Controls`]
/// consist of ids.
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
    /// `aria-rowindex`, `data-index` and similar: a position, not a key.
    RowIndex,
    /// The target of a link, normally its path and query, after the origin if that is not the
    /// document's.
    Href,
    /// The ids, separated by white space, of the elements that this element controls or owns.
    /// Absent unless this element is expanded.
    Controls,
    /// The ids, separated by white space, of the elements that label a popup.
    LabelledBy,
    /// The class attribute of an element without a role, cut after 80 characters. Used to detect
    /// repeated structures and to name icons.
    Class,
    /// The placeholder of a text field.
    Placeholder,
    /// The accessible description.
    Description,
    /// `aria-current`, unless it is false.
    Current,
    /// The kind of a live region: `polite` or `assertive`, even if only the element's role implies
    /// it.
    Live,
    /// `aria-valuetext`: the value as a person should read it.
    ValueText,
    /// `aria-roledescription`.
    RoleDescription,
    /// Verbatim text in which white space is significant (`pre`).
    Preformatted,
    /// The number of the first item of a list, unless it is 1.
    Start,
    /// The number of columns that a cell spans, if more than one.
    ColSpan,
    /// The number of rows that a cell spans, if more than one.
    RowSpan,
    /// The source of a picture: path and query, or a fingerprint of a picture embedded in its URL.
    /// A long source is cut and ends with a fingerprint of the whole source.
    Source,
    /// A fingerprint of the values and labels of a native list's options. A selection list whose
    /// values all equal their labels lacks this attribute.
    Options,
    /// The text of the item that `aria-activedescendant` refers to, or the item's id if the item
    /// has no text.
    ActiveDescendant,
    /// Marks the chosen item of a list if the item's role has no state for that: `true` if ARIA
    /// attributes mark the item, otherwise the word in its class (`active`, `selected`, `sel`,
    /// `current`).
    Chosen,
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn rect(x: f64, y: f64, width: f64, height: f64) -> Rect {
        Rect { x, y, width, height }
    }

    #[test]
    fn intersection_is_what_two_rectangles_share() {
        let shared = rect(0.0, 0.0, 10.0, 10.0).intersection(rect(5.0, 5.0, 10.0, 2.0));
        assert_eq!(shared, Some(rect(5.0, 5.0, 5.0, 2.0)));
        assert_eq!(rect(0.0, 0.0, 10.0, 10.0).intersection(rect(10.0, 0.0, 5.0, 5.0)), None);
    }

    #[test]
    fn union_goes_around_both_rectangles() {
        let both = rect(10.0, 10.0, 100.0, 100.0).union(rect(90.0, 5.0, 50.0, 20.0));
        assert_eq!(both, rect(10.0, 5.0, 130.0, 105.0));
        assert_eq!(both.translate((-10.0, 1.0)), rect(0.0, 6.0, 130.0, 105.0));
    }
}
