#!/usr/bin/env bash
# Runs every fuzz target so many times: hack/fuzz.sh 20000x. A duration would do, were it not for go.dev/issue/75804.
set -euo pipefail
cd "$(dirname "$0")/.."
for_each=${1:-20000x}

grep -rl --include='*_test.go' '^func Fuzz' internal | xargs -n1 dirname | sort -u | while read -r dir; do
  grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | awk '{print $2}' | while read -r target; do
    echo "fuzz $dir $target"
    go test "./$dir" -run '^$' -fuzz "^$target\$" -fuzztime "$for_each" </dev/null
  done
done
