//! Values of an app's variables and record fields.

use std::fmt;
use std::sync::Arc;

/// A scalar. Records are flat; `where` filters express nesting.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Value {
    /// The value of an unset field.
    #[default]
    Null,
    /// True or false.
    Bool(bool),
    /// A number; an amount of money is in the smallest unit of its currency.
    Int(i64),
    /// Text.
    Str(Arc<str>),
}

impl Value {
    pub(crate) fn text(s: impl AsRef<str>) -> Self {
        Self::Str(s.as_ref().into())
    }

    /// Returns whether the value counts as true. Empty text, zero, false and unset values do not.
    pub(crate) fn truthy(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(b) => *b,
            Self::Int(n) => *n != 0,
            Self::Str(s) => !s.is_empty(),
        }
    }

    /// Returns the value as a number; text that is not a number counts as 0, like an empty field.
    pub(crate) fn int(&self) -> i64 {
        match self {
            Self::Null => 0,
            Self::Bool(b) => i64::from(*b),
            Self::Int(n) => *n,
            Self::Str(s) => s.trim().parse().unwrap_or(0),
        }
    }

    /// Compares numbers as numbers, everything else as text.
    pub(crate) fn order(&self, other: &Self) -> std::cmp::Ordering {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            _ => self.to_string().cmp(&other.to_string()),
        }
    }

    /// Returns whether two values are equal in the app language: `1 == '1'` holds, because
    /// parameters of an address are text.
    pub(crate) fn same(&self, other: &Self) -> bool {
        self == other || self.to_string() == other.to_string()
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => Ok(()),
            Self::Bool(b) => b.fmt(f),
            Self::Int(n) => n.fmt(f),
            Self::Str(s) => f.write_str(s),
        }
    }
}

impl TryFrom<&toml::Value> for Value {
    type Error = String;
    fn try_from(v: &toml::Value) -> Result<Self, String> {
        match v {
            toml::Value::String(s) => Ok(Self::text(s)),
            toml::Value::Integer(n) => Ok(Self::Int(*n)),
            toml::Value::Boolean(b) => Ok(Self::Bool(*b)),
            other => Err(format!(
                "the type `{}` is not supported: write text, a whole number or a boolean",
                other.type_str()
            )),
        }
    }
}
