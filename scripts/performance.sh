#!/usr/bin/env bash
# Runs the performance suite several times, writes its figures as lines of JSON, and compares them with those of an earlier run.
#
#   scripts/performance.sh OUT [OLD]
#
# RUNS is the number of runs of each suite (default 3), SUITES the list of suites (default all). The machine should be idle, since most
# figures are times. The exit code is 1 if a figure is more than 10 % worse than in OLD. For the table of the README:
#
#   scripts/performance.sh docs/performance.jsonl && RHUMB_BLESS=1 cargo test -p rhumb-bench --test readme
set -euo pipefail
cd "$(dirname "$0")/.."

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
  sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
out=$1 old=${2:-}
suites=${SUITES:-"latency frames search vectors map context edits instructions"}

# shellcheck disable=SC2046,SC2086 # a list of flags
cargo build --release -p rhumb-bench --bin rhumb-bench $(printf -- '--bench %s ' $suites)
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
export RHUMB_BENCH_JSON=$fresh/run.jsonl
for _ in $(seq "${RUNS:-3}"); do
  for suite in $suites; do
    cargo bench --quiet -p rhumb-bench --bench "$suite"
  done
done
mkdir -p "$(dirname "$out")"
mv "$RHUMB_BENCH_JSON" "$out"
if [ -n "$old" ]; then
  # Not `cargo run`, which would build again without the features of the benchmarks.
  "${CARGO_TARGET_DIR:-target}/release/rhumb-bench" compare "$old" "$out"
fi
