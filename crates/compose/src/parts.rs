//! The members: they come and go, and one that does not answer keeps no other waiting.

use crate::handles::{inner, named_part};
use crate::merge::Merged;
use async_trait::async_trait;
use hashbrown::HashSet;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use stickpin_device::{
    AppFolders, CaptureRequest, Captured, Device, Error, ErrorCode, Lifecycle, Located, Notice, Result, Thing,
};
use stickpin_tree::{Handle, Tree, quote};

/// How many members that have left are remembered by their names.
const LEFT: usize = 256;

/// Notices that are kept until they are asked for.
const NOTICES: usize = 64;

/// One device among several.
#[async_trait]
pub trait Member: Send + fmt::Debug {
    /// Returns the device; none before it has answered for the first time.
    fn device(&mut self) -> Option<&mut dyn Device>;

    /// Whether it did not answer when it was asked last, and has not since.
    fn is_silent(&self) -> bool;

    /// Notes that it does not answer: nothing is asked of it until it does.
    fn falls_silent(&mut self);

    /// Returns its active window as it was read last, and whether it says itself that this is
    /// active.
    fn active_window(&mut self) -> Option<(Handle, bool)>;

    /// Gives the window of an element the keyboard, as a press in it would.
    ///
    /// # Errors
    /// As [`Device::perform`].
    async fn take_keyboard(&mut self, element: Handle) -> Result<()>;

    /// Returns what `get attrs` tells of it, beside its name.
    fn attrs(&self) -> serde_json::Map<String, serde_json::Value>;
}

/// One run of one member.
#[derive(Debug)]
pub struct Part<M> {
    /// Given to no other run, counting from 1.
    pub number: u64,
    /// What it is called, and no other beside it.
    pub name: String,
    /// Its device, and what its platform knows of it.
    pub member: M,
    /// Whether it has left; it goes with the next refresh.
    pub gone: bool,
    /// What it showed when it was read last; none while it does not answer.
    pub(crate) tree: Option<Arc<Tree>>,
}

impl<M: Member> Part<M> {
    /// Returns the device, where it can be asked without much waiting.
    pub(crate) fn answering(&mut self) -> Option<&mut dyn Device> {
        if self.gone || self.member.is_silent() { None } else { self.member.device() }
    }

    /// Reads it. `watch` is in its own handles.
    ///
    /// # Errors
    /// What is wrong with more than this member.
    pub(crate) async fn read(&mut self, watch: &[Handle]) -> Result<()> {
        let last = self.tree.take();
        let Some(device) = self.answering() else { return Ok(()) };
        match device.capture(CaptureRequest::default().stored(last.as_ref()).watch(watch)).await {
            Ok(Captured::Tree(tree)) => self.tree = Some(tree),
            Ok(Captured::Unchanged) => self.tree = last,
            Ok(other) => return Err(Error::internal(format!("a member answered with {other:?}"))),
            Err(e) if e.code == ErrorCode::BackendLost => self.gone = true,
            Err(e) if e.code == ErrorCode::Timeout => self.member.falls_silent(),
            Err(e) => return Err(e),
        }
        Ok(())
    }
}

/// The members of a composed device.
#[derive(Debug)]
pub struct Parts<M> {
    pub(crate) all: Vec<Part<M>>,
    /// Members so far.
    count: u64,
    /// Those that have left last, by number and name.
    left: VecDeque<(u64, String)>,
    /// What became of the whole that nobody was told yet.
    pub(crate) asides: Vec<Notice>,
    pub(crate) notices: Vec<Notice>,
    pub(crate) merged: Option<Merged>,
    /// The members that the command that runs has acted on.
    pub(crate) acted: Vec<u64>,
    /// The member that was acted on last.
    keys: Option<u64>,
    /// Those in which members are started.
    folders: Option<AppFolders>,
}

impl<M: Member> Parts<M> {
    pub(crate) fn new(folders: Option<AppFolders>) -> Self {
        Self {
            all: Vec::new(),
            count: 0,
            left: VecDeque::new(),
            asides: Vec::new(),
            notices: Vec::new(),
            merged: None,
            acted: Vec::new(),
            keys: None,
            folders,
        }
    }

    /// Returns the members in the order in which they came, those that have just left included.
    pub fn iter(&self) -> impl Iterator<Item = &Part<M>> {
        self.all.iter()
    }

