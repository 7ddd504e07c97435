//! What scripts do.

use super::eval::{Bound, Env, eval, with};
use super::expr::Expr;
use super::nav::{How, NavError, Step};
use super::render::TOASTS;
use super::script::{Script, Stmt, Verb};
use super::sim::{Asked, Sim, Then};
use super::time::Job;
use super::value::Value;
use stickpin_device::{Dialog, DialogAnswer, Notice};

/// How deep actions may call one another.
const DEEPEST: u32 = 32;

/// How long a toast stays, unless it says.
const TOAST_MS: u64 = 4000;

impl Sim {
    /// Runs a script. A dialog that it opens does not stop what follows in it.
    pub(crate) fn run(&mut self, script: &Script, env: &Env) {
        Run { sim: self, env, depth: 0 }.all(script);
    }

    /// A navigation that the app started and that goes nowhere is the app's error, not the caller's.
    pub(crate) fn report(&mut self, went: Result<(), NavError>) {
        match went {
            Ok(()) => {}
            Err(NavError::Failed { url, load, fails }) => {
                let why = format!("no answer (load {load} of {fails} that fail)");
                self.notice(Notice::RequestFailed { method: "GET".into(), url, why });
            }
            Err(e) => self.notice(Notice::ConsoleError { text: e.to_string() }),
        }
    }

