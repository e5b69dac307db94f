#!/bin/sh
# Works on the items of the list job2 until none is left. An item is in a list of this pod until its work is done, so that
# none is lost when the container is killed: the next container of the pod takes it from there.
set -eu
own=job2:$(hostname)
redis() { redis-cli -e -h redis "$@"; }

while :; do
  item=$(redis lindex "$own" 0)
  [ -n "$item" ] || item=$(redis lmove job2 "$own" left right)
  [ -n "$item" ] || break
  echo "Working on $item"
  sleep 1 # the work
  redis lpop "$own" >/dev/null
done
echo "Queue empty"
