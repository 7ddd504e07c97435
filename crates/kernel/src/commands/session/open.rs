//! `open`: starts an app in a session, or navigates in the session's app.

mod in_use;
mod launch;
mod manifest;
pub(super) mod options;
mod output;
mod values;

pub use output::OpenOutput;

use crate::api::command_definition::CommandDefinition;
use crate::command::args::OptionalValue;
use crate::commands::prelude::*;
use crate::commands::read::get::page;
use crate::commands::read::snapshot::Snapshot;
use crate::commands::session::open::options::option_flag;
use crate::commands::session::open::values::{ContextRule, StaleRefs};
use crate::commands::session::record;
use crate::host::SessionSlot;
use crate::host::queue::Position;
use serde_json::{Map, Value};
use stickpin_device::{LeavePolicy, Navigation, Viewport};
use stickpin_session::log::StartReason;

/// The only device option that can change while the session is open.
const VIEWPORT: &str = "viewport";

/// The definition of `open` for its log entry.
static DEFINITION: CommandDefinition = CommandDefinition::of::<Open>(Open::SPEC);

/// Open a page or app in the session, and return when it is ready.
///
/// If the session is already open on the same platform, its app navigates there and refs are kept;
/// `--relaunch` starts the app again in a new lifetime.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Open {
    /// A URL, a file, or an app of another platform: `sim:shop`.
    #[schemars(extend("x-positional" = 0, "x-opens" = true))]
    pub what: String,
    /// Print the first snapshot, as `snapshot -i` does.
    #[serde(default)]
    #[schemars(extend("x-short" = "i", "x-unrecorded" = true))]
    pub interactive: bool,
    /// Show the window on the display of this machine.
    #[serde(default)]
    pub headed: bool,
    /// Attach to a running app instead of starting one; `close` leaves it running.
    #[serde(default)]
    pub attach: bool,
    /// Run the app on a private display with its own pointer and keyboard. Default when no display
    /// is available.
    #[serde(default)]
    pub private: bool,
    /// Start a desktop app in a fresh home folder, which `close` removes together with the app's
    /// files. Without this option the app uses your home folder and working directory.
    #[serde(default)]
    pub private_home: bool,
    /// Close the open app first and start a new lifetime.
    #[serde(default)]
    pub relaunch: bool,
    /// Size of the viewport in CSS pixels: `1280x800`.
    #[schemars(extend("x-placeholder" = "WxH"))]
    pub viewport: Option<Viewport>,
    /// Keep cookies and logins in this folder, instead of a temporary one that `close` removes.
    #[schemars(extend("x-path" = "written", "x-placeholder" = "DIR"))]
    pub profile: Option<PathArg>,
    /// Another option of the device; `stickpin capabilities` lists the options by platform.
    #[serde(default)]
    #[schemars(extend("x-placeholder" = "NAME=VALUE"))]
    pub option: Vec<String>,
    /// Minutes without commands after which the session closes; 0 keeps it open.
    #[schemars(extend("x-placeholder" = "MINUTES"))]
    pub idle_timeout: Option<u32>,
    /// Record the commands that follow; `record stop` or `close --save` writes the script.
    #[schemars(extend("x-value" = "optional", "x-path" = "written", "x-placeholder" = "FILE", "x-unrecorded" = true))]
    pub record: Option<OptionalValue<PathArg>>,
    /// How to treat refs that are unproven.
    #[schemars(extend("x-placeholder" = "HOW"))]
    pub stale_refs: Option<StaleRefs>,
    /// What to do when the content that a target belongs to has changed since you last looked:
    /// refuse once (the default), act and warn, or do not compare.
    #[schemars(extend("x-placeholder" = "HOW"))]
    pub context: Option<ContextRule>,
}

impl Command for Open {
    const SPEC: Spec = Spec {
        name: "open",
        effect: Effect::Mutates,
        recorded: true,
        deadline: Duration::from_secs(60),
        examples: &["stickpin open http://127.0.0.1:3000 -i", "stickpin open sim:shop"],
        ..Spec::HOST
    };
    type Output = OpenOutput;

    async fn run(mut self, cx: &mut Cx) -> Result<OpenOutput> {
        let given = self.arguments()?;
        let recorded = self.record.take().and_then(OptionalValue::requested);
        if recorded.is_some() && !cfg!(feature = "recording") {
            return Err(Error::unsupported("this host does not record scripts; nothing was opened")
                .hint("omit `--record`"));
        }
        if let Some(file) = cx.caller.resolve_opened(&self.what)? {
            self.what = file.display().to_string();
        }
        let script = cx.resolve_optional_path(recorded.as_ref().and_then(Option::as_ref))?;
        let options = self.device_options(cx)?;
        self.check_program(cx)?;
        let kind = cx.host.provider(&self.what)?.kind();
        loop {
            let (slot, new) = cx.host.slot_or_new(&cx.session_name, &cx.caller.key);
            if !new && slot.owner != cx.caller.key {
                return Err(other_owner_error(&slot));
            }
            // Opening within an open session is an action in that session.
            let admitted = if new { None } else { authority::admit(cx, Effect::Mutates).await? };
            cx.check_out(slot.clone(), Position::Next).await?;
            // The session may have been closed, or may have failed to open, while this command
            // waited for its checkout.
            if !cx.host.is_open(&slot) {
                cx.check_in();
                continue;
            }
            let open = cx.open_session().ok().map(|live| live.device.info().kind);
            let opened = match open.filter(|_| !self.relaunch) {
                Some(open) if open != kind => Err(other_kind_error(&slot.name, open, &self.what)),
                Some(_) => {
                    authority::begin(cx, &DEFINITION, admitted, &given)?;
                    self.go_on(cx, &given, options).await
                }
                None => self.launch(cx, &given, options, StartReason::Open, None).await,
            };
            if cx.open_session().is_err() {
                // A session exists only if its app could be opened.
                cx.host.remove(&slot);
            }
            let mut opened = opened?;
            if recorded.is_some() {
                record::start_recording(cx, script, false)?;
            } else if opened.new && cx.open_session()?.recorder.is_none() {
                record::warn_unsaved(cx);
            }
            // A page that opens with a dialog counts as open; the response names the dialog.
            if cx.device()?.dialog().is_some() {
                return Ok(opened);
            }
            if opened.url.is_empty() {
                let at = page(cx).await?;
                (opened.url, opened.title) = (at.url, at.title);
            }
            if self.interactive {
                capture::capture_app(cx, Origin::Snapshot).await?;
                opened.snapshot = Some(Snapshot::interactive().outline(cx, None)?);
            }
            return Ok(opened);
        }
    }
}

