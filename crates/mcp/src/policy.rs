//! What a client may do on this server, directly or through a script.

use crate::files::Folders;
use crate::setup::Setup;
use crate::tools;
use serde_json::{Map, Value};
use stickpin_client::Policy;
use stickpin_device::Capability;
use stickpin_kernel::registry::CommandDefinition;
use stickpin_kernel::{Caller, Effect, Error, Result};

/// The policy for a client's script: the same as for the client.
pub(crate) struct ClientPolicy {
    pub(crate) folders: Folders,
    pub(crate) caller: Caller,
    pub(crate) setup: Setup,
}

impl Policy for ClientPolicy {
    fn command(&self, definition: &CommandDefinition, input: &mut Map<String, Value>) -> Result<()> {
        if tools::find_unlistable(definition, input).is_some() {
            return Err(Error::invalid_args("step files are not accepted over MCP")
                .hint("write the steps in the script itself"));
        }
        permit(&self.setup, definition, definition.spec.effect, input)?;
        self.folders.check(definition, input, &self.caller)
    }
}

/// Checks that this server serves a command. With `--read-only`, commands that change the app or
/// the session or write the client's files are refused. Running a client's script in the app
/// requires `--allow-script`.
///
/// # Errors
/// Returns `POLICY_DENIED` for a command that is not served.
pub(crate) fn permit(
    setup: &Setup,
    definition: &CommandDefinition,
    effect: Effect,
    input: &Map<String, Value>,
) -> Result<()> {
    let mut refusal = None;
    definition.visit_commands(input, &mut |definition, input| {
        let script = definition.spec.needs.contains(&Capability::Evaluate) && !setup.allow_script;
        let output_path =
            definition.fields().iter().find(|f| f.is_output_path && is_given(input.get(&f.name)));
        let (why, hint) = match (script, setup.read_only, output_path) {
            (true, ..) => (
                "runs a client's script in the app, which this server does not allow".to_owned(),
                "wait for what the app shows instead, or ask a person to start the server with `stickpin mcp --allow-script`",
            ),
            (_, true, Some(field)) => (
                format!("writes a file (`{}`), but this server is read-only", field.name),
                "omit this argument, or ask a person to start the server without `--read-only`",
            ),
            (_, true, None) if definition.spec.writes => (
                "may write a file or change the session, but this server is read-only".to_owned(),
                "ask a person to start the server without `--read-only`",
            ),
            _ => return,
        };
        let error =
            Error::policy_denied(format!("`{}` {why}", definition.spec.name)).hint(hint);
        refusal.get_or_insert(error);
    });
    if setup.read_only && effect != Effect::Reads {
        let message = format!("`{}` may change the app, but this server is read-only", definition.spec.name);
        return Err(
            Error::policy_denied(message).hint("ask a person to start the server without `--read-only`")
        );
    }
    refusal.map_or(Ok(()), Err)
}

/// Returns whether an argument was given. Clients send `false` to omit an argument that also works
/// without a value.
fn is_given(value: Option<&Value>) -> bool {
    value.is_some_and(|value| !value.is_null() && *value != Value::Bool(false))
}
