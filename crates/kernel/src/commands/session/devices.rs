//! `devices`: lists what can be opened here.

use crate::commands::prelude::*;
use stickpin_device::DeviceEntry;

/// List the apps and browsers that can be opened here.
///
/// A warning names platforms that cannot list their apps; run `stickpin doctor` to see why.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Devices {}

/// The list of what can be opened.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DevicesOutput {
    /// The apps and browsers, each with the argument that `open` takes for it.
    pub devices: Vec<DeviceEntry>,
}

impl Command for Devices {
    const SPEC: Spec = Spec { name: "devices", examples: &["stickpin devices"], ..Spec::HOST };
    type Output = DevicesOutput;

    async fn run(self, cx: &mut Cx) -> Result<DevicesOutput> {
        let mut devices = Vec::new();
        for provider in cx.host.config.providers.clone() {
            match provider.devices().await {
                Ok(these) => devices.extend(these),
                Err(e) => cx.warn(format!("{}: {e}.", provider.kind())),
            }
        }
        Ok(DevicesOutput { devices })
    }
}

impl Show for DevicesOutput {
    fn show(&self, text: &mut Text) {
        if self.devices.is_empty() {
            text.line("nothing can be opened here; run `stickpin doctor` to see why");
        }
        let row = |device: &DeviceEntry| {
            vec![Cell::Word(device.open.clone()), Cell::Prose(quote(&device.title).to_string())]
        };
        text.table(&self.devices.iter().map(row).collect::<Vec<_>>(), "  ");
    }
}
