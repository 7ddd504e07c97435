//! What scripts do.

use super::eval::{Bound, Env, eval, with};
use super::nav::{How, NavError};
use super::render::TOASTS;
use super::script::{Fields, Repeat, Script, Stmt};
use super::sim::{Asked, Sim, Then};
use super::time::Job;
use super::value::Value;
use std::sync::Arc;
use stickpin_device::{Dialog, DialogAnswer, Notice};

/// How deep actions may call one another.
const DEEPEST: u32 = 32;

impl Sim {
    /// Runs a script. A dialog that it opens does not stop what follows in it.
    pub(crate) fn run(&mut self, script: &Script, env: &Env) {
        self.run_at(script, env, 0);
    }

    fn run_at(&mut self, script: &Script, env: &Env, depth: u32) {
        for stmt in script.iter() {
            if self.dead.is_some() {
                return;
            }
            self.statement(stmt, env, depth);
        }
    }

    fn statement(&mut self, stmt: &Stmt, env: &Env, depth: u32) {
        match stmt {
            Stmt::Set(place, e) => {
                let value = eval(e, &self.state, env);
                self.state.write(place, env, value);
            }
            Stmt::Insert { .. }
            | Stmt::Remove { .. }
            | Stmt::Update { .. }
            | Stmt::Replace { .. }
            | Stmt::Move { .. }
            | Stmt::Sort { .. } => self.records(stmt, env),
            Stmt::Rerender(mark) => {
                let mark = self.eval(mark, env);
                *self.tab_mut().epochs.entry(mark).or_default() += 1;
            }
            Stmt::Goto(url) => {
                let url = self.eval(url, env);
                let went = self.leave(&url, How::Push);
                self.report(went);
            }
            Stmt::Route(url) => {
                let url = self.eval(url, env);
                let went = self.route(&url, How::Push);
                self.report(went);
            }
            Stmt::Url(url) => {
                let (url, at) = (self.eval(url, env), self.tab().at);
                let went = self.route(&url, How::Step(at));
                self.report(went);
            }
            Stmt::History(step) => {
                let went = self.history(*step).map(drop);
                self.report(went);
            }
            Stmt::Tab(url) => {
                let url = self.eval(url, env);
                let went = self.open_tab(&url);
                self.report(went);
            }
            Stmt::CloseTab => self.close_tab(),
            Stmt::Toast(text, ms) => {
                let (text, ms) = (self.eval(text, env), eval(ms, &self.state, env).int());
                let record = self.state.record(vec![("text".into(), Value::text(text))]);
                self.set_timer(ms.unsigned_abs(), "toast", Job::Untoast(record.uid));
                self.state.lists.entry(TOASTS.into()).or_default().push(record);
            }
            Stmt::Alert(text) => {
                let text = self.eval(text, env);
                self.notice(Notice::DialogShown { text });
            }
            Stmt::Confirm { text, yes, no } => {
                let message = self.eval(text, env);
                let dialog = Dialog { kind: "confirm".into(), message, default: String::new(), tab: None };
                let (yes, no, env) = (yes.clone(), no.clone(), env.clone());
                self.dialog = Some(Asked { dialog, then: Then::Script { yes, no, into: None, env } });
            }
            Stmt::Prompt { text, default, into, then } => {
                let dialog = Dialog {
                    kind: "prompt".into(),
                    message: self.eval(text, env),
                    default: self.eval(default, env),
                    tab: None,
                };
                let (yes, into) = (then.clone(), Some(into.clone()));
                let then = Then::Script { yes, no: [].into(), into, env: env.clone() };
                self.dialog = Some(Asked { dialog, then });
            }
            Stmt::Console(text) => {
                let text = self.eval(text, env);
                self.notice(Notice::ConsoleError { text });
            }
            Stmt::Fail(method, url, why) => {
                let notice = Notice::RequestFailed {
                    method: self.eval(method, env),
                    url: self.eval(url, env),
                    why: self.eval(why, env),
                };
                self.notice(notice);
            }
            Stmt::Download(name) => {
                let path = self.eval(name, env).into();
                self.notice(Notice::Downloaded { path });
            }
            Stmt::Timer { ms, kind, then, name } => {
                let mut ms = eval(ms, &self.state, env).int().unsigned_abs();
                if *kind == Repeat::Every {
                    ms = ms.max(1); // Or time would never pass.
                }
                let job = Job::Script { script: then.clone(), env: env.clone(), kind: *kind, ms };
                self.set_timer(ms, name, job);
            }
            Stmt::Cancel(name) => self.timers.retain(|t| t.name != *name),
            Stmt::If { test, yes, no } => {
                let branch = if eval(test, &self.state, env).truthy() { yes } else { no };
                self.run_at(branch, env, depth);
            }
            Stmt::Focus(mark) => {
                self.refresh(); // The element may be about to appear.
                let mark = mark.as_ref().map(|m| self.eval(m, env));
                let id = mark.and_then(|m| Some(self.dom().nodes[self.dom().marked(&m)?].id));
                self.tab_mut().focus = id;
            }
            Stmt::Scroll(mark, to) => {
                let (mark, to) = (self.eval(mark, env), eval(to, &self.state, env).int());
                #[allow(clippy::cast_precision_loss, reason = "pixels of a made-up screen")]
                self.scroll_to(&mark, to as f64);
            }
            Stmt::Do(name) => {
                let own = self.app.screens[self.tab().screen].actions.get(&**name);
                let script = own.or_else(|| self.app.actions.get(&**name)).cloned();
                let problem = match script {
                    Some(script) if depth < DEEPEST => return self.run_at(&script, env, depth + 1),
                    Some(_) => "never ends",
                    None => "is none of this screen",
                };
                self.notice(Notice::ConsoleError { text: format!("action {name} {problem}") });
            }
            Stmt::Crash => self.dead = Some(format!("sim:{} crashed", self.app.name)),
        }
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

    /// Statements about the records of a list.
    fn records(&mut self, stmt: &Stmt, env: &Env) {
        match stmt {
            Stmt::Insert { list, at, fields } => {
                let values = self.values(fields, env);
                let record = self.state.record(values);
                let at = at.as_ref().map(|e| eval(e, &self.state, env).int());
                let records = self.state.lists.entry(list.to_string()).or_default();
                let at = at.and_then(|n| usize::try_from(n).ok()).unwrap_or(records.len());
                records.insert(at.min(records.len()), record);
            }
            Stmt::Remove { list, which } => {
                let gone = self.chosen(list, which, env);
                if let Some(records) = self.state.lists.get_mut(&**list) {
                    records.retain(|r| !gone.iter().any(|b| b.uid == r.uid));
                }
            }
            Stmt::Update { list, which, fields } => {
                for bound in self.chosen(list, which, env) {
                    let values = self.values(fields, &with(env, bound.clone()));
                    let (Some(at), Some(records)) =
                        (self.state.position(&bound), self.state.lists.get_mut(&**list))
                    else {
                        continue;
                    };
                    values.into_iter().for_each(|(name, value)| records[at].set(&name, value));
                }
            }
            Stmt::Replace { list, which, fields } => {
                for bound in self.chosen(list, which, env) {
                    let values = self.values(fields, &with(env, bound.clone()));
                    let record = self.state.record(values);
                    if let (Some(at), Some(records)) =
                        (self.state.position(&bound), self.state.lists.get_mut(&**list))
                    {
                        records[at] = record;
                    }
                }
            }
            Stmt::Move { list, which, to } => {
                let to = usize::try_from(eval(to, &self.state, env).int()).unwrap_or(0);
                for bound in self.chosen(list, which, env) {
                    if let (Some(at), Some(records)) =
                        (self.state.position(&bound), self.state.lists.get_mut(&**list))
                    {
                        let record = records.remove(at);
                        records.insert(to.min(records.len()), record);
                    }
                }
            }
            Stmt::Sort { list, field } => {
                let Some(records) = self.state.lists.get_mut(&**list) else { return };
                match field {
                    Some(field) => records.sort_by(|a, b| a.get(field).order(&b.get(field))),
                    None => records.reverse(),
                }
            }
            _ => {}
        }
    }

    fn values(&self, fields: &Fields, env: &Env) -> Vec<(Arc<str>, Value)> {
        fields.iter().map(|(name, e)| (name.clone(), eval(e, &self.state, env))).collect()
    }

    /// The records for which something holds, as `it`.
    fn chosen(&self, list: &Arc<str>, which: &super::expr::Expr, env: &Env) -> Vec<Bound> {
        let records = self.state.lists.get(&**list).into_iter().flatten().enumerate();
        records
            .map(|(at, r)| Bound { name: "it".into(), list: list.clone(), uid: r.uid, at })
            .filter(|b| eval(which, &self.state, &with(env, b.clone())).truthy())
            .collect()
    }

    /// Answers the dialog that waits. False if none does.
    pub(crate) fn answer(&mut self, answer: DialogAnswer) -> bool {
        let Some(asked) = self.dialog.take() else { return false };
        let accepted = matches!(answer, DialogAnswer::Accept(_));
        match asked.then {
            Then::Script { yes, no, into, env } => {
                if let (Some(place), DialogAnswer::Accept(text)) = (&into, &answer) {
                    let text = text.clone().unwrap_or(asked.dialog.default);
                    self.state.write(place, &env, Value::text(text));
                }
                self.run(if accepted { &yes } else { &no }, &env);
            }
            Then::Leave(leave) => {
                if accepted {
                    let went = self.fetch(leave);
                    self.report(went);
                }
            }
            Then::Press(id) => {
                if let Some(at) = self.dom().find(id).filter(|_| accepted) {
                    self.press_element(at);
                }
            }
        }
        self.refresh();
        true
    }
}
