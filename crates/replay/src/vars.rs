//! The sources of values for `${KEY}`.

use crate::script::{Script, Template, UnsetVariable};
use std::collections::BTreeMap;
use stickpin_kernel::{Error, Result};

/// The values of variables by source. The order of precedence is: the command line, the
/// environment, the `env` lines of scripts, and the built-in values.
#[derive(Debug, Clone, Default)]
pub struct Vars {
    /// The values given as `-e KEY=VALUE`.
    pub given: BTreeMap<String, String>,
    /// The values of `STICKPIN_VAR_KEY`, otherwise of `AD_VAR_KEY`, by KEY.
    pub environment: BTreeMap<String, String>,
    /// The values of `AD_SESSION`, `AD_FILENAME` and, if artifacts are kept, `AD_ARTIFACTS`.
    pub built_in: BTreeMap<String, String>,
}

impl Vars {
    /// Adds a `KEY=VALUE` from the command line.
    ///
    /// # Errors
    /// Returns `INVALID_ARGS` for any other form, for an invalid variable name, or for a reserved
    /// one, which begins with `AD_`.
    pub fn set_from_pair(&mut self, pair: &str) -> Result<()> {
        let Some((key, value)) = pair.split_once('=') else {
            let message = format!("{} is not of the form `KEY=VALUE`", stickpin_tree::quote(pair));
            return Err(Error::invalid_args(message).hint("for example: `-e USER=ada`"));
        };
        if !crate::script::is_name(key) {
            let message = format!("{} is not a variable name", stickpin_tree::quote(key));
            return Err(Error::invalid_args(message).hint(crate::script::NAME_HINT));
        }
        if key.starts_with("AD_") {
            let message = format!("`{key}` is a reserved name");
            return Err(Error::invalid_args(message).hint(crate::script::RESERVED_HINT));
        }
        self.given.insert(key.to_owned(), value.to_owned());
        Ok(())
    }

    /// Returns the value of a variable that is set on the command line or in the environment.
    fn external(&self, name: &str) -> Option<&String> {
        self.given.get(name).or_else(|| self.environment.get(name))
    }
}

/// The variables of one script.
#[derive(Debug)]
pub(crate) struct ScriptVariables<'v> {
    vars: &'v Vars,
    /// The values from the `include` line; they win over the script's own `env` lines.
    arguments: BTreeMap<String, String>,
    script_values: BTreeMap<String, String>,
    /// The variables of the including script.
    outer: Option<&'v ScriptVariables<'v>>,
}

impl<'v> ScriptVariables<'v> {
    /// Creates the variables of the outermost script, before its `env` lines are added.
    pub(crate) fn new(vars: &'v Vars) -> Self {
        Self { vars, arguments: BTreeMap::new(), script_values: BTreeMap::new(), outer: None }
    }

    /// Creates the variables of an included script, with the values that the `include` line passes.
    pub(crate) fn for_include(&'v self, env: &[(String, Template)]) -> Result<Self, UnsetVariable> {
        let pairs = env.iter().map(|(key, value)| Ok((key.clone(), self.fill(value)?)));
        Ok(Self { arguments: pairs.collect::<Result<_, _>>()?, outer: Some(self), ..Self::new(self.vars) })
    }

    /// Adds the script's `env` lines in order: a line may use variables from the lines above it.
    pub(crate) fn add_env(&mut self, script: &Script) -> Result<(), UnsetVariable> {
        for (key, value) in &script.env {
            let value = self.fill(value)?;
            self.script_values.insert(key.clone(), value);
        }
        Ok(())
    }

    pub(crate) fn fill(&self, template: &Template) -> Result<String, UnsetVariable> {
        template.fill(|name| {
            let built_in = || self.vars.built_in.get(name);
            self.vars.external(name).or_else(|| self.set(name)).or_else(built_in).cloned()
        })
    }

    /// Returns the value that the script sets, or else the value that an including script sets.
    fn set(&self, name: &str) -> Option<&String> {
        let outer = || self.outer.and_then(|outer| outer.set(name));
        self.arguments.get(name).or_else(|| self.script_values.get(name)).or_else(outer)
    }
}
