//! The list of commands, in the order of help and docs. Nothing else lists them.

use crate::api::schema;
use crate::command::entry::entry;
use crate::commands;
use stickpin_device::{Error, ErrorCode, Result};

pub use crate::api::form::Form;
pub use crate::command::entry::Entry;

/// All commands.
pub static COMMANDS: &[Entry] = &LIST;

macro_rules! list {
    ($($command:path,)*) => {
        static LIST: [Entry; [$(stringify!($command)),*].len()] = [$(entry::<$command>()),*];
    };
}

list! {
    commands::open::Open,
    commands::close::Close,
    commands::snapshot::Snapshot,
    commands::read::Read,
    commands::diff::DiffSnapshot,
    commands::diff_screenshot::DiffScreenshot,
    commands::press::Press,
    commands::longpress::LongPress,
    commands::hover::Hover,
    commands::drag::Drag,
    commands::fill::Fill,
    commands::type_text::Type,
    commands::key::Key,
    commands::form::Form,
    commands::select::Select,
    commands::check::Check,
    commands::check::Uncheck,
    commands::upload::Upload,
    commands::scroll::Scroll,
    commands::get::Get,
    commands::get::GetTitle,
    commands::get::GetUrl,
    commands::count::Count,
    commands::find::Find,
    commands::is::Is,
    commands::wait::Wait,
    commands::wait::WaitAbsent,
    commands::wait_for::WaitMs,
    commands::wait_for::WaitText,
    commands::wait_for::WaitUrl,
    commands::wait_for::WaitStable,
    commands::wait_traffic::WaitRequest,
    commands::wait_traffic::WaitDownload,
    commands::wait_traffic::WaitFn,
    commands::screenshot::Screenshot,
    commands::clipboard::ClipboardRead,
    commands::clipboard::ClipboardWrite,
    commands::history::Back,
    commands::history::Forward,
    commands::history::Reload,
    commands::history::Home,
    commands::tab::TabList,
    commands::tab::TabNew,
    commands::tab::TabSwitch,
    commands::tab::TabClose,
    commands::tab::TabShow,
    commands::alert::AlertStatus,
    commands::alert::AlertAccept,
    commands::alert::AlertDismiss,
    commands::batch::Batch,
    commands::record::RecordStart,
    commands::record::RecordStop,
    commands::devices::Devices,
    commands::capabilities::Capabilities,
    commands::doctor::Doctor,
    commands::session::SessionList,
    commands::session::SessionShow,
}

/// The command of a name or alias.
#[must_use]
pub fn find(name: &str) -> Option<&'static Entry> {
    COMMANDS.iter().find(|e| e.spec.name == name || e.spec.aliases.contains(&name))
}

/// The command of a name.
///
/// # Errors
/// `INVALID_ARGS` with the nearest name.
pub fn lookup(name: &str) -> Result<&'static Entry> {
    find(name).ok_or_else(|| {
        let names = COMMANDS.iter().flat_map(|e| std::iter::once(&e.spec.name).chain(e.spec.aliases));
        let hint = match schema::nearest(name, names.copied()) {
            Some(near) => format!("did you mean `{near}`? stickpin help lists the commands"),
            None => "stickpin help lists the commands".to_owned(),
        };
        Error::new(ErrorCode::InvalidArgs, format!("there is no command {}", stickpin_tree::quote(name)))
            .hint(hint)
    })
}

#[cfg(test)]
mod tests;
