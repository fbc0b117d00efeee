#!/usr/bin/env bash
# Builds rhumb as one file that is linked statically against musl, and an archive of it with its manual pages, completions and
# licences. The result does not depend on the time, the folder or the user of the build.
#
#   scripts/build-static.sh [--profile NAME] [FLAGS OF CARGO BUILD…]
#
# All output is below target/ (CARGO_TARGET_DIR). Missing tools are reported with installation hints; nothing is installed.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() {
  printf '%s\n' "$*" >&2
}

fail() {
  say "build-static: $1"
  say "  → $2"
  exit 1
}

profile=dist
if [ "${1-}" = --profile ]; then
  profile=${2:?--profile needs a name}
  shift 2
fi
case $profile in
  dev) folder=debug ;;
  *) folder=$profile ;;
esac

built=${CARGO_TARGET_DIR:-target}
machine=$(uname -m)
target=$machine-unknown-linux-musl
[ "$(uname -s)" = Linux ] || fail "this is not Linux" "build in a Linux container"

command -v cargo >/dev/null || fail "cargo is missing" "https://rustup.rs"
command -v make >/dev/null || fail "make is missing" "apt-get install make (Debian, Ubuntu), dnf install make (Fedora), apk add make (Alpine)"
[ -d "$(rustc --print target-libdir --target "$target" 2>/dev/null)" ] ||
  fail "the standard library of $target is missing" "rustup target add $target"

# The C code of the grammars, libgit2, SQLite and onig must be compiled against musl too. As for the cc crate,
# CC_x86_64_unknown_linux_musl selects another compiler.
named=CC_${target//-/_}
cc=${!named:-musl-gcc}
command -v "$cc" >/dev/null ||
  fail "$cc is missing" "apt-get install musl-tools (Debian, Ubuntu), dnf install musl-gcc (Fedora), apk add gcc musl-dev (Alpine, with $named=gcc)"

# The date of the sources, not of the build.
if [ -z "${SOURCE_DATE_EPOCH-}" ]; then
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 0)
fi
export SOURCE_DATE_EPOCH
# The paths of folders are private, and would make two builds differ.
home=${CARGO_HOME:-$HOME/.cargo}
flags=CFLAGS_${target//-/_}
export "$flags=${!flags-} -ffile-prefix-map=$PWD=/rhumb -ffile-prefix-map=$home=/cargo"
export RUSTFLAGS="${RUSTFLAGS-} -C target-feature=+crt-static --remap-path-prefix=$PWD=/rhumb --remap-path-prefix=$home=/cargo"

say "building for $target with $cc …"
cargo build --locked --profile "$profile" --target "$target" "$@"

program=$built/$target/$folder/rhumb
# Three checks, as far as the tools exist: each of them is wrong on some system.
if command -v readelf >/dev/null && readelf --program-headers "$program" | grep -q INTERP; then
  fail "$program has a program interpreter, so it is not static" "readelf -d $program names the libraries that it needs"
fi
if command -v file >/dev/null && ! file -b "$program" | grep -Eq 'static(-pie|ally) linked'; then
  fail "$program is not static: $(file -b "$program")" "see which crate links to a library of the system: cargo tree -i NAME-sys"
fi
# For a static program ldd fails or names no library, with musl and with glibc.
if ldd "$program" 2>/dev/null | grep -q '=>'; then
  fail "$program needs libraries: $(ldd "$program")" "see which crate links to a library of the system: cargo tree -i NAME-sys"
fi
"$program" --version

version=$("$program" -V | cut -d' ' -f2)
name=rhumb-$version-$target
dist=$built/dist
rm -rf "${dist:?}/$name"
mkdir -p "$dist/$name/completions" "$dist/$name/docs"
cp "$program" README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$dist/$name/"
cp docs/*.md "$dist/$name/docs/"
"$program" man --dir "$dist/$name/man/man1"
for shell in bash elvish fish powershell zsh; do
  "$program" completions "$shell" >"$dist/$name/completions/rhumb.$shell"
done
tar --create --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u+rwX,go+rX-w \
  --directory "$dist" "$name" | gzip --no-name --best >"$dist/$name.tar.gz"
(cd "$dist" && sha256sum "$name.tar.gz" | tee "$name.tar.gz.sha256")
say "$program: $(stat -c %s "$program") bytes; $dist/$name.tar.gz: $(stat -c %s "$dist/$name.tar.gz") bytes"
