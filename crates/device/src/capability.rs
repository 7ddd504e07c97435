//! The capabilities of a device, as data.

use serde::{Deserialize, Serialize};

macro_rules! capabilities {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// A feature that a device may support.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "named after the commands that need them")]
        pub enum Capability { $($(#[$doc])* $name,)* }

        impl Capability {
            /// All capabilities.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];
        }
    };
}

capabilities! {
    Capture,
    Locate,
    Press,
    LongPress,
    Hover,
    Drag,
    Fill,
    Type,
    Key,
    Select,
    Scroll,
    Upload,
    Clipboard,
    History,
    Reload,
    Navigate,
    Screenshot,
    Dialogs,
    Html,
    Attrs,
    Settle,
    Tabs,
    Requests,
    Downloads,
    Evaluate,
    /// The context of a target is compared in the task in which the app receives the input. Without
    /// this capability, the last capture before the input decides, and a later change is reported
    /// after the action.
    GuardContext,
}
