//! `scroll`: scrolls the page or a container, by an amount or until an element appears.

use crate::command::args::{OptionalValue, Receipt};
use crate::commands::prelude::*;
use crate::observe::resolve::Freshness;
use crate::observe::waiting::QUIET_TIME;
use stickpin_device::{Action, AimOptions, SettleRequest};

/// The maximum number of scrolls for `--until`.
const MAX_SCROLLS: usize = 1_000;

/// The maximum share of a container that `--until` scrolls in one step, so that even a virtualized
/// list shows every row at some point.
const MAX_STEP_SHARE: f64 = 0.75;

/// How long rows may take to appear after a scroll.
const ROW_TIMEOUT: Duration = Duration::from_secs(1);

/// Scroll the page or a container, by pixels or until an element appears.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Scroll {
    /// The direction.
    #[schemars(extend("x-positional" = 0))]
    pub direction: Direction,
    /// Distance in CSS pixels.
    #[serde(default = "default_amount")]
    #[schemars(extend("x-positional" = 1, "x-placeholder" = "PIXELS"))]
    pub amount: u32,
    /// Ref or selector of the container; by default the page.
    #[serde(rename = "in")]
    pub container: Option<Target>,
    /// Scroll until this selector matches or the end is reached; the element is brought into view.
    #[schemars(extend("x-placeholder" = "SELECTOR"))]
    pub until: Option<Target>,
    /// Wait until the app is quiet (at most 10 s, or MS milliseconds), then print what changed.
    pub settle: Option<OptionalValue<u64>>,
    /// Whether to report the effects seen since the action.
    pub receipt: Option<Receipt>,
}

/// The direction of a scroll.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Direction {
    /// Towards the end.
    Down,
    /// Towards the beginning.
    Up,
    /// To the left.
    Left,
    /// To the right.
    Right,
}

/// Returns the default distance of a scroll, in CSS pixels.
fn default_amount() -> u32 {
    600
}

/// The outcome of a scroll.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScrollOutput {
    /// The outcome of the action.
    #[serde(flatten)]
    pub acted: ActionOutput,
    /// Whether anything moved.
    pub moved: bool,
    /// The element that `--until` found, with its ref.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
}

impl Scroll {
    fn action_options(&self) -> ActionOptions {
        ActionOptions::new(self.settle, None, self.receipt)
    }

    fn action(&self, target: Option<stickpin_tree::Handle>, amount: f64) -> Action {
        let (dx, dy) = match self.direction {
            Direction::Down => (0.0, amount),
            Direction::Up => (0.0, -amount),
            Direction::Left => (-amount, 0.0),
            Direction::Right => (amount, 0.0),
        };
        Action::Scroll { target, dx, dy }
    }
}

impl Command for Scroll {
    const SPEC: Spec = Spec {
        name: "scroll",
        effect: Effect::Mutates,
        needs: &[Capability::Scroll],
        deadline: Duration::from_secs(60),
        examples: &["stickpin scroll down", "stickpin scroll down --in @e4 --until 'text=\"Row 900\"'"],
        ..Spec::SESSION
    };
    type Output = ScrollOutput;

    fn time_limits(&self) -> TimeLimits {
        self.action_options().time_limits(Self::SPEC.deadline, Duration::ZERO)
    }

    async fn run(self, cx: &mut Cx) -> Result<ScrollOutput> {
        let opts = self.action_options();
        let container = match &self.container {
            Some(target) => Some(act::wait_actionable(cx, target, Actionability::Enabled, opts).await?),
            None => None,
        };
        notices::discard(cx).await?;
        let words = container.as_ref().map_or_else(|| "the page".to_owned(), |c| c.description.clone());
        let handle = container.as_ref().map(ActionTarget::element_handle).transpose()?;
        let mut amount = f64::from(self.amount);
        if let (Some(handle), Some(_)) = (handle, &self.until)
            && let Some(Some(shown)) = cx.device()?.rects(&[handle]).await?.first()
        {
            let side = match self.direction {
                Direction::Down | Direction::Up => shown.height,
                Direction::Left | Direction::Right => shown.width,
            };
            amount = amount.min((side * MAX_STEP_SHARE).max(1.0));
        }
        let action = self.action(handle, amount);
        let (moved, found) = match &self.until {
            Some(until) => self.until(cx, until, &action, &words).await?,
            None => (input::send_untargeted(cx, &action, &words).await?.moved, None),
        };
        let acted = outcome::finish_action(cx, None, opts, ActionOutput::new("scrolled", words)).await?;
        Ok(ScrollOutput { acted, moved, found })
    }
}

impl Scroll {
    async fn until(
        &self,
        cx: &mut Cx,
        until: &Target,
        action: &Action,
        words: &str,
    ) -> Result<(bool, Option<String>)> {
        let Target::Selector(selector) = until else {
            return Err(Error::invalid_args(format!("`until` needs a selector, but {until} is not one"))
                .hint("for example: `stickpin scroll down --until 'text=\"Row 900\"'`"));
        };
        let mut moved = false;
        let mut ended = false;
        for _ in 0..MAX_SCROLLS {
            let (tree, matches) = resolve::capture_matches(cx, selector, Freshness::Stored).await?;
            if let Some(&node) = matches.first() {
                if let Some(address) = tree.node(node).address() {
                    cx.device()?.aim(address, AimOptions::default()).await?;
                }
                return Ok((moved, Some(capture::issue_line(cx, &tree, node)?)));
            }
            if !input::send_untargeted(cx, action, words).await?.moved {
                ended = true;
                break;
            }
            moved = true;
            let cancel = cx.cancel.clone();
            let request = SettleRequest::new(QUIET_TIME / 3, ROW_TIMEOUT);
            cx.device()?.settle(request, &cancel).await?;
        }
        let (reason, why) = match ended {
            true => ("end", "the end was reached".to_owned()),
            false => ("rounds", format!("more content remains after {MAX_SCROLLS} scrolls")),
        };
        let message = format!("{until} did not appear in {words}: {why}");
        Err(Error::element_not_found(message)
            .hint("run `stickpin snapshot -i` to see where the scrolling stopped")
            .dispatched(cx.dispatched())
            .details(serde_json::json!({ "reason": reason, "moved": moved })))
    }
}

impl Show for ScrollOutput {
    fn show(&self, text: &mut Text) {
        self.acted.show(text);
        if let Some(found) = &self.found {
            text.line(found);
        } else if !self.moved {
            text.line("nothing moved: the end was already reached");
        }
    }
}
