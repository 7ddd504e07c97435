//! Pictures of the page, in the files that people look at after a run.

use super::{APP, OUTLINE, app, page};
use crate::support::{World, artifact};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A picture of the page.
struct Picture {
    width: u32,
    height: u32,
    /// The brightness of its most frequent color, from 0 to 1.
    background: f64,
    /// The share of pixels that have this color.
    plain: f64,
    colors: usize,
}

impl Picture {
    fn read(path: &Path) -> Self {
        let file = std::io::BufReader::new(std::fs::File::open(path).expect("it was taken"));
        let mut decoder = png::Decoder::new(file);
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().expect("a PNG");
        let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
        let info = reader.next_frame(&mut pixels).expect("pixels");
        let mut counts: HashMap<&[u8], usize> = HashMap::new();
        for pixel in pixels[..info.buffer_size()].chunks_exact(info.color_type.samples()) {
            *counts.entry(&pixel[..3]).or_default() += 1;
        }
        let (background, count) = counts.iter().max_by_key(|(_, count)| **count).expect("pixels");
        let brightness = background.iter().map(|&part| f64::from(part)).sum::<f64>() / (3.0 * 255.0);
        let all = f64::from(info.width) * f64::from(info.height);
        Self {
            width: info.width,
            height: info.height,
            background: brightness,
            plain: u32::try_from(*count).map_or(1.0, f64::from) / all,
            colors: counts.len(),
        }
    }
}

/// Returns a program that starts the browser as on a desktop with a dark theme.
fn dark_browser(world: &World, chromium: &Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let path = world.path().join("dark");
    let script =
        format!("#!/bin/sh\nexec '{}' --blink-settings=preferredColorScheme=0 \"$@\"\n", chromium.display());
    std::fs::write(&path, script).expect("a file");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a file of ours");
    path
}

#[test]
fn pictures_of_the_page_are_kept() {
    let Some(chromium) = stickpin_testkit::chromium_path() else { return };
    for theme in ["light", "dark"] {
        let world = World::new();
        // The daemon remembers the browser that its first caller names.
        let mut first = world.command(&["daemon", "start"]);
        if theme == "dark" {
            first.env("STICKPIN_CHROMIUM", dark_browser(&world, &chromium));
        }
        assert!(first.status().expect("the binary runs").success());
        let ada = app(&world, APP);
        for (width, height) in [(1280, 800), (390, 844)] {
            let (_watch, page) = page(&world, &format!("{width}x{height}"));
            ada.ok("reload");
            ada.ok("press 'role=button label=Pay'");
            page.truth(&format!("{OUTLINE}.includes('paid')"));
            page.truth("document.querySelectorAll('.box.known').length > 1");
            page.truth("document.querySelectorAll('.tile.pictured').length > 0");
            let kept = artifact(&format!("watch/{width}-{theme}.png"));
            page.with_value("screenshot", &kept.display().to_string());
            let picture = Picture::read(&kept);
            let name = kept.display();
            assert_eq!((picture.width, picture.height), (width, height), "{name}");
            assert!(picture.colors > 100 && picture.plain < 0.9, "{name} is blank");
            assert_eq!(picture.background < 0.5, theme == "dark", "{name}: {}", picture.background);
        }
    }
}
