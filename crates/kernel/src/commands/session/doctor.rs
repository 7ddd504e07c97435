//! `doctor`: reports what is missing here, and the command that fixes it.

use crate::commands::prelude::*;
use stickpin_device::Check;

/// Check everything that `open` needs on this machine, and print how to fix what is missing.
///
/// Exits 1 when a check failed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Doctor {}

/// The findings by platform.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DoctorOutput {
    /// The platforms of the host.
    pub platforms: Vec<PlatformChecks>,
}

/// The checks of one platform.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlatformChecks {
    /// The kind of device, the word before the colon in `open`.
    pub kind: String,
    /// The checks, in order.
    pub checks: Vec<Check>,
}

impl Command for Doctor {
    const SPEC: Spec = Spec {
        name: "doctor",
        deadline: Duration::from_secs(60),
        examples: &["stickpin doctor"],
        ..Spec::HOST
    };
    type Output = DoctorOutput;

    async fn run(self, cx: &mut Cx) -> Result<DoctorOutput> {
        let mut platforms = Vec::new();
        for provider in cx.host.config.providers.clone() {
            platforms
                .push(PlatformChecks { kind: provider.kind().to_owned(), checks: provider.doctor().await });
        }
        Ok(DoctorOutput { platforms })
    }
}

impl Show for DoctorOutput {
    fn show(&self, text: &mut Text) {
        for platform in &self.platforms {
            for check in &platform.checks {
                let word = if check.ok { "ok  " } else { "FAIL" };
                text.line(format_args!("{word} {} {}: {}", platform.kind, check.name, check.found));
                if !check.ok && !check.fix.is_empty() {
                    text.line(format_args!("     fix: {}", check.fix));
                }
            }
        }
    }

    fn exit(&self) -> u8 {
        u8::from(self.platforms.iter().flat_map(|p| &p.checks).any(|c| !c.ok))
    }
}
