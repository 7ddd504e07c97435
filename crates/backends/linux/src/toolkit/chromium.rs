//! Chromium, Electron.

use super::profile::Profile;

pub(super) const PROFILE: Profile = Profile { is_browser: true, ..Profile::PLAIN };
