// Redirects `$display` and messages of the runtime to standard error.

#ifndef VERILATED_PRINT_H_
#define VERILATED_PRINT_H_

#include <cstdarg>
#include <cstdio>

static inline int vl_shim_printf(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int printed = std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  return printed;
}

#endif
