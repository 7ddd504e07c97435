//! The registry: the commands of the kernel, in the order in which help and docs print them.

use crate::command::entry::entry;
use crate::commands;
use std::sync::LazyLock;
use stickpin_device::Result;

pub use crate::api::command_definition::CommandDefinition;
pub use crate::command::entry::Entry;
pub use crate::command::table::CommandTable;

/// The commands of the kernel that help lists.
pub static COMMANDS: &[Entry] = &LIST;

/// Commands that only stickpin's own front ends send. They can be called like any other command,
/// but help, docs and tool lists omit them.
pub static INTERNAL: &[Entry] = &INTERNAL_LIST;

static INTERNAL_LIST: [Entry; 4] = [
    entry::<commands::coordinate::context::ContextRead>(),
    entry::<commands::coordinate::context::ContextAdd>(),
    entry::<commands::coordinate::context::ContextClear>(),
    entry::<commands::coordinate::context::ContextTree>(),
];

macro_rules! list {
    ($($(#[$if:meta])* $command:path,)*) => {
        static LIST: [Entry; [$($(#[$if])* stringify!($command)),*].len()] =
            [$($(#[$if])* entry::<$command>()),*];
    };
}

list! {
    commands::session::open::Open,
    commands::session::close::Close,
    commands::read::snapshot::Snapshot,
    commands::read::markdown::Read,
    commands::read::diff::DiffSnapshot,
    #[cfg(feature = "pictures")]
    commands::read::diff_screenshot::DiffScreenshot,
    commands::act::press::Press,
    commands::act::longpress::LongPress,
    commands::act::hover::Hover,
    commands::act::drag::Drag,
    commands::act::fill::Fill,
    commands::act::type_text::Type,
    commands::act::key::Key,
    commands::act::form::Form,
    commands::act::select::Select,
    commands::act::check::Check,
    commands::act::check::Uncheck,
    commands::act::upload::Upload,
    commands::act::scroll::Scroll,
    commands::read::get::Get,
    commands::read::get::GetTitle,
    commands::read::get::GetUrl,
    commands::read::count::Count,
    commands::read::find::Find,
    commands::read::is::Is,
    commands::wait::element::Wait,
    commands::wait::element::WaitAbsent,
    commands::wait::page::WaitMs,
    commands::wait::page::WaitText,
    commands::wait::page::WaitUrl,
    commands::wait::page::WaitStable,
    commands::wait::traffic::WaitRequest,
    commands::wait::traffic::WaitDownload,
    commands::wait::traffic::WaitFn,
    #[cfg(feature = "pictures")]
    commands::read::screenshot::Screenshot,
    commands::act::clipboard::ClipboardRead,
    commands::act::clipboard::ClipboardWrite,
    commands::navigate::history::Back,
    commands::navigate::history::Forward,
    commands::navigate::history::Reload,
    commands::navigate::history::Home,
    commands::navigate::tab::TabList,
    commands::navigate::tab::TabNew,
    commands::navigate::tab::TabSwitch,
    commands::navigate::tab::TabClose,
    commands::navigate::tab::TabShow,
    commands::act::alert::AlertStatus,
    commands::act::alert::AlertAccept,
    commands::act::alert::AlertDismiss,
    commands::session::batch::Batch,
    #[cfg(feature = "recording")]
    commands::session::record::RecordStart,
    #[cfg(feature = "recording")]
    commands::session::record::RecordStop,
    commands::session::devices::Devices,
    commands::session::capabilities::Capabilities,
    commands::session::doctor::Doctor,
    commands::session::doctor::DoctorState,
    commands::session::identity::DoctorIdentity,
    commands::session::sessions::SessionList,
    commands::session::sessions::SessionShow,
    commands::session::restore::SessionRestore,
    commands::session::delegate::SessionSpawn,
    commands::session::delegate::SessionStop,
    commands::session::delegate::SessionReclaim,
    commands::session::delegate::SessionPrune,
    commands::session::peers::SessionPeer,
    commands::session::peers::SessionUnpeer,
    commands::session::upkeep::SessionPolicy,
    commands::session::upkeep::SessionAdopt,
    commands::session::gc::SessionGc,
    commands::session::upkeep::LogVerify,
    commands::session::upkeep::LogRepair,
    commands::session::gc::LogMigrate,
    commands::coordinate::feed::SessionLog,
    commands::coordinate::claim::TurnWait,
    commands::coordinate::claim::TurnTry,
    commands::coordinate::hand_over::TurnRelease,
    commands::coordinate::hand_over::TurnAssign,
    commands::coordinate::claim::TurnTake,
    commands::coordinate::members::TurnState,
    commands::coordinate::members::TurnJoin,
    commands::coordinate::members::TurnLeave,
    commands::coordinate::members::TurnKick,
    commands::coordinate::feed::Events,
    commands::coordinate::talk::MsgSend,
    commands::coordinate::feed::MsgRecv,
    commands::coordinate::talk::NotesAdd,
    commands::coordinate::talk::NotesList,
    commands::coordinate::talk::NotesResolve,
    commands::session::whoami::Whoami,
    commands::session::identity::IdentityLink,
}

/// Returns all commands of the kernel, including those that help omits.
#[must_use]
pub fn commands() -> &'static CommandTable {
    static TABLE: LazyLock<CommandTable> = LazyLock::new(|| CommandTable::new(all()));
    &TABLE
}

/// Returns the command with this name or alias.
#[must_use]
pub fn find(name: &str) -> Option<&'static Entry> {
    commands().find(name)
}

/// Returns the command with this name or alias.
///
/// # Errors
/// Returns `INVALID_ARGS` for an unknown name, with the most similar name in the hint if there is
/// one.
pub fn lookup(name: &str) -> Result<&'static Entry> {
    commands().lookup(name)
}

/// Returns every command of the kernel.
pub(crate) fn all() -> impl Iterator<Item = &'static Entry> {
    COMMANDS.iter().chain(INTERNAL)
}

#[cfg(test)]
mod tests;
