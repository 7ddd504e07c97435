//! Facets: features that only some devices have. Each facet is a trait, and a device returns those
//! that it implements.

mod clipboard;
mod dialogs;
mod events;
mod files;
mod geometry;
mod lifecycle;
mod navigator;
mod popups;
mod screenshots;
mod script;
mod tabs;
mod traffic;

pub use clipboard::Clipboard;
pub use dialogs::Dialogs;
pub use events::Events;
pub use files::{FileInput, Files, InputFile};
pub use geometry::Geometry;
pub use lifecycle::{AppFolders, Lifecycle};
pub use navigator::Navigator;
pub use popups::Popups;
pub use screenshots::Screenshots;
pub use script::{Script, ScriptValue};
pub use tabs::{EndedTab, TabEndReason, TabEntry, Tabs};
pub use traffic::{Download, DownloadState, NetworkRequest, RequestEnd, Traffic, describe_request};

/// Generates the methods of [`Device`](crate::Device) that return its facets: the device itself or,
/// with `in field`, one of its fields.
#[macro_export]
macro_rules! own_facets {
    (in $field:ident: $($name:ident: $facet:ident),* $(,)?) => {
        $(fn $name(&mut self) -> Option<&mut dyn $crate::$facet> {
            Some(&mut self.$field)
        })*
    };
    ($($name:ident: $facet:ident),* $(,)?) => {
        $(fn $name(&mut self) -> Option<&mut dyn $crate::$facet> {
            Some(self)
        })*
    };
}
