//! Runs typed lines: sends the request that the command line would send, and then adds an entry to
//! the conversation.

use super::background::Background;
use crate::context::{ContextStore, Entry, LogBacked, Memory};
use crate::model::event::TurnView;
use crate::model::line::{Call, Grammar, MASK, Parsed};
use crate::model::outcome::{Outcome, Printed};
use crate::setup::Setup;
use parking_lot::Mutex;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use stickpin_client::{AllowAll, Call as ClientCall};
use stickpin_kernel::{CancellationToken, Error, ErrorCode, Format, Render, Request, Response, Result, Text};
use tokio::sync::mpsc;

/// The maximum number of shown records in an entry.
const MAX_SHOWN: usize = 100;

/// The maximum number of ref ranges in an entry.
const MAX_PINS: usize = 200;

/// Runs lines in one session.
pub(crate) struct Executor {
    setup: Setup,
    store: Arc<dyn ContextStore>,
    /// The records that were shown since the last entry.
    shown: Mutex<Vec<u64>>,
    /// Whether this console is, or may become, a separate member.
    is_member: AtomicBool,
    background: Background,
}

impl Executor {
    /// Creates an executor with the store that the setup specifies.
    pub(crate) fn new(setup: Setup) -> Self {
        let store: Arc<dyn ContextStore> = match setup.context.clone() {
            Some(id) => {
                let (client, caller) = (Arc::clone(&setup.client), setup.caller.clone());
                Arc::new(LogBacked::new(client, caller, setup.session.clone(), id))
            }
            None => Arc::new(Memory::default()),
        };
        Self::with_store(setup, store)
    }

    pub(crate) fn with_store(setup: Setup, store: Arc<dyn ContextStore>) -> Self {
        Self {
            setup,
            store,
            shown: Mutex::default(),
            is_member: AtomicBool::new(false),
            background: Background::default(),
        }
    }

    pub(crate) fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Returns the name of the session.
    pub(crate) fn session(&self) -> &str {
        self.setup.session.as_deref().unwrap_or(&self.setup.caller.own_session)
    }

