//! The context of a running command: its caller, the session lent to it, and the envelope that it
//! fills.

use crate::api::expectation::Expectation;
use crate::api::paths::{PathArg, ResolvedPath};
use crate::api::request::{Caller, HeldTurn, LogStatus, RefDetail, Render};
use crate::api::session_name;
use crate::command::begun::Begun;
use crate::command::table::CommandTable;
use crate::host::open_session::OpenSession;
use crate::host::queue::{self, Checkout, Position};
use crate::host::recording::RecordedTarget;
use crate::host::{HostInner, SessionSlot};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use stickpin_coordinator::{Participant, SessionAuthority};
use stickpin_device::{Device, Dispatched, Error, Result};
use stickpin_refs::Ref;
use stickpin_session::ClientId;
use stickpin_session::log::CommandId;
use stickpin_session::turn::AgentId;
use stickpin_tree::{ContextChange, Handle, Tree};
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

/// The context of one command.
#[derive(Debug)]
pub struct Cx {
    pub(crate) host: Arc<HostInner>,
    /// The commands of the host.
    pub(crate) commands: CommandTable,
    /// The caller of the command, with its working directory, agent and permissions.
    pub caller: Caller,
    /// How the response will be rendered.
    pub(crate) render: Render,
    /// The newest generation that this client has read in full, if it sent one.
    pub(crate) since: Option<u64>,
    /// Conditions on the targets, if the caller sent any.
    pub(crate) expect: Vec<Expectation>,
    /// Whether this is a step of a replayed script.
    pub(crate) replayed: bool,
    /// The turn that the caller believes it holds, if it named one.
    pub(crate) expected_turn: Option<u64>,
    /// Cancelled when the command should end.
    pub cancel: CancellationToken,
    /// The session's name: the one that was given, or that of the caller's own session.
    pub(crate) session_name: String,
    /// The session and the agent that reads, for a command that only reads.
    pub(crate) reader: Option<(Arc<SessionAuthority>, Participant)>,
    pub(crate) slot: Option<Arc<SessionSlot>>,
    pub(crate) checkout: Option<Checkout>,
    pub(crate) envelope: Envelope,
    /// Holds the token that is cancelled when the command's session closes, including a session
    /// that the command opened.
    pub(crate) closing: watch::Sender<CancellationToken>,
    /// Whether input may have reached the device.
    pub(crate) dispatched: AtomicBool,
    /// Whether a device operation that must not be dropped is half done, such as an input or a
    /// navigation.
    pub(crate) operation_pending: Arc<AtomicBool>,
    /// Whether a wait has checked its condition since it last yielded to other waits.
    pub(crate) checked_since_yield: bool,
    /// Inclusive ranges of the numbers of refs that earlier steps of a batch issued. The pins of
    /// these refs are ignored.
    pub(crate) batch_issued: Vec<(u32, u32)>,
    /// Sends the id of the command as soon as its beginning is in the log; for a batch, the id of
    /// its first logged step.
    pub(crate) begun: Option<oneshot::Sender<CommandId>>,
}

/// A line of a receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReceiptLine {
    pub(crate) text: String,
    /// Whether the line reports an error in the app: a console error, or a failed request or
    /// download.
    pub(crate) is_error: bool,
}

impl From<String> for ReceiptLine {
    fn from(text: String) -> Self {
        Self { text, is_error: false }
    }
}

