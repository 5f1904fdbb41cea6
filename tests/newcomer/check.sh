#!/usr/bin/env bash
# A new policy touches two files: its own, and the list in slots.rs. Applies an example of one to a
# copy of this tree, builds it, asks it something, and counts the files.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

(cd "$root" && tar -c --exclude=./target --exclude=./.venv --exclude=./.git .) | tar -x -C "$copy"
cd "$copy"
git init -q .
git apply --check "$here/nth_write.patch"
files=$(git apply --numstat "$here/nth_write.patch" | wc -l)
git apply "$here/nth_write.patch"
if [ "$files" -gt 2 ]; then
    echo "a new policy touches $files files, not 2" >&2
    exit 1
fi

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target}"
cargo test --quiet --locked -p ssdlab-core --lib nth_write
ask() {
    cargo run --quiet --locked -p ssdlab-run --example plan -- "{\"device\":\"dlv-mlc-128g\",
        \"set\":[\"scheduler=$1\",\"workload.requests=5000\",\"workload.interarrival=30us\"]}"
}
mean() { python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["read"]["latency_us"]["mean"])'; }
slow=$(ask nth_write | mean)
fast=$(ask read_first | mean)
python3 -c "import sys; sys.exit(not $slow > $fast)"
echo "a new policy: $files files; mean read latency $slow us under it, $fast us under read_first"
