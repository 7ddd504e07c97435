//! Expressions: `r.qty + 1`, `count(cart, it.qty > 0) == 0`, `'Cart ({count(cart)})'`.

use super::lex::{Lexer, Token};
use super::value::Value;

/// An expression that was read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expr {
    /// A constant.
    Value(Value),
    /// Text with expressions in it.
    Text(Vec<Part>),
    /// A variable.
    Var(String),
    /// A field of the record that a loop variable stands for.
    Field(String, String),
    /// `not x`
    Not(Box<Expr>),
    /// `-x`
    Minus(Box<Expr>),
    /// `a op b`
    Binary(Op, Box<Expr>, Box<Expr>),
    /// `name(a, b)`
    Call(Function, Vec<Expr>),
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    /// As it is.
    Plain(String),
    /// What an expression gives.
    Of(Expr),
}

/// Operators, loosest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words say it")]
pub(crate) enum Op {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
    Contains,
    Plus,
    Minus,
    Times,
    Over,
    Modulo,
}

/// What can be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    /// `count(list)`, `count(list, it.x)`
    Count,
    /// `sum(list, it.x)`
    Sum,
    /// `first(list, it.x)`: of the first record for which it holds, its id.
    First,
    /// `if(condition, a, b)`
    If,
    /// `pick(n, a, b, ...)`: round and round
    Pick,
    /// `money(cents)`: `12.50`
    Money,
    /// `clock()`: `12:00:07`
    Clock,
    /// `ago(seconds)`: `2 min ago`
    Ago,
    /// `seconds()` since the app was opened
    Seconds,
    /// `lower(text)`
    Lower,
}

impl Function {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "count" => Self::Count,
            "sum" => Self::Sum,
            "first" => Self::First,
            "if" => Self::If,
            "pick" => Self::Pick,
            "money" => Self::Money,
            "clock" => Self::Clock,
            "ago" => Self::Ago,
            "seconds" => Self::Seconds,
            "lower" => Self::Lower,
            _ => return None,
        })
    }
}

impl Expr {
    /// Reads a whole source as one expression.
    pub(crate) fn parse(source: &str) -> Result<Self, String> {
        let mut lexer = Lexer::new(source);
        let expr = Self::read(&mut lexer)?;
        lexer.end()?;
        Ok(expr)
    }

    /// Reads the inside of a quoted text.
    pub(crate) fn template(source: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = source;
        while let Some(open) = rest.find('{') {
            let close =
                closing(&rest[open..]).ok_or_else(|| format!("`{{` in `{source}` has no end"))? + open;
            if open > 0 {
                parts.push(Part::Plain(rest[..open].into()));
            }
            parts.push(Part::Of(Self::parse(&rest[open + 1..close])?));
            rest = &rest[close + 1..];
        }
        if parts.is_empty() {
            return Ok(Self::Value(Value::text(rest)));
        }
        if !rest.is_empty() {
            parts.push(Part::Plain(rest.into()));
        }
        Ok(Self::Text(parts))
    }

    /// Reads as much as belongs to one expression.
    pub(crate) fn read(lexer: &mut Lexer<'_>) -> Result<Self, String> {
        Self::level(lexer, 0)
    }

    fn level(lexer: &mut Lexer<'_>, min: u8) -> Result<Self, String> {
        let mut left = Self::unary(lexer)?;
        while let Some((op, strength)) = operator(lexer.peek()?) {
            if strength < min {
                break;
            }
            lexer.next()?;
            let right = Self::level(lexer, strength + 1)?;
            left = Self::Binary(op, left.into(), right.into());
        }
        Ok(left)
    }

    fn unary(lexer: &mut Lexer<'_>) -> Result<Self, String> {
        if lexer.take("not")? {
            return Ok(Self::Not(Self::level(lexer, 3)?.into()));
        }
        if lexer.take("-")? {
            return Ok(Self::Minus(Self::unary(lexer)?.into()));
        }
        let before = lexer.rest();
        match lexer.next()? {
            Token::Int(n) => Ok(Self::Value(Value::Int(n))),
            Token::Text(t) => Self::template(t),
            Token::Op("(") => {
                let inner = Self::read(lexer)?;
                lexer.expect(")")?;
                Ok(inner)
            }
            Token::Word("true") => Ok(Self::Value(Value::Bool(true))),
            Token::Word("false") => Ok(Self::Value(Value::Bool(false))),
            Token::Word(name) => Self::name(lexer, name),
            _ => Err(format!("an expression is missing before `{before}`")),
        }
    }

    fn name(lexer: &mut Lexer<'_>, name: &str) -> Result<Self, String> {
        if lexer.take(".")? {
            return Ok(Self::Field(name.into(), lexer.word()?.into()));
        }
        if !lexer.take("(")? {
            return Ok(Self::Var(name.into()));
        }
        let function = Function::named(name).ok_or_else(|| format!("`{name}` is no function"))?;
        let mut args = Vec::new();
        while !lexer.take(")")? {
            if !args.is_empty() {
                lexer.expect(",")?;
            }
            args.push(Self::read(lexer)?);
        }
        let (least, most) = match function {
            Function::Clock | Function::Seconds => (0, 0),
            Function::Count => (1, 2),
            Function::Sum | Function::First => (2, 2),
            Function::If => (3, 3),
            Function::Pick => (2, usize::MAX),
            Function::Money | Function::Ago | Function::Lower => (1, 1),
        };
        if args.len() < least || args.len() > most {
            return Err(format!("`{name}` does not take {} arguments", args.len()));
        }
        Ok(Self::Call(function, args))
    }
}

/// Where the brace that `s` begins with is closed.
fn closing(s: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, c) in s.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

fn operator(token: Token<'_>) -> Option<(Op, u8)> {
    let (Token::Op(t) | Token::Word(t)) = token else { return None };
    Some(match t {
        "or" => (Op::Or, 1),
        "and" => (Op::And, 2),
        "==" => (Op::Equal, 3),
        "!=" => (Op::Unequal, 3),
        "<" => (Op::Less, 3),
        "<=" => (Op::AtMost, 3),
        ">" => (Op::More, 3),
        ">=" => (Op::AtLeast, 3),
        "~" => (Op::Contains, 3),
        "+" => (Op::Plus, 4),
        "-" => (Op::Minus, 4),
        "*" => (Op::Times, 5),
        "/" => (Op::Over, 5),
        "%" => (Op::Modulo, 5),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_bind_tighter_than_sums_and_comparisons() {
        assert_eq!(Expr::parse("a + 2 * 3 == b"), Expr::parse("(a + (2 * 3)) == b"));
        assert_eq!(Expr::parse("not a == b and c"), Expr::parse("(not (a == b)) and c"));
        assert_eq!(Expr::parse("a - b - c"), Expr::parse("(a - b) - c"));
    }

    #[test]
    fn mistakes_are_named() {
        for (source, part) in [
            ("a +", "missing"),
            ("f(x)", "no function"),
            ("sum(x)", "arguments"),
            ("'{a'", "no end"),
            ("a b", "`b`"),
        ] {
            let error = Expr::parse(source).unwrap_err();
            assert!(error.contains(part), "{source}: {error}");
        }
    }
}
