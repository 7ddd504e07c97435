//! Races: the page changes within milliseconds of the input, many times per page.

use super::account::{Account, UseOutcome};
use super::data::{Delay, Kind, Situation};
use super::stage::{RefUse, Stage};
use super::verdict::judge;

/// Plays a race with every delay: if `full`, as often as its file states, else once per delay.
pub fn play(stage: &mut Stage, race: &Situation, full: bool, account: &mut Account) -> Result<(), String> {
    stage.open(race)?;
    let times = if full { race.times.unwrap_or(5) } else { race.times.map_or(1, |n| n.div_ceil(10)) };
    for delay in &race.delays {
        for _ in 0..times {
            let outcome = once(stage, race, delay)?;
            account.uses.push(outcome);
        }
    }
    Ok(())
}

fn once(stage: &mut Stage, race: &Situation, delay: &Delay) -> Result<UseOutcome, String> {
    let script = delay.script();
    stage.page(&format!("disarm();reset({script})"))?;
    let refs = stage.refs(race)?;
    stage.page(&format!("arm({script})"))?;
    let RefUse { response, hits, noticed } = stage.use_refs(race, &refs, race.kind == Kind::Act)?;
    let verdict = judge(race, &response, &hits, None);
    let outcome = UseOutcome::new(race, verdict, noticed, &hits, &response);
    Ok(UseOutcome { id: format!("{} at {script}", race.id), ..outcome })
}
