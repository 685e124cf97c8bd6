#!/usr/bin/env bash
# Installs what the project needs and is not there yet: Debian packages (debian.txt), the virtual environment .venv
# (python.txt) and our own build of isl (isl.sh). A second run with unchanged lists does nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

stamp=.venv/.installed
wanted=$(cat third_party/debian.txt third_party/python.txt | sha256sum)
[ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && exec third_party/isl.sh

say() { printf '\033[1m== %s\033[0m\n' "$*"; }

missing=()
for package in $(grep -v '^#' third_party/debian.txt); do
  status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
  [ "$status" = "install ok installed" ] || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  say "installing Debian packages: ${missing[*]}"
  as_root=""
  [ "$(id -u)" = 0 ] || as_root=sudo
  $as_root apt-get update -q
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
fi

# isl is compiled while packages are fetched and unpacked.
third_party/isl.sh &
isl=$!
say "creating .venv and installing Python packages (third_party/python.txt)"
python3 -m venv .venv
.venv/bin/python -m pip install --progress-bar on --disable-pip-version-check -r third_party/python.txt
wait "$isl"
echo "$wanted" > "$stamp"
