//! What an app's own script says.

/// What an expression of the app's own language is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluated {
    /// Whether the language takes it for true.
    pub truthy: bool,
    /// It in words, bounded: JSON where it has one.
    pub shown: String,
}
