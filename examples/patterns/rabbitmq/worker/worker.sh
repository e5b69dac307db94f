#!/bin/sh
# Works on the message that it gets on its standard input.
echo "Processing $(cat)"
sleep 1 # the work
