# Finds or installs what a build needs. Sourced by the other scripts; does nothing by itself.
#
# need WHAT CHECK PACKAGE...: if CHECK fails, the Debian packages are installed; where that is not
# possible the script ends with exit code 3 and says what to install.

missing_packages=()
missing_things=()

need() {
  local what=$1 check=$2
  shift 2
  if ! "$check"; then
    missing_things+=("$what")
    missing_packages+=("$@")
  fi
}

has_cxx() { command -v "${CXX:-c++}" >/dev/null || command -v g++ >/dev/null; }

# The folders in which bindgen looks for libclang.
libclang_folders() {
  if [ -n "${LIBCLANG_PATH:-}" ]; then
    # A file names its folder.
    if [ -f "$LIBCLANG_PATH" ]; then dirname "$LIBCLANG_PATH"; else echo "$LIBCLANG_PATH"; fi
    return
  fi
  local config=${LLVM_CONFIG_PATH:-llvm-config}
  if command -v "$config" >/dev/null; then "$config" --libdir 2>/dev/null || true; fi
  tr ':' '\n' <<<"${LD_LIBRARY_PATH:-}"
  compgen -G '/usr/local/llvm*/lib*'
  compgen -G '/usr/local/lib*'
  compgen -G '/usr/local/lib*/*'
  compgen -G '/usr/lib*'
  compgen -G '/usr/lib*/*'
  compgen -G '/usr/lib*/*/*'
}

# Whether there is a libclang that bindgen takes, with the headers that come with a compiler. The C++
# library, libclang-cpp, is another one.
has_libclang() {
  local folder library headers
  while IFS= read -r folder; do
    [ -n "$folder" ] || continue
    for library in "$folder"/libclang.so "$folder"/libclang-*.so "$folder"/libclang.so.* "$folder"/libclang-*.so.*; do
      case "$library" in *-cpp.*) continue ;; esac
      [ -e "$library" ] || continue
      # Whoever points at a library answers for its headers.
      [ -n "${LIBCLANG_PATH:-}" ] && return 0
      headers=$(dirname "$(readlink -f "$library")")/clang
      compgen -G "$headers/*/include/stddef.h" >/dev/null && return 0
      compgen -G '/usr/lib*/clang/*/include/stddef.h' >/dev/null && return 0
    done
  done < <(libclang_folders)
  return 1
}

# The version as a number, 5006 for 5.006 and 5048 for 5.48; nothing if the program prints none.
verilator_number() {
  "${VERILATOR:-verilator}" --version 2>/dev/null |
    sed -nE 's/^Verilator ([0-9]+)\.([0-9]+).*/\1 \2/p' |
    while read -r major minor; do echo $((major * 1000 + 10#$minor)); done
}

has_verilator() {
  command -v "${VERILATOR:-verilator}" >/dev/null || return 1
  local number
  number=$(verilator_number)
  # Some packages print no number; the build looks closer.
  [ -z "$number" ] || [ "$number" -ge 5006 ]
}

has_zlib() { [ -e /usr/include/zlib.h ] || [ -n "${CPATH:-}" ]; }
has_yosys() { command -v yosys >/dev/null; }
has_cadical() { command -v "${CADICAL:-cadical}" >/dev/null; }
has_iverilog() { command -v iverilog >/dev/null; }
has_valgrind() { command -v valgrind >/dev/null; }
# GCC says where a file is, or its bare name if it has none.
has_sanitizers() { [ -e "$(g++ -print-file-name=libasan.so 2>/dev/null)" ]; }
has_patch() { command -v patch >/dev/null; }
has_make() { command -v make >/dev/null; }
has_chromium() { command -v chromium >/dev/null && command -v chromedriver >/dev/null; }
has_genhtml() { command -v genhtml >/dev/null; }
has_venv() { python3 -c 'import ensurepip, venv' 2>/dev/null; }
# What compressed waves need; newer Verilators take lz4 from the system.
has_lz4() { [ -e /usr/include/lz4.h ] || [ -n "${CPATH:-}" ]; }

# Installs what the calls of `need` found missing.
install_missing() {
  [ ${#missing_things[@]} -eq 0 ] && return 0
  local things=${missing_things[*]} packages=${missing_packages[*]}
  local install="apt-get install -y --no-install-recommends $packages"
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
      as_root=(sudo)
    else
      echo "error: missing: $things; as root run: $install" >&2
      exit 3
    fi
  fi
  if ! command -v apt-get >/dev/null; then
    echo "error: missing: $things; install them (on Debian: $install)" >&2
    exit 3
  fi
  echo "installing $packages" >&2
  if ! { "${as_root[@]}" apt-get update -qq &&
    DEBIAN_FRONTEND=noninteractive "${as_root[@]}" $install >/dev/null; } >&2; then
    echo "error: could not install $packages; run: $install" >&2
    exit 3
  fi
  missing_things=() missing_packages=()
}

need_cargo() {
  command -v cargo >/dev/null || PATH="$HOME/.cargo/bin:$PATH"
  if ! command -v cargo >/dev/null; then
    echo "error: missing: a Rust toolchain (cargo); install one with rustup" >&2
    exit 3
  fi
}

need_build_tools() {
  need_cargo
  if [ -n "${VERILATOR:-}" ] && ! has_verilator; then
    echo "error: VERILATOR=$VERILATOR is no Verilator of version 5.006 or newer" >&2
    exit 3
  fi
  need "Verilator 5.006 or newer" has_verilator verilator
  need "a C++ compiler" has_cxx g++
  need "libclang" has_libclang libclang-dev
  need "zlib" has_zlib zlib1g-dev
  need "lz4" has_lz4 liblz4-dev
  install_missing
  if ! has_verilator; then
    echo "error: the installed Verilator is older than 5.006; set VERILATOR to a newer one" >&2
    exit 3
  fi
}

has_slurm() { command -v slurmctld >/dev/null && command -v slurmd >/dev/null && command -v munged >/dev/null; }
has_parallel() { command -v parallel >/dev/null; }

need_gate_tools() {
  need "yosys" has_yosys yosys
  need "CaDiCaL" has_cadical cadical
  need "patch" has_patch patch
  install_missing
}

need_deep_tools() {
  need "Icarus Verilog" has_iverilog iverilog
  need "valgrind" has_valgrind valgrind
  need "GCC's sanitizers" has_sanitizers g++
  need "make" has_make make
  need "genhtml" has_genhtml lcov
  need "Python with venv" has_venv python3-venv
  need "Chromium and its driver" has_chromium chromium chromium-driver fonts-dejavu-core
  install_missing
  # Where these cannot be installed, their tests are skipped and say so.
  (
    need "Slurm" has_slurm slurmctld slurmd slurm-client munge
    need "GNU parallel" has_parallel parallel
    install_missing
  ) || true
}
