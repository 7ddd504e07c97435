//! Finds undefined names in an app when it is loaded, rather than when it is driven.

use super::expr::Expr;
use super::model::{App, captured_names};
use super::view::ViewLine;
use std::collections::HashSet;

struct Names<'a> {
    app: &'a App,
    vars: HashSet<&'a str>,
    loops: HashSet<&'a str>,
}

/// Checks that the variables, loop variables, lists and actions that an app names exist, and that
/// its start address has a screen.
pub(crate) fn check(app: &App) -> Result<(), String> {
    let mut vars: HashSet<&str> = app.state.keys().chain(app.page.keys()).map(String::as_str).collect();
    vars.extend(app.screens.iter().flat_map(|s| captured_names(&s.url)));
    vars.extend(["path", "answer"]);
    let mut names = Names { app, vars, loops: HashSet::from(["it", "dragged", "n"]) };
    for screen in &app.screens {
        loops(&screen.view, &mut names.loops);
    }
    for screen in &app.screens {
        let at = |e: String| format!("screen `{}`: {e}", screen.name);
        names.expr(&screen.title).map_err(at)?;
        names.view(&screen.view).map_err(at)?;
        names.script(&screen.enter).map_err(at)?;
        screen.actions.values().try_for_each(|s| names.script(s)).map_err(at)?;
        screen.guard.iter().try_for_each(|e| names.expr(e)).map_err(at)?;
    }
    for (name, script) in &app.actions {
        names.script(script).map_err(|e| format!("action `{name}`: {e}"))?;
    }
    let start = app.start.split(['?', '#']).next().unwrap_or_default();
    app.route(start).map(drop).ok_or_else(|| format!("no screen has the start address `{start}`"))
}

fn loops<'a>(view: &'a [ViewLine], into: &mut HashSet<&'a str>) {
    for tpl in view {
        match tpl {
            ViewLine::Element(e) => loops(&e.children, into),
            ViewLine::Text(..) => {}
            ViewLine::For(f) => {
                into.insert(&f.var);
                loops(&f.body, into);
            }
            ViewLine::If { then_lines: yes, else_lines: no, .. } => {
                loops(yes, into);
                loops(no, into);
            }
        }
    }
}

impl Names<'_> {
    fn view(&self, view: &[ViewLine]) -> Result<(), String> {
        for tpl in view {
            match tpl {
                ViewLine::Text(_, e) => self.expr(e)?,
                ViewLine::If { test, then_lines: yes, else_lines: no } => {
                    self.expr(test)?;
                    self.view(yes)?;
                    self.view(no)?;
                }
                ViewLine::For(f) => {
                    self.expr(&Expr::List(f.list.clone()))?;
                    f.filter.iter().chain(&f.key).try_for_each(|e| self.expr(e))?;
                    self.view(&f.body)?;
                }
                ViewLine::Element(e) => {
                    e.states.iter().try_for_each(|(_, x)| self.expr(x))?;
                    e.attrs.iter().try_for_each(|(_, x)| self.expr(x))?;
                    e.props.iter().try_for_each(|(_, x)| self.expr(x))?;
                    e.handlers.iter().try_for_each(|(_, s)| self.script(s))?;
                    self.view(&e.children)?;
                }
            }
        }
        Ok(())
    }

    fn script(&self, script: &[Expr]) -> Result<(), String> {
        script.iter().try_for_each(|e| self.expr(e))
    }

    fn expr(&self, expr: &Expr) -> Result<(), String> {
        let (is_known, problem) = match expr {
            Expr::Value(_) => return Ok(()),
            Expr::Text(args) | Expr::Call(_, args) => return self.script(args),
            Expr::Named(_, value) => return self.expr(value),
            Expr::Var(name) => (self.vars.contains(&**name), format!("there is no variable `{name}`")),
            Expr::Field(var, _) => {
                (self.loops.contains(&**var), format!("no `for` has the variable `{var}`"))
            }
            Expr::List(name) => (self.app.lists.contains_key(&**name), format!("there is no list `{name}`")),
            Expr::Action(name) => {
                let own = self.app.screens.iter().map(|screen| &screen.actions);
                let mut all = own.chain([&self.app.actions]);
                (all.any(|actions| actions.contains_key(&**name)), format!("there is no action `{name}`"))
            }
        };
        if is_known { Ok(()) } else { Err(problem) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_are_found_when_the_app_is_loaded() {
        let load = |view: &str| {
            App::parse(
                "t",
                &format!("title='T'\nlists.rows=[{{id=1}}]\n[screens.a]\nurl='/'\nview='''{view}'''"),
            )
        };
        load("p \"{count(rows)}\"").unwrap();
        for (view, part) in [
            ("p \"{x}\"", "no variable `x`"),
            ("for r in row\n  p \"{r.id}\"", "no list `row`"),
            ("p \"{r.id}\"", "no `for` has the variable `r`"),
            ("button \"A\" press=save", "no action `save`"),
            ("textbox \"A\" bind=x", "no variable `x`"),
        ] {
            let error = load(view).unwrap_err();
            assert!(error.contains(part), "{view}: {error}");
        }
    }
}
