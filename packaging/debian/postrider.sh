#!/bin/sh
# The command line of the package, also of one that was only unpacked, to ask it before it is installed.
set -eu

self=$(readlink -f "$0")
root=${self%/bin/postrider}

# The sandbox keeps its data in the checkout, which is not writable here.
if [ "${1-}" = sandbox ] && [ -z "${POSTRIDER_DATA_DIR-}" ]; then
  POSTRIDER_DATA_DIR=${XDG_DATA_HOME:-${HOME:-/tmp}/.local/share}/postrider-sandbox
  export POSTRIDER_DATA_DIR
fi

exec "$root/node_modules/.bin/node" --require "$root/scripts/source-cache.cjs" "$root/src/main.ts" "$@"
