//! Surfaces without a daemon: a host in this process, and scripts that run on one.

use crate::expect::Outcome;
use crate::scenario::SurfaceName;
use crate::surface::{Caller, Surface, env, env_of, outcome, request, runtime};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use stickpin_cli::Env;
use stickpin_client::Client;
use stickpin_coordinator::Coordinator;
use stickpin_daemon::{Agents, DiskFiles, DiskNumbers, coordinator};
use stickpin_device::Provider;
use stickpin_kernel::{CancellationToken, Error, Host, Request, Response};
use stickpin_replay::script::{Node, NodeKind, Script as ScriptOf, Template, write};
use stickpin_replay::{AdScriptWriter, Plan, RunOptions, Vars, run};
use stickpin_wire::StateDir;

/// A `Host` in this process.
pub struct InProcess {
    runtime: tokio::runtime::Runtime,
    caller: HostCaller,
    env: Env,
    /// Ends the guardian of the coordinator.
    guardian: CancellationToken,
}

/// A host, and what identifies the agent that calls it.
#[derive(Clone)]
struct HostCaller {
    host: Host,
    authority: Option<(Coordinator, Arc<Agents>)>,
}

impl HostCaller {
    /// Runs a command for the agent that the evidence of its caller names, as the daemon does.
    async fn call(&self, mut request: Request, cancel: CancellationToken) -> Response {
        let Some((coordinator, agents)) = &self.authority else {
            return self.host.call(request, cancel).await;
        };
        let agent = match agents.identify_in_process(&request.caller.evidence) {
            Ok(agent) => agent,
            Err(e) => return stickpin_client::failed_response(&request.command, request.session, e),
        };
        let id = agent.agent_id.clone();
        request.caller.agent = Some(agent);
        let response = self.host.call(request, cancel).await;
        coordinator.confirm_delivery(&id);
        response
    }
}

impl InProcess {
    /// Creates a host with these providers.
    ///
    /// # Panics
    /// Panics if the state directory cannot be created.
    #[must_use]
    pub fn new(dir: &Path, providers: Vec<Arc<dyn Provider>>) -> Self {
        Self::build(dir, providers, false)
    }

    /// Creates a host that also has turns, members and session logs, as a daemon does.
    ///
    /// # Panics
    /// Panics if the state directory cannot be created.
    #[must_use]
    pub fn with_agents(dir: &Path, providers: Vec<Arc<dyn Provider>>) -> Self {
        Self::build(dir, providers, true)
    }

    fn build(dir: &Path, providers: Vec<Arc<dyn Provider>>, with_agents: bool) -> Self {
        let runtime = runtime();
        let env = env(dir, Path::new("stickpin"));
        let state = dir.join("state");
        std::fs::create_dir_all(&state).expect("a state dir");
        // Numbers continue from one lifetime to the next, as in the daemon.
        let numbers = DiskNumbers::new(&state, Arc::new(SystemTime::now));
        let mut host = Host::builder(&state)
            .providers(providers)
            .numbers(move |session| Ok(numbers.for_session(session)))
            .script_writer(Arc::new(AdScriptWriter));
        let guardian = CancellationToken::new();
        let authority = with_agents.then(|| {
            let place = StateDir::open(&state).expect("a state dir");
            let coordinator = coordinator(&place, Arc::new(DiskFiles)).expect("a coordinator");
            runtime.spawn(coordinator.clone().supervise(guardian.clone()));
            (coordinator, Arc::new(Agents::read(&state).expect("a list of agents")))
        });
        if let Some((coordinator, _)) = &authority {
            host = host.coordinator(coordinator.clone());
        }
        let host = host.build().expect("no command is added");
        Self { runtime, caller: HostCaller { host, authority }, env, guardian }
    }

    /// Runs a request with changes that a command line cannot express (pins, `since`).
    pub fn request(&mut self, words: &[&str], change: impl FnOnce(&mut Request)) -> Response {
        let words: Vec<String> = words.iter().map(|&w| w.to_owned()).collect();
        match request(&words, &self.env) {
            Ok(mut request) => {
                change(&mut request);
                self.runtime.block_on(self.caller.call(request, CancellationToken::new()))
            }
            Err(response) => *response,
        }
    }
}

