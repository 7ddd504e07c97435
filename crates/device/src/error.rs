//! The error type of all front ends: a code, a message that names the element, file or value
//! concerned, a hint, and whether anything may have reached the device.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal, $exit:literal, $new:ident;)*) => {
        /// The closed list of error codes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        #[non_exhaustive]
        pub enum ErrorCode { $($(#[doc = $doc])+ #[serde(rename = $name)] $variant,)* }

        impl ErrorCode {
            /// All codes.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$variant,)*];

            /// Returns the name of the code in every front end.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(ErrorCode::$variant => $name,)* }
            }

            /// Returns the meaning of the code, in one sentence.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(ErrorCode::$variant => concat!($($doc),+).trim_start(),)* }
            }

            /// Returns the exit code of the command line.
            #[must_use]
            pub const fn exit(self) -> u8 {
                match self { $(ErrorCode::$variant => $exit,)* }
            }
        }

        /// One constructor per error code. The error has no hint, and nothing was dispatched.
        impl Error {
            $($(#[doc = $doc])+
            pub fn $new(message: impl Into<String>) -> Self {
                Self::new(ErrorCode::$variant, message)
            })*
        }
    };
}

codes! {
    /// No element matches.
    ElementNotFound = "ELEMENT_NOT_FOUND", 1, element_not_found;
    /// Several elements match and the command needs one.
    AmbiguousMatch = "AMBIGUOUS_MATCH", 1, ambiguous_match;
    /// This lifetime never issued the ref, or never had the generation of its pin.
    RefNotFound = "REF_NOT_FOUND", 1, ref_not_found;
    /// The ref no longer denotes what it was issued for.
    StaleRef = "STALE_REF", 1, stale_ref;
    /// The element is still there, but its context has changed since the client last looked.
    ContextChanged = "CONTEXT_CHANGED", 1, context_changed;
    /// The target is not in view and cannot be brought into view.
    ElementOffscreen = "ELEMENT_OFFSCREEN", 1, element_offscreen;
    /// Another element would receive the input.
    ElementCovered = "ELEMENT_COVERED", 1, element_covered;
    /// The element is disabled.
    ElementDisabled = "ELEMENT_DISABLED", 1, element_disabled;
    /// The value read back from the field differs from the text filled in.
    FillMismatch = "FILL_MISMATCH", 1, fill_mismatch;
    /// A dialog of the app blocks the command.
    DialogOpen = "DIALOG_OPEN", 1, dialog_open;
    /// The device cannot do this.
    Unsupported = "UNSUPPORTED", 1, unsupported;
    /// A replayed step found something other than what was recorded.
    ReplayDivergence = "REPLAY_DIVERGENCE", 1, replay_divergence;
    /// A policy forbids the command.
    PolicyDenied = "POLICY_DENIED", 1, policy_denied;
    /// The arguments are invalid.
    InvalidArgs = "INVALID_ARGS", 2, invalid_args;
    /// A handoff lacks its text, or is too long.
    InvalidHandoff = "INVALID_HANDOFF", 2, invalid_handoff;
    /// A message or note is empty.
    InvalidBody = "INVALID_BODY", 2, invalid_body;
    /// A message is too long.
    MessageTooLarge = "MESSAGE_TOO_LARGE", 2, message_too_large;
    /// A note, or an entry of a conversation, is too long.
    BodyTooLarge = "BODY_TOO_LARGE", 2, body_too_large;
    /// There is no such kind of event.
    InvalidEventTypeFilter = "INVALID_EVENT_TYPE_FILTER", 2, invalid_event_type_filter;
    /// The cursor is past the newest record.
    InvalidCursor = "INVALID_CURSOR", 2, invalid_cursor;
    /// The session has had no such turn.
    InvalidTurnId = "INVALID_TURN_ID", 2, invalid_turn_id;
    /// An agent must give a reason to take a turn.
    ReasonRequired = "REASON_REQUIRED", 2, reason_required;
    /// A member cannot remove itself.
    CannotKickSelf = "CANNOT_KICK_SELF", 2, cannot_kick_self;
    /// A session cannot be its own peer.
    PeerSelf = "PEER_SELF", 2, peer_self;
    /// The path starts with `~name`, which is not expanded.
    PathTildeUser = "PATH_TILDE_USER", 2, path_tilde_user;
    /// The path starts with `~`, and the caller has no home directory.
    HomeUnavailable = "HOME_UNAVAILABLE", 2, home_unavailable;
    /// The path is relative, and the client has no folder to resolve it against.
    RelativePathWithoutRoot = "RELATIVE_PATH_WITHOUT_ROOT", 2, relative_path_without_root;
    /// A wait ended before its condition was met, or a deadline passed.
    Timeout = "TIMEOUT", 3, timeout;
    /// Another agent holds the turn of the session, or the caller may not do this without it.
    NotYourTurn = "NOT_YOUR_TURN", 5, not_your_turn;
    /// The caller must request the turn first, for example to read a handoff.
    TurnRequired = "TURN_REQUIRED", 5, turn_required;
    /// The current turn is not the one that the caller expected.
    TurnMismatch = "TURN_MISMATCH", 5, turn_mismatch;
    /// The caller does not hold the current turn, or holds an old lease.
    StaleLease = "STALE_LEASE", 5, stale_lease;
    /// The turn cannot be taken from its owner now.
    TakeoverNotAvailable = "TAKEOVER_NOT_AVAILABLE", 5, takeover_not_available;
    /// Another wait of the same agent is connected.
    DuplicateListener = "DUPLICATE_LISTENER", 5, duplicate_listener;
    /// The owner of the turn must release it first.
    MustReleaseFirst = "MUST_RELEASE_FIRST", 5, must_release_first;
    /// The member is active.
    TargetActive = "TARGET_ACTIVE", 5, target_active;
    /// Another session has borrowed part of that scope.
    LoanConflict = "LOAN_CONFLICT", 5, loan_conflict;
    /// The task that renews leases is not running.
    GuardianUnavailable = "GUARDIAN_UNAVAILABLE", 5, guardian_unavailable;
    /// Another session drives the device.
    DeviceInUse = "DEVICE_IN_USE", 5, device_in_use;
    /// A session prevents this: it exists already, is in use, or belongs to another caller.
    SessionExists = "SESSION_EXISTS", 5, session_exists;
    /// No such session.
    SessionNotFound = "SESSION_NOT_FOUND", 6, session_not_found;
    /// The session exists, but the agent may not see it.
    SessionNotVisible = "SESSION_NOT_VISIBLE", 6, session_not_visible;
    /// The agent is not a member of the session.
    UnknownMember = "UNKNOWN_MEMBER", 6, unknown_member;
    /// There is no such member to assign the turn to.
    UnknownTarget = "UNKNOWN_TARGET", 6, unknown_target;
    /// No member has that name.
    UnknownRecipient = "UNKNOWN_RECIPIENT", 6, unknown_recipient;
    /// Several members have that name.
    AmbiguousRecipient = "AMBIGUOUS_RECIPIENT", 6, ambiguous_recipient;
    /// No such note.
    NoteNotFound = "NOTE_NOT_FOUND", 6, note_not_found;
    /// No such loan.
    LoanNotFound = "LOAN_NOT_FOUND", 6, loan_not_found;
    /// No such app, page or device.
    DeviceNotFound = "DEVICE_NOT_FOUND", 6, device_not_found;
    /// The id that the agent states is not valid.
    IdentityInvalid = "IDENTITY_INVALID", 7, identity_invalid;
    /// The request could have come from any of several agents.
    IdentityAmbiguous = "IDENTITY_AMBIGUOUS", 7, identity_ambiguous;
    /// A file that decides who may connect belongs to another user, or is open to others.
    IdentityDenied = "IDENTITY_DENIED", 7, identity_denied;
    /// The daemon cannot be reached or started.
    DaemonUnreachable = "DAEMON_UNREACHABLE", 8, daemon_unreachable;
    /// Another daemon holds the state directory but accepts no connections.
    DaemonStarting = "DAEMON_STARTING", 8, daemon_starting;
    /// Client and daemon do not speak the same protocol.
    ProtocolMismatch = "PROTOCOL_MISMATCH", 8, protocol_mismatch;
    /// A file or another system resource could not be used.
    Io = "IO", 9, io;
    /// The disk is full or nearly full, or its quota is used up.
    StorageFull = "STORAGE_FULL", 9, storage_full;
    /// The log of the session is damaged.
    LogCorrupt = "LOG_CORRUPT", 9, log_corrupt;
    /// The log of the session accepts no records.
    LogReadonly = "LOG_READONLY", 9, log_readonly;
    /// Another version of stickpin wrote the log or the state directory.
    LogVersionUnsupported = "LOG_VERSION_UNSUPPORTED", 9, log_version_unsupported;
    /// The metadata of the session cannot be read.
    MetaCorrupt = "META_CORRUPT", 9, meta_corrupt;
    /// The metadata of the session would be too long.
    MetaTooLarge = "META_TOO_LARGE", 9, meta_too_large;
    /// The state directory is on a network file system.
    StateDirNotLocal = "STATE_DIR_NOT_LOCAL", 9, state_dir_not_local;
    /// The agent or its session may not do this.
    ScopeDenied = "SCOPE_DENIED", 10, scope_denied;
    /// The session lends more than it has.
    LoanNotSubset = "LOAN_NOT_SUBSET", 10, loan_not_subset;
    /// An observer cannot hold the turn.
    RoleObserver = "ROLE_OBSERVER", 10, role_observer;
    /// The session is closed.
    SessionClosed = "SESSION_CLOSED", 11, session_closed;
    /// The session cannot be restored.
    NotRestorable = "NOT_RESTORABLE", 12, not_restorable;
    /// The session could not be restored in time.
    RestoreTimeout = "RESTORE_TIMEOUT", 12, restore_timeout;
    /// The app or browser behind the session is gone.
    BackendLost = "BACKEND_LOST", 12, backend_lost;
    /// A program that the device needs is not installed.
    ToolMissing = "TOOL_MISSING", 12, tool_missing;
    /// An internal error: a bug in stickpin.
    Internal = "INTERNAL", 70, internal;
}

