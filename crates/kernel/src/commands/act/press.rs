//! `press`: presses an element with the pointer.

pub use crate::api::keys::Held;
use crate::commands::prelude::*;
use crate::commands::wait::traffic::{Saved, download};
use crate::commands::wait::usual;
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
        #[serde(default = "once")]
        #[schemars(range(min = 1, max = 3), extend("x-placeholder" = "N"))]
        count: u8 = once(),
        /// The mouse button.
        #[serde(default)]
        button: Button = Button::default(),
        /// Keys held during the press: `Control`, `Shift+Alt`.
        #[serde(default)]
        #[schemars(extend("x-placeholder" = "KEYS"))]
        modifiers: Held = Held::default(),
        /// Wait for the download and save it to this path or into this folder.
        #[schemars(extend("x-path" = "written", "x-placeholder" = "PATH"))]
        download: Option<String> = None,
    }
}

/// The output of a press.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Pressed {
    /// The act.
    #[serde(flatten)]
    pub acted: Acted,
    /// The downloaded file (`--download`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub downloaded: Option<Saved>,
}

impl Show for Pressed {
    fn show(&self, text: &mut Text) {
        self.acted.show(text);
        if let Some(saved) = &self.downloaded {
            saved.show(text);
        }
    }
}

fn once() -> u8 {
    1
}

impl Press {
    /// Returns how long to wait for the download, if one is requested.
    fn file_time(&self) -> Duration {
        self.download.as_ref().map_or(Duration::ZERO, |_| Duration::from_millis(usual()))
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
    type Output = Pressed;

    fn time(&self) -> Time {
        self.how().time(Self::SPEC.deadline + self.file_time(), self.file_time())
    }

    async fn run(self, cx: &mut Cx) -> Result<Pressed> {
        if !(1..=3).contains(&self.count) {
            return Err(Error::invalid_args(format!("`count` is {}, not 1, 2 or 3", self.count)));
        }
        let how = self.how();
        let action = |ready: &Ready| Action::Press {
            point: ready.point,
            target: ready.receiver(),
            button: self.button,
            count: self.count,
            modifiers: self.modifiers.0,
            hold: Duration::ZERO,
        };
        let plain = is_plain(self.button, self.count, self.modifiers.0, Duration::ZERO);
        let ready = input::press(cx, &self.target, plain, how, action).await?;
        let acted = outcome::after(cx, Some(&ready), how, Acted::new("pressed", &ready.words)).await?;
        let downloaded = match &self.download {
            Some(to) => {
                Some(download(cx, None, Some(to), usual()).await.map_err(|e| e.dispatched(cx.dispatched()))?)
            }
            None => None,
        };
        Ok(Pressed { acted, downloaded })
    }
}
