#!/usr/bin/env bash
# Makes an image of Debian packages, with neither Docker nor root, and writes it as docker save does:
#   hack/debian-image.sh [-f DIR] NAME 'PACKAGE…' COMMAND… >ARCHIVE
# The packages and all that they depend on are fetched by apt, and unpacked; their scripts are not run. DIR has files to add.
set -euo pipefail

files=
while getopts f: flag; do
  case $flag in
    f) files=$OPTARG ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
if (($# < 3)); then
  echo "usage: $0 [-f DIR] NAME 'PACKAGE…' COMMAND… >ARCHIVE" >&2
  exit 2
fi
name=$1 packages=$2
shift 2
[[ ${name##*/} == *:* ]] || name+=:latest

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Without the status of this machine, apt fetches what is installed here, too.
mkdir -p "$work"/cache/archives/partial
: >"$work/status"
# shellcheck disable=SC2086
apt-get install -qqy --download-only --no-install-recommends -o Dir::State::status="$work/status" -o Dir::Cache="$work/cache" \
  -o Debug::NoLocking=1 -o APT::Sandbox::User="$(id -un)" $packages >&2

root=$work/root
mkdir -p "$root"/usr/{bin,sbin,lib,lib64} "$root"/{etc,root,proc,sys,dev}
mkdir -m 1777 "$root/tmp"
for dir in bin sbin lib lib64; do ln -s "usr/$dir" "$root/$dir"; done
for package in "$work"/cache/archives/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -xC "$root" --keep-directory-symlink --no-same-owner \
    --exclude='./usr/share/doc' --exclude='./usr/share/man' --exclude='./usr/share/locale'
done
echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
echo 'root:x:0:' >"$root/etc/group"
if [[ -x $root/bin/busybox ]]; then
  for applet in $("$root/bin/busybox" --list); do
    [[ -e $root/bin/$applet || -e $root/sbin/$applet ]] || ln -s busybox "$root/bin/$applet"
  done
fi
[[ -z $files ]] || cp -r "$files/." "$root"

quoted=
for word; do
  word=${word//\\/\\\\}
  quoted+=,\"${word//\"/\\\"}\"
done
image=$work/image
mkdir "$image"
tar -cf "$image/layer.tar" -C "$root" --sort=name --owner=0 --group=0 --numeric-owner .
cat >"$image/config.json" <<END
{"architecture":"$(dpkg --print-architecture)","os":"linux","config":{"Cmd":[${quoted#,}],
"Env":["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]},
"rootfs":{"type":"layers","diff_ids":["sha256:$(sha256sum <"$image/layer.tar" | cut -d' ' -f1)"]}}
END
echo "[{\"Config\":\"config.json\",\"RepoTags\":[\"$name\"],\"Layers\":[\"layer.tar\"]}]" >"$image/manifest.json"
tar -c -C "$image" manifest.json config.json layer.tar
