//! Where things are: what the toolkit says of its elements, put where the X server shows their windows.

use crate::bus::{Args, COMPONENT, Call, Cursor, Fault};
use crate::capture::ask::SCREEN;
use crate::device::LinuxDevice;
use crate::display::{Window, X11};
use crate::extents::{self, common};
use crate::model::{Object, Picture};
use crate::roles::number as n;
use hashbrown::HashMap;
use stickpin_kernel::Result;
use stickpin_tree::{Handle, Rect};

/// How deep elements may lie in one another.
pub(super) const DEEP: usize = 64;

/// What lies where on the screen, as the X server says it.
#[derive(Debug)]
pub(crate) struct Sight {
    pub(crate) x11: X11,
    /// The lowest first.
    pub(crate) windows: Vec<Window>,
}

/// A place of an element on the screen.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) rect: Rect,
    /// What of it its scrolling containers show.
    pub(super) seen: Option<Rect>,
    /// What has to be added to positions of this toolkit there.
    pub(super) offset: (f64, f64),
}

/// Indices from an object up to its window, itself first.
pub(crate) fn chain(picture: &Picture, at: usize) -> Vec<usize> {
    let mut above = vec![0; picture.objects.len()];
    for (parent, object) in picture.objects.iter().enumerate() {
        for &child in &object.children {
            above[child] = parent;
        }
    }
    let mut out = vec![at];
    while let Some(&last) = out.last() {
        let parent = above[last];
        if parent == 0 || out.len() > DEEP {
            break;
        }
        out.push(parent);
    }
    out
}

/// Roles that show a part of what they hold.
pub(super) fn scrolls(object: &Object) -> bool {
    object.role == n::SCROLL_PANE
}

pub(crate) fn rect(c: &mut Cursor<'_>) -> std::result::Result<Option<Rect>, Fault> {
    c.fields()?;
    let [x, y, width, height] = [c.int()?, c.int()?, c.int()?, c.int()?].map(f64::from);
    Ok((width > 0.0 && height > 0.0).then_some(Rect { x, y, width, height }))
}

pub(super) fn shifted(rect: Rect, (x, y): (f64, f64)) -> Rect {
    Rect { x: rect.x + x, y: rect.y + y, ..rect }
}

impl LinuxDevice {
    /// What was read last of the object behind a handle, by its index.
    pub(crate) fn index(&self, handle: Handle) -> Option<usize> {
        let path = self.path(handle).ok()?;
        self.last.as_ref()?.picture.objects.iter().position(|object| *object.path == *path)
    }

    /// The windows of the display, where there is one.
    pub(crate) async fn sight(&mut self) -> Result<Option<Sight>> {
        let Some(x11) = self.screen.x11_if_any().await? else { return Ok(None) };
        let windows = x11.run(|d| d.windows()).await?;
        Ok(Some(Sight { x11, windows }))
    }

    /// What the toolkit says of where these are; none for what has no place or is gone.
    pub(super) async fn said(&mut self, paths: &[String]) -> Result<Vec<Option<Rect>>> {
        let call = |path| Call {
            path,
            interface: COMPONENT,
            member: "GetExtents",
            args: Args::new().unsigned(SCREEN),
        };
        // What we made up, the app cannot be asked about.
        let real = |path: &&String| path.starts_with('/') && !path.ends_with(crate::tables::ROW);
        let calls: Vec<Call<'_>> = paths.iter().filter(real).map(|path| call(path.as_str())).collect();
        let mut answers = self.link.calls(&calls).await.into_iter();
        let mut out = Vec::with_capacity(paths.len());
        for path in paths {
            out.push(match real(&path).then(|| answers.next()).flatten() {
                Some(Ok(answer)) => rect(&mut answer.body()).ok().flatten(),
                Some(Err(fault @ (Fault::Closed(_) | Fault::Silent(_)))) => {
                    return Err(self.failed(fault).await);
                }
                Some(Err(_)) | None => None,
            });
        }
        Ok(out)
    }