/// The parts of a response other than its output, and state that the command keeps until its end.
#[derive(Debug, Default)]
pub(crate) struct Envelope {
    pub(crate) warnings: Vec<String>,
    pub(crate) receipt: Vec<ReceiptLine>,
    pub(crate) issued: Vec<Ref>,
    pub(crate) ended: Vec<Ref>,
    pub(crate) base: Option<u64>,
    /// Whether the whole tree was printed.
    pub(crate) full: bool,
    /// The path of the screenshot that was written.
    pub(crate) image: Option<PathBuf>,
    pub(crate) log_status: Option<LogStatus>,
    /// For each session whose turn this command concerns, the turn that the caller now holds, if
    /// any.
    pub(crate) turns: Vec<HeldTurn>,
    /// Refs whose standing has already been judged: later changes to them are effects of this
    /// command.
    pub(crate) judged_refs: Vec<Ref>,
    /// Whether the pointer was moved. An element that it reaches may react.
    pub(crate) pointer_moved: bool,
    pub(crate) reference: Option<RefDetail>,
    /// Refs that replaced selectors of this command. The context rule does not apply to them,
    /// because a selector stands for what it matches now.
    pub(crate) pinned_selectors: Vec<Ref>,
    /// The content that the actions of this command replaced, for the receipt.
    pub(crate) effects: Vec<ContextChange>,
    /// The app before the input whose effects are not yet recorded, and the target of that input.
    pub(crate) unrecorded_effects: Option<(Arc<Tree>, Option<Handle>)>,
    /// The targets of this command with the selectors that name them in a recording.
    pub(crate) recorded_targets: Vec<RecordedTarget>,
    /// The beginning of the command in the session log, until its end is logged too.
    pub(crate) begun: Option<Begun>,
}

impl Cx {
    /// Returns the session's name.
    #[must_use]
    pub fn session_name(&self) -> &str {
        &self.session_name
    }

    /// Makes another session the session of this command, if one is named.
    ///
    /// # Errors
    /// Returns `INVALID_ARGS` for a text that is not a valid session name.
    pub(crate) fn select_session(&mut self, name: impl Into<Option<String>>) -> Result<()> {
        if let Some(name) = name.into() {
            session_name::check(&name)?;
            self.session_name = name;
        }
        Ok(())
    }

    /// Resolves a path argument for the caller.
    ///
    /// # Errors
    /// Returns the errors of [`Caller::resolve_path`].
    pub fn resolve_path(&self, path: &PathArg) -> Result<ResolvedPath> {
        self.caller.resolve_path(path.as_written())
    }

    /// Resolves an optional path argument for the caller.
    ///
    /// # Errors
    /// Returns the errors of [`Caller::resolve_path`].
    pub fn resolve_optional_path(&self, path: Option<&PathArg>) -> Result<Option<PathBuf>> {
        path.map(|path| self.resolve_path(path).map(ResolvedPath::into_path_buf)).transpose()
    }

    /// Writes a file that the caller named, or whose folder the caller named.
    ///
    /// # Errors
    /// Returns `POLICY_DENIED` for a path outside the caller's folders, and `IO` or `STORAGE_FULL`
    /// if writing fails.
    pub fn write(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        crate::api::files::write_within(self.caller.file_roots.as_deref(), path, bytes)
    }

    /// Adds a warning to the response, unless it is already there.
    pub fn warn(&mut self, warning: impl Into<String>) {
        let warning = warning.into();
        if !self.envelope.warnings.contains(&warning) {
            self.envelope.warnings.push(warning);
        }
    }

    /// Fails if the command was cancelled. Called at points where nothing is half done.
    ///
    /// # Errors
    /// Returns `TIMEOUT` when the command was cancelled.
    pub fn check(&self) -> Result<()> {
        if !self.cancel.is_cancelled() {
            return Ok(());
        }
        let e = Error::timeout("the command was cancelled before it finished");
        Err(e.dispatched(self.dispatched()))
    }

    /// Marks a device operation as half done until the returned guard is dropped, unless calls to
    /// the device can be dropped safely.
    ///
    /// A command that only reads can be abandoned at any moment. When a command is abandoned under
    /// this guard, the state of the device is unknown and its session ends.
    pub(crate) fn begin_operation(&self) -> OperationGuard {
        let live = self.checkout.as_ref().and_then(|checkout| checkout.session.as_deref());
        let drop_safe = live.is_some_and(|live| live.device.info().drop_safe);
        self.operation_pending.store(!drop_safe, Ordering::Relaxed);
        OperationGuard(Arc::clone(&self.operation_pending))
    }

