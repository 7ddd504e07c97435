//! Reads the members, and converts the handles in their responses to those of the composite device.

use crate::environment::{CompositeDevice, Environment};
use crate::handles::{handles_of_member, ticket_to_composite, ticket_to_member, to_composite, to_member};
use crate::members::{Member, MemberEntry, unresponsive_hint};
use crate::merge::{InputFocus, MemberTree, MergedTree};
use futures_util::future::join_all;
use std::sync::Arc;
use stickpin_device::{Device, Error, ErrorCode, LocatedElement, Result, Ticket, element_gone};
use stickpin_tree::{Handle, Rect, Tree, quote};

impl<G: Environment> CompositeDevice<G> {
    /// Captures all members concurrently and merges the captures, without those of members that are
    /// nested or show nothing. Returns the previous tree if merging would produce an equal one.
    /// `watch` contains handles of the composite device.
    ///
    /// # Errors
    /// Returns the errors of [`Device::capture`].
    pub(crate) async fn capture_members(&mut self, watch: &[Handle]) -> Result<&Arc<Tree>> {
        let Self { ground, parts, .. } = self;
        ground.refresh(parts).await?;
        let reads = parts.iter_mut().map(|part| {
            let watch = handles_of_member(watch, part.number);
            async move { part.read(&watch).await }
        });
        join_all(reads).await.into_iter().collect::<Result<()>>()?;
        ground.check_alive()?;
        parts.remove_gone();
        let inside = ground.nested_members(parts);
        // What is merged, and the handles of `watch` whose elements exist but are not shown.
        let (mut readings, mut hidden) = (Vec::new(), Vec::new());
        for part in parts.iter().filter(|part| !inside.contains(&part.number)) {
            match &part.tree {
                Some(tree) => hidden.extend(tree.hidden().iter().map(|&own| to_composite(part.number, own))),
                // The member may still show these elements, but does not respond.
                None => hidden.extend(watch.iter().filter(|handle| to_member(**handle).0 == part.number)),
            }
            let shows = part.tree.as_ref().is_none_or(|tree| tree.root().children().next().is_some());
            readings.extend(shows.then(|| part.reading()));
        }
        hidden.sort_unstable();
        let window = self.active_window().await?;
        let keys = self.parts.keyboard_member.filter(|&number| self.parts.contains(number));
        let focus = InputFocus { window, keys: keys.or(window.map(|(number, _)| number)) };
        let last = self.parts.merged.take().filter(|last| last.is_merge_of(&readings, focus, &hidden));
        let merged = match last {
            Some(last) => last,
            None => self.merge(readings, focus, hidden)?,
        };
        Ok(&self.parts.merged.insert(merged).tree)
    }

    /// Locates an element in its member: after the input with the ticket `performed`, if that is
    /// given, otherwise with the context of its record. Returns `None` if the element or its member
    /// is gone. The node that represents a member exists as long as the member does.
    pub(crate) async fn locate_in_member(
        &mut self,
        handle: Handle,
        context: &[Handle],
        performed: Option<Ticket>,
    ) -> Result<Option<LocatedElement>> {
        self.ground.check_alive()?;
        let (number, own) = to_member(handle);
        if !self.parts.contains(number) {
            return Ok(self.parts.node_of(handle));
        }
        let device = self.parts.device(number, G::NAME)?;
        let answer = match performed {
            None => device.locate(own, &handles_of_member(context, number)).await,
            Some(performed) => device.outcome(own, ticket_to_member(&performed, number)).await,
        };
        match self.check_member(number, answer).await {
            Ok(found) => found.map(|found| self.in_whole(number, found)).transpose(),
            // The elements of a member that has left are gone.
            Err(e) if e.code == ErrorCode::ElementNotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Returns the bounding boxes of elements; `None` for an element of a member that has left or
    /// does not respond and, with `on_top`, for an element behind another window.
    pub(crate) async fn rects_of(&mut self, handles: &[Handle], on_top: bool) -> Result<Vec<Option<Rect>>> {
        let mut rects = vec![None; handles.len()];
        for number in self.parts.numbers() {
            let own = handles_of_member(handles, number);
            let device = self.parts.get(number).and_then(MemberEntry::responsive_device);
            let Some(device) = device.filter(|_| !own.is_empty()) else { continue };
            let found = if on_top { device.visible_rects(&own).await } else { device.rects(&own).await };
            match self.check_member(number, found).await {
                Ok(found) => {
                    let places =
                        handles.iter().zip(&mut rects).filter(|(handle, _)| to_member(**handle).0 == number);
                    places.zip(found).for_each(|((_, place), rect)| *place = rect);
                }
                // These elements have no position for now; the next capture shows why.
                Err(e) if matches!(e.code, ErrorCode::ElementNotFound | ErrorCode::Timeout) => {}
                Err(e) => return Err(e),
            }
        }
        Ok(rects)
    }

    /// Interprets a member's answer for the composite device. A member that has left is marked as
    /// gone, and one that does not answer as silent.
    ///
    /// # Errors
    /// Returns the error of the answer, or `ELEMENT_NOT_FOUND` if the member has left.
    pub(crate) async fn check_member<T>(&mut self, number: u64, answer: Result<T>) -> Result<T> {
        let Err(mut error) = answer else { return answer };
        let alive = self.ground.check_alive().is_ok();
        let Some(part) = self.parts.get(number) else { return Err(error) };
        match error.code {
            ErrorCode::BackendLost if alive => {
                let left = match part.member.device().and_then(Device::lifecycle) {
                    Some(life) => life.ended().await.is_some(),
                    None => true,
                };
                // Otherwise, the shared connection may be lost.
                if left {
                    part.gone = true;
                    error.code = ErrorCode::ElementNotFound;
                    error.message = format!("{} is no longer on the {}", quote(&part.name), G::NAME);
                    error = error.hint("run `stickpin snapshot -i` to see the remaining apps");
                }
            }
            ErrorCode::Timeout => {
                part.member.mark_silent();
                error = error.hint(unresponsive_hint(G::NAME));
            }
            _ => {}
        }
        Err(error)
    }

    /// Converts a member's located element to one of the composite device.
    pub(crate) fn in_whole(&self, number: u64, found: LocatedElement) -> Result<LocatedElement> {
        let LocatedElement { tree, node, ticket, .. } = found;
        let merged = self.parts.merged.as_ref();
        let find = |merged: &MergedTree| {
            let node = merged.node_in_merged(number, &tree, node)?;
            Some(LocatedElement::new(Arc::clone(&merged.tree), node))
        };
        let mut located = match merged.and_then(find) {
            Some(located) => located,
            None => {
                // Other members do not affect the identity of the element, so they may be absent.
                let part = self.parts.iter().find(|part| part.number == number).ok_or_else(element_gone)?;
                let reading = MemberTree { tree: Some(Arc::clone(&tree)), ..part.reading() };
                let focus = merged.map(|merged| merged.focus).unwrap_or_default();
                find(&self.merge(vec![reading], focus, Vec::new())?).ok_or_else(element_gone)?
            }
        };
        located.ticket = ticket_to_composite(number, ticket);
        Ok(located)
    }

    fn merge(&self, parts: Vec<MemberTree>, focus: InputFocus, hidden: Vec<Handle>) -> Result<MergedTree> {
        let whole = (self.info.grade, &*self.url, G::EMPTY);
        MergedTree::merge(whole, parts, focus, hidden)
            .map_err(|e| Error::internal(format!("the trees of the {} cannot be merged: {e}", G::NAME)))
    }
}
