//! After an act: the target is read once more, what was seen becomes the receipt, and `--settle` shows what changed.

use crate::act::{Reading, Ready};
use crate::api::render::{Show, Text};
use crate::command::args::How;
use crate::command::context::Cx;
use crate::observe::changes::Changes;
use crate::observe::waiting::QUIET;
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;
use stickpin_device::{ErrorCode, Located, Notice, Result, SettleRequest};
use stickpin_session::{BaseTree, ContextPolicy, Origin};
use stickpin_tree::{IdentityGrade, NodeId, Tree, Verdict};

/// How long an act that shows nothing yet is given to show something.
const EFFECT: Duration = Duration::from_millis(100);

/// Characters of what was still moving.
const STILL: usize = 500;

/// What every act answers with.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Acted {
    /// What was done: `pressed`.
    pub(crate) did: &'static str,
    /// To what: `@e3 button "Save"`.
    pub(crate) target: String,
    /// The value that a field has now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<String>,
    /// The end of it that the app has added by itself, and selected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) completed: Option<String>,
    /// The target after the act, if its name or its states are not what they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) now: Option<String>,
    /// Whether the app became quiet (`--settle`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) settled: Option<bool>,
    /// What was still moving when waiting for quiet was given up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) still: Vec<String>,
    /// What changed (`--settle`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) changes: Option<Changes>,
}

impl Acted {
    /// An act that is done, on this target.
    pub(crate) fn new(did: &'static str, target: impl Into<String>) -> Self {
        Self { did, target: target.into(), ..Self::default() }
    }
}

impl Cx {
    /// Forgets what was seen before an act, and notes its target as what opens the next popup.
    ///
    /// # Errors
    /// What the device says.
    pub(crate) async fn before(&mut self, ready: &Ready) -> Result<()> {
        // What was seen until now belongs to no act of ours.
        drop(self.device()?.notices().await?);
        self.envelope.unnoted = self.found_in(ready)?.map(|found| (found, ready.handle));
        self.opened_by(ready)
    }

