//! Pictures that clients were given, and what their points mean.
//!
//! A point proves nothing by itself: what a client saw under it is remembered with the picture, and checked like a
//! ref before anything is sent there (`refs.md` 7).

use crate::act::{Reach, Reading, Ready};
use crate::cx::Cx;
use crate::error::{Error, ErrorCode, Result};
use crate::resolve::Found;
use std::collections::VecDeque;
use stickpin_session::ClientId;
use stickpin_tree::{Handle, Meaning, NodeRef, Records, Rect, States, Tree};

/// How many pictures are remembered: one for each of the last clients.
const KEPT: usize = 16;

/// How many elements of a picture are remembered.
const MARKS: usize = 2_000;

/// An element that a picture shows.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    pub(crate) node: stickpin_tree::NodeId,
    pub(crate) handle: Handle,
    /// In pixels of the viewport.
    pub(crate) rect: Rect,
    pub(crate) meaning: Meaning,
}

/// A picture that a client was given.
#[derive(Debug, Clone)]
pub(crate) struct Picture {
    /// Its number in this session; `p3` to people.
    pub(crate) id: u32,
    /// What it shows, in pixels of the viewport at that time.
    pub(crate) area: Rect,
    /// Its pixels per pixel of the viewport.
    pub(crate) scale: f64,
    /// Tells a picture that reads the same.
    pub(crate) print: u64,
    pub(crate) marks: Vec<Mark>,
}

impl Picture {
    /// The point of the viewport under a pixel of the picture.
    fn viewport(&self, x: f64, y: f64) -> (f64, f64) {
        (self.area.x + x / self.scale, self.area.y + y / self.scale)
    }

    /// The innermost element that it shows at a point of the viewport.
    fn at(&self, (x, y): (f64, f64)) -> Option<&Mark> {
        let size = |m: &&Mark| m.rect.width * m.rect.height;
        self.marks.iter().filter(|m| m.rect.contains(x, y)).min_by(|a, b| size(a).total_cmp(&size(b)))
    }
}

/// The last picture of each client.
#[derive(Debug, Default)]
pub(crate) struct Pictures {
    last: u32,
    of: VecDeque<(ClientId, Picture)>,
}

impl Pictures {
    /// The number of the next picture.
    pub(crate) fn number(&mut self) -> u32 {
        self.last += 1;
        self.last
    }

    pub(crate) fn of(&self, client: &ClientId) -> Option<&Picture> {
        self.of.iter().find(|(c, _)| c == client).map(|(_, p)| p)
    }

    /// The client has this picture now.
    pub(crate) fn give(&mut self, client: ClientId, picture: Picture) {
        self.of.retain(|(c, _)| *c != client);
        self.of.push_back((client, picture));
        if self.of.len() > KEPT {
            self.of.pop_front();
        }
    }
}

impl Cx {
    /// The elements of the stored tree that can be acted on and that lie in an area of the viewport.
    ///
    /// # Errors
    /// What the device says.
    pub(crate) async fn marks(&mut self, tree: &Tree, area: Rect) -> Result<Vec<Mark>> {
        let acts = |n: &NodeRef<'_>| n.is(States::ACTIONABLE) || n.role().is_control();
        let shown = tree.nodes().filter(|n| acts(n) && !n.is(States::HIDDEN));
        let (nodes, handles): (Vec<_>, Vec<_>) = shown.filter_map(|n| Some((n.id(), n.address()?))).unzip();
        let rects = self.device()?.rects(&handles).await?;
        let records = Records::new(tree, self.live()?.session.openers());
        let inside = |r: &Rect| {
            r.x < area.x + area.width
                && r.x + r.width > area.x
                && r.y < area.y + area.height
                && r.y + r.height > area.y
        };
        let placed = nodes.into_iter().zip(handles).zip(rects);
        Ok(placed
            .filter_map(|((node, handle), rect)| Some((node, handle, rect.filter(inside)?)))
            .take(MARKS)
            .map(|(node, handle, rect)| Mark { node, handle, rect, meaning: records.meaning(node) })
            .collect())
    }

    /// What a point means for this client: a pixel of its last picture, else of the viewport.
    ///
    /// # Errors
    /// `STALE_REF` when something else is there than in the picture; `ELEMENT_OFFSCREEN`, `ELEMENT_DISABLED`.
    pub(crate) async fn at_point(&mut self, x: f64, y: f64, reach: Reach) -> Result<Ready> {
        let client = self.client();
        let picture = self.live()?.pictures.of(&client);
        let point = picture.map_or((x, y), |p| p.viewport(x, y));
        let shown = picture.and_then(|p| p.at(point).map(|mark| (p.id, mark.clone())));
        let hit = self.device()?.element_at(point.0, point.1).await?;
        let Some(handle) = hit else {
            return match shown {
                Some((id, mark)) => Err(moved(id, x, y, &mark.meaning, "nothing is there now")),
                None => {
                    Ok(Ready { found: None, handle: None, point, before: None, words: format!("{x},{y}") })
                }
            };
        };
        let located = self.device()?.locate(handle, &[]).await?;
        let Some(located) = located else {
            return Err(Error::new(
                ErrorCode::ElementNotFound,
                format!("what is at {x},{y} went away meanwhile"),
            ));
        };
        let node = described(located.tree.node(located.node));
        let meaning = self.meaning(&located.tree, node.id())?;
        if let Some((id, mark)) = &shown {
            let within = located.tree.node(located.node);
            let same =
                std::iter::once(within).chain(within.ancestors()).find(|n| n.address() == Some(mark.handle));
            let Some(same) = same else {
                return Err(moved(*id, x, y, &mark.meaning, &format!("{meaning} is there now")));
            };
            let records = Records::new(&located.tree, self.live()?.session.openers());
            if !records.judge(&mark.meaning, same.id()).is_same() {
                return Err(moved(*id, x, y, &mark.meaning, &format!("it is {meaning} now")));
            }
        }
        let words = format!("{meaning} at {x},{y}");
        if reach != Reach::Pointer {
            crate::act::enabled_node(node, &words)?;
        }
        let found = shown.map(|(_, mark)| Found {
            r#ref: None,
            node: None,
            handle: Some(mark.handle),
            meaning: mark.meaning,
        });
        Ok(Ready { found, handle: Some(handle), point, before: Some(Reading::of(node)), words })
    }
}

/// The picture showed something else there.
fn moved(id: u32, x: f64, y: f64, was: &Meaning, now: &str) -> Error {
    Error::new(ErrorCode::StaleRef, format!("picture p{id} shows {was} at {x},{y}; {now}"))
        .hint("stickpin screenshot shows what is there now; a ref holds where a point does not")
        .details(
            serde_json::json!({ "reason": "changed", "picture": format!("p{id}"), "was": was.to_string() }),
        )
}

/// The node that a person would name: the nearest one outwards with a role and a name, or that can be acted on.
fn described(node: NodeRef<'_>) -> NodeRef<'_> {
    std::iter::once(node)
        .chain(node.ancestors())
        .find(|n| n.is(States::ACTIONABLE) || (!n.is_text() && !n.name().is_empty()))
        .unwrap_or(node)
}
