#!/usr/bin/env bash
# Checks that a new policy touches two sources: its own file, and the lists in lib.rs. Applies two
# examples to a copy of this tree: a background policy, which learns by an event and acts by an
# action, and a scheduler, which waits for its timer. Counts the files, builds them, runs the tests
# that concern a new policy, and runs the background policy on a drive of old data.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
policies=(retry_refresh batched_writes)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

(cd "$root" && tar -c --exclude=./target --exclude=./.venv --exclude=./.git .) | tar -x -C "$copy"
cd "$copy"
git init -q .
for policy in "${policies[@]}"; do
    patch=$here/$policy.patch
    files=$(git apply --numstat "$patch" | grep -c $'\tcrates/[^/]*/src/')
    # A policy that joined the lists since the patch was made may stand next to the example.
    git apply -C1 "$patch"
    if [ "$files" -ne 2 ]; then
        echo "$policy touches $files sources, not 2" >&2
        exit 1
    fi
done
# The names of the examples are those of the field, too.
"${PYTHON:-$root/.venv/bin/python}" -m pytest -q tests/python/test_terms.py -k "rust_name or no_text_has"

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target}"
# Cargo compiles the copy anew, so without optimization: the runs are short.
quickly=()
for crate in crates/*/; do
    quickly+=(--config "profile.dev.package.$(basename "$crate").opt-level=0")
done
test() {
    local all
    all=$(cargo test --locked "${quickly[@]}" "$@" 2>&1) || { echo "$all" >&2; exit 1; }
    # A filter that matches no test must not pass.
    grep -q "^test .* ok$" <<< "$all" || { echo "no test of: $*" >&2; exit 1; }
}
for policy in "${policies[@]}"; do
    test -p ssdlab-schemes --lib "$policy"
    test -p ssdlab-core --test all "$policy"
done
test -p ssdlab-core --test all tidy::
test -p ssdlab-core --test all policy_state::
test -p ssdlab-run --test all keys::no_key_is_left_out
for policy in "${policies[@]}"; do
    SSDLAB_KEY=$policy test -p ssdlab-run --test all keys::every_key_changes_a_result
done
# A drive of 128 blocks whose data is up to three months old, and reads of all of it. The scheme is
# the policy alone.
run() {
    cargo run --quiet --locked "${quickly[@]}" -p ssdlab-run --example plan -- "{\"device\":\"dlv-mlc-128g\",\"scheme\":\"refresh/retries\",\"set\":[
        \"geometry.channels=1\",\"geometry.chips=1\",\"geometry.dies=1\",\"geometry.blocks=64\",
        \"start.fill=0.9\",\"workload.footprint=96MiB\",\"workload.read_share=1\",
        \"workload.sizes=['4KiB']\",\"workload.requests=20000\",\"workload.interarrival=2ms\",
        \"background.retry_refresh=$1\"]}"
}
with=$(run '{level=3}')
without=$(run false)
python3 - "$files" "$with" "$without" <<'PYTHON'
import json
import sys

files, *texts = sys.argv[1:]
(refreshing,), (plain,) = map(json.loads, texts)


def refreshed(result):
    return sum(result["ops"][kind].get("refresh", 0) for kind in ("read", "program", "erase"))


def mean_level(result):
    counts = {int(level): count for level, count in result["levels"].items()}
    return sum(level * count for level, count in counts.items()) / sum(counts.values())


assert refreshed(refreshing) > 0, "nothing was refreshed"
assert refreshed(plain) == 0, "something was refreshed without the policy"
assert mean_level(refreshing) < mean_level(plain), "reads need as many levels as without it"
erased = refreshing["ops"]["erase"]["refresh"]
requests = refreshing["counters"]["background/retry_refresh"]["requests"]
assert requests >= erased, f"{erased} blocks refreshed for {requests} requests"
print(
    f"a new policy: {files} sources; {erased} blocks refreshed, "
    f"{mean_level(refreshing):.2f} levels a read instead of {mean_level(plain):.2f}"
)
PYTHON
