//! `type`: types text key by key, where the focus is or into an element.

use crate::act::focus;
use crate::commands::prelude::*;
use stickpin_device::Action;

acting! {
    /// Type a text key by key where the focus is, or into an element that is focused first.
    ///
    /// Keeps what is there.
    ///
    /// For replacing the content of a field, `fill` is faster and checks the result.
    pub struct Type {
        /// The text.
        #[schemars(extend("x-positional" = 0, "x-text" = true))]
        text: String,
        /// Ref or selector of what is focused first.
        #[serde(default)]
        #[schemars(extend("x-placeholder" = "TARGET"))]
        into: Option<Target> = None,
    }
}

impl Command for Type {
    const SPEC: Spec = Spec {
        name: "type",
        effect: Effect::Mutates,
        needs: &[Capability::Type],
        examples: &["stickpin type hello", "stickpin type --into @e5 'dear all'"],
        ..Spec::SESSION
    };
    type Output = Acted;

    fn time(&self) -> Time {
        self.how().time(Self::SPEC.deadline, crate::command::args::typing(&self.text))
    }

    async fn run(self, cx: &mut Cx) -> Result<Acted> {
        let how = self.how();
        let ready = match &self.into {
            Some(target) => {
                let ready = act::ready(cx, target, Reach::View, how).await?;
                input::editable(&ready)?;
                Some(ready)
            }
            None => None,
        };
        match &ready {
            Some(ready) => outcome::before(cx, ready).await?,
            None => drop(cx.device()?.notices().await?),
        }
        let target = ready.as_ref().map(Ready::element).transpose()?;
        let words = match &ready {
            Some(ready) => format!("into {}", ready.words),
            None => match focus::for_text(cx, &self.text).await? {
                Some(focus) => format!("into {}, which has the focus", focus.words),
                None => "with nothing focused".to_owned(),
            },
        };
        let action = Action::Type { target, text: self.text.clone() };
        match &ready {
            Some(ready) => input::perform_on(cx, &action, ready).await?,
            None => input::perform(cx, &action, &words).await?,
        };
        outcome::after(cx, ready.as_ref(), how, Acted::new("typed", words)).await
    }
}
