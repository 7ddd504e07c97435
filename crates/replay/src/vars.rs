//! Where the values of `${KEY}` come from.

use crate::script::{Script, Template, Unset};
use std::collections::BTreeMap;
use stickpin_kernel::{Error, ErrorCode, Result};

/// Values of variables, the strongest source first: given with the run, the surroundings, the script's own `env`
/// lines, built in.
#[derive(Debug, Clone, Default)]
pub struct Vars {
    /// `-e KEY=VALUE`.
    pub given: BTreeMap<String, String>,
    /// `STICKPIN_VAR_KEY`, else `AD_VAR_KEY`, by KEY.
    pub surroundings: BTreeMap<String, String>,
    /// `AD_PLATFORM`, `AD_SESSION`, `AD_FILENAME`, `AD_DEVICE`, `AD_ARTIFACTS`.
    pub built_in: BTreeMap<String, String>,
}

impl Vars {
    /// Adds a `KEY=VALUE` of a command line.
    ///
    /// # Errors
    /// `INVALID_ARGS` when it is not of that form, or the name is a built-in one.
    pub fn give(&mut self, pair: &str) -> Result<()> {
        let bad = |message: String| Err(Error::new(ErrorCode::InvalidArgs, message).hint("-e USER=ada"));
        let Some((key, value)) = pair.split_once('=') else {
            return bad(format!("{} is not KEY=VALUE", stickpin_tree::quote(pair)));
        };
        if !crate::script::is_name(key) {
            return bad(format!("{} is not the name of a variable", stickpin_tree::quote(key)));
        }
        if key.starts_with("AD_") {
            return bad(format!("`{key}` belongs to the runner"));
        }
        self.given.insert(key.to_owned(), value.to_owned());
        Ok(())
    }

    /// The value of a variable that the script itself does not set.
    fn outer(&self, name: &str) -> Option<&String> {
        self.given.get(name).or_else(|| self.surroundings.get(name))
    }
}

/// The variables of one script.
#[derive(Debug)]
pub(crate) struct Known<'v> {
    vars: &'v Vars,
    own: BTreeMap<String, String>,
}

impl<'v> Known<'v> {
    /// With the `env` lines of a script, in their order: a line may use those above it.
    pub(crate) fn of(script: &Script, vars: &'v Vars) -> Result<Self, Unset> {
        let mut known = Self { vars, own: BTreeMap::new() };
        for (key, value) in &script.env {
            let value = known.fill(value)?;
            known.own.insert(key.clone(), value);
        }
        Ok(known)
    }

    pub(crate) fn fill(&self, template: &Template) -> Result<String, Unset> {
        template.fill(|name| {
            let inner = || self.own.get(name).or_else(|| self.vars.built_in.get(name));
            self.vars.outer(name).or_else(inner).cloned()
        })
    }
}