/// Whether anything may have reached the device before a command failed, which decides whether a
/// retry is safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Dispatched {
    /// Nothing was sent.
    #[default]
    No,
    /// The first input was sent, or may have been; its effect is not known.
    Unknown,
}

/// A failed command.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Error {
    /// The kind of failure.
    pub code: ErrorCode,
    /// A sentence that names the element, file or value concerned.
    pub message: String,
    /// The next thing to do; empty if there is no advice.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hint: String,
    /// Whether anything may have reached the device.
    #[serde(default)]
    pub dispatched: Dispatched,
    /// Machine-readable details (`reason`, `candidates`, ...); null if there are none.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub details: Value,
    /// The underlying error, if known. It never leaves the process in which it occurred.
    #[serde(skip)]
    pub source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // Return the error itself rather than its pointer, so that it can be downcast.
        self.source.as_deref().map(|source| source as _)
    }
}

/// Compares everything that front ends show, which excludes the source.
impl PartialEq for Error {
    fn eq(&self, other: &Self) -> bool {
        let shown = |e: &Self| (e.code, e.dispatched);
        shown(self) == shown(other)
            && (&self.message, &self.hint, &self.details) == (&other.message, &other.hint, &other.details)
    }
}

impl From<Infallible> for Error {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

impl Error {
    /// Creates an error without a hint and with nothing dispatched.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: String::new(),
            dispatched: Dispatched::No,
            details: Value::Null,
            source: None,
        }
    }

    /// Sets the hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// Sets whether anything may have reached the device.
    #[must_use]
    pub fn dispatched(mut self, dispatched: Dispatched) -> Self {
        self.dispatched = dispatched;
        self
    }

    /// Sets the underlying error, which [`source`](std::error::Error::source) returns.
    #[must_use]
    pub fn caused_by(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// Sets the details.
    #[must_use]
    pub fn details(mut self, details: Value) -> Self {
        self.details = details;
        self
    }
}

