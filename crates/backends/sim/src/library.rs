//! The built-in apps, and loading apps from files.

use crate::app::model::App;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use stickpin_device::{Error, ErrorCode, Result};

macro_rules! apps {
    ($($name:literal,)*) => {
        const SOURCES: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("../apps/", $name, ".toml"))),)*
        ];
    };
}

apps! {
    "feed",
    "settings",
    "shop",
    "signin",
    "staleness",
}

/// Returns the names of the built-in apps.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    SOURCES.iter().map(|(name, _)| *name)
}

/// Returns a built-in app, which is parsed once; `None` if no built-in app has this name.
pub(crate) fn embedded_app(name: &str) -> Option<Result<Arc<App>>> {
    static PARSED: [OnceLock<Result<Arc<App>>>; SOURCES.len()] = [const { OnceLock::new() }; SOURCES.len()];
    let at = SOURCES.iter().position(|(n, _)| *n == name)?;
    Some(
        PARSED[at]
            .get_or_init(|| {
                App::parse(name, SOURCES[at].1)
                    .map(Arc::new)
                    .map_err(|e| Error::internal(format!("the built-in app sim:{name} is not valid: {e}")))
            })
            .clone(),
    )
}

/// Returns the app for a name or the path of a file.
///
/// # Errors
/// Returns `DEVICE_NOT_FOUND`, `IO`, or `INVALID_ARGS` for a file that is not an app.
pub(crate) fn load(name: &str) -> Result<Arc<App>> {
    if let Some(app) = embedded_app(name) {
        return app;
    }
    let path = Path::new(name);
    if path.extension().is_none_or(|e| e != "toml") {
        let known: Vec<_> = names().map(|n| format!("`sim:{n}`")).collect();
        return Err(Error::device_not_found(format!("there is no app `sim:{name}`"))
            .hint(format!("use {}, or `sim:PATH.toml` for your own app", known.join(", "))));
    }
    let source = std::fs::read_to_string(path).map_err(|e| {
        let code =
            if e.kind() == std::io::ErrorKind::NotFound { ErrorCode::DeviceNotFound } else { ErrorCode::Io };
        Error::new(code, format!("cannot read {name}: {e}"))
    })?;
    let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or("app");
    let app = App::parse(stem, &source)
        .map_err(|e| Error::invalid_args(format!("{name} is not a valid app: {e}")))?;
    Ok(Arc::new(App { file: path.canonicalize().ok(), ..app }))
}