    pub(crate) fn grammar(&self) -> Grammar<'_> {
        Grammar {
            client_commands: self.setup.client_commands,
            shell_only: &self.setup.shell_only,
            session: self.session(),
        }
    }

    /// Returns the prompts of the conversation, oldest first, without those with a masked secret.
    ///
    /// # Errors
    /// Returns the errors from reading the conversation.
    pub(crate) async fn prompts(&self) -> Result<Vec<String>> {
        let conversation = self.store.snapshot().await?;
        // A prompt whose secret is masked would type the mask.
        let prompts = conversation.entries().iter().map(|entry| entry.prompt.clone());
        Ok(prompts.filter(|prompt| !prompt.contains(MASK)).collect())
    }

    /// Stores which records the person was shown, for the next entry of the conversation. If there
    /// are more than [`MAX_SHOWN`], only the last ones are kept.
    pub(crate) fn note_shown(&self, events: impl IntoIterator<Item = u64>) {
        let mut shown = self.shown.lock();
        shown.extend(events);
        let excess = shown.len().saturating_sub(MAX_SHOWN);
        shown.drain(..excess);
    }

    /// Joins the session as an observer. Does nothing if there is no session yet, if the session is
    /// closed, or if an agent runs the console, which then acts as that agent.
    ///
    /// # Errors
    /// Returns the other errors of `turn join`, those of `whoami`, and those of finding or starting
    /// the daemon.
    pub(crate) async fn join(&self) -> Result<()> {
        if !self.is_own_member().await? {
            return Ok(());
        }
        self.is_member.store(true, Ordering::Relaxed);
        let request = Request::new("turn join", self.setup.caller.clone()).argument("observer", true);
        match self.ask(request).await.error {
            Some(e) if !matches!(e.code, ErrorCode::SessionNotFound | ErrorCode::SessionClosed) => Err(e),
            _ => Ok(()),
        }
    }

    /// Joins the session that was opened while the console was running. A console that is a member
    /// keeps its role: if it opened the session itself, it is a driver, which may own the turn.
    ///
    /// # Errors
    /// Returns the errors of [`Self::join`].
    pub(crate) async fn join_opened(&self) -> Result<()> {
        let mut state = self.ask(Request::new("turn state", self.setup.caller.clone())).await;
        // If the state cannot be read, joining reports the reason.
        if state.take_output::<TurnView>().is_ok_and(|turn| turn.me().is_some()) {
            return Ok(());
        }
        match self.join().await {
            // A line that acted in the meantime made the console a driver.
            Err(e) if e.code == ErrorCode::MustReleaseFirst => Ok(()),
            joined => joined,
        }
    }

    /// Ends the background commands, and then the membership. Returns the reason if either failed.
    /// A session that is gone has no members.
    pub(crate) async fn leave(&self) -> Option<Error> {
        let failed = self.background.end().await.into_iter().find_map(|response| response.error);
        self.leave_session().await.or(failed)
    }

    async fn leave_session(&self) -> Option<Error> {
        if !self.is_member.load(Ordering::Relaxed) {
            return None;
        }
        let leave = Request::new("turn leave", self.setup.caller.clone());
        let mut error = self.ask(leave.clone()).await.error;
        // A turn that a command took ends by itself; a turn that the person claimed is handed over.
        if error.as_ref().is_some_and(|e| e.code == ErrorCode::MustReleaseFirst) {
            let request = leave
                .argument("release", true)
                .argument("status", "A person worked here and closed the console.")
                .argument("nextAction", "Look at the screen and continue.");
            error = self.ask(request).await.error;
        }
        error.filter(|e| {
            use ErrorCode::{DaemonUnreachable, SessionClosed, SessionNotFound, UnknownMember};
            !matches!(e.code, DaemonUnreachable | SessionClosed | SessionNotFound | UnknownMember)
        })
    }

    /// Returns whether this console is a separate member, and not the agent that runs it.
    async fn is_own_member(&self) -> Result<bool> {
        let me = self.ask(Request::new("whoami", self.setup.caller.clone())).await;
        match me.error {
            Some(e) => Err(e),
            None => Ok(me.output.is_some_and(|agent| agent["kind"] == "console")),
        }
    }

    /// Runs a command for the console itself, in the console's session, and returns the response
    /// with text and data.
    pub(crate) async fn ask(&self, mut request: Request) -> Response {
        request.session.clone_from(&self.setup.session);
        request.render = Render { format: Format::Both, ..request.render };
        self.setup.client.call(request, CancellationToken::new()).await
    }

    /// Runs one line until it ends or continues in the background. If the line ran a command, the
    /// conversation contains the command's entry when this function returns, or a warning in the
    /// output says why not.
    pub(crate) async fn run(&self, line: &str, cancel: CancellationToken) -> Outcome {
        let mut outcome = self.run_line(line, cancel).await.unwrap_or_else(|e| error_outcome(&e));
        // A background command that has ended is reported with the next line.
        for ended in self.background.ended().await {
            outcome.printed.err.push_str(&(self.setup.print)(&ended, false).err);
        }
        outcome
    }

    async fn run_line(&self, line: &str, cancel: CancellationToken) -> Result<Outcome> {
        let out = match self.grammar().read(line)? {
            Parsed::Nothing => return Ok(Outcome::default()),
            Parsed::Quit => return Ok(Outcome { quit: true, ..Outcome::default() }),
            Parsed::Command(call) => return self.command(*call, cancel).await,
            Parsed::Print(text) => text,
            Parsed::Help(topic) => (self.setup.help)(&topic)?,
            Parsed::Clear => {
                self.store.clear().await?;
                match self.setup.context {
                    Some(_) => "the context is empty; the conversation stays in the session log".to_owned(),
                    None => "the context is empty".to_owned(),
                }
            }
        };
        Ok(Outcome { printed: Printed { out, err: String::new() }, ..Outcome::default() })
    }

    async fn command(&self, mut call: Call, cancel: CancellationToken) -> Result<Outcome> {
        let conversation = self.store.snapshot().await?;
        let it = call.resolve_it(&conversation)?;
        let json = call.options.json;
        let response = self.call(&call, cancel).await;
        let mut printed = (self.setup.print)(&response, json);
        if let Some(it) = it.filter(|_| !json) {
            printed.out = format!("it is {}\n{}", stickpin_tree::escape(&it, usize::MAX), printed.out);
        }
        let mut entry = entry(&call, &response);
        entry.events = std::mem::take(&mut self.shown.lock());
        if let Err(e) = self.store.append(entry).await {
            printed.err.push_str(&format!("warning: this command could not be added to the context: {e}\n"));
        }
        Ok(Outcome { printed, exit: response.exit, ran: true, quit: false })
    }

    async fn call(&self, call: &Call, cancel: CancellationToken) -> Response {
        let session = call.options.session.clone().or_else(|| self.setup.session.clone());
        if let Some(command) = call.client_command {
            // The console shows the response; a progress bar would tear its screen.
            let (progress, shown) = mpsc::unbounded_channel();
            let call_context = ClientCall {
                client: Arc::clone(&self.setup.client),
                caller: self.setup.caller.clone(),
                session,
                render: call.options.render(),
                variables: self.setup.variables.clone(),
                progress,
                policy: Arc::new(AllowAll),
                installation: Arc::clone(&self.setup.installation),
                cancel,
            };
            return match command.serves() {
                true => self.background.start(command, call.input.clone(), call_context, shown).await,
                false => command.run(call.input.clone(), call_context).await,
            };
        }
        let mut input = call.input.clone();
        if let Some(policy) = self.setup.stale_refs.as_deref().filter(|policy| !policy.is_empty())
            && call.definition.fields().iter().any(|field| field.name == "staleRefs")
        {
            input.entry("staleRefs").or_insert_with(|| Value::from(policy));
        }
        let request = Request {
            input,
            session,
            render: call.options.render(),
            timeout_ms: call.options.timeout_ms,
            turn: call.options.turn,
            ..Request::new(call.definition.spec.name, self.setup.caller.clone())
        };
        self.setup.client.call(request, cancel).await
    }
}

/// Creates the entry of a completed command.
fn entry(call: &Call, response: &Response) -> Entry {
    let refs = response.refs.as_ref();
    // A read that found one element makes that element the target of `it`, as an action does.
    let found = refs.and_then(|refs| match refs.issued[..] {
        [(first, last)] if first == last => Some(format!("@e{first}")),
        _ => None,
    });
    let is_unknown = |e: &Error| matches!(e.code, ErrorCode::InvalidArgs | ErrorCode::RefNotFound);
    let target = match &response.error {
        Some(e) if is_unknown(e) => None,
        Some(_) => call.target(),
        None => call.target().or(found),
    };
    let result = match &response.error {
        Some(e) => format!("{}: {}", e.code.name(), e.message),
        None => "ok".to_owned(),
    };
    let generation = response.refs_generation;
    // Nobody refers to more ranges than this.
    let pins = refs.map(|refs| refs.issued.iter().copied().take(MAX_PINS).collect()).unwrap_or_default();
    Entry { prompt: call.without_secrets(), result, target, generation, pins, events: Vec::new() }
}

fn error_outcome(error: &Error) -> Outcome {
    let err = Text::of_error(error) + "\n";
    let exit = error.code.exit();
    Outcome { printed: Printed { out: String::new(), err }, exit, ..Outcome::default() }
}
