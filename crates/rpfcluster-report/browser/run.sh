#!/bin/sh
# Finds or installs a browser and the library that drives it, builds the command, and runs the tests of the page
# (`run.sh test`) or takes its pictures (`run.sh pictures FOLDER`). Where something cannot be had it says so in one line
# and is no failure: the page's other tests do not need a browser.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)

skip() {
    echo "page tests SKIPPED: $1" >&2
    exit 0
}

find_browser() {
    for name in chromium chromium-browser google-chrome google-chrome-stable; do
        command -v "$name" && return 0
    done
    return 1
}

browser=${CHROMIUM:-$(find_browser || true)}
if [ -z "$browser" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing chromium" >&2
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } >/dev/null 2>&1 || true
    browser=$(find_browser || true)
fi
[ -n "$browser" ] || skip "there is no Chromium; install it (Debian: apt-get install chromium) or set CHROMIUM to its path"
command -v npm >/dev/null || skip "there is no npm; install Node.js 20 or later"
if [ ! -d "$here/node_modules/playwright-core" ]; then
    (cd "$here" && npm ci --no-audit --no-fund --silent >/dev/null 2>&1) || skip "npm cannot install playwright-core"
fi

cd "$root"
${CARGO:-cargo} build --release --locked --quiet
CHROMIUM=$browser
RPF=${CARGO_TARGET_DIR:-$root/target}/release/rpf
export CHROMIUM RPF
case $1 in
    test) cd "$here" && npm test --silent ;;
    pictures) node "$here/pictures.mjs" "$2" ;;
    *) echo "run.sh test | pictures FOLDER" >&2 && exit 2 ;;
esac
