#!/usr/bin/env bash
# Builds the program of the last commit twice: with what earlier builds have cached, and from nothing, later, in another
# folder, time zone and umask. Fails unless both are the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

build() { # folder
  git clone -q . "$1"
  make -s -C "$1" build
  sha256sum <"$1/bin/stint"
}

first=$(build "$dir/first")
second=$(
  export GOCACHE=$dir/cache TZ=Pacific/Auckland
  umask 077
  build "$dir/a/longer/path/to/the/second"
)
echo "with what was cached: $first"
echo "from nothing:         $second"
[[ $first == "$second" ]]
