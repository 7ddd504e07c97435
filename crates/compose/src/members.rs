//! The list of members, which come and go. A member that does not answer does not delay the others.

use crate::handles::{member_named_by, to_member};
use crate::merge::{MemberTree, MergedTree};
use async_trait::async_trait;
use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;
use stickpin_device::{
    AppFolders, CaptureRequest, CaptureResult, DesktopObject, Device, Error, ErrorCode, Lifecycle,
    LocatedElement, MAX_NOTICES, Notice, Result, element_gone, push_latest,
};
use stickpin_tree::{Handle, Tree, quote};

/// The maximum number of departed members that are remembered by name.
const MAX_REMEMBERED: usize = 256;

/// One device among several.
#[async_trait]
pub trait Member: Send + fmt::Debug {
    /// Returns the device; `None` until it has responded for the first time.
    fn device(&mut self) -> Option<&mut dyn Device>;

    /// Returns whether the member failed to respond to the last request and has not recovered
    /// since.
    fn is_silent(&self) -> bool;

    /// Records that the member does not respond. No requests are sent to it until it recovers.
    fn mark_silent(&mut self);

    /// Returns the member's active window from the last capture, if any, and whether the window
    /// itself reports that state.
    fn active_window(&mut self) -> Option<(Handle, bool)>;

    /// Gives the keyboard focus to the window of an element, as a press in that window would.
    ///
    /// # Errors
    /// Returns the errors of [`Device::perform`].
    async fn take_keyboard(&mut self, element: Handle) -> Result<()>;

    /// Returns the attributes that `get attrs` prints in addition to the name.
    fn attrs(&self) -> serde_json::Map<String, serde_json::Value>;
}

/// One run of one member.
#[derive(Debug)]
pub struct MemberEntry<M> {
    /// The number of this run, from 1. Never reused.
    pub number: u64,
    /// The name, unique among the members.
    pub name: String,
    /// The device and the platform's own data.
    pub member: M,
    /// Whether the member has left. The next refresh removes it.
    pub gone: bool,
    /// The tree of the last capture; `None` before the first one, and while the member does not
    /// respond.
    pub(crate) tree: Option<Arc<Tree>>,
}

impl<M: Member> MemberEntry<M> {
    /// Returns the device, unless the member has left or does not answer.
    pub(crate) fn responsive_device(&mut self) -> Option<&mut dyn Device> {
        if self.gone || self.member.is_silent() { None } else { self.member.device() }
    }

    /// Returns the last capture, to be merged.
    pub(crate) fn reading(&self) -> MemberTree {
        MemberTree { number: self.number, name: self.name.clone(), tree: self.tree.clone() }
    }

    /// Captures the member. `watch` contains the member's own handles.
    ///
    /// # Errors
    /// Returns all errors but `BACKEND_LOST` and `TIMEOUT`, after which the member counts as gone
    /// or as silent.
    pub(crate) async fn read(&mut self, watch: &[Handle]) -> Result<()> {
        let last = self.tree.take();
        let Some(device) = self.responsive_device() else { return Ok(()) };
        match device.capture(CaptureRequest::default().stored(last.as_ref()).watch(watch)).await {
            Ok(CaptureResult::Tree(tree)) => self.tree = Some(tree),
            Ok(CaptureResult::Unchanged) => self.tree = last,
            Ok(other) => return Err(Error::internal(format!("the capture of a member returned {other:?}"))),
            Err(e) if e.code == ErrorCode::BackendLost => self.gone = true,
            Err(e) if e.code == ErrorCode::Timeout => self.member.mark_silent(),
            Err(e) => return Err(e),
        }
        Ok(())
    }
}

/// The members of a composite device.
#[derive(Debug)]
pub struct Members<M> {
    pub(crate) all: Vec<MemberEntry<M>>,
    /// The number of members that have existed so far.
    count: u64,
    /// The latest departed members, by number and name.
    departed: VecDeque<(u64, String)>,
    /// Notices for the next response of any kind.
    pub(crate) device_notices: VecDeque<Notice>,
    pub(crate) notices: VecDeque<Notice>,
    pub(crate) merged: Option<MergedTree>,
    /// The members that the current command has acted on.
    pub(crate) acted_on: BTreeSet<u64>,
    /// The member that was acted on last, which receives keys without a target. If `None`, the
    /// member with the active window receives them.
    pub keyboard_member: Option<u64>,
    /// The folders that members are started with.
    folders: Option<AppFolders>,
}

impl<M: Member> Members<M> {
    pub(crate) fn new(folders: Option<AppFolders>) -> Self {
        Self {
            all: Vec::new(),
            count: 0,
            departed: VecDeque::new(),
            device_notices: VecDeque::new(),
            notices: VecDeque::new(),
            merged: None,
            acted_on: BTreeSet::new(),
            keyboard_member: None,
            folders,
        }
    }

    /// Returns the members in the order in which they joined, including those that have just left.
    pub fn iter(&self) -> impl Iterator<Item = &MemberEntry<M>> {
        self.all.iter()
    }

