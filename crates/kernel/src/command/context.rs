//! What a command works with: its caller, the session that it was lent, and the envelope that it fills.

use crate::api::expectation::Expectation;
use crate::api::request::{Caller, RefDetail, Render};
use crate::host::open_session::Live;
use crate::host::queue::{self, Loan, Turn};
use crate::host::recording::Witness;
use crate::host::{Desk, Inner};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use stickpin_device::{Device, Dispatched, Error, Result};
use stickpin_refs::Ref;
use stickpin_session::ClientId;
use stickpin_tree::{ContextChange, Handle, Tree};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The context of one command.
#[derive(Debug)]
pub struct Cx {
    pub(crate) host: Arc<Inner>,
    /// Who asks.
    pub caller: Caller,
    /// How the answer will be rendered.
    pub render: Render,
    /// The newest generation that this client has read in full, if it says so.
    pub since: Option<u64>,
    /// What targets must be, if the caller says so.
    pub(crate) expect: Vec<Expectation>,
    /// Whether this is a step of a script.
    pub(crate) replayed: bool,
    /// Set when the command should end.
    pub cancel: CancellationToken,
    /// The name of the session, given or the caller's own.
    pub(crate) session_name: String,
    pub(crate) desk: Option<Arc<Desk>>,
    pub(crate) loan: Option<Loan>,
    pub(crate) envelope: Envelope,
    /// Set when the session that this command is in is closed: also one that it opened itself.
    pub(crate) closing: watch::Sender<CancellationToken>,
    /// Whether input may have reached the device.
    pub(crate) dispatched: AtomicBool,
    /// Something is half done at the device: an input, a navigation, a start.
    pub(crate) underway: Arc<AtomicBool>,
    /// A wait has waited and will have looked since it last let other waits in.
    pub(crate) looked: bool,
    /// Ranges of refs that earlier steps of a batch issued: known to the caller, whatever their pins say.
    pub(crate) fresh: Vec<(u32, u32)>,
}

/// A line of a receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReceiptLine {
    pub(crate) text: String,
    /// Whether it tells of an error of the app: a console error, a request that failed.
    pub(crate) is_error: bool,
}

impl From<String> for ReceiptLine {
    fn from(text: String) -> Self {
        Self { text, is_error: false }
    }
}

/// What a response carries besides the output.
#[derive(Debug, Clone, Default)]
pub(crate) struct Envelope {
    pub(crate) warnings: Vec<String>,
    pub(crate) receipt: Vec<ReceiptLine>,
    pub(crate) issued: Vec<Ref>,
    pub(crate) ended: Vec<Ref>,
    pub(crate) base: Option<u64>,
    /// The whole tree was printed.
    pub(crate) full: bool,
    /// The picture that was written.
    pub(crate) image: Option<PathBuf>,
    /// Refs whose standing was worked out: what moved since moved under this command itself.
    pub(crate) judged: Vec<Ref>,
    /// The pointer was moved: what arrives under it may show an effect.
    pub(crate) pointed: bool,
    pub(crate) reference: Option<RefDetail>,
    /// Refs that a selector of this command was given: what it matched is what it meant.
    pub(crate) held: Vec<Ref>,
    /// What acts of this command replaced, to be told by the receipt.
    pub(crate) effects: Vec<ContextChange>,
    /// The app before the input whose effects are not noted yet, and the target of that input.
    pub(crate) unnoted: Option<(Arc<Tree>, Option<Handle>)>,
    /// What the targets were, for the recording.
    pub(crate) witnesses: Vec<Witness>,
}

impl Cx {
    /// The session's name.
    #[must_use]
    pub fn session_name(&self) -> &str {
        &self.session_name
    }

    /// A path as the caller meant it.
    #[must_use]
    pub fn path(&self, path: &str) -> PathBuf {
        crate::api::paths::resolve(&self.caller, path)
    }

    /// A path as the caller meant it, that it may reach.
    ///
    /// # Errors
    /// `POLICY_DENIED` outside of the caller's folders.
    pub fn reach(&self, path: &str) -> Result<PathBuf> {
        let path = self.path(path);
        match &self.caller.file_roots {
            Some(roots) if !stickpin_device::paths::is_within(&path, roots) => {
                Err(stickpin_device::paths::outside(&path, roots))
            }
            _ => Ok(path),
        }
    }