    /// Answers the dialog that waits. False if none does.
    pub(crate) fn answer(&mut self, answer: DialogAnswer) -> bool {
        let Some(asked) = self.dialog.take() else { return false };
        let accepted = matches!(answer, DialogAnswer::Accept(_));
        match asked.then {
            Then::Script(stmt, env) => {
                if let (Some(place), DialogAnswer::Accept(text)) = (stmt.exprs.get(2), answer) {
                    let text = text.unwrap_or(asked.dialog.default);
                    self.state.write(place, &env, Value::text(text));
                }
                self.run(if accepted { &stmt.then } else { &stmt.otherwise }, &env);
            }
            Then::Leave(leave) => {
                if accepted {
                    let went = self.navigator().fetch(leave);
                    self.report(went);
                }
            }
            Then::Press(id) => {
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
struct Run<'a> {
    sim: &'a mut Sim,
    env: &'a Env,
    depth: u32,
}

impl Run<'_> {
    fn all(&mut self, script: &Script) {
        for stmt in script.iter() {
            if self.sim.dead.is_some() {
                return;
            }
            self.statement(stmt);
        }
    }

    fn eval(&self, e: &Expr) -> Value {
        eval(e, &self.sim.state, self.env)
    }

    fn number(&self, e: &Expr) -> u64 {
        self.eval(e).int().unsigned_abs()
    }

    fn statement(&mut self, stmt: &Stmt) {
        let text = |nth: usize| self.eval(&stmt.exprs[nth]).to_string();
        match stmt.verb {
            Verb::Set => {
                let value = self.eval(&stmt.exprs[1]);
                self.sim.state.write(&stmt.exprs[0], self.env, value);
            }
            Verb::Push | Verb::Insert => self.insert(stmt),
            Verb::Remove | Verb::Update | Verb::Replace | Verb::Move => self.chosen(stmt),
            Verb::Sort | Verb::Reverse => {
                let field = stmt.exprs.first().map(|field| self.eval(field).to_string());
                let Some(records) = self.sim.state.lists.get_mut(&*stmt.name) else { return };
                match field {
                    Some(field) => records.sort_by(|a, b| a.get(&field).order(&b.get(&field))),
                    None => records.reverse(),
                }
            }
            Verb::Rerender => {
                let mark = text(0);
                *self.sim.tab_mut().epochs.entry(mark).or_default() += 1;
            }
            Verb::Goto | Verb::Route | Verb::Url | Verb::Tab => {
                let (url, at) = (text(0), self.sim.tab().at);
                let went = match stmt.verb {
                    Verb::Goto => self.sim.navigator().leave(&url, How::Push),
                    Verb::Route => self.sim.navigator().route(&url, How::Push),
                    Verb::Url => self.sim.navigator().route(&url, How::Step(at)),
                    _ => self.sim.navigator().open_tab(&url),
                };
                self.sim.report(went);
            }
            Verb::Back => self.history(Step::Back),
            Verb::Forward => self.history(Step::Forward),
            Verb::Reload => self.history(Step::Reload),
            Verb::CloseTab => self.sim.navigator().close_tab(),
            Verb::Toast => {
                let ms = stmt.exprs.get(1).map_or(TOAST_MS, |ms| self.number(ms));
                let fields = vec![("text".into(), Value::text(text(0)))];
                let record = self.sim.state.record(fields);
                self.sim.set_timer(ms, "toast", Job::Untoast(record.uid));
                self.sim.state.lists.entry(TOASTS.into()).or_default().push(record);
            }
            Verb::Confirm | Verb::Prompt => {
                let (kind, default) = match stmt.verb {
                    Verb::Confirm => ("confirm", String::new()),
                    _ => ("prompt", text(1)),
                };
                let dialog = Dialog { kind: kind.into(), message: text(0), default, tab: None };
                let then = Then::Script(stmt.clone(), self.env.clone());
                self.sim.dialog = Some(Asked { dialog, then });
            }
            Verb::Alert => self.sim.notice(Notice::DialogShown { text: text(0) }),
            Verb::Console => self.sim.notice(Notice::ConsoleError { text: text(0) }),
            Verb::Fail => {
                self.sim.notice(Notice::RequestFailed { method: text(0), url: text(1), why: text(2) });
            }
            Verb::Download => self.sim.notice(Notice::Downloaded { path: text(0).into() }),
            Verb::After | Verb::Every | Verb::Load => {
                // Or time would never pass.
                let ms = self.number(&stmt.exprs[0]).max(u64::from(stmt.verb == Verb::Every));
                let job = Job::Script { stmt: stmt.clone(), env: self.env.clone(), ms };
                self.sim.set_timer(ms, &stmt.name, job);
            }
            Verb::Cancel => self.sim.timers.retain(|t| t.name != stmt.name),
            Verb::If => {
                let holds = self.eval(&stmt.exprs[0]).truthy();
                self.all(if holds { &stmt.then } else { &stmt.otherwise });
            }
            Verb::Focus | Verb::Blur => {
                self.sim.refresh(); // The element may be about to appear.
                let mark = stmt.exprs.first().map(|mark| self.eval(mark).to_string());
                let dom = self.sim.dom();
                let id = mark.and_then(|mark| Some(dom.nodes[dom.marked(&mark)?].id));
                self.sim.tab_mut().focus = id;
            }
            Verb::Scroll => {
                let (mark, to) = (text(0), self.eval(&stmt.exprs[1]).int());
                #[allow(clippy::cast_precision_loss, reason = "pixels of a made-up screen")]
                self.sim.input().scroll_to(&mark, to as f64);
            }
            Verb::Do => self.action(&stmt.name),
            Verb::Crash => self.sim.dead = Some(format!("sim:{} crashed", self.sim.app.name)),
        }
    }

    fn action(&mut self, name: &str) {
        let app = &self.sim.app;
        let own = app.screens[self.sim.tab().screen].actions.get(name);
        let script = own.or_else(|| app.actions.get(name)).cloned();
        let problem = match script {
            Some(script) if self.depth < DEEPEST => {
                return Run { sim: self.sim, env: self.env, depth: self.depth + 1 }.all(&script);
            }
            Some(_) => "never ends",
            None => "is none of this screen",
        };
        self.sim.notice(Notice::ConsoleError { text: format!("action {name} {problem}") });
    }

    fn history(&mut self, step: Step) {
        let went = self.sim.navigator().history(step).map(drop);
        self.sim.report(went);
    }

    /// Puts a new record into a list, at its end unless the statement says where.
    fn insert(&mut self, stmt: &Stmt) {
        let values = stmt.fields.iter().map(|(name, e)| (name.clone(), self.eval(e))).collect();
        let at = stmt.exprs.first().and_then(|at| usize::try_from(self.eval(at).int()).ok());
        let record = self.sim.state.record(values);
        let records = self.sim.state.lists.entry(stmt.name.to_string()).or_default();
        records.insert(at.unwrap_or(usize::MAX).min(records.len()), record);
    }

    /// Does something to the records for which the first expression holds, as `it`.
    fn chosen(&mut self, stmt: &Stmt) {
        let state = &mut self.sim.state;
        let records = state.lists.get(&*stmt.name).into_iter().flatten().enumerate();
        let chosen: Vec<(Bound, Env)> = records
            .map(|(at, r)| Bound { name: "it".into(), list: stmt.name.clone(), uid: r.uid, at })
            .map(|it| (it.clone(), with(self.env, it)))
            .filter(|(_, env)| eval(&stmt.exprs[0], state, env).truthy())
            .collect();
        let to = stmt.exprs.get(1).map(|to| usize::try_from(eval(to, state, self.env).int()).unwrap_or(0));
        for (it, env) in chosen {
            let values: Vec<_> =
                stmt.fields.iter().map(|(name, e)| (name.clone(), eval(e, state, &env))).collect();
            let Some(at) = state.position(&it) else { continue };
            let other = (stmt.verb == Verb::Replace).then(|| state.record(values.clone()));
            let Some(records) = state.lists.get_mut(&*stmt.name) else { continue };
            match (other, to) {
                (Some(other), _) => records[at] = other,
                (None, Some(to)) => {
                    let record = records.remove(at);
                    records.insert(to.min(records.len()), record);
                }
                (None, None) if stmt.verb == Verb::Remove => drop(records.remove(at)),
                (None, None) => values.into_iter().for_each(|(name, value)| records[at].set(&name, value)),
            }
        }
    }
}
