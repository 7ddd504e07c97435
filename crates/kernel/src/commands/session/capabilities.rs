//! `capabilities`: lists what each platform supports.

use crate::api::render::json_name;
use crate::api::schema::Field;
use crate::commands::prelude::*;
use crate::commands::session::open::options::{declared_options, option_spelling};
use stickpin_tree::escape;

/// List the capabilities of each platform and the options of `open` that it accepts.
///
/// A command that needs a missing capability fails with `UNSUPPORTED` and sends nothing.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Capabilities {}

/// The capabilities by platform.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CapabilitiesOutput {
    /// The platforms of the host, each with its capabilities.
    pub platforms: Vec<PlatformCapabilities>,
}

/// The capabilities of one platform.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlatformCapabilities {
    /// The kind of device, the word before the colon in `open`.
    pub kind: String,
    /// All capabilities, in the order of [`Capability::ALL`].
    pub capabilities: Vec<CapabilitySupport>,
    /// The options of `open` that devices of the platform read.
    pub options: Vec<OpenOption>,
}

/// An option of `open`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenOption {
    /// The spelling on a command line.
    pub option: String,
    /// What the option does.
    pub about: String,
}

impl OpenOption {
    fn new(field: &Field) -> Self {
        Self { option: option_spelling(&field.name), about: field.doc.replace('\n', " ") }
    }
}

/// A capability, and whether a platform supports it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CapabilitySupport {
    /// The capability.
    pub capability: Capability,
    /// Either `yes` or `no`.
    pub support: String,
}

impl Command for Capabilities {
    const SPEC: Spec = Spec { name: "capabilities", examples: &["stickpin capabilities"], ..Spec::HOST };
    type Output = CapabilitiesOutput;

    async fn run(self, cx: &mut Cx) -> Result<CapabilitiesOutput> {
        // A capability that the provider does not list is unsupported.
        let rows = |can: &[Capability]| {
            let row = |&capability: &Capability| CapabilitySupport {
                capability,
                support: if can.contains(&capability) { "yes" } else { "no" }.to_owned(),
            };
            Capability::ALL.iter().map(row).collect()
        };
        let providers = &cx.host.config.providers;
        let platforms = providers
            .iter()
            .map(|p| PlatformCapabilities {
                kind: p.kind().to_owned(),
                capabilities: rows(p.capabilities()),
                options: declared_options(&**p).iter().map(OpenOption::new).collect(),
            })
            .collect();
        Ok(CapabilitiesOutput { platforms })
    }
}

impl Show for CapabilitiesOutput {
    fn show(&self, text: &mut Text) {
        for PlatformCapabilities { kind, capabilities, options } in &self.platforms {
            for (verb, support) in [("can", "yes"), ("cannot", "no")] {
                let names: Vec<String> = capabilities
                    .iter()
                    .filter(|r| r.support == support)
                    .map(|r| json_name(&r.capability))
                    .collect();
                if !names.is_empty() {
                    text.line(format_args!("{kind} {verb}: {}", names.join(" ")));
                }
            }
            for OpenOption { option, about } in options {
                text.line(format_args!("{kind} open {option}: {}", escape(about, 300)));
            }
        }
    }
}
