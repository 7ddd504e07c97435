//! Positions in a plan at which a run can stop and continue: a step, and the rounds of the blocks
//! around it.

use crate::plan::{Item, Plan, Step};
use crate::script::Block;
use serde::{Deserialize, Serialize};

/// A position in a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Position {
    /// The number of the step, from 1.
    pub step: usize,
    /// The round of each `repeat` and `retry` block around the step, outermost first; from 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<u32>,
}

impl Position {
    /// Returns the position of a step that is in no `repeat` or `retry` block.
    #[must_use]
    pub const fn step(step: usize) -> Self {
        Self { step, rounds: Vec::new() }
    }

    /// Returns the position as seen from outside a block that is in this round.
    fn in_round(mut self, round: u32) -> Self {
        self.rounds.insert(0, round);
        self
    }
}

/// Formats as `7` or `7@2,1`.
impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.step)?;
        for (i, round) in self.rounds.iter().enumerate() {
            write!(f, "{}{round}", if i == 0 { "@" } else { "," })?;
        }
        Ok(())
    }
}

impl Item {
    /// Returns the number of the item's last step; 0 if it has none. The condition of an `if` is a
    /// step.
    pub(crate) fn last_step(&self) -> usize {
        let last_of = |items: &[Self]| items.iter().rev().map(Self::last_step).find(|last| *last > 0);
        match self {
            Self::Step(step) => step.number,
            Self::Block(Block::If(_, asked), items) => last_of(items).unwrap_or(asked.number),
            Self::Block(_, items) => last_of(items).unwrap_or(0),
        }
    }

    /// Returns the position at which a run reaches this item; `None` if the item has no step.
    fn first_position(&self) -> Option<Position> {
        match self {
            Self::Step(step) => Some(Position::step(step.number)),
            Self::Block(Block::If(_, asked), _) => Some(Position::step(asked.number)),
            Self::Block(_, items) => {
                items.iter().find_map(Self::first_position).map(|inside| inside.in_round(1))
            }
        }
    }
}

impl Plan {
    /// Returns the step at a position; `None` if the step does not exist, or if the rounds do not
    /// fit the blocks around the step.
    #[must_use]
    pub fn step_at(&self, position: &Position) -> Option<&Step> {
        let (step, max_rounds) = find_step(&self.items, position.step)?;
        let depth_matches = max_rounds.len() == position.rounds.len();
        let rounds = max_rounds.iter().zip(&position.rounds);
        (depth_matches && rounds.into_iter().all(|(most, round)| (1..=*most).contains(round))).then_some(step)
    }

    /// Returns the position after the step at this position; `None` at the end. The block of an
    /// `if` is assumed to be skipped.
    #[must_use]
    pub fn position_after(&self, position: &Position) -> Option<Position> {
        position_after_in(&self.items, position.step, &position.rounds)
    }

    /// Returns how many `repeat` and `retry` blocks surround a step; `None` if the step does not
    /// exist.
    #[must_use]
    pub fn round_depth(&self, step: usize) -> Option<usize> {
        find_step(&self.items, step).map(|(_, most)| most.len())
    }
}

/// Returns a step and the maximum round of each `repeat` and `retry` block around it, outermost
/// first.
fn find_step(items: &[Item], step: usize) -> Option<(&Step, Vec<u32>)> {
    match items.iter().find(|item| item.last_step() >= step)? {
        Item::Step(found) => (found.number == step).then(|| (found, Vec::new())),
        Item::Block(Block::If(_, asked), _) if asked.number == step => Some((asked, Vec::new())),
        Item::Block(Block::If(..), items) => find_step(items, step),
        Item::Block(Block::Retry(times) | Block::Repeat(times), items) => {
            let (found, mut max_rounds) = find_step(items, step)?;
            max_rounds.insert(0, *times);
            Some((found, max_rounds))
        }
    }
}

fn position_after_in(items: &[Item], step: usize, rounds: &[u32]) -> Option<Position> {
    let index = items.iter().position(|item| item.last_step() >= step)?;
    let (round, inner) = rounds.split_first().map_or((1, rounds), |(round, inner)| (*round, inner));
    let inside = match &items[index] {
        Item::Step(_) => None,
        Item::Block(Block::If(_, asked), _) if asked.number == step => None,
        Item::Block(Block::If(..), items) => position_after_in(items, step, rounds),
        Item::Block(Block::Retry(_), items) => {
            position_after_in(items, step, inner).map(|inside| inside.in_round(round))
        }
        Item::Block(Block::Repeat(times), items) => match position_after_in(items, step, inner) {
            Some(inside) => Some(inside.in_round(round)),
            // After the last step comes the next round, if there is one.
            None if round < *times => {
                items.iter().find_map(Item::first_position).map(|first| first.in_round(round + 1))
            }
            None => None,
        },
    };
    inside.or_else(|| items[index + 1..].iter().find_map(Item::first_position))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vars::Vars;
    use std::path::Path;

    /// 1 · 2 · repeat 2: [3 · if 4: [5] · retry 2: [6 7]] · 8
    const NESTED: &str = "open sim:shop\nback\nrepeat 2 {\n  press a=b\n  if visible id=c {\n    press id=d\n  }\n\
         retry 2 {\n    press id=e\n    press id=f\n  }\n}\nclose\n";

    fn plan() -> Plan {
        let text = NESTED.replace("a=b", "id=b");
        Plan::read(Path::new("a.ad"), &Vars::default(), &|_| Ok(text.clone())).unwrap()
    }

    fn positions_from(plan: &Plan, mut at: Position) -> Vec<String> {
        let mut positions = Vec::new();
        loop {
            let step = plan.step_at(&at).expect("a position that a run may begin at");
            assert_eq!(step.number, at.step);
            assert_eq!(plan.round_depth(at.step), Some(at.rounds.len()));
            positions.push(at.to_string());
            match plan.position_after(&at) {
                Some(next) => at = next,
                None => return positions,
            }
        }
    }

    #[test]
    fn position_after_matches_run_order() {
        let plan = plan();
        // The result of `if` is unknown, so its block is assumed to be skipped.
        assert_eq!(
            positions_from(&plan, Position::step(1)),
            ["1", "2", "3@1", "4@1", "6@1,1", "7@1,1", "3@2", "4@2", "6@2,1", "7@2,1", "8"]
        );
        // In a later round of `retry`, and inside an `if`.
        let inside = |step, rounds: &[u32]| positions_from(&plan, Position { step, rounds: rounds.to_vec() });
        assert_eq!(inside(6, &[2, 2]), ["6@2,2", "7@2,2", "8"]);
        assert_eq!(inside(5, &[2]), ["5@2", "6@2,1", "7@2,1", "8"]);
    }

    #[test]
    fn missing_step_or_round_has_no_position() {
        let plan = plan();
        for (step, rounds) in
            [(0, &[][..]), (9, &[]), (3, &[]), (3, &[3]), (3, &[0]), (1, &[1]), (6, &[1]), (6, &[1, 3])]
        {
            assert_eq!(
                plan.step_at(&Position { step, rounds: rounds.to_vec() }).map(|s| s.number),
                None,
                "{step} {rounds:?}"
            );
        }
        assert_eq!(plan.round_depth(9), None);
    }
}
