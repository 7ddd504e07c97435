//! What speaks through AccessKit: egui, Slint, Bevy, Godot and others, each with a name of its own.

use super::profile::Profile;

pub(super) const PROFILE: Profile = Profile { fields_say_only_read_only: true, ..Profile::PLAIN };
