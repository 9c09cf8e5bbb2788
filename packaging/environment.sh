# Sets up .venv in this checkout, pinned and with hashes. Sourced by run and test.
#
# The caller sets $root and calls `environment run` or `environment dev`; afterwards $venv
# holds what is needed. When it did before, all this costs is a checksum.
#
#   .venv/stamp-run, stamp-dev   checksums, with paths, of what was set up: a changed file or
#                                a moved checkout no longer matches
#   .venv.lock                   locked by flock(2) during a set-up, so it is never stale;
#                                not empty: that set-up has not ended, or was interrupted
#
# All that it says goes to stderr; stdout belongs to the program.

# shellcheck shell=sh disable=SC2154  # root is set by the caller
venv=$root/.venv

say() { printf 'ultracontext: %s\n' "$*" >&2; }

# fail WHAT NEXT-STEP: the end of the log, then one line.
fail() {
    if [ -s "$root/.venv.log" ] && [ -r "$root/.venv.log" ]; then tail -n 15 "$root/.venv.log" | sed 's/^/    /' >&2; fi
    say "$1; $2"
    exit 1
}

# environment run|dev
environment() {
    level=$1
    set -- "$root/pyproject.toml" "$root/packaging/constraints.txt"
    [ "$level" = run ] || set -- "$@" "$root/packaging/constraints-dev.txt"
    sums=$(cksum "$@") || fail "this checkout is not complete" "clone it again"
    # A shell of its own: where it goes and what it unsets does not reach the program.
    stamped "$level" || (set_up) || exit 1
}

# Was LEVEL set up from these very files, in this very place?
stamped() {
    [ -x "$venv/bin/python" ] && [ -r "$venv/stamp-$1" ] &&
        [ "$(cat "$venv/stamp-$1")" = "$(sums_of "$1")" ]
}

# The checksums that concern LEVEL: run has no part in constraints-dev.txt.
sums_of() {
    if [ "$1" = "$level" ]; then printf '%s\n' "$sums"; else printf '%s\n' "$sums" | head -n 2; fi
}

set_up() {
    started=$(date +%s)
    cd "$root" || exit 1
    for place in "$root" "$venv" "$venv.lock" "$venv.log"; do
        [ ! -e "$place" ] || [ -w "$place" ] || fail "cannot write to $place" \
            "set it up once as its owner, or clone it into a folder of yours"
    done
    clean_variables
    find_python || fail "found no Python 3.11 or newer" \
        "install one, or install uv, which brings one, and try again"
    lock
    if stamped "$level"; then return 0; fi # by the one that we waited for
    : >.venv.log
    if reusable; then say "bringing .venv up to date"; else create; fi
    echo unfinished >.venv.lock
    install_pinned
    install_checkout
    if [ "$level" = dev ]; then sums_of run >.venv/stamp-run; fi
    sums_of "$level" >".venv/stamp-$level"
    : >.venv.lock
    rm -f .venv.log
    say "set up in $(($(date +%s) - started)) s"
}

# Settings of the caller's own installs would send ours elsewhere; those that say where
# packages come from stay.
clean_variables() {
    unset PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONWARNINGS VIRTUAL_ENV CONDA_PREFIX || :
    for name in $(env | sed -n 's/^\(PIP_[A-Z0-9_]*\)=.*/\1/p; s/^\(UV_[A-Z0-9_]*\)=.*/\1/p'); do
        case $name in
            PIP_INDEX_URL | PIP_EXTRA_INDEX_URL | PIP_NO_INDEX | PIP_FIND_LINKS) ;;
            PIP_CERT | PIP_CLIENT_CERT | PIP_TRUSTED_HOST | PIP_PROXY | PIP_KEYRING_PROVIDER) ;;
            PIP_CACHE_DIR | PIP_NO_CACHE_DIR | PIP_CONFIG_FILE) ;;
            PIP_DEFAULT_TIMEOUT | PIP_TIMEOUT | PIP_RETRIES | PIP_USE_DEPRECATED) ;;
            UV_*INDEX* | UV_FIND_LINKS | UV_INSECURE_HOST | UV_KEYRING_PROVIDER | UV_OFFLINE) ;;
            UV_NATIVE_TLS | UV_SYSTEM_CERTS | UV_HTTP_* | UV_REQUEST_TIMEOUT | UV_CONFIG_FILE) ;;
            UV_CACHE_DIR | UV_NO_CACHE | UV_LINK_MODE | UV_CONCURRENT_*) ;;
            UV_PYTHON_INSTALL_* | UV_PYTHON_DOWNLOADS* | UV_PYTHON_*MIRROR) ;;
            *) unset "$name" ;;
        esac
    done
    PIP_USER=0 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
    export PIP_USER PIP_DISABLE_PIP_VERSION_CHECK PIP_NO_INPUT
}

