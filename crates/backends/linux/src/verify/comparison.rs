//! Comparing answers with the last reading, and putting them in its place.

use super::recheck::RecheckedObjects;
use crate::bus::body::Reference;
use crate::bus::error::BusResult;
use crate::bus::{Link, embedded_path};
use crate::model::states;
use crate::model::{Object, ObjectTree};

/// The current state of the objects that were asked again.
#[derive(Debug)]
pub(crate) struct RecheckAnswers {
    /// In the order of the questions.
    pub(super) objects: Vec<Object>,
    /// Whether all of them still exist, with the same children.
    there: bool,
    /// Whether nothing differs at all.
    pub(super) same: bool,
}

impl RecheckedObjects {
    /// Asks again and compares. All signals that preceded the answers have been received when it
    /// returns.
    pub(crate) async fn ask(&self, link: &Link, picture: &ObjectTree) -> BusResult<RecheckAnswers> {
        let old: Vec<&Object> = self.objects.iter().map(|&at| &picture[at]).collect();
        let objects = old.iter().map(|&object| object.clone()).collect();
        let mut now = ObjectTree { toolkit: picture.toolkit, objects, truncated: false };
        let questions = self.questions(picture, &old);
        let shown = async {
            let Some(spot) = &self.spot else { return Ok(true) };
            spot.is_shown(link, picture).await
        };
        let answers = questions.ask_in_order(link, &mut now);
        let (shown, answers) = tokio::join!(biased; shown, answers);
        let (shown, answers) = (shown?, answers?);
        let objects = now.objects;
        let path = |at: &usize| picture[*at].path.as_str();
        let same_children = |(at, named): &(usize, Vec<Reference>)| {
            let host = &old[*at].path;
            let own = |path: &str| Link::same_process(host, path);
            let named = named.iter().map(|child| link.named(host, child.clone()));
            let mut named: Vec<String> = named.filter(|path| own(path)).collect();
            // Children that another parent shows must still be listed.
            let aside = old[*at].duplicate_children.iter().map(path).all(|aside| {
                named.iter().position(|path| path == aside).map(|at| named.remove(at)).is_some()
            });
            aside && old[*at].children.iter().map(path).filter(|path| own(path)).eq(&named)
        };
        // A plugged-in process may be named differently than it names itself.
        let same_plugged = |(at, child): &(usize, Reference)| {
            let host = &old[*at].path;
            let named = link.named(host, child.clone());
            let known = old[*at].children.iter().map(path).find_map(embedded_path).map(|(_, path)| path);
            Link::same_process(host, &named) || known == embedded_path(&named).map(|(_, path)| path)
        };
        let there = shown
            && answers.vanished.is_empty()
            && answers.children.iter().all(same_children)
            && answers.plugged.iter().all(same_plugged);
        let same = there && objects.iter().eq(old.iter().copied());
        Ok(RecheckAnswers { objects, there, same })
    }

    /// Whether the answers can replace the old objects: nothing came or went.
    pub(super) fn fits(&self, now: &RecheckAnswers, picture: &ObjectTree) -> bool {
        let seen = |object: &Object| states::is_visible(object.states, picture.toolkit);
        let kept = |(object, &at): (&Object, &usize)| seen(object) == seen(&picture[at]);
        now.there && now.objects.iter().zip(&self.objects).all(kept)
    }

    /// Exchanges the answers with the old objects of the picture.
    pub(super) fn exchange(&self, now: &mut RecheckAnswers, picture: &mut ObjectTree) {
        for (object, &at) in now.objects.iter_mut().zip(&self.objects) {
            std::mem::swap(object, &mut picture[at]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::recheck::tests::picture;
    use super::*;

    #[test]
    fn recheck_replaces_objects_unless_children_changed() {
        let mut picture = picture();
        picture.objects.iter_mut().for_each(|object| object.states = states::SHOWING | states::VISIBLE);
        let again = RecheckedObjects { objects: vec![9, 7], ..RecheckedObjects::default() };
        let now = |there, states| {
            let mut objects = vec![picture.objects[9].clone(), picture.objects[7].clone()];
            objects[0].states = states;
            RecheckAnswers { objects, there, same: false }
        };
        let checked = states::SHOWING | states::VISIBLE | states::CHECKED;
        assert!(!again.fits(&now(false, checked), &picture), "its children are others");
        assert!(!again.fits(&now(true, states::CHECKED), &picture), "it is hidden now");
        let mut now = now(true, checked);
        assert!(again.fits(&now, &picture), "it is where it was");
        let mut put = picture.clone();
        again.exchange(&mut now, &mut put);
        assert_eq!(put.objects[9].states, checked);
        assert_eq!((&put.objects[..9], put.objects[9].path.as_str()), (&picture.objects[..9], "/9"));
        again.exchange(&mut now, &mut put);
        assert_eq!(put, picture, "as it was");
    }
}
