//! [`Session`]: one session of a host, for one client.

use crate::api::request::Caller;
use crate::api::target::Target;
use crate::command::definition::Command;
use crate::commands::{
    check::{Check, Uncheck},
    close::Close,
    element::Wait,
    fill::Fill,
    find::Find,
    get::{Get, Property},
    open::Open,
    press::Press,
    select::Select,
    snapshot::Snapshot,
    type_text::Type,
};
use crate::dispatch::host::Host;
use crate::embed::call::Call;
use std::sync::atomic::{AtomicU64, Ordering};
use stickpin_device::Error;

/// The caller key of the handles that [`Host::session`] returns.
const KEY: &str = "embedded";

/// Counts the handles, so that each is a separate client.
static HANDLES: AtomicU64 = AtomicU64::new(1);

/// One session of a [`Host`], identified by its name. The session need not be open yet.
///
/// Each handle is a client: its refs are judged by what it was shown, and it is notified of changes
/// that it has not seen. Clones are the same client. Two calls of [`Host::session`] with the same
/// name return two distinct clients of one session.
///
/// The most common commands have methods; [`run`](Self::run) runs any command.
#[derive(Debug, Clone)]
pub struct Session {
    pub(crate) host: Host,
    pub(crate) name: String,
    pub(crate) caller: Caller,
}

impl Host {
    /// Returns a handle to the session with the given name, as a new client. All these handles have
    /// one owner, and relative paths are resolved in the process's working directory.
    #[must_use]
    pub fn session(&self, name: impl Into<String>) -> Session {
        let cwd = std::env::current_dir().unwrap_or_else(|_| self.inner.config.state_dir.clone());
        self.session_as(Caller { cwd, ..Caller::new(KEY) }, name)
    }

    /// Returns a handle to the session with the given name for a caller. The handle is a new client
    /// unless the caller names one. Sessions belong to the caller that opened them.
    #[must_use]
    pub fn session_as(&self, caller: Caller, name: impl Into<String>) -> Session {
        let number = || format!("handle {}", HANDLES.fetch_add(1, Ordering::Relaxed));
        let client = caller.client.clone().unwrap_or_else(number);
        Session { host: self.clone(), name: name.into(), caller: Caller { client: Some(client), ..caller } }
    }
}

/// A value that is, or can be parsed as, the target of a command: a [`Target`], a ref from
/// [`find`](crate::Answer::find), or a text such as `role=button "Save"`.
pub trait IntoTarget {
    /// Converts the value into a target.
    fn into_target(self) -> Result<Target, Error>;
}

impl<T: TryInto<Target, Error: Into<Error>>> IntoTarget for T {
    fn into_target(self) -> Result<Target, Error> {
        self.try_into().map_err(Into::into)
    }
}

impl Session {
    /// Returns the name of the session.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs a command of the kernel or one that was added to the host. The command runs when the
    /// call is awaited.
    pub fn run<C: Command>(&self, command: C) -> Call<'_, C> {
        Call::new(self, Ok(command))
    }

    fn on<C: Command>(&self, target: impl IntoTarget, command: impl FnOnce(Target) -> C) -> Call<'_, C> {
        Call::new(self, target.into_target().map(command))
    }

    /// Opens a page or app: a URL, a file, or an app of a platform (`sim:shop`).
    pub fn open(&self, what: impl Into<String>) -> Call<'_, Open> {
        self.run(Open::new(what))
    }

    /// Reads the app as an outline with refs.
    pub fn snapshot(&self, snapshot: Snapshot) -> Call<'_, Snapshot> {
        self.run(snapshot)
    }

    /// Finds elements by a text that they show, or by a selector.
    pub fn find(&self, query: impl Into<String>) -> Call<'_, Find> {
        self.run(Find::new(query))
    }

    /// Reads one property of an element.
    pub fn get(&self, what: Property, target: impl IntoTarget) -> Call<'_, Get> {
        self.on(target, |target| Get { what, target })
    }

    /// Waits until an element is visible.
    pub fn wait(&self, target: impl IntoTarget) -> Call<'_, Wait> {
        self.on(target, Wait::new)
    }

    /// Presses an element with the pointer.
    pub fn press(&self, target: impl IntoTarget) -> Call<'_, Press> {
        self.on(target, Press::new)
    }

    /// Replaces the content of a field, and checks that the field accepted it.
    pub fn fill(&self, target: impl IntoTarget, text: impl Into<String>) -> Call<'_, Fill> {
        self.on(target, |target| Fill { text: Some(text.into()), ..Fill::new(target) })
    }

    /// Types a text key by key, where the focus is.
    pub fn type_text(&self, text: impl Into<String>) -> Call<'_, Type> {
        self.run(Type::new(text))
    }

    /// Chooses options of a list by their label or value.
    pub fn select(
        &self,
        target: impl IntoTarget,
        options: impl IntoIterator<Item = impl Into<String>>,
    ) -> Call<'_, Select> {
        let options: Vec<String> = options.into_iter().map(Into::into).collect();
        self.on(target, |target| Select::new(target, options))
    }

    /// Turns a checkbox, radio button, switch or toggle on.
    pub fn check(&self, target: impl IntoTarget) -> Call<'_, Check> {
        self.on(target, Check::new)
    }

    /// Turns a checkbox, switch or toggle off.
    pub fn uncheck(&self, target: impl IntoTarget) -> Call<'_, Uncheck> {
        self.on(target, Uncheck::new)
    }

    /// Closes the session and its app.
    pub fn close(&self) -> Call<'_, Close> {
        self.run(Close::default())
    }
}