    /// Notes the target of an act as what opens the popup that appears next.
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND`.
    pub(crate) fn opened_by(&mut self, ready: &Ready) -> Result<()> {
        if let Some(node) = ready.found.as_ref().and_then(|found| found.node) {
            self.live()?.session.note_act(node);
        }
        Ok(())
    }

    /// The target as it is now; `None` when it is gone.
    ///
    /// # Errors
    /// What the device says.
    pub(crate) async fn read_again(&mut self, ready: &Ready) -> Result<Option<Reading>> {
        let Some(handle) = ready.handle else { return Ok(None) };
        let graded = self.device()?.info().grade != IdentityGrade::None;
        if graded && let Some(Located { tree, node }) = self.device()?.locate(handle, &[]).await? {
            return Ok(Some(Reading::of(tree.node(node))));
        }
        let tree = self.look(Origin::Look).await?;
        Ok(self.drawn_anew(ready).map(|node| Reading::of(tree.node(node))))
    }

    /// Looks at what became of an act. Nothing in here undoes it: what cannot be read any more is left out.
    ///
    /// # Errors
    /// What the device says; the act is done all the same.
    pub(crate) async fn after(&mut self, ready: Option<&Ready>, how: How, acted: Acted) -> Result<Acted> {
        let brief = Acted { did: acted.did, target: acted.target.clone(), ..Acted::default() };
        match self.look_after(ready, how, acted).await {
            Err(e) if e.code == ErrorCode::BackendLost => match self.live()?.ended().await {
                // That is what became of it: the last window of an app was closed by what it is there for.
                Some(how) => {
                    self.envelope.receipt = vec![stickpin_tree::escape(&how, STILL).to_string()];
                    self.live()?.lost = true;
                    Ok(brief)
                }
                None => Err(e),
            },
            // It opened while we looked. The act is done, and the response names the dialog.
            Err(e) if e.code == ErrorCode::DialogOpen => Ok(brief),
            acted => acted,
        }
    }

    async fn look_after(&mut self, ready: Option<&Ready>, how: How, mut acted: Acted) -> Result<Acted> {
        // An act may close the tab that it was done in.
        self.attend_aloud();
        if self.device()?.dialog().is_some() {
            // The app answers nothing more until somebody answers it; the response names the dialog.
            return Ok(acted);
        }
        let cancel = self.cancel.clone();
        let before = self.stored()?;
        if let Some(cap) = how.settle {
            let request = SettleRequest { quiet: QUIET, cap };
            let mut settled = self.device()?.settle(request, &cancel).await;
            if self.went_on(&settled) {
                settled = self.device()?.settle(request, &cancel).await;
            }
            let settled = settled?;
            acted.settled = Some(settled.settled);
            acted.still = settled.still;
        } else if how.receipt {
            let effects = self.device()?.effects(EFFECT, &cancel).await;
            if !self.went_on(&effects) {
                effects?;
            }
        }
        if self.device()?.dialog().is_some() {
            return Ok(acted);
        }
        let mut seen = None;
        if let Some(ready) = ready {
            (acted.now, seen) = self.changed_target(ready).await?;
        }
        let notices = if how.receipt { self.device()?.notices().await? } else { Vec::new() };
        if let Some(Notice::Navigated { url }) =
            notices.iter().rfind(|n| matches!(n, Notice::Navigated { .. }))
        {
            // The receipt says so.
            let client = self.client();
            self.live()?.pictures.leave(&client, url);
        }
        let mut changed = acted.now.is_some();
        if how.settle.is_none() {
            changed |= self.effects_of(ready, how, seen, &before, &notices).await?;
        }
        if how.settle.is_some() {
            let then = before.as_ref().map(|before| before.generation);
            acted.changes = Some(self.changes_since(before.clone()).await?);
            let after = self.tree()?;
            self.tell_effects(ready, &before, &after)?;
            self.envelope.effects.clear();
            // Not everything that changes is signalled.
            changed |= then.is_some() && self.live()?.session.generation() != then;
        }
        if how.receipt {
            let effects =
                crate::act::context_guard::effect_lines(&std::mem::take(&mut self.envelope.effects));
            let lines = crate::observe::receipt::lines(&notices, changed);
            self.envelope.receipt = crate::observe::receipt::with_effects(lines, effects);
        }
        Ok(acted)
    }

    /// Notes what an act replaced around the refs of this client, for the receipt to tell; whether anything was. `seen` is
    /// the app after the act, where that was read anyway; of a device that glances, the target and the titles of its windows.
    async fn effects_of(
        &mut self,
        ready: Option<&Ready>,
        how: How,
        seen: Option<Arc<Tree>>,
        before: &Option<BaseTree>,
        notices: &[Notice],
    ) -> Result<bool> {
        if self.live()?.session.context_policy() == ContextPolicy::Off {
            return Ok(false);
        }
        if self.device()?.glances() {
            // Reading the whole app would cost more than the act. What changed is not known, and nothing but the titles of
            // windows is compared until the next reading.
            let mut titles = Vec::new();
            if !how.receipt || notices.contains(&Notice::Changed) {
                let client = self.client();
                let judged = ready.and_then(|ready| ready.tree.as_deref());
                titles = self.live()?.session.waive_context(&client, judged.zip(seen.as_deref()));
            }
            self.envelope.unnoted = None;
            let told = !titles.is_empty();
            self.envelope.effects.append(&mut titles);
            return Ok(told);
        }
        let after = match seen {
            Some(after) => after,
            None => self.look(Origin::Look).await?,
        };
        let told = self.envelope.effects.len();
        self.tell_effects(ready, before, &after)?;
        Ok(self.envelope.effects.len() > told)
    }

    /// The whole app as it was when a target was judged, as far as it was read.
    fn found_in(&mut self, ready: &Ready) -> Result<Option<Arc<Tree>>> {
        let judged = ready.tree.clone();
        // A device that tells an element alone was read whole some time before.
        Ok(if self.device()?.glances() { self.live()?.session.tree().cloned() } else { judged })
    }

    fn tell_effects(
        &mut self,
        ready: Option<&Ready>,
        before: &Option<BaseTree>,
        after: &Arc<Tree>,
    ) -> Result<()> {
        let unnoted = self.envelope.unnoted.take().map(|(before, _)| before);
        let partial = self.device()?.glances();
        let judged = || ready.and_then(|ready| ready.tree.clone()).filter(|_| !partial);
        let stored = || before.as_ref().map(|b| Arc::clone(&b.tree));
        let Some(before) = unnoted.or_else(judged).or_else(stored) else { return Ok(()) };
        self.note_effects(&before, after, ready.and_then(|ready| ready.handle))
    }

    /// Whether what was waited for ended with its tab, and the session goes on in another one.
    fn went_on<T>(&mut self, waited: &Result<T>) -> bool {
        let gone = waited.as_ref().is_err_and(|e| e.code == ErrorCode::DeviceNotFound);
        let moved = if gone { self.attend() } else { None };
        if let Some(moved) = &moved {
            self.warn(format!("Note: {moved}."));
        }
        moved.is_some()
    }

    /// The line of the target under the ref it has now, if it reads differently than before the act, and the app after
    /// the act, as far as it was read for that.
    async fn changed_target(&mut self, ready: &Ready) -> Result<(Option<String>, Option<Arc<Tree>>)> {
        let (Some(before), Some(handle)) = (&ready.before, ready.handle) else { return Ok((None, None)) };
        let graded = self.device()?.info().grade != IdentityGrade::None;
        let glanced = match &ready.behind {
            Some(behind) => Some(behind.clone()),
            None if graded => self.device()?.glance(handle).await?,
            None => None,
        };
        if let Some(Located { tree, node }) = glanced {
            if Reading::of(tree.node(node)) == *before {
                return Ok((None, Some(tree)));
            }
            if self.device()?.glances()
                && let Some(line) = self.same_ref(ready, &tree, node)?
            {
                return Ok((Some(line), Some(tree)));
            }
        }
        let tree = self.look(Origin::Look).await?;
        let same = tree.find_address(handle).filter(|_| graded).map(|node| node.id());
        let node = same.or_else(|| self.drawn_anew(ready));
        // It may be gone.
        let line = match node.filter(|node| Reading::of(tree.node(*node)) != *before) {
            Some(node) => Some(self.line(&tree, node)?),
            None => None,
        };
        Ok((line, Some(tree)))
    }

    /// The line of the target in a tree that need not be captured for it: under the ref that it was named by, where it
    /// still is what that ref was issued for, by name and all. A capture would give it that ref, too.
    fn same_ref(&mut self, ready: &Ready, tree: &Arc<Tree>, node: NodeId) -> Result<Option<String>> {
        let Some((found, r)) = ready.found.as_ref().and_then(|found| Some((found, found.r#ref?))) else {
            return Ok(None);
        };
        let session = &mut self.live()?.session;
        let same = session.records(tree).judge(&found.meaning, node) == Verdict::Same { reads_now: None };
        // What tells it from its likes was told of the tree that it was found in.
        let Some((stored, at)) = session.tree().cloned().zip(found.node).filter(|_| same) else {
            return Ok(None);
        };
        let now = tree.node(node);
        let telling = session.records(&stored).telling(at);
        let issued = self.issue(&[at])?.pop();
        let line = stickpin_tree::line(now, issued, telling.as_deref());
        Ok(Some(line).filter(|_| issued == Some(r.plain())))
    }

    /// What a re-render put in the place of the target, in the stored tree.
    fn drawn_anew(&mut self, ready: &Ready) -> Option<NodeId> {
        let r = ready.found.as_ref()?.r#ref?;
        let client = self.client();
        let token = stickpin_refs::RefToken::plain(r.plain());
        self.live().ok()?.session.resolve(&client, token).ok()?.node
    }
}

impl Show for Acted {
    fn show(&self, text: &mut Text) {
        text.line(format_args!("{} {}", self.did, self.target));
        if let Some(value) = &self.value {
            text.line(format_args!("value {}", stickpin_tree::quote(value)));
        }
        if let Some(completed) = &self.completed {
            text.line(format_args!(
                "the app has added {}, which is selected: stickpin key Delete takes it away",
                stickpin_tree::quote(completed)
            ));
        }
        if let Some(now) = &self.now {
            text.line(format_args!("now {now}"));
        }
        if self.settled == Some(false) {
            text.line(format_args!(
                "not quiet yet: {}",
                stickpin_tree::escape(&self.still.join(", "), STILL)
            ));
        }
        if let Some(changes) = &self.changes {
            changes.show(text);
        }
    }
}
