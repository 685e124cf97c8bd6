#!/usr/bin/env bash
# Installs what the project needs and is not there yet: `install.sh debian` the Debian packages (debian.txt),
# `install.sh python` the virtual environment .venv (python.txt). A second run with unchanged lists does nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\033[1m== %s\033[0m\n' "$*"; }

install_debian() {
  local missing=() package status as_root=""
  for package in $(grep -v '^#' third_party/debian.txt); do
    status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
    [ "$status" = "install ok installed" ] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing Debian packages: ${missing[*]}"
  [ "$(id -u)" = 0 ] || as_root=sudo
  $as_root apt-get update -q
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
}

# Modules are compiled when they are first imported, because most of the modules of large packages never are.
install_python() {
  say "creating .venv and installing Python packages (third_party/python.txt)"
  python3 -m venv .venv
  .venv/bin/python -m pip install --no-compile --progress-bar on --disable-pip-version-check -r third_party/python.txt
}

# done_once NAME LIST: runs install_NAME unless it has run with what the file LIST says.
done_once() {
  local stamp=.deps/installed-$1 wanted
  [ "$1" = python ] && stamp=.venv/.installed
  wanted=$(sha256sum < "$2")
  [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && return 0
  "install_$1"
  mkdir -p "$(dirname "$stamp")"
  echo "$wanted" > "$stamp"
}

done_once "$1" "third_party/$1.txt"