    /// As [`Parts::iter`], to change them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Part<M>> {
        self.all.iter_mut()
    }

    /// Takes in a member that has come; its number.
    pub fn add(&mut self, called: &str, member: M) -> u64 {
        self.count += 1;
        let (number, name) = (self.count, self.free_name(called, self.count));
        self.notice(Notice::Came { what: Thing::App, name: name.clone() });
        self.all.push(Part { number, name, member, gone: false, tree: None });
        number
    }

    /// Calls a member something else.
    pub fn rename(&mut self, number: u64, called: &str) {
        let name = self.free_name(called, number);
        if let Some(part) = self.get(number) {
            part.name = name;
        }
    }

    /// Returns the first of `NAME`, `NAME 2`, `NAME 3` that no other member has.
    fn free_name(&self, name: &str, number: u64) -> String {
        let others = self.all.iter().filter(|part| part.number != number);
        let taken: HashSet<&str> = others.map(|part| part.name.as_str()).collect();
        let numbered = (2_u32..).map(|n| format!("{name} {n}"));
        let mut free =
            std::iter::once(name.to_owned()).chain(numbered).filter(|n| !taken.contains(n.as_str()));
        // As many as there are others are tried at most.
        free.next().unwrap_or_default()
    }

    /// Lets go of the members that have left.
    pub fn drop_gone(&mut self) {
        for part in self.all.extract_if(.., |part| part.gone).collect::<Vec<_>>() {
            let left = Notice::Left { what: Thing::App, name: part.name.clone() };
            self.notice(left.clone());
            self.aside(left);
            if self.left.len() == LEFT {
                self.left.pop_front();
            }
            self.left.push_back((part.number, part.name));
        }
    }

    /// Notes what is told with the notices of the next command.
    pub fn notice(&mut self, notice: Notice) {
        keep(&mut self.notices, notice);
    }

    /// Notes what is told with whatever answer comes next.
    pub fn aside(&mut self, notice: Notice) {
        keep(&mut self.asides, notice);
    }

    /// Returns the member that was acted on last: keys without a target go there.
    #[must_use]
    pub fn keys(&self) -> Option<u64> {
        self.keys
    }

    /// Says to which member keys without a target go; none: to that of the active window.
    pub fn set_keys(&mut self, number: Option<u64>) {
        self.keys = number;
    }

    /// Notes that a command has started a member: what comes next is about that one.
    pub fn begins_with(&mut self, number: u64) {
        self.acted = vec![number];
        self.keys = Some(number);
    }

    /// Notes which member an act goes to.
    pub(crate) fn acts_on(&mut self, number: u64) {
        if !self.acted.contains(&number) {
            self.acted.push(number);
        }
        self.keys = Some(number);
    }

    /// Whether a member is there.
    #[must_use]
    pub fn has(&self, number: u64) -> bool {
        self.all.iter().any(|part| part.number == number && !part.gone)
    }

    /// Returns a member by its number, while it is there.
    pub(crate) fn get(&mut self, number: u64) -> Option<&mut Part<M>> {
        self.all.iter_mut().find(|part| part.number == number && !part.gone)
    }

    /// Returns the members that the command that runs has acted on; all where it has acted on none.
    pub(crate) fn concerned(&mut self) -> impl Iterator<Item = &mut Part<M>> {
        let acted = &self.acted;
        self.all.iter_mut().filter(|part| acted.is_empty() || acted.contains(&part.number))
    }

    /// Returns the device of a member.
    ///
    /// # Errors
    /// `ELEMENT_NOT_FOUND` when it has left, `TIMEOUT` when it has never answered.
    pub(crate) fn device(&mut self, number: u64, whole: &str) -> Result<&mut dyn Device> {
        let part = self.get(number).ok_or_else(gone)?;
        let silent = format!("{} does not answer; it may hang", quote(&part.name));
        part.answering().ok_or_else(|| Error::timeout(silent).hint(others_go_on(whole)))
    }

    /// Returns the active windows of the members, and whether each says itself that it is active.
    pub(crate) fn active_windows(&mut self) -> Vec<(u64, Handle, bool)> {
        let read = self.all.iter_mut().filter(|part| part.tree.is_some());
        read.filter_map(|part| part.member.active_window().map(|(window, says)| (part.number, window, says)))
            .collect()
    }

    /// Returns a node of the whole itself: that of a member which is there.
    pub(crate) fn node_of(&self, handle: Handle) -> Option<Located> {
        named_part(handle).filter(|&number| self.has(number))?;
        let tree = Arc::clone(&self.merged.as_ref()?.tree);
        let node = tree.find_handle(handle)?.id();
        Some(Located::new(tree, node))
    }
}

#[async_trait]
impl<M: Member> Lifecycle for Parts<M> {
    fn app_folders(&self) -> Option<AppFolders> {
        self.folders.clone()
    }

    fn act_begins(&mut self) {
        self.acted.clear();
        let devices = self.all.iter_mut().filter_map(|part| part.member.device());
        devices.filter_map(Device::lifecycle).for_each(Lifecycle::act_begins);
    }

    fn device_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.asides)
    }

    fn gone_with(&self, handle: Handle) -> Option<String> {
        let number = named_part(handle).unwrap_or_else(|| inner(handle).0);
        let (_, name) = self.left.iter().find(|(left, _)| *left == number)?;
        Some(format!("app {}, which has closed", quote(name)))
    }
}

/// The hint about a member that does not answer.
pub(crate) fn others_go_on(whole: &str) -> String {
    format!("wait and try again; the other apps of the {whole} go on")
}

/// The error of an element that vanished between being located and being acted on.
pub(crate) fn gone() -> Error {
    Error::element_not_found("the element is no longer in the app").hint("stickpin snapshot -i")
}

/// Adds a notice; the oldest goes where there are too many.
fn keep(notices: &mut Vec<Notice>, notice: Notice) {
    if notices.len() == NOTICES {
        notices.remove(0);
    }
    notices.push(notice);
}
