//! Runs scripts.

use super::eval::{Binding, Env, eval, extend_scope};
use super::expr::{Expr, Function};
use super::model::FieldValues;
use super::nav::{HistoryChange, HistoryStep, NavError};
use super::render::TOASTS;
use super::sim::{DialogContinuation, OpenDialog, Sim};
use super::state::State;
use super::time::Job;
use super::value::Value;
use stickpin_device::{Dialog, DialogAnswer, Notice};

/// The maximum depth of nested action calls.
const MAX_DEPTH: u32 = 32;

/// The default duration of a toast.
const TOAST_MS: u64 = 4000;

impl Sim {
    /// Runs a script. The script does not stop when it opens a dialog.
    pub(crate) fn run(&mut self, script: &[Expr], env: &Env) {
        ScriptRun { sim: self, env, depth: 0 }.all(script);
    }

    /// Reports a failed navigation as a notice, because no command waits for its result.
    pub(crate) fn report(&mut self, result: Result<(), NavError>) {
        match result {
            Ok(()) => {}
            Err(NavError::Failed { url, load, fails }) => {
                let why = format!("no response (simulated failure {load} of {fails})");
                self.notice(Notice::RequestFailed { method: "GET".into(), url, why });
            }
            Err(e) => self.notice(Notice::ConsoleError { text: e.to_string() }),
        }
    }

    /// Answers the open dialog. Returns false if no dialog is open.
    pub(crate) fn answer(&mut self, answer: DialogAnswer) -> bool {
        let Some(asked) = self.dialog.take() else { return false };
        let accepted = matches!(answer, DialogAnswer::Accept(_));
        match asked.then {
            DialogContinuation::Script { place, yes, no, env } => {
                if let (Some(place), DialogAnswer::Accept(text)) = (place, answer) {
                    let text = text.unwrap_or(asked.dialog.default);
                    self.state.write(&place, &env, Value::text(text));
                }
                let next = if accepted { yes } else { no };
                self.run(next.as_slice(), &env);
            }
            DialogContinuation::Leave(leave) => {
                if accepted {
                    let result = self.navigator().fetch(leave);
                    self.report(result);
                }
            }
            DialogContinuation::Press(id) => {
                if let Some(at) = self.dom().find(id).filter(|_| accepted) {
                    self.input().press_element(at);
                }
            }
        }
        self.refresh();
        true
    }
}

/// One run of a script.
struct ScriptRun<'a> {
    sim: &'a mut Sim,
    env: &'a Env,
    depth: u32,
}

