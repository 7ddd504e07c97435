//! Evaluates expressions in a state.

use super::expr::{Expr, Function};
use super::state::State;
use super::value::Value;
use std::cmp::Ordering;
use std::sync::Arc;

/// A record that a loop variable is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Binding {
    /// The loop variable.
    pub(crate) name: Arc<str>,
    /// The list of the record.
    pub(crate) list: Arc<str>,
    /// The record's unique number, which is never reused.
    pub(crate) uid: u64,
    /// The position of the record when it was bound; only a hint.
    pub(crate) at: usize,
}

/// The loop variables around an element, outermost first.
pub(crate) type Env = Arc<[Binding]>;

/// Returns `env` extended by one loop variable, which becomes the innermost.
pub(crate) fn extend_scope(env: &[Binding], bound: Binding) -> Env {
    env.iter().cloned().chain([bound]).collect()
}

/// Evaluates an expression. Loading an app rejects unknown variables, lists and actions. A value
/// that no longer exists reads as unset.
pub(crate) fn eval(expr: &Expr, state: &State, env: &[Binding]) -> Value {
    match expr {
        Expr::Value(v) => v.clone(),
        Expr::Text(parts) => {
            Value::text(parts.iter().map(|part| eval(part, state, env).to_string()).collect::<String>())
        }
        Expr::Var(name) => state.vars.get(name).cloned().unwrap_or_default(),
        Expr::Field(var, field) => field_of(state, env, var, field),
        Expr::Call(function, args) => call(*function, args, state, env),
        Expr::Named(_, value) => eval(value, state, env),
        Expr::List(_) | Expr::Action(_) => Value::Null,
    }
}

fn field_of(state: &State, env: &[Binding], var: &str, field: &str) -> Value {
    let Some(bound) = env.iter().rev().find(|b| &*b.name == var) else { return Value::Null };
    let Some(at) = state.position(bound) else { return Value::Null };
    if field == "index" {
        return Value::Int(i64::try_from(at).unwrap_or(i64::MAX));
    }
    state.lists[&*bound.list][at].get(field)
}

/// Returns the loop variables for each record of the list in `args[0]`, with that record as `it`.
fn matching<'a>(args: &'a [Expr], state: &'a State, env: &'a [Binding]) -> impl Iterator<Item = Env> + 'a {
    let list = args[0].list();
    let each = state.lists.get(&*list).into_iter().flatten().enumerate();
    each.map(move |(at, record)| {
        extend_scope(env, Binding { name: "it".into(), list: list.clone(), uid: record.uid, at })
    })
}

fn call(function: Function, args: &[Expr], state: &State, env: &[Binding]) -> Value {
    let arg = |i: usize| eval(&args[i], state, env);
    let number = |f: fn(i64, i64) -> Option<i64>| Value::Int(f(arg(0).int(), arg(1).int()).unwrap_or(0));
    let order = |is: fn(Ordering) -> bool| Value::Bool(is(arg(0).order(&arg(1))));
    let length = |n: usize| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
    match function {
        Function::Or => Some(arg(0)).filter(Value::truthy).unwrap_or_else(|| arg(1)),
        Function::And => Some(arg(0)).filter(|left| !left.truthy()).unwrap_or_else(|| arg(1)),
        Function::Not => Value::Bool(!arg(0).truthy()),
        Function::Equal => Value::Bool(arg(0).same(&arg(1))),
        Function::Unequal => Value::Bool(!arg(0).same(&arg(1))),
        Function::Less => order(Ordering::is_lt),
        Function::AtMost => order(Ordering::is_le),
        Function::More => order(Ordering::is_gt),
        Function::AtLeast => order(Ordering::is_ge),
        Function::Contains => {
            Value::Bool(arg(0).to_string().to_lowercase().contains(&arg(1).to_string().to_lowercase()))
        }
        Function::Plus => match (arg(0), arg(1)) {
            (left @ Value::Str(_), right) | (left, right @ Value::Str(_)) => {
                Value::text(format!("{left}{right}"))
            }
            (left, right) => Value::Int(left.int().checked_add(right.int()).unwrap_or(0)),
        },
        Function::Minus => number(i64::checked_sub),
        Function::Times => number(i64::checked_mul),
        Function::Over => number(i64::checked_div),
        Function::Modulo => number(i64::checked_rem_euclid),
        Function::Count if args.len() == 1 => length(state.lists.get(&*args[0].list()).map_or(0, Vec::len)),
        Function::Count => {
            length(matching(args, state, env).filter(|it| eval(&args[1], state, it).truthy()).count())
        }
        Function::Sum => {
            Value::Int(matching(args, state, env).map(|it| eval(&args[1], state, &it).int()).sum())
        }
        Function::First => matching(args, state, env)
            .find(|it| eval(&args[1], state, it).truthy())
            .map(|it| field_of(state, &it, "it", "id"))
            .unwrap_or_default(),
        Function::If => {
            let branch = args.get(if arg(0).truthy() { 1 } else { 2 });
            branch.map_or(Value::Null, |branch| eval(branch, state, env))
        }
        Function::Pick => {
            let choices = i64::try_from(args.len() - 1).unwrap_or(1);
            arg(1 + usize::try_from(arg(0).int().rem_euclid(choices)).unwrap_or(0))
        }
        Function::Money => {
            let cents = arg(0).int();
            Value::text(format!("{}.{:02}", cents / 100, (cents % 100).abs()))
        }
        Function::Clock => {
            // The app opens at noon, so that its pictures are the same every day.
            let s = 12 * 3600 + state.now_ms / 1000;
            Value::text(format!("{:02}:{:02}:{:02}", s / 3600 % 24, s / 60 % 60, s % 60))
        }
        Function::Ago => {
            let s = arg(0).int().max(0);
            Value::text(match s {
                0..60 => "just now".to_owned(),
                60..3600 => format!("{} min ago", s / 60),
                _ => format!("{} h ago", s / 3600),
            })
        }
        Function::Seconds => Value::Int(i64::try_from(state.now_ms / 1000).unwrap_or(i64::MAX)),
        Function::Lower => Value::text(arg(0).to_string().to_lowercase()),
        // A statement has no value.
        _ => Value::Null,
    }
}
