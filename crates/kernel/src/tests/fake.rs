//! A small device for the tests of the kernel: an app that is written as an outline and controlled
//! by the test.

mod device;
mod guard;
mod outline;
mod world;

pub(crate) use world::World;

use async_trait::async_trait;
use device::FakeDevice;
use std::sync::{Arc, Mutex, MutexGuard};
use stickpin_device::{Error, Result, *};
use tokio::sync::Notify;

/// All capabilities but markup.
const CAPABILITIES: &[Capability] = &[
    Capability::Capture,
    Capability::Locate,
    Capability::Press,
    Capability::LongPress,
    Capability::Hover,
    Capability::Drag,
    Capability::Fill,
    Capability::Type,
    Capability::Key,
    Capability::Select,
    Capability::Scroll,
    Capability::Upload,
    Capability::Clipboard,
    Capability::History,
    Capability::Reload,
    Capability::Navigate,
    Capability::Screenshot,
    Capability::Dialogs,
    Capability::Attrs,
    Capability::Settle,
    Capability::Tabs,
    Capability::Requests,
    Capability::Downloads,
    Capability::Evaluate,
    Capability::GuardContext,
];

/// The options of a fake.
#[derive(Debug, Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[allow(dead_code, reason = "declared for the kernel; only the lives are read")]
pub(crate) struct FakeOptions {
    /// Show the window.
    headed: bool,
    /// Attach to a running app.
    attach: bool,
    /// Run on a private display.
    private: bool,
    /// The size of the viewport.
    viewport: Option<Viewport>,
    /// The profile folder to keep.
    #[schemars(extend("x-path" = "written"))]
    profile: Option<std::path::PathBuf>,
    /// How many lives the fake has.
    lives: Option<u8>,
}

/// The world, shared by a test and its devices.
#[derive(Clone)]
pub(crate) struct Fake {
    world: Arc<Mutex<World>>,
    changed: Arc<Notify>,
}

impl std::fmt::Debug for Fake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Fake")
    }
}

impl Fake {
    pub(crate) fn new(outline: &str) -> Self {
        Self { world: Arc::new(Mutex::new(World::new(outline))), changed: Arc::new(Notify::new()) }
    }

    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    /// Changes the app and wakes all waiters.
    pub(crate) fn change(&self, change: impl FnOnce(&mut World)) {
        change(&mut self.world());
        self.changed.notify_waiters();
        self.changed.notify_one();
    }

    async fn call(&self, name: &'static str) -> Result<()> {
        let (hangs, panics, dead) = {
            let world = self.world();
            (world.hangs_in == Some(name), world.panics_in == Some(name), world.dead)
        };
        assert!(!panics, "the fake has a bug in {name}");
        // Wait until the app resumes, which a test signals with a change.
        while hangs && self.world().hangs_in == Some(name) {
            self.changed.notified().await;
        }
        if dead {
            return Err(Error::backend_lost("the fake died"));
        }
        Ok(())
    }
}

#[async_trait]
impl Provider for Fake {
    fn kind(&self) -> &'static str {
        "fake"
    }

    fn open_options(&self) -> &'static FieldSchema {
        static OPTIONS: FieldSchema = FieldSchema::of::<FakeOptions>();
        &OPTIONS
    }

    fn claims(&self, what: &str) -> bool {
        what.starts_with("fake:")
    }

    async fn open(&self, request: OpenRequest) -> Result<Box<dyn Device>> {
        self.call("open").await?;
        if request.what == "fake:missing" {
            return Err(Error::device_not_found("there is no such fake"));
        }
        let request = request.read_options::<FakeOptions>()?;
        let mut world = self.world();
        world.opened += 1;
        world.url = request.what;
        world.lives = request.options.lives;
        let mut info = DeviceInfo::new("fake", "Fake 1", world.grade);
        info.pid = world.pid;
        info.arrival = SettleResult::new(world.still.is_empty(), world.still.clone());
        let described =
            [(false, false), (true, false), (false, true), (true, true)].map(|(partial, drop_safe)| {
                let mut info = info.clone();
                (info.partial, info.drop_safe) = (partial, drop_safe);
                info
            });
        drop(world);
        Ok(Box::new(FakeDevice { fake: self.clone(), described, guards: Vec::new() }))
    }

    async fn devices(&self) -> Result<Vec<DeviceEntry>> {
        Ok(vec![DeviceEntry::new("fake:/", "The fake")])
    }

    fn capabilities(&self) -> &'static [Capability] {
        CAPABILITIES
    }

    async fn doctor(&self) -> Vec<Check> {
        Vec::new()
    }

    async fn sweep(&self, _state_dir: &std::path::Path) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}