have_uv() { command -v uv >/dev/null 2>&1; }

# Sets $python: the real file, so that a system upgrade leaves a dead link, not a mixed .venv.
find_python() {
    for name in python3.14 python3.13 python3.12 python3.11 python3; do
        if is_python "$name"; then return 0; fi
    done
    have_uv || return 1
    is_python "$(uv python find --quiet '>=3.11' 2>/dev/null)" && return 0
    say "no Python 3.11 or newer here, asking uv for one"
    uv python install --quiet 3.13 >&2 && is_python "$(uv python find --quiet 3.13)"
}

is_python() {
    python=$("${1:-false}" -I -c '
import os, sys
if sys.version_info < (3, 11) or sys.implementation.name != "cpython":
    sys.exit(1)
print(os.path.realpath(sys._base_executable))' 2>/dev/null) && [ -n "$python" ]
}

# Held by descriptor 9 until this shell, and what it started, has ended.
lock() {
    exec 9>>.venv.lock
    "$python" -I -c '
import fcntl, sys
try:
    fcntl.flock(0, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    print("ultracontext: another set-up is going on here, waiting for it", file=sys.stderr)
    fcntl.flock(0, fcntl.LOCK_EX)
except OSError:
    pass  # a file system without locks' <&9 || exit 1
}

# Ours, complete, made for this place, and its Python still there?
reusable() {
    [ ! -s .venv.lock ] && [ -r .venv/stamp-run ] &&
        head -n 1 .venv/stamp-run | grep -qF " $root/pyproject.toml" &&
        .venv/bin/python -I -c '' 2>/dev/null
}

create() {
    discard
    echo unfinished >.venv.lock
    say "first start here: setting up .venv with $("$python" -I -V)"
    if have_uv && uv venv --quiet --python "$python" .venv >>.venv.log 2>&1; then return 0; fi
    "$python" -I -m venv .venv >>.venv.log 2>&1 ||
        # Debian keeps ensurepip apart; a pip that is there can install from outside.
        { "$python" -I -m pip --version && "$python" -I -m venv --clear --without-pip .venv; } \
            >>.venv.log 2>&1 ||
        fail "could not make .venv with $python" \
            "install its venv module (Debian: python3-venv) or uv, and try again"
}

# What is ours goes; a .venv that somebody else made is kept aside.
discard() {
    rm -rf .venv.old.*
    [ -e .venv ] || [ -h .venv ] || return 0
    if [ -s .venv.lock ] || [ -e .venv/stamp-run ]; then
        mv .venv ".venv.old.$$" && rm -rf ".venv.old.$$"
    else
        kept=.venv.kept.$(date +%s)
        mv .venv "$kept" && say "the .venv that was here is now $kept"
    fi
}

# Only when a list changed. Leftovers of an older list do no harm.
install_pinned() {
    if [ -r ".venv/stamp-$level" ] &&
        [ "$(sed 1d ".venv/stamp-$level")" = "$(sums_of "$level" | sed 1d)" ]; then return 0; fi
    set -- -r packaging/constraints.txt
    [ "$level" = run ] || set -- "$@" -r packaging/constraints-dev.txt
    say "installing the pinned packages, about a minute on a slow line"
    install --require-hashes "$@" || fail "could not install the pinned packages" \
        "check the network and the package index (all of it: $root/.venv.log), then try again"
}

install_checkout() {
    if [ "$level" = dev ] && stamped run; then return 0; fi
    install --no-deps --no-build-isolation -e . || fail "could not install this checkout" \
        "look at $root/.venv.log and pyproject.toml, then try again"
}

# uv where it is there; pip where it is not, and where uv fails (an index that only pip knows).
install() {
    if have_uv; then
        uv pip install --quiet --compile-bytecode --python .venv/bin/python "$@" \
            >>.venv.log 2>&1 && return 0
        say "uv could not, trying pip"
    fi
    if ! .venv/bin/python -I -m pip --version >/dev/null 2>&1; then
        .venv/bin/python -I -m ensurepip >>.venv.log 2>&1 ||
            { "$python" -I -m pip --python .venv/bin/python install --quiet "$@" >>.venv.log 2>&1
              return; }
    fi
    .venv/bin/python -I -m pip install --quiet "$@" >>.venv.log 2>&1
}