    /// Where elements are on the screen.
    pub(crate) async fn boxes(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
        let known: Vec<Option<String>> =
            handles.iter().map(|h| self.path(*h).ok().map(|path| path.to_string())).collect();
        let paths: Vec<String> = known.iter().flatten().cloned().collect();
        let mut said = self.said(&paths).await?.into_iter();
        let mut rects: Vec<Option<Rect>> =
            known.iter().map(|path| path.as_ref().and_then(|_| said.next().flatten())).collect();
        if extents::is_relative(self.link.toolkit)
            && let Some(sight) = self.sight().await?
        {
            let mut offsets = HashMap::new();
            for (handle, rect) in handles.iter().zip(&mut rects) {
                let (Some(at), Some(rect)) = (self.index(*handle), rect.as_mut()) else { continue };
                *rect = shifted(*rect, self.offset(at, &sight, &mut offsets).await?);
            }
        }
        Ok(rects)
    }

    /// What has to be added to what the toolkit says of an object.
    async fn offset(
        &mut self,
        at: usize,
        sight: &Sight,
        known: &mut HashMap<usize, (f64, f64)>,
    ) -> Result<(f64, f64)> {
        let Some(last) = &self.last else { return Ok((0.0, 0.0)) };
        let chain = chain(&last.picture, at);
        let top = *chain.last().unwrap_or(&at);
        let pid = self.info.pid;
        let popups = sight.windows.iter().any(|w| w.popup && w.pid == pid);
        if !popups && let Some(&offset) = known.get(&top) {
            return Ok(offset);
        }
        let asked: Vec<usize> = if popups { chain.iter().rev().copied().collect() } else { vec![top] };
        let title = last.picture.objects[top].name.clone();
        let paths: Vec<String> = asked.iter().map(|&i| last.picture.objects[i].path.clone()).collect();
        let said = self.said(&paths).await?;
        for inner in said.iter().skip(1).flatten() {
            let size = (inner.width, inner.height);
            if let Some(window) = extents::popup_of(&sight.windows, pid, size) {
                let (x, y) = extents::origin(window, size);
                return Ok((x - inner.x, y - inner.y));
            }
        }
        let Some(frame) = said.first().copied().flatten() else { return Ok((0.0, 0.0)) };
        let size = (frame.width, frame.height);
        let offset =
            extents::window_of(&sight.windows, pid, &title, Some(size)).map_or((0.0, 0.0), |window| {
                let (x, y) = extents::origin(window, size);
                (x - frame.x, y - frame.y)
            });
        known.insert(top, offset);
        Ok(offset)
    }

    /// Where an element is, and what of it can be seen between the containers that it scrolls in.
    pub(super) async fn placed(&mut self, at: usize, sight: Option<&Sight>) -> Result<Option<Placed>> {
        let Some(last) = &self.last else { return Ok(None) };
        let objects = &last.picture.objects;
        let path = objects[at].path.clone();
        let around = chain(&last.picture, at).into_iter().skip(1).filter(|&i| scrolls(&objects[i]));
        let mut paths: Vec<String> = around.map(|i| objects[i].path.clone()).collect();
        paths.insert(0, path);
        let said = self.said(&paths).await?;
        let Some(&Some(rect)) = said.first() else { return Ok(None) };
        let offset = match sight {
            Some(sight) if extents::is_relative(self.link.toolkit) => {
                self.offset(at, sight, &mut HashMap::new()).await?
            }
            _ => (0.0, 0.0),
        };
        tracing::debug!(?paths, ?said, ?offset, "where it is, and the containers that it scrolls in");
        let seen = said[1..].iter().flatten().try_fold(rect, |seen, pane| common(seen, *pane));
        Ok(Some(Placed { rect: shifted(rect, offset), seen: seen.map(|seen| shifted(seen, offset)), offset }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::Toolkit;

    #[test]
    fn the_way_up_ends_at_the_window() {
        let object = |children: &[usize]| Object { children: children.to_vec(), ..Object::default() };
        let objects = vec![object(&[1, 4]), object(&[2]), object(&[3]), object(&[]), object(&[])];
        let picture = Picture { toolkit: Toolkit::Gtk3, objects, truncated: false };
        assert_eq!(chain(&picture, 3), [3, 2, 1]);
        assert_eq!(chain(&picture, 4), [4]);
    }

    #[test]
    fn a_way_up_in_a_circle_ends() {
        let object = |children: &[usize]| Object { children: children.to_vec(), ..Object::default() };
        let objects = vec![object(&[]), object(&[2]), object(&[1])];
        let picture = Picture { toolkit: Toolkit::Gtk3, objects, truncated: false };
        assert!(chain(&picture, 1).len() <= DEEP + 2);
    }
}