impl Open {
    /// Creates an `open` command with the default options.
    #[must_use]
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), ..Self::default() }
    }

    /// Navigates in the open app, or launches a new one if the app has ended unnoticed.
    async fn go_on(
        &self,
        cx: &mut Cx,
        given: &Map<String, Value>,
        options: Map<String, Value>,
    ) -> Result<OpenOutput> {
        match self.navigate(cx, &options).await {
            Err(e) if e.code == ErrorCode::BackendLost => {
                // The next commands belong to the next lifetime.
                authority::end(cx, Some(&e), None);
                cx.warn(format!("{}: a new lifetime begins, and earlier refs have ended.", e.message));
                // The recording continues in the new lifetime.
                let recorder = cx.open_session()?.recorder.take();
                let opened = self.launch(cx, given, options, StartReason::Restore, None).await?;
                cx.open_session()?.recorder = recorder;
                Ok(opened)
            }
            opened => opened,
        }
    }

    /// Refuses to start a program for a caller that may start only installed apps.
    ///
    /// # Errors
    /// Returns `POLICY_DENIED` for such a program.
    pub(super) fn check_program(&self, cx: &Cx) -> Result<()> {
        // `--attach` starts nothing.
        if !cx.caller.installed_apps_only
            || self.attach
            || !cx.host.provider(&self.what)?.starts_program(&self.what)
        {
            return Ok(());
        }
        let message = format!(
            "{} is not an installed app, but this client may start only installed apps",
            quote(&self.what)
        );
        Err(Error::policy_denied(message).hint(
            "open an app by the name of its desktop entry, or ask a person to start the server with `stickpin mcp --allow-programs`",
        ))
    }

    async fn navigate(&self, cx: &mut Cx, options: &Map<String, Value>) -> Result<OpenOutput> {
        self.apply(cx, options).await?;
        // Opening another page is a decision to leave this one.
        let to = Navigation::To(self.what.clone());
        let arrived = navigation::navigate(cx, &to, LeavePolicy::Discard).await?;
        OpenOutput::new(cx, arrived, false)
    }

    /// Applies the options that can change while the session is open.
    ///
    /// # Errors
    /// Returns `INVALID_ARGS` if another device option would have to change, or if the viewport
    /// cannot be resized. Nothing is changed in that case, and the hint names `--relaunch`. Returns
    /// errors from the device.
    async fn apply(&self, cx: &mut Cx, options: &Map<String, Value>) -> Result<()> {
        let launched = &cx.open_session()?.options;
        let is_fixed = |name: &str, value: &Value| name != VIEWPORT && launched.get(name) != Some(value);
        if let Some((name, _)) = options.iter().find(|(name, value)| is_fixed(name, value)) {
            return Err(fixed_at_launch_error(name, &self.what));
        }
        if let Some(Viewport(width, height)) = self.viewport {
            let resized = match facets::geometry(cx.device()?, "change the size of its viewport") {
                Ok(geometry) => geometry.resize(width, height).await,
                Err(e) => Err(e),
            };
            match resized {
                Err(e) if e.code == ErrorCode::Unsupported => {
                    return Err(fixed_at_launch_error(VIEWPORT, &self.what));
                }
                resized => resized?,
            }
        }
        let live = cx.open_session()?;
        if let Some(opts) = self.stale_refs {
            live.session.set_ladder(opts.into());
        }
        if let Some(rule) = self.context {
            live.session.set_context_policy(rule.into());
        }
        if let Some(minutes) = self.idle_timeout {
            live.idle_timeout = idle(minutes);
        }
        Ok(())
    }
}

/// Converts an idle timeout in minutes; zero means no timeout.
fn idle(minutes: u32) -> Option<Duration> {
    (minutes > 0).then(|| Duration::from_secs(60 * u64::from(minutes)))
}

fn fixed_at_launch_error(name: &str, what: &str) -> Error {
    let flag = option_flag(name);
    Error::invalid_args(format!("`{flag}` cannot be changed while the session is open; nothing was done"))
        .hint(format!("run `stickpin open {what} --relaunch` with `{flag}` to restart the app, or omit `{flag}` to continue the session"))
}

fn other_owner_error(slot: &SessionSlot) -> Error {
    Error::session_exists(format!(
        "session `{}` belongs to another caller ({})",
        slot.name,
        quote(&slot.owner)
    ))
    .hint("choose another session: `--session NAME`")
}

fn other_kind_error(name: &str, open: &str, what: &str) -> Error {
    Error::session_exists(format!("session `{name}` is open on a {open} device")).hint(format!(
        "run `stickpin open {what} --relaunch` to replace its app, or use `--session NAME` to open another session"
    ))
}