    /// Returns whether input may have reached the device.
    #[must_use]
    pub fn dispatched(&self) -> Dispatched {
        if self.dispatched.load(Ordering::Relaxed) { Dispatched::Unknown } else { Dispatched::No }
    }

    /// Records that input is about to be sent. After this, a failure leaves the outcome unknown.
    pub fn mark_dispatched(&self) {
        self.dispatched.store(true, Ordering::Relaxed);
    }

    /// Returns the open device.
    ///
    /// # Errors
    /// Returns `SESSION_NOT_FOUND` when nothing is open.
    pub fn device(&mut self) -> Result<&mut dyn Device> {
        Ok(&mut *self.open_session()?.device)
    }

    /// Returns the client that receives refs, identified by the key of the caller and, if it has
    /// one, its `client`.
    pub(crate) fn client_id(&self) -> ClientId {
        match &self.caller.client {
            None => ClientId::new(&self.caller.key),
            Some(client) => ClientId::new(&format!("{}\n{client}", self.caller.key)),
        }
    }

    /// Returns the other agent that holds the turn now, for a command that only reads. The turn may
    /// change hands while such a command is waiting.
    pub(crate) fn held_by(&self) -> Option<AgentId> {
        let (session, who) = self.reader.as_ref()?;
        session.held_by_other(who).map(|(owner, _)| owner)
    }

    /// Returns the stored tree.
    ///
    /// # Errors
    /// Returns `SESSION_NOT_FOUND` when nothing is open, and `INTERNAL` before the first capture.
    pub(crate) fn tree(&mut self) -> Result<Arc<Tree>> {
        let tree = self.open_session()?.session.tree().cloned();
        tree.ok_or_else(|| Error::internal("the session has no tree yet"))
    }

    pub(crate) fn open_session(&mut self) -> Result<&mut OpenSession> {
        let name = &self.session_name;
        let live = self.checkout.as_mut().and_then(|l| l.session.as_deref_mut());
        live.ok_or_else(|| queue::not_open_error(name))
    }

    /// Waits for the checkout of a session, then confines its app to the caller's folders.
    pub(crate) async fn check_out(&mut self, slot: Arc<SessionSlot>, position: Position) -> Result<()> {
        self.checkout = Some(slot.mailbox.acquire(&slot.name, position, &self.cancel).await?);
        self.closing.send_replace(slot.closing.clone());
        self.slot = Some(slot);
        self.confine_to_caller().await
    }

    /// Confines the app to the folders of this caller, even if another caller opened the app. Does
    /// nothing for a caller that may reach all folders.
    async fn confine_to_caller(&mut self) -> Result<()> {
        let Some(roots) = self.caller.file_roots.clone() else { return Ok(()) };
        let Ok(live) = self.open_session() else { return Ok(()) };
        if live.file_roots.as_ref() != Some(&roots) {
            if let Some(life) = live.device.lifecycle() {
                life.confine(&roots).await?;
            }
            live.file_roots = Some(roots);
        }
        Ok(())
    }

    /// Gives the checkout back to the session.
    pub(crate) fn check_in(&mut self) {
        self.closing.send_replace(CancellationToken::new());
        if let Some(checkout) = self.checkout.take() {
            checkout.give_back();
        }
    }

    /// Yields the checkout to all commands that are waiting for this session. Called by commands
    /// that are themselves waits.
    ///
    /// # Errors
    /// Returns the errors of [`Cx::check_out`].
    pub(crate) async fn yield_checkout(&mut self) -> Result<()> {
        if let Some(slot) = self.slot.clone() {
            self.check_in();
            self.check_out(slot, Position::Yielded).await?;
        }
        Ok(())
    }
}

/// Marks the operation of [`Cx::begin_operation`] as complete when it is dropped.
#[derive(Debug)]
#[must_use]
pub(crate) struct OperationGuard(Arc<AtomicBool>);

impl Drop for OperationGuard {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}
