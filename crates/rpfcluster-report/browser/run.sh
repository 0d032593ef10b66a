#!/bin/sh
# Runs the tests of the report page (`run.sh test`) or takes its pictures (`run.sh pictures FOLDER`) in Chromium.
# Builds the command and installs the driver; .ci/needs decides what happens where Chromium or npm is missing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)

# Ends with success where a skip is allowed.
needs() {
    status=0
    sh "$root/.ci/needs" "$@" || status=$?
    case $status in 0) ;; 3) exit 0 ;; *) exit "$status" ;; esac
}

needs chromium npm
for name in "${CHROMIUM:-chromium}" chromium-browser google-chrome google-chrome-stable; do
    if CHROMIUM=$(command -v "$name"); then break; fi
done
if [ ! -d "$here/node_modules/playwright-core" ]; then
    npm --prefix "$here" ci --no-audit --no-fund --silent || needs skip npm "npm cannot install playwright-core"
fi

${MAKE:-make} --no-print-directory -C "$root" binary
RPF=${CARGO_TARGET_DIR:-$root/target}/release/rpf
export CHROMIUM RPF
cd "$root"
case $1 in
    test) npm --prefix "$here" test --silent ;;
    pictures) node "$here/pictures.mjs" "$2" ;;
    *) echo "usage: run.sh test | pictures FOLDER" >&2 && exit 2 ;;
esac