impl ScriptRun<'_> {
    fn all(&mut self, script: &[Expr]) {
        for statement in script {
            if self.sim.end_reason.is_some() {
                return;
            }
            match statement {
                Expr::Action(name) => self.action(name),
                Expr::Call(function, args) => self.call(*function, args),
                // A bare expression has no effect.
                _ => {}
            }
        }
    }

    fn eval(&self, e: &Expr) -> Value {
        eval(e, &self.sim.state, self.env)
    }

    fn number(&self, e: &Expr) -> u64 {
        self.eval(e).int().unsigned_abs()
    }

    fn call(&mut self, function: Function, args: &[Expr]) {
        let text = |nth: usize| self.eval(&args[nth]).to_string();
        match function {
            Function::Set => {
                let value = self.eval(&args[1]);
                self.sim.state.write(&args[0], self.env, value);
            }
            Function::Push => self.insert(args, None),
            Function::Insert => self.insert(args, Some(&args[1])),
            Function::Remove | Function::Update | Function::Replace | Function::Move => {
                self.run_on_matching(function, args);
            }
            Function::Sort | Function::Reverse => {
                let field = args.get(1).map(|field| self.eval(field).to_string());
                let Some(records) = self.sim.state.lists.get_mut(&*args[0].list()) else { return };
                match field {
                    Some(field) => records.sort_by(|a, b| a.get(&field).order(&b.get(&field))),
                    None => records.reverse(),
                }
            }
            Function::Rerender => {
                let mark = text(0);
                *self.sim.tab_mut().epochs.entry(mark).or_default() += 1;
            }
            Function::Goto | Function::Route | Function::Url | Function::Tab => {
                let (url, at) = (text(0), self.sim.tab().at);
                let result = match function {
                    Function::Goto => self.sim.navigator().request_navigation(&url, HistoryChange::Push),
                    Function::Route => self.sim.navigator().route(&url, HistoryChange::Push),
                    Function::Url => self.sim.navigator().route(&url, HistoryChange::Step(at)),
                    _ => self.sim.navigator().open_tab(&url),
                };
                self.sim.report(result);
            }
            Function::Back => self.history(HistoryStep::Back),
            Function::Forward => self.history(HistoryStep::Forward),
            Function::Reload => self.history(HistoryStep::Reload),
            Function::CloseTab => self.sim.navigator().close_tab(),
            Function::Toast => {
                let ms = args.get(1).map_or(TOAST_MS, |ms| self.number(ms));
                let fields = vec![("text".into(), Value::text(text(0)))];
                let record = self.sim.state.record(fields);
                self.sim.set_timer(ms, "toast", Job::Untoast(record.uid));
                self.sim.state.lists.entry(TOASTS.into()).or_default().push(record);
            }
            Function::Confirm => self.open_dialog("confirm", text(0), String::new(), None, &args[1..]),
            Function::Prompt => self.open_dialog("prompt", text(0), text(1), Some(&args[2]), &args[3..]),
            Function::Alert => self.sim.notice(Notice::DialogShown { text: text(0) }),
            Function::Console => self.sim.notice(Notice::ConsoleError { text: text(0) }),
            Function::Fail => {
                self.sim.notice(Notice::RequestFailed { method: text(0), url: text(1), why: text(2) });
            }
            Function::Download => self.sim.notice(Notice::Downloaded { path: text(0).into() }),
            Function::After | Function::Every | Function::Load => {
                // With a period of zero, time would never advance.
                let ms = self.number(&args[0]).max(u64::from(function == Function::Every));
                // A timer is named after its action; `cancel` and a failed settle use that name.
                let name = if let Expr::Action(name) = &args[1] { name } else { "statement" };
                let job = Job::Script { by: function, job: args[1].clone(), env: self.env.clone(), ms };
                self.sim.set_timer(ms, name, job);
            }
            Function::Cancel => {
                let name = text(0);
                self.sim.timers.retain(|t| *t.name != *name);
            }
            Function::If => {
                let branch = args.get(if self.eval(&args[0]).truthy() { 1 } else { 2 });
                self.all(branch.map(std::slice::from_ref).unwrap_or_default());
            }
            Function::Focus | Function::Blur => {
                self.sim.refresh(); // The element may be about to appear.
                let mark = args.first().map(|mark| self.eval(mark).to_string());
                let dom = self.sim.dom();
                let id = mark.and_then(|mark| Some(dom.nodes[dom.find_by_mark(&mark)?].id));
                self.sim.tab_mut().focus = id;
            }
            Function::Scroll => {
                let (mark, to) = (text(0), self.eval(&args[1]).int());
                #[allow(clippy::cast_precision_loss, reason = "pixels of a made-up screen")]
                self.sim.input().scroll_to(&mark, to as f64);
            }
            Function::Crash => self.sim.end_reason = Some(format!("sim:{} crashed", self.sim.app.name)),
            // A function without effects does nothing.
            _ => {}
        }
    }

    /// Opens a dialog. `then` contains the statements that follow acceptance and dismissal, in this
    /// order; both are optional.
    fn open_dialog(
        &mut self,
        kind: &str,
        message: String,
        default: String,
        place: Option<&Expr>,
        then: &[Expr],
    ) {
        let dialog = Dialog::new(kind, message).default_answer(default);
        let (yes, no) = (then.first().cloned(), then.get(1).cloned());
        let then = DialogContinuation::Script { place: place.cloned(), yes, no, env: self.env.clone() };
        self.sim.dialog = Some(OpenDialog { dialog, then });
    }

    fn action(&mut self, name: &str) {
        let app = &self.sim.app;
        let own = app.screens[self.sim.tab().screen].actions.get(name);
        let script = own.or_else(|| app.actions.get(name)).cloned();
        let problem = match script {
            Some(script) if self.depth < MAX_DEPTH => {
                return ScriptRun { sim: self.sim, env: self.env, depth: self.depth + 1 }.all(&script);
            }
            Some(_) => "is nested too deeply",
            None => "is not on this screen",
        };
        self.sim.notice(Notice::ConsoleError { text: format!("action `{name}` {problem}") });
    }

    fn history(&mut self, step: HistoryStep) {
        let result = self.sim.navigator().history(step).map(drop);
        self.sim.report(result);
    }

    /// Inserts a new record into a list, by default at its end.
    fn insert(&mut self, args: &[Expr], at: Option<&Expr>) {
        let values = fields(args, &self.sim.state, self.env);
        let at = at.and_then(|at| usize::try_from(self.eval(at).int()).ok());
        let record = self.sim.state.record(values);
        let records = self.sim.state.lists.entry(args[0].list().to_string()).or_default();
        records.insert(at.unwrap_or(usize::MAX).min(records.len()), record);
    }

    /// Applies a function to the records of a list for which an expression holds, with each as
    /// `it`.
    fn run_on_matching(&mut self, function: Function, args: &[Expr]) {
        let (list, state) = (args[0].list(), &mut self.sim.state);
        let records = state.lists.get(&*list).into_iter().flatten().enumerate();
        let matching: Vec<(Binding, Env)> = records
            .map(|(at, r)| Binding { name: "it".into(), list: list.clone(), uid: r.uid, at })
            .map(|it| (it.clone(), extend_scope(self.env, it)))
            .filter(|(_, env)| eval(&args[1], state, env).truthy())
            .collect();
        let to = (function == Function::Move).then(|| eval(&args[2], state, self.env).int());
        for (it, env) in matching {
            let values = fields(args, state, &env);
            let Some(at) = state.position(&it) else { continue };
            let other = (function == Function::Replace).then(|| state.record(values.clone()));
            let Some(records) = state.lists.get_mut(&*list) else { continue };
            match (other, to) {
                (Some(other), _) => records[at] = other,
                (None, Some(to)) => {
                    let record = records.remove(at);
                    records.insert(usize::try_from(to).unwrap_or(0).min(records.len()), record);
                }
                (None, None) if function == Function::Remove => drop(records.remove(at)),
                (None, None) => values.into_iter().for_each(|(name, value)| records[at].set(&name, value)),
            }
        }
    }
}

/// Returns the fields that a call names, with their values.
fn fields(args: &[Expr], state: &State, env: &Env) -> FieldValues {
    let field = |arg: &Expr| match arg {
        Expr::Named(name, value) => Some((name.clone(), eval(value, state, env))),
        _ => None,
    };
    args.iter().filter_map(field).collect()
}
