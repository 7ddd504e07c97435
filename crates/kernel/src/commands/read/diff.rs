//! `diff snapshot`: prints what changed since the caller last read the whole app.

use crate::commands::prelude::*;
use crate::observe::changes::{self, Changes};

/// Print what changed in the app since your last full snapshot.
///
/// Refs that the diff does not list are still current, unless the diff was truncated.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct DiffSnapshot {
    /// Only what is needed to choose an action.
    #[schemars(extend("x-short" = "i"))]
    pub interactive: bool,
}

impl Command for DiffSnapshot {
    const SPEC: Spec = Spec {
        name: "diff snapshot",
        needs: &[Capability::Capture],
        examples: &["stickpin diff snapshot"],
        ..Spec::SESSION
    };
    type Output = Changes;

    async fn run(self, cx: &mut Cx) -> Result<Changes> {
        changes::changes_since_base(cx, Origin::Snapshot, self.interactive, None).await
    }
}
