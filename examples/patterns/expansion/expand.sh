#!/bin/sh
# Makes jobs/job-ITEM.yaml of a template, one file an item: expand.sh TEMPLATE
set -eu
mkdir -p jobs
for i in apple banana cherry; do
  sed "s/\$ITEM/$i/" "$1" >"jobs/job-$i.yaml"
done
