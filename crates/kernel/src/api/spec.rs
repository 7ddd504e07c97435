//! The properties of a command that every front end needs, as data.

use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;
use stickpin_device::Capability;

/// The properties of a command. Written as `Spec { name: "press", ..Spec::SESSION }`.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// The command's name. A name of two words puts the command into a group: `wait url` is in the
    /// group `wait`. The command named `wait` is the default of that group.
    pub name: &'static str,
    /// Alternative names.
    pub aliases: &'static [&'static str],
    /// Whether the command changes the app; [`Command::effect`](crate::Command::effect) may be more
    /// precise.
    pub effect: Effect,
    /// What the command runs against.
    pub scope: Scope,
    /// The scheduling relative to other commands of the session.
    pub lane: Lane,
    /// The capabilities that the device must have.
    pub needs: &'static [Capability],
    /// Whether repeating the command with the same arguments changes nothing more.
    pub idempotent: bool,
    /// Whether the command works while a dialog of the app is pending.
    pub despite_dialog: bool,
    /// The default time limit of the command, without the waits that its caller requests.
    pub deadline: Duration,
    /// Whether the command changes something other than the app: one of the caller's files that no
    /// argument names, or the turns, members, records and limits of sessions.
    pub writes: bool,
    /// Whether a recording may include the command. Most commands about the session itself are
    /// excluded.
    pub recorded: bool,
    /// Whether the session log records the command. A command that is not logged leaves no trace
    /// for other callers either: notices from the app stay for the next command.
    pub logged: bool,
    /// Whether the command is an assertion: a recording keeps an assertion that held, although it
    /// only reads.
    pub asserts: bool,
    /// How a front end repeats the command to follow new entries, or `None` if the command cannot
    /// be followed.
    pub follows: Option<Follow>,
    /// Whether the command takes a picture that a front end can show, the `image` of its response.
    pub makes_picture: bool,
    /// Whether a client repeats the request if the daemon exits while the command is running.
    pub reconnects: bool,
    /// Valid command lines, for help and docs.
    pub examples: &'static [&'static str],
}

impl Spec {
    /// A command that reads from a session and runs after the session's earlier commands.
    pub const SESSION: Self = Self {
        name: "",
        aliases: &[],
        effect: Effect::Reads,
        scope: Scope::Session,
        lane: Lane::InTurn,
        needs: &[],
        idempotent: false,
        despite_dialog: false,
        deadline: Duration::from_secs(30),
        writes: false,
        recorded: true,
        logged: true,
        asserts: false,
        follows: None,
        makes_picture: false,
        reconnects: false,
        examples: &[],
    };

    /// A command that concerns the host rather than one session.
    pub const HOST: Self =
        Self { scope: Scope::Host, despite_dialog: true, recorded: false, ..Self::SESSION };

    /// A command that changes who may do what in a session, or adds to its records.
    pub const COORDINATION: Self = Self { writes: true, ..Self::HOST };

    /// Returns the group of the command, if its name has two words.
    #[must_use]
    pub fn group(&self) -> Option<&'static str> {
        self.name.split_once(' ').map(|(group, _)| group)
    }
}

/// The arguments with which a front end follows a command. The front end waits for the next
/// entries, prints them, and repeats the command from the position after them. The output contains
/// the entries as `events`, each with its `seq`, the position after them as `cursorSeq`, and
/// `closed` when no further entries can come. An output with entries of several sessions contains
/// the position in each session as `cursors` instead of `cursorSeq`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Follow {
    /// The flag that makes the command wait for an entry.
    pub wait: &'static str,
    /// The argument for the maximum duration of a wait, in milliseconds.
    pub timeout: &'static str,
    /// The argument for the position after which to begin.
    pub after: &'static str,
    /// The argument for the positions in several sessions after which to begin, as `NAME=SEQ`, if
    /// the command can follow several sessions.
    pub cursors: Option<&'static str>,
}

/// Whether a command changes the app.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Effect {
    /// The command only reads.
    Reads,
    /// The command may change something: it is written to the session log before the device is
    /// used.
    Mutates,
}

/// What a command runs against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Scope {
    /// The host with its sessions and providers.
    Host,
    /// One open session.
    Session,
}

/// How a command is scheduled relative to other commands of its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lane {
    /// Runs after earlier commands.
    InTurn,
    /// Runs before all queued commands, as soon as the running one ends or pauses.
    Ahead,
    /// Runs immediately, because the command does not need the device.
    Beside,
}
