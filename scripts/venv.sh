#!/bin/sh
# Makes the virtual environment $1 with the newest Python at hand, and installs the project with its tools.
# Python's own venv does it; where a distribution left that out (Debian's python3-venv), uv does, or root installs it.
set -eu

say() { echo "setup: $*" >&2; }

newest_python() {
    for name in python3.14 python3.13 python3.12 python3.11 python3; do
        if "$name" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' >/dev/null 2>&1; then
            command -v "$name"
            return
        fi
    done
    say "Python 3.11 or newer is needed and was not found (looked for python3.14 ... python3.11, python3)"
    exit 1
}

make_venv() {
    if "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        "$python" -m venv --clear "$folder"
    elif command -v uv >/dev/null; then
        uv venv --quiet --seed --clear --python "$python" "$folder"
    elif [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        say "this Python has no ensurepip: installing the package $package"
        apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$package" >/dev/null
        "$python" -m venv --clear "$folder"
    else
        say "$python cannot make virtual environments: install its venv package (on Debian: apt-get install $package)"
        exit 1
    fi
}

folder=$1
python=$(newest_python)
package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
say "$("$python" --version) in $folder"
make_venv
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
"$folder/bin/python" -m pip install -qq --upgrade 'pip>=25.1' # the first that knows dependency groups
"$folder/bin/python" -m pip install -qq --editable . --group dev
"$folder/bin/python" -m compileall -qq -j 0 emulator bindings # also where PYTHONDONTWRITEBYTECODE would compile at each start
