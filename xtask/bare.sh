#!/bin/sh
# Tries the set-up in a bare Debian: `sh xtask/bare.sh WORKSPACE FOLDER`, as `cargo xtask bare` runs it.
#
# Debootstrap creates a root in FOLDER from the mirror that this machine's own apt uses, with what the README asks
# for and nothing else. The set-up runs in it as on a new machine, and then the scenarios on the simulated device and a
# test that needs what the set-up installs. If all of that passes, FOLDER.inputs becomes FOLDER.passed. The workspace
# and the Rust toolchain are mounted in the root, so that nothing is built twice. Mounts and processes live in separate
# namespaces and end with them.
#
# If no root can be created, the script prints the reason and exits with 0.
set -eu
workspace=$1
bare=$2

# What the README asks for besides Rust.
before=git,gcc,libc6-dev,ca-certificates
# Seconds that each of the two parts may take while other tests and cargo commands run. A mirror that is slower
# than that proves nothing.
patience=900
# Kilobytes that the root and the packages in it may occupy.
room=4000000

skipped() {
    why="the set-up was not tried in a bare Debian, because $1"
    if [ -n "${STICKPIN_REQUIRE_BARE-}" ]; then
        echo "STICKPIN_REQUIRE_BARE is set, but: $why" >&2
        exit 1
    fi
    echo "skipped: $why" >&2
    if [ -n "${STICKPIN_SKIPPED-}" ]; then
        printf 'bare\tSTICKPIN_REQUIRE_BARE\t%s\n' "$why" >> "$STICKPIN_SKIPPED"
    fi
    exit 0
}

# Deletes the root, unless anything is mounted in it.
remove() {
    if cut -d ' ' -f 5 /proc/self/mountinfo | grep -qE "^$bare(/|\$)"; then
        echo "$bare is not deleted, because something is mounted in it" >&2
        exit 1
    fi
    rm -rf --one-file-system "$bare"
}

for program in apt-get debootstrap unshare timeout chroot; do
    command -v "$program" > /dev/null || skipped "$program is not installed"
done
[ "$(id -u)" = 0 ] || skipped 'only root can create one'
unshare --mount --pid --fork --mount-proc true 2> /dev/null || skipped 'nothing may be mounted here'
release=$(. /etc/os-release && [ "$ID" = debian ] && echo "${VERSION_CODENAME-}") || true
[ -n "$release" ] || skipped 'this is not Debian'
mirror=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' \
    | sed -n "s/^$release //p" | head -n 1)
[ -n "$mirror" ] || skipped "apt has no source for $release"

remove
mkdir -p "$bare"
trap remove EXIT
free=$(df --output=avail -k "$bare" | tail -n 1)
[ "$free" -gt $room ] || skipped "only $free kB are free on the disk"

# The output, which names the mirror, is not printed.
timeout $patience debootstrap --variant=minbase --include=$before "$release" "$bare" "$mirror" > /dev/null \
    || skipped 'debootstrap failed'

# Copy how the machine reaches its mirrors and registries, and make installing fast: the root is thrown away.
apt-config dump | grep '^Acquire::' > "$bare/etc/apt/apt.conf.d/99outside" || true
echo force-unsafe-io > "$bare/etc/dpkg/dpkg.cfg.d/unsafe-io"
printf '#!/bin/sh\nexit 101\n' > "$bare/usr/sbin/policy-rc.d"
chmod 755 "$bare/usr/sbin/policy-rc.d"
for file in /etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt; do
    [ ! -f "$file" ] || cp "$file" "$bare$file"
done

# Mounts what the root shares with the machine, and runs the rest in it. `$1` is the root, `$2` what to run there; the
# others are folders that have the same path in it, the workspace first.
mount='
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
# npm installs its packages again.
if [ -d "$root$1/target/npm" ]; then
    mkdir -p "$root/var/npm"
    mount --bind "$root/var/npm" "$root$1/target/npm"
fi
cd /
exec chroot "$root" sh -euc "cd \"$1\"; $run"
'

# The commands that run in the root. The output of apt about hundreds of packages is shown only if it fails.
run='
cargo xtask setup > /var/log/setup 2>&1 || { tail -n 40 /var/log/setup; exit 1; }
cargo xtask setup 2>&1 | grep "no package is missing"
cargo test --workspace --no-fail-fast --test suite scenarios:: -- \
    --skip linux:: --skip web:: --skip ::mcp --skip ::script --skip ::socket
STICKPIN_REQUIRE_NPM=1 cargo test --workspace --test suite inspector
'

home=${HOME:-/root}
cargo=${CARGO_HOME:-$home/.cargo}
rustup=${RUSTUP_HOME:-$home/.rustup}
# Another version of the toolchain would build everything again.
ended=0
env -i HOME="$home" CARGO_HOME="$cargo" RUSTUP_HOME="$rustup" LANG=C.UTF-8 \
    PATH="$cargo/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
    NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt \
    ${RUSTUP_TOOLCHAIN:+RUSTUP_TOOLCHAIN="$RUSTUP_TOOLCHAIN"} \
    timeout $patience unshare --mount --pid --fork --kill-child \
    sh -c "$mount" sh "$bare" "$run" "$workspace" "$cargo" "$rustup" || ended=$?
case $ended in
    0) mv "$bare.inputs" "$bare.passed" ;;
    124) skipped "it took more than $patience s" ;;
    *)
        echo "the set-up or a suite failed in a bare Debian: exit code $ended" >&2
        exit 1
        ;;
esac
