//! The tabs of an app.

use super::SimDevice;
use super::navigate;
use crate::app::sim::{Sim, Tab};
use async_trait::async_trait;
use std::time::Duration;
use stickpin_device::{
    CancellationToken, EndedTab, Error, LeavePolicy, NavigationResult, Result, TabEndReason, TabEntry, Tabs,
};
use stickpin_tree::{SurfaceId, quote};

/// Returns the id of a tab.
fn id_of(surface: SurfaceId) -> String {
    format!("t{}", surface.0)
}

/// Returns the position of a tab.
fn tab_of(sim: &Sim, id: &str) -> Result<usize> {
    sim.tabs.iter().position(|tab| id_of(tab.surface) == id).ok_or_else(|| {
        let ids: Vec<String> = sim.tabs.iter().map(|tab| id_of(tab.surface)).collect();
        Error::device_not_found(format!("there is no tab {}", quote(id)))
            .hint(format!("open tabs: {}; run `stickpin tab list`", ids.join(", ")))
    })
}

#[async_trait]
impl Tabs for SimDevice {
    async fn list_tabs(&mut self) -> Result<Vec<TabEntry>> {
        let sim = self.shared.running_app()?;
        let active = sim.tab().surface;
        let entry = |tab: &Tab| {
            TabEntry::new(id_of(tab.surface), sim.url_of(tab), sim.title_of(tab))
                .active(tab.surface == active)
        };
        Ok(sim.tabs.iter().map(entry).collect())
    }

    async fn new_tab(
        &mut self,
        what: Option<&str>,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<NavigationResult> {
        drop(self.shared.unblocked_app()?);
        let own = format!("sim:{}", self.shared.running_app()?.app.name);
        let path = match what.map(|what| what.strip_prefix(&own).unwrap_or(what)) {
            None | Some("") => self.shared.running_app()?.app.start.clone(),
            Some(path) if path.starts_with('/') => path.to_owned(),
            Some(other) => {
                return Err(Error::invalid_args(format!("{} is not an address of {own}", quote(other)))
                    .hint(format!("use an address in the open app: `{own}/PATH`")));
            }
        };
        self.shared.running_app()?.navigator().open_tab(&path)?;
        Ok(navigate::wait_until_loaded(self, true, timeout, cancel).await?.moved(true))
    }

    async fn switch_tab(&mut self, id: &str) -> Result<()> {
        let mut sim = self.shared.unblocked_app()?;
        let at = tab_of(&sim, id)?;
        if at != sim.active {
            sim.active = at;
            sim.navigator().update_front_tab();
        }
        Ok(())
    }

    async fn close_tab(&mut self, id: &str, _leave: LeavePolicy, _cancel: &CancellationToken) -> Result<()> {
        let mut sim = self.shared.unblocked_app()?;
        let at = tab_of(&sim, id)?;
        if sim.tabs.len() == 1 {
            return Err(Error::invalid_args(format!("{id} is the only tab"))
                .hint("run `stickpin close` to end the session"));
        }
        sim.navigator().remove_tab(at, TabEndReason::ByCommand);
        Ok(())
    }

    async fn show_tab(&mut self) -> Result<()> {
        // The front tab is also the one that is shown.
        self.shared.running_app().map(drop)
    }

    fn ended_tabs(&mut self) -> Vec<EndedTab> {
        std::mem::take(&mut self.shared.lock().ended)
    }
}
