//! An app whose objects contain, adjoin and cover each other, and which can change after it was
//! read.

use super::speaker::{Answers, Speaker, object, unknown};
use crate::aim::hit::{HitPoint, Unresolved};
use crate::app::LinuxDevice;
use crate::bus::names;
use crate::model::states as s;
use crate::toolkit::profile::Toolkit;
use stickpin_device::{CaptureRequest, Device, HitResult};
use zbus::{Message, Variant};

/// Returns the reason why it is unknown which object is at a point.
pub(crate) fn why(unresolved: Unresolved) -> String {
    match unresolved {
        Unresolved::Unknown(why) => why,
        Unresolved::Failed(error) => panic!("{error}"),
    }
}

/// The states of an object that is visible and enabled.
const SEEN: u64 = s::VISIBLE | s::SHOWING | s::ENABLED | s::SENSITIVE;

/// An object of the app.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Thing {
    pub(crate) path: &'static str,
    pub(crate) name: &'static str,
    pub(crate) role: u32,
    pub(crate) states: u64,
    /// The path of the parent that it reports.
    pub(crate) above: &'static str,
    /// Whether the parent lists it as a child.
    pub(crate) listed: bool,
    /// Left, top, width, height.
    pub(crate) place: (i32, i32, i32, i32),
}

impl Thing {
    /// Creates a visible object in the window, at the default position.
    pub(crate) const fn new(path: &'static str, name: &'static str, role: u32, above: &'static str) -> Self {
        Self { path, name, role, states: SEEN, above, listed: true, place: (10, 10, 80, 30) }
    }
}

/// The objects of the app, in the order in which they are listed.
#[derive(Debug)]
pub(crate) struct Heap(pub(crate) Vec<Thing>);

impl Answers for Heap {
    fn answer(&mut self, call: &Message, path: &str, what: &str, _: i32) -> Message {
        let header = call.header();
        let say = Message::method_return(&header);
        let app = Thing::new(names::ROOT, "Heap", 75, "");
        let own = self.0.iter().find(|thing| thing.path == path).copied().unwrap_or(app);
        let listed = self.0.iter().filter(|thing| thing.above == path && thing.listed);
        let children: Vec<&str> = listed.map(|thing| thing.path).collect();
        let built = match what {
            "Name" => say.build(&Variant::from(own.name)),
            "Description" => say.build(&Variant::from("")),
            "ChildCount" => say.build(&Variant::from(children.len() as i32)),
            "GetChildren" => say.build(&children.into_iter().map(object).collect::<Vec<_>>()),
            "GetRole" => say.build(&own.role),
            "GetState" => say.build(&vec![(own.states & 0xffff_ffff) as u32, (own.states >> 32) as u32]),
            "GetInterfaces" => say.build(&vec!["org.a11y.atspi.Accessible", "org.a11y.atspi.Component"]),
            "GetExtents" => say.build(&(own.place,)),
            "Parent" if !own.above.is_empty() => say.build(&Variant::from(object(own.above))),
            _ => return unknown(call, "no"),
        };
        built.unwrap()
    }
}

/// Returns the app and a device that has read it as an app of the given toolkit.
pub(crate) async fn read(toolkit: Toolkit, heap: Heap) -> (Speaker<Heap>, LinuxDevice) {
    let app = Speaker::with(heap);
    let mut device = app.device().await.0;
    device.app.link.toolkit = toolkit;
    device.capture(CaptureRequest::default()).await.unwrap();
    (app, device)
}

/// Returns the index of the node with this path.
pub(crate) fn at(device: &LinuxDevice, path: &str) -> usize {
    let objects = &device.last.picture.objects;
    objects.iter().position(|object| object.path == path).unwrap_or_else(|| panic!("{path} was not read"))
}

/// Returns a point of the screen, for a hit test.
pub(crate) fn spot(device: &LinuxDevice, point: (f64, f64), offset: (f64, f64)) -> HitPoint<'_> {
    HitPoint { view: device.view(), point, offset }
}

/// Returns the result for a point that is covered by an element that was not read.
pub(crate) fn covered(what: &str) -> HitResult {
    HitResult::Covered { by: None, what: what.to_owned() }
}
