//! A bare Debian in a folder: what a machine must have before, and nothing else. There the set-up is run as on a machine that
//! somebody has just got, then the suites on the simulated device and a test that needs what the set-up installs.
//!
//! The root is made by `debootstrap` from the mirror that this machine's own apt uses. The workspace and the Rust toolchain
//! are mounted into it, so that nothing is built twice. Mounts and processes live in namespaces of their own and end with
//! them.

use crate::Result;
use crate::run::{on_path, output, root, run, target_dir};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// What the README asks for beside Rust.
const BEFORE: &str = "git,gcc,libc6-dev,ca-certificates";

/// Seconds that each of the two parts may take. A mirror that is slower than that proves nothing.
const PATIENCE: &str = "240";

/// What `timeout` ends with when it has ended a command.
const TIMED_OUT: i32 = 124;

/// Gives the root what it shares with the machine, and runs the rest in it. `$1` is the root, `$2` what to run there, the
/// others are folders that stand at the same place in it.
const MOUNT: &str = r#"
set -eu
root=$1 run=$2
shift 2
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
for folder; do
    mkdir -p "$root$folder"
    mount --rbind "$folder" "$root$folder"
done
# What npm installs is installed anew.
if [ -d "$root$1/target/npm" ]; then
    mkdir -p "$root/var/npm"
    mount --bind "$root/var/npm" "$root$1/target/npm"
fi
exec chroot "$root" sh -euc "cd '$1'; $run"
"#;

/// What is run in the root. What apt says of hundreds of packages is shown only where it failed.
const RUN: &str = "
cargo xtask setup > /var/log/setup 2>&1 || { tail -n 40 /var/log/setup; exit 1; }
cargo xtask setup 2>&1 | grep 'no package is missing'
cargo test --workspace --no-fail-fast --test staleness_sim
cargo test --workspace --no-fail-fast --test scenarios process
STICKPIN_REQUIRE_NPM=1 cargo test --workspace --test mcp inspector
";

/// Runs the set-up and the quick suites in a bare root, or says why not.
pub fn bare() -> Result {
    let mirror = match mirror() {
        Ok(mirror) => mirror,
        Err(why) => return skipped(&why),
    };
    let root = Root::new(target_dir()?.join("bare"))?;
    if let Err(why) = root.make(&mirror) {
        return skipped(&why);
    }
    root.furnish()?;
    root.run()
}

#[allow(clippy::unnecessary_wraps, reason = "the last word of what may fail")]
fn skipped(why: &str) -> Result {
    eprintln!("skipped: the set-up was not tried in a bare Debian, because {why}");
    Ok(())
}

/// A release of Debian, and where this machine has it from.
struct Mirror {
    release: String,
    address: String,
}

/// What a root can be made from.
///
/// # Errors
/// The reason why none can be made here.
fn mirror() -> Result<Mirror> {
    for program in ["apt-get", "debootstrap", "unshare", "timeout", "chroot"] {
        if !on_path(program) {
            return Err(format!("{program} is not installed"));
        }
    }
    if output(Command::new("id").arg("-u"))?.trim() != "0" {
        return Err("only root can make one".to_owned());
    }
    output(Command::new("unshare").args(["--mount", "--pid", "--fork", "--mount-proc", "true"]))
        .map_err(|_| "nothing may be mounted here".to_owned())?;
    let about = std::fs::read_to_string("/etc/os-release").map_err(|e| format!("/etc/os-release: {e}"))?;
    let field = |name: &str| about.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    let release = match (field("ID"), field("VERSION_CODENAME")) {
        (Some("debian"), Some(release)) => release.to_owned(),
        _ => return Err("this is no Debian".to_owned()),
    };
    let sources = output(Command::new("apt-get").args([
        "indextargets",
        "--format",
        "$(CODENAME) $(REPO_URI)",
        "Created-By: Packages",
    ]))?;
    let address = sources.lines().find_map(|line| line.strip_prefix(&release)?.strip_prefix(' '));
    let address = address.ok_or_else(|| format!("apt has no source of {release}"))?.to_owned();
    Ok(Mirror { release, address })
}

/// The folder of the root. It goes with this value.
struct Root(PathBuf);

impl Root {
    fn new(folder: PathBuf) -> Result<Self> {
        let root = Self(folder);
        root.remove()?;
        std::fs::create_dir_all(&root.0).map_err(|e| format!("{}: {e}", root.0.display()))?;
        Ok(root)
    }

