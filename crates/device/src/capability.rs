//! What a device can do, as data.

use serde::{Deserialize, Serialize};

macro_rules! capabilities {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Something a device may be able to do.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "named after the commands that need them")]
        pub enum Capability { $($(#[$doc])* $name,)* }

        impl Capability {
            /// All of them.
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
    /// What a target belongs to is compared in the task in which the app receives the input. Without it, the last look
    /// before the input decides, and what changes in between is said after the act.
    GuardContext,
}
