# For scripts that need packages of Debian: sourced, runs nothing by itself.

export DEBIAN_FRONTEND=noninteractive

say() {
  printf '\n== %s\n' "$*"
}

three_times() {
  local try
  for try in 1 2 3; do
    "$@" && return 0
    say "failed ($try of 3): $*"
    sleep $((try * 5))
  done
  return 1
}

installed() {
  dpkg-query --show --showformat='${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

# Debian 12 has 15, the oldest that we support; others have a newer one.
postgresql_package() {
  if [ "$(. /etc/os-release && echo "$VERSION_ID")" = 12 ]; then echo postgresql-15; else echo postgresql; fi
}

install_packages() { # names
  local missing=() name
  for name in "$@"; do
    installed "$name" || missing+=("$name")
  done
  [ "${#missing[@]}" -eq 0 ] && return 0
  say "installing from Debian: ${missing[*]}"
  # Without a configuration postfix does not start: its daemon would only be in the way.
  echo 'postfix postfix/main_mailer_type select No configuration' | debconf-set-selections
  # Nor does PostgreSQL, without a cluster.
  local cluster=/etc/postgresql-common/createcluster.d
  mkdir -p "$cluster" && echo 'create_main_cluster = false' >"$cluster/none.conf"
  three_times apt-get -q -o DPkg::Lock::Timeout=120 update || return 1
  three_times apt-get -q -y -o DPkg::Lock::Timeout=120 install --no-install-recommends "${missing[@]}"
}
