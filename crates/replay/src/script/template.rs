//! Text with variables.

use std::fmt;

/// A word or value in which `${KEY}` and `${KEY:-default}` stand for text. The text never becomes
/// more than one word.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash)]
pub struct Template {
    /// Adjacent pieces of text are joined, and no piece of text is empty.
    parts: Vec<TemplatePart>,
}

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TemplatePart {
    /// Literal text.
    Text(String),
    /// A variable.
    Variable {
        /// The name.
        name: String,
        /// The value if the variable is not set.
        default: Option<String>,
    },
}

/// A variable that is not set and has no default.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`${{{name}}}` is not set")]
pub struct UnsetVariable {
    /// The name of the variable.
    pub name: String,
}

impl Template {
    /// Creates a template from pieces. Joins adjacent pieces of text and drops empty ones.
    #[must_use]
    pub fn new(parts: impl IntoIterator<Item = TemplatePart>) -> Self {
        let mut template = Self::default();
        for part in parts {
            match (part, template.parts.last_mut()) {
                (TemplatePart::Text(text), _) if text.is_empty() => {}
                (TemplatePart::Text(text), Some(TemplatePart::Text(last))) => last.push_str(&text),
                (part, _) => template.parts.push(part),
            }
        }
        template
    }

    /// Creates a template without variables.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::new([TemplatePart::Text(text.into())])
    }

    /// Returns the pieces.
    #[must_use]
    pub fn parts(&self) -> &[TemplatePart] {
        &self.parts
    }

    /// Returns the text; `None` if the template contains variables.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match &self.parts[..] {
            [] => Some(""),
            [TemplatePart::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Replaces the variables with their values.
    ///
    /// # Errors
    /// Returns the first variable that has neither a value nor a default.
    pub fn fill(&self, value: impl Fn(&str) -> Option<String>) -> Result<String, UnsetVariable> {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                TemplatePart::Text(text) => out.push_str(text),
                TemplatePart::Variable { name, default } => match value(name).or_else(|| default.clone()) {
                    Some(text) => out.push_str(&text),
                    None => return Err(UnsetVariable { name: name.clone() }),
                },
            }
        }
        Ok(out)
    }

    /// Replaces variables with other pieces. A variable for which `replacement` returns `None`
    /// stays.
    #[must_use]
    pub fn substitute(&self, replacement: impl Fn(&str) -> Option<Vec<TemplatePart>>) -> Self {
        Self::new(self.parts.iter().flat_map(|part| match part {
            TemplatePart::Variable { name, .. } => replacement(name).unwrap_or_else(|| vec![part.clone()]),
            TemplatePart::Text(_) => vec![part.clone()],
        }))
    }
}

/// Formats for people, not in script syntax.
impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.parts {
            match part {
                TemplatePart::Text(text) => f.write_str(text)?,
                TemplatePart::Variable { name, default: None } => write!(f, "${{{name}}}")?,
                TemplatePart::Variable { name, default: Some(default) } => {
                    write!(f, "${{{name}:-{default}}}")?
                }
            }
        }
        Ok(())
    }
}
