//! What every surface has to know of a command, as data.

use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;
use stickpin_device::Capability;

/// A command as data. Written as `Spec { name: "press", ..Spec::SESSION }`.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// The leaf's name. Two words make it part of a group; the leaf that is named by the first word alone is the
    /// group's default.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// Whether it changes the app; [`Command::effect`](crate::Command::effect) may know better.
    pub effect: Effect,
    /// What it runs against.
    pub scope: Scope,
    /// How it is served while other commands of the session run.
    pub lane: Lane,
    /// What the device must be able to do.
    pub needs: &'static [Capability],
    /// Whether doing it twice with the same arguments changes nothing more than doing it once.
    pub idempotent: bool,
    /// Whether it works while a dialog of the app waits for an answer.
    pub despite_dialog: bool,
    /// When it has to be over.
    pub deadline: Duration,
    /// Whether it may write a file of the caller's although no argument names one.
    pub writes: bool,
    /// Whether a session that is recorded writes it down. What is about the session itself is not.
    pub recorded: bool,
    /// Whether it states what must hold: a recording keeps it, although it only reads, where it held.
    pub asserts: bool,
    /// Command lines that work, for help and docs.
    pub examples: &'static [&'static str],
}

impl Spec {
    /// Reads from a session, in turn with its other commands.
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
        asserts: false,
        examples: &[],
    };

    /// Concerns the host, not one session.
    pub const HOST: Self =
        Self { scope: Scope::Host, despite_dialog: true, recorded: false, ..Self::SESSION };

    /// The group that it belongs to, if its name has two words.
    #[must_use]
    pub fn group(&self) -> Option<&'static str> {
        self.name.split_once(' ').map(|(group, _)| group)
    }
}

/// Whether a command changes the app.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Effect {
    /// It only looks.
    Reads,
    /// It may change something: it is written to the journal before the device is touched.
    Mutates,
}

/// What a command runs against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Scope {
    /// The host: its sessions, its providers.
    Host,
    /// One open session.
    Session,
}

/// How a command is served while others of its session run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lane {
    /// After those that came before it.
    InTurn,
    /// Before all that wait; what runs ends or pauses first.
    Ahead,
    /// At once: it does not need the device.
    Beside,
}
