//! What lies at a point and was not read, or was hidden when it was: it may be a part of the element that was aimed at, lie
//! hidden below it, or have come over it since.

use super::hit::is_of;
use super::place::{DEEP, chain};
use crate::bus::{ACCESSIBLE, Fault, Toolkit, property};
use crate::capture::ask::parent;
use crate::device::LinuxDevice;
use stickpin_kernel::Result;
use stickpin_kernel::device::Hit;

impl LinuxDevice {
    /// Whether an input that goes to an object of which the last reading shows nothing reaches another one: by what the app
    /// says that it lies in, up to what was read.
    pub(super) async fn unread_hit(&mut self, target: usize, path: &str) -> Result<Hit> {
        let Some(own) = self.last.as_ref().map(|last| last.picture.objects[target].clone()) else {
            return Ok(Hit::Target);
        };
        // GTK 4 names what an input reaches, others also what lies hidden there.
        let seen = self.link.toolkit == Toolkit::Gtk4;
        let Some((up, holder)) = self.up_to_read(path, &own.path).await? else { return Ok(Hit::Target) };
        let Some(last) = &self.last else { return Ok(Hit::Target) };
        let objects = &last.picture.objects;
        let inside = chain(&last.picture, holder).contains(&target);
        let holds_both = chain(&last.picture, target).contains(&holder);
        if inside || (holds_both && !seen) || (!seen && !objects[holder].shown) {
            return Ok(Hit::Target);
        }
        let named = if holds_both || !objects[holder].shown { up } else { objects[holder].path.clone() };
        let there = self.asked(vec![path.to_owned(), named]).await?;
        if is_of(&there.objects[0], &own) || is_of(&there.objects[1], &own) {
            return Ok(Hit::Target);
        }
        tracing::debug!(path, "is at the point, and not in {}", own.path);
        Ok(Hit::Covered { by: None, what: super::hit::words(&there, 1) })
    }

    /// The first object above one that was read and shown, or that is the target, and the last one below that; none where
    /// nothing above it was read.
    async fn up_to_read(&mut self, path: &str, target: &str) -> Result<Option<(String, usize)>> {
        let mut here = path.to_owned();
        for _ in 0..DEEP {
            let Some(above) = self.above_now(&here).await? else { return Ok(None) };
            let Some(last) = &self.last else { return Ok(None) };
            let objects = &last.picture.objects;
            let known = |o: &&crate::model::Object| o.path == above && (o.shown || above == target);
            if let Some(at) = objects.iter().position(|o| known(&o)) {
                return Ok(Some((here, at)));
            }
            here = above;
        }
        Ok(None)
    }

    /// What an object lies in, as the app says it now.
    pub(super) async fn above_now(&mut self, path: &str) -> Result<Option<String>> {
        let asked = [property(path, ACCESSIBLE, "Parent")];
        let answer = self.link.calls(&asked).await.pop().unwrap_or(Err(Fault::Vanished));
        match answer.and_then(|answer| parent(&answer)) {
            Ok(above) => {
                Ok(Some(above).filter(|a| !a.1.ends_with("/null")).map(|a| self.link.named(path, a)))
            }
            Err(fault @ (Fault::Closed(_) | Fault::Silent(_))) => Err(self.failed(fault).await),
            Err(_) => Ok(None),
        }
    }
}
