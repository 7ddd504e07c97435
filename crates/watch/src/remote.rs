//! Access to the session: sends a person's commands to the daemon.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::sync::Arc;
use stickpin_client::{Call, Client};
use stickpin_kernel::{Caller, CancellationToken, Format, Render, Request, Response, Result};

/// The environment variable in which a caller names itself.
const AGENT_ID: &str = "STICKPIN_AGENT_ID";

/// The prefix of the agent ids of people.
const PERSON: &str = "human:";

/// A connection to the daemon, for one session and one person.
#[derive(Clone)]
pub(crate) struct Remote {
    client: Arc<dyn Client>,
    caller: Caller,
    pub(crate) session: String,
    cancel: CancellationToken,
}

impl Remote {
    /// Creates a connection for a named session, or for the session of the caller.
    pub(crate) fn new(call: &Call, name: Option<String>) -> Self {
        let session = name.or_else(|| call.session.clone());
        let session = session.unwrap_or_else(|| call.caller.own_session.clone());
        let caller =
            Caller { client: Some(format!("watch-{:08x}", rand::random::<u32>())), ..person(&call.caller) };
        Self { client: Arc::clone(&call.client), caller, session, cancel: call.cancel.clone() }
    }

    /// Returns a connection whose calls run in parallel with those of this one.
    pub(crate) fn parallel(&self) -> Self {
        Self { client: Arc::clone(&self.client).parallel_client(), ..self.clone() }
    }

    /// Returns a connection whose calls are not cancelled when the program is interrupted.
    pub(crate) fn until_the_end(&self) -> Self {
        Self { cancel: CancellationToken::new(), ..self.clone() }
    }

    /// Runs a command.
    pub(crate) async fn call(&self, command: &str, input: Value) -> Response {
        let input = match input {
            Value::Object(input) => input,
            _ => Map::new(),
        };
        let request = Request {
            input,
            session: Some(self.session.clone()),
            render: Render { format: Format::Json, ..Render::default() },
            ..Request::new(command, self.caller.clone())
        };
        self.client.call(request, self.cancel.clone()).await
    }

    /// Runs a command and reads its output.
    ///
    /// # Errors
    /// Returns the error from the command, or `INTERNAL` if its output is unexpected.
    pub(crate) async fn output<T: DeserializeOwned>(&self, command: &str, input: Value) -> Result<T> {
        self.call(command, input).await.take_output()
    }
}

/// Returns the person behind a caller. Whoever opens the page acts as a person, even if an agent
/// started the program.
fn person(caller: &Caller) -> Caller {
    let mut caller = caller.clone();
    let env = &mut caller.evidence.env;
    if env.get(AGENT_ID).is_none_or(|id| !id.starts_with(PERSON)) {
        let home = caller.home.as_deref().and_then(|home| home.file_name()).unwrap_or_default();
        let user: String = home
            .to_string_lossy()
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
            .take(64)
            .collect();
        let user = if user.is_empty() { "person".to_owned() } else { user };
        env.insert(AGENT_ID.to_owned(), format!("{PERSON}{user}"));
    }
    caller
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_opens_the_page_is_a_person() {
        let id = |home: Option<&str>, given: Option<&str>| {
            let mut caller = Caller { home: home.map(Into::into), ..Caller::new("k") };
            let given = given.map(|id| (AGENT_ID.to_owned(), id.to_owned()));
            caller.evidence.env.extend(given);
            person(&caller).evidence.env[AGENT_ID].clone()
        };
        assert_eq!(id(Some("/home/ada"), None), "human:ada");
        assert_eq!(id(Some("/home/ada"), Some("claude:bob")), "human:ada");
        assert_eq!(id(Some("/home/ada"), Some("human:eve")), "human:eve");
        assert_eq!(id(Some("/home/Ä da"), None), "human:da");
        assert_eq!(id(None, None), "human:person");
    }
}