    /// Installs the system. Where the mirror answers is told to nobody.
    fn make(&self, mirror: &Mirror) -> Result {
        eprintln!("$ debootstrap --variant=minbase --include={BEFORE} {}", mirror.release);
        let made = Command::new("timeout")
            .args([PATIENCE, "debootstrap", "--variant=minbase"])
            .arg(format!("--include={BEFORE}"))
            .arg(&mirror.release)
            .arg(&self.0)
            .arg(&mirror.address)
            .stdout(std::process::Stdio::null())
            .status();
        let ended = made.map_err(|e| format!("debootstrap did not start: {e}"))?;
        if ended.success() { Ok(()) } else { Err(format!("debootstrap failed: {ended}")) }
    }

    /// How the machine reaches its mirrors and registries, and what makes installing quick.
    fn furnish(&self) -> Result {
        let apt = output(Command::new("apt-config").arg("dump"))?;
        let reaches: Vec<&str> = apt.lines().filter(|line| line.starts_with("Acquire::")).collect();
        self.write("etc/apt/apt.conf.d/99outside", &(reaches.join("\n") + "\n"))?;
        // It is thrown away afterwards.
        self.write("etc/dpkg/dpkg.cfg.d/unsafe-io", "force-unsafe-io\n")?;
        self.write("usr/sbin/policy-rc.d", "#!/bin/sh\nexit 101\n")?;
        run(Command::new("chmod").arg("755").arg(self.0.join("usr/sbin/policy-rc.d")))?;
        for file in ["etc/resolv.conf", "etc/hosts", "etc/ssl/certs/ca-certificates.crt"] {
            let from = Path::new("/").join(file);
            if from.is_file() {
                let to = self.0.join(file);
                std::fs::copy(&from, &to).map_err(|e| format!("{}: {e}", to.display()))?;
            }
        }
        Ok(())
    }

    fn write(&self, file: &str, text: &str) -> Result {
        let path = self.0.join(file);
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))
    }

    fn run(&self) -> Result {
        let home = std::env::var_os("HOME").map_or_else(|| "/root".into(), PathBuf::from);
        let of = |name: &str, folder: &str| {
            std::env::var_os(name).map_or_else(|| home.join(folder), PathBuf::from)
        };
        let (cargo, rustup) = (of("CARGO_HOME", ".cargo"), of("RUSTUP_HOME", ".rustup"));
        let path =
            format!("{}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", cargo.display());
        let mut inside = Command::new("timeout");
        inside.args([
            PATIENCE,
            "unshare",
            "--mount",
            "--pid",
            "--fork",
            "--kill-child",
            "sh",
            "-c",
            MOUNT,
            "sh",
        ]);
        inside.arg(&self.0).arg(RUN).args([&root(), &cargo, &rustup]);
        inside.env_clear().envs([("HOME", home.as_os_str()), ("PATH", path.as_ref())]);
        inside.envs([("CARGO_HOME", &cargo), ("RUSTUP_HOME", &rustup)]);
        inside.envs([("LANG", "C.UTF-8"), ("NODE_EXTRA_CA_CERTS", "/etc/ssl/certs/ca-certificates.crt")]);
        // Another version would build everything anew.
        inside.envs(std::env::var_os("RUSTUP_TOOLCHAIN").map(|version| ("RUSTUP_TOOLCHAIN", version)));
        eprintln!("$ chroot {} sh -c '{RUN}'", self.0.display());
        let ended = inside.status().map_err(|e| format!("unshare did not start: {e}"))?;
        match ended.code() {
            _ if ended.success() => Ok(()),
            Some(TIMED_OUT) => skipped(&format!("it took more than {PATIENCE} s")),
            _ => Err(failed(ended)),
        }
    }

    /// Deletes the folder, unless anything is mounted in it.
    fn remove(&self) -> Result {
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let within = |line: &str| line.split(' ').nth(4).is_some_and(|at| Path::new(at).starts_with(&self.0));
        if let Some(mount) = mounts.lines().find(|line| within(line)) {
            return Err(format!(
                "{} is not deleted, because something is mounted in it: {mount}",
                self.0.display()
            ));
        }
        if !self.0.exists() {
            return Ok(());
        }
        run(Command::new("rm").args(["-rf", "--one-file-system"]).arg(&self.0))
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        if let Err(why) = self.remove() {
            eprintln!("bare: {why}");
        }
    }
}

fn failed(ended: ExitStatus) -> String {
    format!("the set-up or a suite failed in a bare Debian: {ended}")
}
