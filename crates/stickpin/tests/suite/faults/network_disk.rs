//! A state directory on a network file system is refused by the daemon that starts there.

use crate::support::{self, Ran, World};
use stickpin_testkit::skipped;

/// Mounts a FUSE file system of the type `KIND` at `STATE`, which holds only the folder `daemon`,
/// and runs a command. The folder is a tmpfs, so that the locks of a starting daemon work.
const ON_FUSE: &str = r#"
import ctypes, os, struct, subprocess, sys
state, kind = os.environ["STATE"], os.environ["KIND"]
device = os.open("/dev/fuse", os.O_RDWR)
mount = ctypes.CDLL(None).mount
options = f"fd={device},rootmode=40700,user_id=0,group_id=0"
if mount(b"host:/home", state.encode(), kind.encode(), 0, options.encode()) != 0:
    sys.exit(90)
INIT, LOOKUP, GETATTR, STATFS, FORGETS = 26, 1, 3, 17, (2, 42)
ENOENT, ENOSYS = 2, 38
server = os.fork()
if server == 0:
    folder = lambda node: struct.pack("<6Q10I", node, 0, 0, 0, 0, 0, 0, 0, 0, 0o40700, 2, 0, 0, 0, 4096, 0)
    while True:
        try:
            request = os.read(device, 1 << 20)
        except OSError:
            os._exit(0)
        opcode, unique, node = struct.unpack_from("<IQQ", request, 4)
        error, answer = 0, b""
        if opcode == INIT:
            answer = struct.pack("<4I2H2I2HI28x", 7, 31, 0, 0, 12, 9, 65536, 1, 0, 0, 0)
        elif opcode == LOOKUP and request[40:] == b"daemon\0":
            answer = struct.pack("<4Q2I", 2, 0, 3600, 3600, 0, 0) + folder(2)
        elif opcode == LOOKUP:
            error = ENOENT
        elif opcode == GETATTR:
            answer = struct.pack("<Q2I", 3600, 0, 0) + folder(node)
        elif opcode == STATFS:
            answer = struct.pack("<5Q3I28x", 1 << 20, 1 << 19, 1 << 19, 1 << 20, 1 << 19, 4096, 255, 4096)
        elif opcode in FORGETS:
            continue
        else:
            error = ENOSYS
        os.write(device, struct.pack("<IiQ", 16 + len(answer), -error, unique) + answer)
if mount(b"tmpfs", f"{state}/daemon".encode(), b"tmpfs", 0, b"mode=700") != 0:
    os.kill(server, 9)
    sys.exit(91)
ran = subprocess.run(sys.argv[1:])
os.kill(server, 9)
sys.exit(ran.returncode)
"#;

/// Runs a command that starts a daemon in a state directory on a FUSE file system of this type.
fn on_fuse(kind: &str) -> Ran {
    let world = World::new();
    let state = world.path().join("mounted");
    std::fs::create_dir(&state).expect("a folder");
    let first = world.command(&["--session", "shop", "open", "sim:shop"]);
    let mut command = support::unshared(&["python3", "-c", ON_FUSE]);
    command.arg(first.get_program()).args(first.get_args()).env_clear();
    command.envs(first.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("STATE", &state).env("KIND", kind).env("STICKPIN_STATE_DIR", &state);
    command.output().expect("unshare runs").into()
}

#[test]
fn daemon_does_not_start_on_a_network_file_system() {
    let may_open = std::fs::File::options().read(true).write(true).open("/dev/fuse").is_ok();
    if !support::may_mount() || !may_open {
        skipped("STICKPIN_REQUIRE_MOUNTS", "no FUSE file system may be mounted here");
        return;
    }
    let refused = on_fuse("fuse.sshfs");
    assert_eq!(refused.code, 9, "{refused:?}");
    assert!(refused.err.starts_with("STATE_DIR_NOT_LOCAL: "), "{refused:?}");
    assert!(refused.err.contains(" is on fuse.sshfs, where file locks are unreliable"), "{refused:?}");
    assert!(refused.err.contains("choose a folder on this machine with `--state-dir DIR`"), "{refused:?}");
    // The type decides: this one, which is local, fails at its first file.
    let local = on_fuse("fuse.bindfs");
    assert!(local.code != 0 && !local.err.contains("STATE_DIR_NOT_LOCAL"), "{local:?}");
    assert!(local.err.contains("VERSION"), "{local:?}");
}
