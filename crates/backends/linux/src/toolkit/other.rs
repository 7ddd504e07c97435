//! What is told by no name: as most toolkits are.

use super::profile::Profile;

pub(super) const PROFILE: Profile = Profile::PLAIN;