    /// Returns mutable references to the members, in the order of [`Members::iter`].
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut MemberEntry<M>> {
        self.all.iter_mut()
    }

    /// Adds a member. Returns its number.
    pub fn add(&mut self, called: &str, member: M) -> u64 {
        self.count += 1;
        let (number, name) = (self.count, self.unused_name(called, self.count));
        self.add_notice(Notice::Appeared { what: DesktopObject::App, name: name.clone() });
        self.all.push(MemberEntry { number, name, member, gone: false, tree: None });
        number
    }

    /// Renames a member.
    pub fn rename(&mut self, number: u64, called: &str) {
        let name = self.unused_name(called, number);
        if let Some(part) = self.get(number) {
            part.name = name;
        }
    }

    /// Returns the first of the names `NAME`, `NAME 2`, `NAME 3` and so on that no other member
    /// has.
    fn unused_name(&self, name: &str, number: u64) -> String {
        let unused = |name: &String| !self.all.iter().any(|part| part.number != number && part.name == *name);
        let numbered = (2_u32..).map(|n| format!("{name} {n}"));
        // Needs at most one more attempt than there are other members.
        std::iter::once(name.to_owned()).chain(numbered).find(unused).unwrap_or_default()
    }

    /// Removes the members that have left.
    pub fn remove_gone(&mut self) {
        for part in self.all.extract_if(.., |part| part.gone).collect::<Vec<_>>() {
            let left = Notice::Disappeared { what: DesktopObject::App, name: part.name.clone() };
            self.add_notice(left.clone());
            self.add_device_notice(left);
            push_latest(&mut self.departed, (part.number, part.name), MAX_REMEMBERED);
        }
    }

    /// Adds a notice for the next command that asks for notices.
    pub fn add_notice(&mut self, notice: Notice) {
        push_latest(&mut self.notices, notice, MAX_NOTICES);
    }

    /// Adds a notice for the next response of any kind.
    pub fn add_device_notice(&mut self, notice: Notice) {
        push_latest(&mut self.device_notices, notice, MAX_NOTICES);
    }

    /// Records that a command has started a member: the rest of the command concerns only that
    /// member.
    pub fn note_started(&mut self, number: u64) {
        self.acted_on.clear();
        self.note_acted_on(number);
    }

    /// Records which member an action goes to.
    pub(crate) fn note_acted_on(&mut self, number: u64) {
        self.acted_on.insert(number);
        self.keyboard_member = Some(number);
    }

    /// Returns whether a member exists and has not left.
    #[must_use]
    pub fn contains(&self, number: u64) -> bool {
        self.all.iter().any(|part| part.number == number && !part.gone)
    }

    /// Returns a member by its number, unless it has left.
    pub(crate) fn get(&mut self, number: u64) -> Option<&mut MemberEntry<M>> {
        self.all.iter_mut().find(|part| part.number == number && !part.gone)
    }

    /// Returns the numbers of the members.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        self.all.iter().map(|part| part.number).collect()
    }

    /// Returns the members that the current command has acted on; all members if it has acted on
    /// none.
    pub(crate) fn members_acted_on(&mut self) -> impl Iterator<Item = &mut MemberEntry<M>> {
        let acted = &self.acted_on;
        self.all.iter_mut().filter(|part| acted.is_empty() || acted.contains(&part.number))
    }

    /// Returns the device of a member.
    ///
    /// # Errors
    /// Returns `ELEMENT_NOT_FOUND` if the member has left, and `TIMEOUT` if it does not answer.
    pub(crate) fn device(&mut self, number: u64, whole: &str) -> Result<&mut dyn Device> {
        let part = self.get(number).ok_or_else(element_gone)?;
        let silent = format!("{} does not respond; it may be hung", quote(&part.name));
        part.responsive_device().ok_or_else(|| Error::timeout(silent).hint(unresponsive_hint(whole)))
    }

    /// Returns the node with this handle, if it represents a member that has not left.
    pub(crate) fn node_of(&self, handle: Handle) -> Option<LocatedElement> {
        member_named_by(handle).filter(|&number| self.contains(number))?;
        LocatedElement::find(Arc::clone(&self.merged.as_ref()?.tree), handle)
    }
}

#[async_trait]
impl<M: Member> Lifecycle for Members<M> {
    fn app_folders(&self) -> Option<AppFolders> {
        self.folders.clone()
    }

    fn act_begins(&mut self) {
        self.acted_on.clear();
        let devices = self.all.iter_mut().filter_map(|part| part.member.device());
        devices.filter_map(Device::lifecycle).for_each(Lifecycle::act_begins);
    }

    fn device_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.device_notices).into()
    }

    fn gone_with(&self, handle: Handle) -> Option<String> {
        let number = member_named_by(handle).unwrap_or_else(|| to_member(handle).0);
        let (_, name) = self.departed.iter().find(|(left, _)| *left == number)?;
        Some(format!("app {}, which has closed", quote(name)))
    }
}

/// Returns the hint for a member that does not answer.
pub(crate) fn unresponsive_hint(whole: &str) -> String {
    format!("wait and try again; the other apps on the {whole} are not affected")
}
