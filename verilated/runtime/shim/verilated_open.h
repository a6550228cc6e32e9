// Redirects how Verilator's runtime opens files: the model embeds files with constant names.

#ifndef VERILATED_OPEN_H_
#define VERILATED_OPEN_H_

// Include all headers that declare what is renamed below.
#include <cstdio>
#include <fstream>

// Like `fopen`, but reads an embedded file only from the current model.
std::FILE *vl_shim_open(const char *name, const char *mode);

namespace std {
using ::vl_shim_open;
}

#define fopen vl_shim_open

#endif