impl Surface for InProcess {
    fn name(&self) -> SurfaceName {
        SurfaceName::InProcess
    }

    fn call(&mut self, words: &[String], caller: Caller<'_>) -> Outcome {
        outcome(match request(words, &env_of(&self.env, caller)) {
            Ok(request) => self.runtime.block_on(self.caller.call(request, CancellationToken::new())),
            Err(response) => *response,
        })
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        self.guardian.cancel();
        self.runtime.block_on(self.caller.host.shutdown());
    }
}

/// Scripts: each command is written as a line, parsed, planned and run, in a run that continues the
/// previous one. The run does not wait, because command lines do not wait either.
pub struct Script {
    host: InProcess,
    client_refs: Vec<(u32, u32)>,
}

impl Script {
    /// Creates a host with these providers, and with agents.
    #[must_use]
    pub fn new(dir: &Path, providers: Vec<Arc<dyn Provider>>) -> Self {
        Self { host: InProcess::with_agents(dir, providers), client_refs: Vec::new() }
    }
}

/// Keeps the answer to a script's single command. The other queries of a failed run would issue
/// refs that no other surface issues.
struct CapturingClient {
    host: HostCaller,
    command: &'static str,
    answer: Mutex<Option<Response>>,
}

#[async_trait::async_trait]
impl Client for CapturingClient {
    async fn call(&self, request: Request, cancel: CancellationToken) -> Response {
        if request.command != self.command || self.answer.lock().expect("no call panicked").is_some() {
            let e = Error::unsupported("this surface answers one command");
            return stickpin_client::failed_response(&request.command, None, e);
        }
        let response = self.host.call(request, cancel).await;
        self.answer.lock().expect("no call panicked").insert(response).clone()
    }

    fn parallel_client(self: Arc<Self>) -> Arc<dyn Client> {
        self
    }
}

impl Surface for Script {
    fn name(&self) -> SurfaceName {
        SurfaceName::Script
    }

    fn call(&mut self, words: &[String], caller: Caller<'_>) -> Outcome {
        let InProcess { runtime, caller: host, env, .. } = &self.host;
        let words = words.iter().map(Template::text).collect();
        let body = vec![Node { line: 0, kind: NodeKind::Command(words) }];
        let text = write(&ScriptOf { body, ..ScriptOf::default() });
        let plan = Plan::read(Path::new("step.ad"), &Vars::default(), &|_| Ok(text.clone()));
        let plan = match plan {
            Ok(plan) => plan,
            Err(e) => return outcome(stickpin_client::failed_response("", None, e)),
        };
        let options = RunOptions {
            session: env.session.clone(),
            client_refs: self.client_refs.clone(),
            wait: Duration::ZERO,
            ..RunOptions::new(env_of(env, caller).caller(None))
        };
        let command = plan.first_step().map_or("", |step| step.line.entry.spec.name);
        let client = CapturingClient { host: host.clone(), command, answer: Mutex::default() };
        let ran = runtime.block_on(run(&plan, &client, &options, &mut |_| {}));
        match client.answer.into_inner().expect("no call panicked") {
            Some(answer) => {
                self.client_refs.extend(issued_refs(&answer));
                outcome(answer)
            }
            None => {
                let error = ran.steps.into_iter().find_map(|step| step.error).expect("it was not sent");
                outcome(stickpin_client::failed_response("", None, error))
            }
        }
    }
}

/// Returns the refs that a response issues, including those of a batch's steps.
fn issued_refs(response: &Response) -> Vec<(u32, u32)> {
    let steps = response.output.as_ref().and_then(|output| output["steps"].as_array());
    let read = |step: &serde_json::Value| serde_json::from_value::<Response>(step.clone()).ok();
    let steps = steps.into_iter().flatten().filter_map(read);
    std::iter::once(response.clone())
        .chain(steps)
        .filter_map(|response| response.refs)
        .flat_map(|refs| refs.issued)
        .collect()
}
