#!/bin/sh
# examples/pi.yaml names the image perl:5.34.0; Stint runs the machine's own perl in its place. Perl 5.36 as
# released cannot print more than about 1,000 digits (its Math::BigInt 1.999830), so make sure of one that can.
set -eu

works() { perl -Mbignum=bpi -e 'print bpi(1100)' >/dev/null 2>&1; }

works && exit 0
echo "this machine's perl is missing or cannot compute 2000 digits: installing one that can" >&2
as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
if command -v apt-get >/dev/null; then
  $as_root apt-get update -q >/dev/null
  $as_root apt-get install -qy perl libmath-bigint-perl >/dev/null
fi
works && exit 0
echo "please install perl with Math::BigInt 1.999838 or later, or run examples/hello.yaml instead" >&2
exit 1