    /// Writes a file that the caller named, or that it named the folder of.
    ///
    /// # Errors
    /// `POLICY_DENIED` outside of the caller's folders, `IO`, `STORAGE_FULL`.
    pub fn write(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        crate::api::files::write_within(self.caller.file_roots.as_deref(), path, bytes)
    }

    /// Says something that the caller should know although the command did what was asked.
    pub fn warn(&mut self, warning: impl Into<String>) {
        let warning = warning.into();
        if !self.envelope.warnings.contains(&warning) {
            self.envelope.warnings.push(warning);
        }
    }

    /// Ends the command here if it was asked to end. Called where nothing is half done.
    ///
    /// # Errors
    /// `TIMEOUT`.
    pub fn check(&self) -> Result<()> {
        if !self.cancel.is_cancelled() {
            return Ok(());
        }
        let e = Error::timeout("the command was ended before it was done");
        Err(e.dispatched(self.dispatched()))
    }

    /// Something is half done at the device until this is dropped. What is no more than a reading can be given up at any
    /// moment; who gives up this does not know what the device holds, and its session ends.
    pub(crate) fn under_way(&self) -> UnderWay {
        let live = self.loan.as_ref().and_then(|loan| loan.live.as_deref());
        let drop_safe = live.is_some_and(|live| live.device.info().drop_safe);
        self.underway.store(!drop_safe, Ordering::Relaxed);
        UnderWay(Arc::clone(&self.underway))
    }

    /// Whether input may have reached the device.
    #[must_use]
    pub fn dispatched(&self) -> Dispatched {
        if self.dispatched.load(Ordering::Relaxed) { Dispatched::Unknown } else { Dispatched::No }
    }

    /// Says that input is about to reach the device. From here on a failure leaves it open what became of it.
    pub fn dispatching(&self) {
        self.dispatched.store(true, Ordering::Relaxed);
    }

    /// The open device.
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND` when nothing is open.
    pub fn device(&mut self) -> Result<&mut dyn Device> {
        Ok(&mut *self.live()?.device)
    }

    /// Who is given refs: the caller, as far as it can be told from others.
    pub(crate) fn client(&self) -> ClientId {
        match &self.caller.client {
            None => ClientId::new(&self.caller.key),
            Some(client) => ClientId::new(&format!("{}\n{client}", self.caller.key)),
        }
    }

    /// The stored tree.
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND` when nothing is open.
    pub(crate) fn tree(&mut self) -> Result<Arc<Tree>> {
        let tree = self.live()?.session.tree().cloned();
        tree.ok_or_else(|| Error::internal("the session has no tree yet"))
    }

    pub(crate) fn live(&mut self) -> Result<&mut Live> {
        let name = &self.session_name;
        let live = self.loan.as_mut().and_then(|l| l.live.as_deref_mut());
        live.ok_or_else(|| queue::closed(name))
    }

    /// Waits for the turn in a session.
    pub(crate) async fn enter(&mut self, desk: Arc<Desk>, turn: Turn) -> Result<()> {
        self.loan = Some(desk.mailbox.borrow(&desk.name, turn, &self.cancel).await?);
        self.closing.send_replace(desk.closing.clone());
        self.desk = Some(desk);
        self.confine().await
    }

    /// Has the app keep to the folders of this caller, also where somebody else opened it.
    async fn confine(&mut self) -> Result<()> {
        let Some(roots) = self.caller.file_roots.clone() else { return Ok(()) };
        let Ok(live) = self.live() else { return Ok(()) };
        if live.file_roots.as_ref() != Some(&roots) {
            if let Some(life) = live.device.lifecycle() {
                life.confine(&roots).await?;
            }
            live.file_roots = Some(roots);
        }
        Ok(())
    }

    /// Gives the turn back.
    pub(crate) fn leave(&mut self) {
        self.closing.send_replace(CancellationToken::new());
        if let Some(loan) = self.loan.take() {
            loan.give_back();
        }
    }

    /// Lets all go first that wait for this session. For commands that wait themselves.
    ///
    /// # Errors
    /// As for any command that waits for its turn.
    pub(crate) async fn let_others_in(&mut self) -> Result<()> {
        if let Some(desk) = self.desk.clone() {
            self.leave();
            self.enter(desk, Turn::Again).await?;
        }
        Ok(())
    }
}

/// See [`Cx::under_way`].
#[derive(Debug)]
#[must_use]
pub(crate) struct UnderWay(Arc<AtomicBool>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}
