#!/usr/bin/env bash
# A new policy touches two files: its own, and the lists in lib.rs. Applies an example of one, which
# learns by an event and acts by an action, to a copy of this tree, builds it, runs it on a drive of
# old data, and counts the files.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
patch=$here/retry_refresh.patch
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

(cd "$root" && tar -c --exclude=./target --exclude=./.venv --exclude=./.git .) | tar -x -C "$copy"
cd "$copy"
git init -q .
git apply --check "$patch"
files=$(git apply --numstat "$patch" | wc -l)
git apply "$patch"
if [ "$files" -gt 2 ]; then
    echo "a new policy touches $files files, not 2" >&2
    exit 1
fi

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target}"
# What lies in the copy is compiled anew, so without optimization: the run is short.
quickly=()
for crate in crates/*/; do
    quickly+=(--config "profile.dev.package.$(basename "$crate").opt-level=0")
done
cargo test --quiet --locked "${quickly[@]}" -p ssdlab-schemes --lib retry_refresh
# A drive of 128 blocks whose data is up to three months old, and reads of all of it.
run() {
    cargo run --quiet --locked "${quickly[@]}" -p ssdlab-run --example plan -- "{\"device\":\"dlv-mlc-128g\",\"set\":[
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
(given,), (plain,) = map(json.loads, texts)


def refreshed(result):
    return sum(result["ops"][kind].get("refresh", 0) for kind in ("read", "program", "erase"))


def mean_level(result):
    counts = {int(level): count for level, count in result["levels"].items()}
    return sum(level * count for level, count in counts.items()) / sum(counts.values())


assert refreshed(given) > 0, "nothing was refreshed"
assert refreshed(plain) == 0, "something was refreshed without the policy"
assert mean_level(given) < mean_level(plain), "reads need as many levels as without it"
erased = given["ops"]["erase"]["refresh"]
asked = given["counters"]["background/retry_refresh"]["blocks_asked"]
assert asked >= erased, f"{erased} of {asked} blocks that were asked for"
print(
    f"a new policy: {files} files; {erased} blocks refreshed, "
    f"{mean_level(given):.2f} levels a read instead of {mean_level(plain):.2f}"
)
PYTHON
