#!/usr/bin/env bash
# Runs every fuzz target for a while: hack/fuzz.sh 20s
set -euo pipefail
cd "$(dirname "$0")/.."
for_each=${1:-20s}

grep -rl --include='*_test.go' '^func Fuzz' internal | xargs -n1 dirname | sort -u | while read -r dir; do
  grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | awk '{print $2}' | while read -r target; do
    echo "fuzz $dir $target"
    go test "./$dir" -run '^$' -fuzz "^$target\$" -fuzztime "$for_each" </dev/null
  done
done