/// The result type of this workspace, with [`Error`] as the default error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Returns the error for an element that disappeared after its ref was resolved.
#[must_use]
pub fn element_gone() -> Error {
    Error::element_not_found("the element is no longer in the app").hint("run `stickpin snapshot -i`")
}

/// Converts a file system error: names what was attempted, the path, and why it failed.
#[must_use]
pub fn io_error(tried_to: &str, path: &std::path::Path, error: &std::io::Error) -> Error {
    let shown = path.display();
    let e = match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Error::storage_full(format!(
            "could not {tried_to} `{shown}`: the disk is full or its quota is used up"
        ))
        .hint("free some disk space, then repeat the command"),
        _ => Error::io(format!("could not {tried_to} `{shown}`: {}", reason(error))),
    };
    e.caused_by(copy(error))
}

/// Copies an I/O error, which cannot be cloned.
fn copy(error: &std::io::Error) -> std::io::Error {
    match error.raw_os_error() {
        Some(code) => std::io::Error::from_raw_os_error(code),
        None => std::io::Error::new(error.kind(), error.to_string()),
    }
}

/// Returns the message of an error. The message of a system error is in lower case, without the
/// error number that Rust appends.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_lowercase(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::path::Path;

    #[test]
    fn a_full_disk_has_its_own_code() {
        let full = io::Error::from_raw_os_error(28);
        let error = io_error("write", Path::new("/s/daemon.json"), &full);
        assert_eq!(error.code, ErrorCode::StorageFull);
        assert!(error.message.contains("/s/daemon.json"), "{error}");
        let denied = io_error("write", Path::new("/s"), &io::Error::from_raw_os_error(13));
        assert_eq!(denied.message, "could not write `/s`: permission denied");
    }

    #[test]
    fn io_error_keeps_the_system_error_as_its_source() {
        let denied = io_error("write", Path::new("/s"), &io::Error::from_raw_os_error(13));
        let source = std::error::Error::source(&denied).and_then(|e| e.downcast_ref::<io::Error>());
        assert_eq!(source.and_then(io::Error::raw_os_error), Some(13));
        let sent: Error =
            serde_json::from_str(&serde_json::to_string(&denied).expect("JSON")).expect("an error");
        assert!(sent.source.is_none());
        assert_eq!(sent, denied);
    }
}
