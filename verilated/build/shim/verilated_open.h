// How Verilator's runtime opens files: those that the RTL names in constants are part of the model.

#ifndef VERILATED_OPEN_H_
#define VERILATED_OPEN_H_

// All headers that declare what is renamed below.
#include <cstdio>
#include <fstream>

// Opens a file as `fopen` does. A file of the present model is read from the model and from nowhere else.
std::FILE *vl_shim_open(const char *name, const char *mode);

namespace std {
using ::vl_shim_open;
}

#define fopen vl_shim_open

#endif
