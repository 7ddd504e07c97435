//! `press`: presses an element with the pointer.

pub use crate::api::keys::HeldModifiers;
use crate::commands::prelude::*;
use crate::commands::wait::default_timeout;
use crate::commands::wait::traffic::{DownloadOutput, wait_download};
use stickpin_device::{Action, Button, is_plain};

acting! {
    /// Press an element, as a person with a mouse or finger would.
    ///
    /// The element is scrolled into view, and a hit test checks that the press reaches it. Fails
    /// when the element is disabled, covered or off-screen.
    pub struct Press {
        /// Ref, selector, or `x,y`.
        #[schemars(extend("x-positional" = 0))]
        target: Target,
        /// Number of presses: 2 is a double click.
        #[serde(default = "default_count")]
        #[schemars(range(min = 1, max = 3), extend("x-placeholder" = "N"))]
        count: u8 = default_count(),
        /// The mouse button.
        #[serde(default)]
        button: Button = Button::default(),
        /// Keys held during the press: `Control`, `Shift+Alt`.
        #[serde(default)]
        #[schemars(extend("x-placeholder" = "KEYS"))]
        modifiers: HeldModifiers = HeldModifiers::default(),
        /// Wait for the download and save it to this path or into this folder.
        #[schemars(extend("x-path" = "written", "x-placeholder" = "PATH"))]
        download: Option<PathArg> = None,
    }
}

/// The output of a press.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PressOutput {
    /// The outcome of the press itself.
    #[serde(flatten)]
    pub acted: ActionOutput,
    /// The downloaded file, if `--download` was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub downloaded: Option<DownloadOutput>,
}

impl Show for PressOutput {
    fn show(&self, text: &mut Text) {
        self.acted.show(text);
        if let Some(saved) = &self.downloaded {
            saved.show(text);
        }
    }
}

fn default_count() -> u8 {
    1
}

impl Press {
    /// Returns how long to wait for the download, or zero if none is requested.
    fn file_time(&self) -> Duration {
        self.download.as_ref().map_or(Duration::ZERO, |_| Duration::from_millis(default_timeout()))
    }
}

impl Command for Press {
    const SPEC: Spec = Spec {
        name: "press",
        aliases: &["click", "tap"],
        effect: Effect::Mutates,
        needs: &[Capability::Press],
        examples: &[
            "stickpin press @e3 --settle",
            "stickpin press 'role=button \"Save\"'",
            "stickpin press 120,48",
            "stickpin press @e7 --download report.csv",
        ],
        ..Spec::SESSION
    };
    type Output = PressOutput;

    fn time_limits(&self) -> TimeLimits {
        self.action_options().time_limits(Self::SPEC.deadline + self.file_time(), self.file_time())
    }

    async fn run(self, cx: &mut Cx) -> Result<PressOutput> {
        let save_as = cx.resolve_optional_path(self.download.as_ref())?;
        if !(1..=3).contains(&self.count) {
            return Err(Error::invalid_args(format!("`count` is {}; it must be 1, 2 or 3", self.count)));
        }
        let opts = self.action_options();
        let action = |ready: &ActionTarget| Action::Press {
            point: ready.point,
            target: ready.receiver(),
            button: self.button,
            count: self.count,
            modifiers: self.modifiers.0,
            hold: Duration::ZERO,
        };
        let plain = is_plain(self.button, self.count, self.modifiers.0, Duration::ZERO);
        let ready = input::press_target(cx, &self.target, plain, opts, action).await?;
        let acted =
            outcome::finish_action(cx, Some(&ready), opts, ActionOutput::new("pressed", &ready.description))
                .await?;
        let downloaded = match &save_as {
            Some(to) => Some(
                wait_download(cx, None, Some(to.as_path()), default_timeout())
                    .await
                    .map_err(|e| e.dispatched(cx.dispatched()))?,
            ),
            None => None,
        };
        Ok(PressOutput { acted, downloaded })
    }
}
