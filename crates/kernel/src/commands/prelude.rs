//! The imports that nearly every command needs.

pub(crate) use crate::act::action_target::{ActionTarget, Actionability};
pub(crate) use crate::act::outcome::{self, ActionOutput};
pub(crate) use crate::act::targeted::TargetedAction;
pub(crate) use crate::act::{self, input};
pub(crate) use crate::api::paths::{PathArg, ResolvedPath};
pub(crate) use crate::api::render::{Cell, Show, Text, show_line};
pub(crate) use crate::api::spec::{Effect, Lane, Spec};
pub(crate) use crate::api::target::Target;
pub(crate) use crate::command::args::{ActionOptions, SharedOptions, acting};
pub(crate) use crate::command::context::Cx;
pub(crate) use crate::command::definition::{Command, TimeLimits};
pub(crate) use crate::command::facets;
pub(crate) use crate::observe::{capture, navigation, notices, resolve};
pub(crate) use crate::run::authority;
pub(crate) use schemars::JsonSchema;
pub(crate) use serde::{Deserialize, Serialize};
pub(crate) use std::time::Duration;
pub(crate) use stickpin_device::{Capability, Error, ErrorCode, Result};
pub(crate) use stickpin_session::Origin;
pub(crate) use stickpin_tree::quote;
