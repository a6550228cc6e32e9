// Verilator's writer of FST waveforms, with temporary files in memory. The C library would create
// them in /tmp, which the sandbox forbids.

#include <cstdio>
#include <sys/mman.h>
#include <unistd.h>

static FILE *vl_shim_tmpfile() {
    const int file = memfd_create("waves", MFD_CLOEXEC);
    if (file < 0) return nullptr;
    FILE *const stream = fdopen(file, "w+b");
    if (!stream) close(file);
    return stream;
}

#define tmpfile vl_shim_tmpfile
#include "verilated_fst_c.cpp"
