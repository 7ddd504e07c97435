//! Toolkits that are accessible only with a bridge that the app must load.

use stickpin_process::ProcessTable;

/// Returns what an app without a window on the accessibility bus lacks, judging by the libraries
/// that its processes have loaded.
pub(crate) fn missing_bridge(leader: u32) -> Option<&'static str> {
    let maps = |pid| missing_bridge_in(&std::fs::read_to_string(format!("/proc/{pid}/maps")).ok()?);
    ProcessTable::now().below(leader).find_map(maps)
}

/// Returns what an app lacks, judging by the libraries of its process (`/proc/PID/maps`).
fn missing_bridge_in(maps: &str) -> Option<&'static str> {
    if maps.contains("/libawt_xawt.so") && !maps.contains("/libatk-wrapper.so") {
        return Some(
            "this Java app lacks the accessibility bridge: run `apt install libatk-wrapper-java`, and start \
             the app with `-Djavax.accessibility.assistive_technologies=org.GNOME.Accessibility.AtkWrapper`",
        );
    }
    let gtk2 = maps.contains("/libgtk-x11-2.0.so");
    (gtk2 && !maps.contains("/libatk-bridge.so")).then_some(
        "this GTK 2 app needs accessibility modules: run `apt install libatk-adaptor libgail-common`, and open \
         the app with `--private` or with `GTK_MODULES=gail:atk-bridge`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gtk_2_app_without_bridge_is_found_by_its_libraries() {
        let line = |library: &str| format!("7f52-7f53 r--p 00000000 fe:00 32 /usr/lib/{library}\n");
        let gtk2 = line("libgtk-x11-2.0.so.0.2400.33");
        assert!(missing_bridge_in(&gtk2).unwrap().contains("apt install libatk-adaptor"));
        assert_eq!(missing_bridge_in(&(gtk2 + &line("gtk-2.0/modules/libatk-bridge.so"))), None);
        assert_eq!(missing_bridge_in(&line("libgtk-3.so.0.2406.32")), None);
        let java = line("jvm/java-17-openjdk-amd64/lib/libawt_xawt.so");
        assert!(missing_bridge_in(&java).unwrap().contains("apt install libatk-wrapper-java"));
        assert_eq!(missing_bridge_in(&(java + &line("jni/libatk-wrapper.so.6"))), None);
        assert_eq!(missing_bridge(std::process::id()), None);
    }
}
