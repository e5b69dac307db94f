#!/usr/bin/env bash
# Makes images of the patterns from Debian packages, without Docker, root or a registry: images.sh DIR IMAGE…
# DIR/IMAGE.tar is for stint image load.
set -euo pipefail
if (($# < 2)); then
  echo "usage: $0 DIR redis|job-wq-2|rabbitmq|job-wq-1|bash|busybox…" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
dir=$1
shift
mkdir -p "$dir"

image() { "$here/../../hack/debian-image.sh" "$@" >"$dir/$one.tar.part"; }

for one; do
  case $one in
    redis) image redis 'redis-server busybox-static' redis-server --protected-mode no ;;
    job-wq-2) image -f "$here/redis/worker" gcr.io/myproject/job-wq-2 'redis-tools busybox-static' /worker.sh ;;
    rabbitmq) image -f "$here/rabbitmq/server" rabbitmq 'rabbitmq-server busybox-static' /usr/lib/rabbitmq/bin/rabbitmq-server ;;
    job-wq-1)
      # shellcheck disable=SC2016
      image -f "$here/rabbitmq/worker" gcr.io/myproject/job-wq-1 'amqp-tools busybox-static' \
        sh -c 'exec amqp-consume --url=$BROKER_URL -q $QUEUE -c 1 /worker.sh'
      ;;
    bash) image bash 'bash busybox-static' bash ;;
    busybox) image busybox busybox-static sh ;;
    *)
      echo "$0: no image is called $one" >&2
      exit 2
      ;;
  esac
  mv "$dir/$one.tar.part" "$dir/$one.tar"
done
