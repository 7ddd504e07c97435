//! The output of `open`.

use crate::commands::prelude::*;
use crate::commands::read::snapshot::OutlineOutput;
use crate::observe::navigation::Quiet;
use stickpin_coordinator::CurrentTurn;
use stickpin_device::{AppFolders, NavigationResult};
use stickpin_session::turn::TargetRef;
use stickpin_tree::{bare_url, escape};

/// The open app.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenOutput {
    /// The name of the session.
    pub session: String,
    /// The display name of the app.
    pub label: String,
    /// The address of the page; empty if a dialog blocks reading it.
    pub url: String,
    /// The title of the page; empty if a dialog blocks reading it.
    pub title: String,
    /// Whether a new lifetime began.
    pub new: bool,
    /// Whether the session did not exist before.
    #[serde(default)]
    pub created: bool,
    /// The number of the lifetime, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<u32>,
    /// The kind of device, the word before the colon in `open`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub platform: String,
    /// What the session drives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetRef>,
    /// The turn of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<CurrentTurn>,
    /// Whether the app was quiet at the end.
    #[serde(flatten)]
    pub quiet: Quiet,
    /// The folders in which a desktop app saves files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folders: Option<AppFolders>,
    /// The first snapshot, if `-i` was given and no dialog is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<OutlineOutput>,
}

impl OpenOutput {
    pub(super) fn new(cx: &mut Cx, arrived: NavigationResult, new: bool) -> Result<Self> {
        let session = cx.session_name.clone();
        let device = cx.device()?;
        let (label, platform) = (device.info().label.clone(), device.info().kind.to_owned());
        let folders = device.lifecycle().and_then(|life| life.app_folders());
        let coordinator = cx.host.config.coordinator.as_ref();
        let meta = coordinator.and_then(|coordinator| coordinator.meta(&session).ok()).map(|(meta, _)| meta);
        Ok(Self {
            session,
            label,
            folders,
            platform,
            created: false,
            lifetime: meta.as_ref().map(|meta| meta.lifetime),
            turn: meta.as_ref().map(|meta| CurrentTurn::from(&meta.turn)),
            targets: meta.map(|meta| meta.targets).unwrap_or_default(),
            url: arrived.url,
            title: arrived.title,
            new,
            quiet: arrived.quiet.into(),
            snapshot: None,
        })
    }
}

impl Show for OpenOutput {
    fn show(&self, text: &mut Text) {
        let verb = if self.new { "opened" } else { "continued in" };
        text.line(format_args!("{verb} {} · session {}", self.label, self.session));
        self.quiet.show(text);
        if self.snapshot.is_none() && !self.url.is_empty() {
            text.line(format_args!("page {} {}", quote(&self.title), bare_url(&self.url)));
        }
        if let Some(folders) = &self.folders {
            let home = escape(&folders.home.to_string_lossy(), 300);
            if folders.removed_at_close {
                text.line(format_args!(
                    "home {home}, removed at close together with everything that the app saves there"
                ));
            } else {
                let cwd = escape(&folders.cwd.to_string_lossy(), 300);
                text.line(format_args!("home {home}, working directory {cwd}: the app saves there"));
            }
        }
        if let Some(snapshot) = &self.snapshot {
            snapshot.show(text);
        }
    }
}
