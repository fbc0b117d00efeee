#!/usr/bin/env bash
# Measures how long builds take: from an empty target folder, and after one line has changed. Prints one line per figure, in seconds.
#
#   scripts/build-times.sh [TARGET_FOLDER]
#
# Run it on an idle machine, in a clean checkout with the dependencies already downloaded (`cargo fetch`). It appends one line to each
# of four files, and restores them. TARGET_FOLDER must not exist.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=${1:-$(mktemp -d)/target}
export CARGO_TARGET_DIR=$target CARGO_TERM_COLOR=never

# Each changed file, and a narrow test for it: name, file, arguments of `cargo test`.
touched=(
  "pane|src/tui/context_pane.rs|--lib tui::context_pane"
  "session|crates/rhumb-session/src/connect.rs|-p rhumb-session connect"
  "edit location|crates/rhumb-edit/src/locate/suggest.rs|-p rhumb-edit --lib locate::suggest"
  "ranking|crates/rhumb-index/src/repo_map/pagerank.rs|-p rhumb-index --lib repo_map::pagerank"
)

# time NAME COMMAND…: runs a command and prints how many seconds it took.
time_of() {
  local name=$1 start=$EPOCHREALTIME
  shift
  if ! "$@" >"$target.log" 2>&1; then
    tail -n 30 "$target.log" >&2
    exit 1
  fi
  awk -v name="$name" -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%-40s %7.1f\n", name, b - a }'
}

time_of "cold cargo build --release" cargo build --release
time_of "cold cargo test --no-run" cargo test --no-run --workspace
time_of "cargo check, nothing checked yet" cargo check --workspace
for entry in "${touched[@]}"; do
  IFS='|' read -r name file test <<<"$entry"
  trap 'git checkout --quiet -- "$file"' EXIT
  printf '\nconst _: u32 = 1;\n' >>"$file"
  time_of "$name: cargo check" cargo check --workspace
  # shellcheck disable=SC2086 # a list of arguments
  time_of "$name: cargo test $test" cargo test $test
  git checkout --quiet -- "$file"
done
