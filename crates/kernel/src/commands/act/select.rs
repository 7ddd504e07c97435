//! `select`: selects options of a list, whether it is native or built from ARIA roles.

use crate::act::choice;
use crate::commands::prelude::*;

acting! {
    /// Choose options of a list by their label or value. A closed list is opened first.
    ///
    /// Afterwards, exactly these options are selected. A custom list is opened and its options are
    /// pressed; in an autocomplete, the text is typed. Radio groups, even in menus, count as lists.
    pub struct Select {
        /// Ref or selector of the combobox or list.
        #[schemars(extend("x-positional" = 0))]
        target: Target,
        /// Labels or values; several only if the list allows it.
        #[schemars(length(min = 1), extend("x-positional" = 1, "x-trailing" = true, "x-text" = true))]
        options: Vec<String>,
    }
}

impl TargetedAction for Select {
    const SPEC: Spec = Spec {
        name: "select",
        idempotent: true,
        effect: Effect::Mutates,
        needs: &[Capability::Select],
        examples: &["stickpin select @e6 Austria", "stickpin select 'label=Colours' red blue"],
        ..Spec::SESSION
    };

    async fn act(self, cx: &mut Cx, opts: ActionOptions) -> Result<(ActionTarget, ActionOutput)> {
        choice::choose(cx, &self.target, &self.options, opts).await
    }
}
