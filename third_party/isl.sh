#!/usr/bin/env bash
# Builds isl from the distribution's own source package into .deps/isl: a static library with hidden symbols and with
# machine integers where they suffice, twice as fast as the packaged one. Needs no root: apt works in a folder of ours,
# from the machine's own list of repositories turned into sources. Does nothing the second time; where the source
# cannot be had it says so once and the build takes the packaged library.
set -euo pipefail
cd "$(dirname "$0")/.."

prefix=$PWD/.deps/isl
work=$PWD/.deps/isl-build
version=$(dpkg-query -W -f='${source:Version}' libisl-dev)
flags=(--with-int=imath-32 --disable-shared --with-pic --with-clang=no "CFLAGS=-O3 -fvisibility=hidden")
wanted="$version ${flags[*]}"
[ "$(cat "$prefix/.installed" 2>/dev/null)" = "$wanted" ] && exit 0
[ "$(cat "$prefix/.unavailable" 2>/dev/null)" = "$wanted" ] && exit 0

say() { printf '\033[1m== %s\033[0m\n' "$*"; }

give_up() {
  mkdir -p "$prefix"
  echo "$wanted" > "$prefix/.unavailable"
  say "isl is not built here: $1"
  tail -n 5 "$work/log" 2>/dev/null || true
  echo "The packaged isl is used: the same results, longer compile times."
  echo "To try again: rm $prefix/.unavailable and repeat the command. The whole log: $work/log"
  exit 0
}

# The machine's repositories as source repositories, in apt's two formats.
list_sources() {
  mkdir -p etc lists/partial cache/archives/partial
  local file
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
    [ -f "$file" ] || continue
    sed -E 's/^Types:.*/Types: deb-src/; s/^deb[[:space:]]/deb-src /' "$file" > "etc/$(basename "$file")"
  done
}

apt() {
  apt-get -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$work/etc" -o Dir::State::lists="$work/lists" \
    -o Dir::Cache="$work/cache" "$@"
}

# Compiles with a progress bar: make's lines are counted.
compile() {
  make gitversion.h >> "$work/log" 2>&1
  local total
  total=$(make -n libisl.la 2>/dev/null | grep -c 'mode=compile')
  make -j "$(nproc)" libisl.la 2>> "$work/log" | tee -a "$work/log" | awk -v total="$total" '
    / CC / { done++; n = int(40 * done / total)
             printf "\r  [%s%s] %d/%d", substr("########################################", 1, n), \
                    substr("........................................", 1, 40 - n), done, total; fflush() }
    END { print "" }'
}

rm -rf "$work" "$prefix"
mkdir -p "$work"
cd "$work"
say "building isl $version from its source package (third_party/isl.sh): about a minute"
list_sources
apt update >> log 2>&1 || true  # a repository without sources is no obstacle
apt source --only-source "isl=$version" >> log 2>&1 || give_up "no source of isl $version in this machine's repositories"
mkdir build
cd build
../isl-*/configure "${flags[@]}" >> "$work/log" 2>&1 || give_up "it could not be configured"
compile || give_up "it could not be compiled"
mkdir -p "$prefix/lib" "$prefix/include/isl"
cp .libs/libisl.a "$prefix/lib/"
cp ../isl-*/include/isl/*.h include/isl/*.h "$prefix/include/isl/"
cp ../isl-*/LICENSE "$prefix/"
rm -rf "$work"
echo "$wanted" > "$prefix/.installed"
