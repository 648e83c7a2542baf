#!/bin/bash
# Content synchronisation on the cases of generate.py: makes them from Debian packages (fetch.sh) and fails below the
# bar. Takes ten minutes to an hour the first time; what was made is kept.
#
#   measure.sh JUDGE FOLDER
#
# Exit status: 0 the bar is met, 1 it is not, 77 packages, ffmpeg or numpy cannot be had.
set -euo pipefail

judge=${1:?usage: measure.sh JUDGE FOLDER}
folder=${2:?usage: measure.sh JUDGE FOLDER}
here=$(cd "$(dirname "$0")" && pwd)
python=/usr/bin/python3 # has Debian's numpy

"$here/fetch.sh" "$folder/pictures"
"$python" "$here/generate.py" "$folder/pictures" "$judge" "$folder/cases"
"$python" "$here/generate.py" "$folder/pictures" "$judge" "$folder/held-out" --held-out
status=0
echo "The cases that constants were chosen on:"
"$judge" run "$folder/cases" --bar || status=1
echo "The same, searched +-2.5 s:"
"$judge" run "$folder/cases" --window 2.5 | tail -20
echo "Held out:"
"$judge" run "$folder/held-out" --held-out-bar || status=1
echo "Streams that do not belong together:"
"$judge" cross "$folder/cases" || status=1
exit $status
