/* SPDX-License-Identifier: Apache-2.0
 *
 * oom.h: memory that runs out at a chosen moment.
 *
 * What: every allocation of the program is counted while a count is open; the chosen one fails, or the chosen one and
 * all after it. Two ways to see allocations: in sanitizer builds the library's own calls (linker --wrap), otherwise all
 * of the process (our malloc in front of glibc's), which includes those of jansson and PCRE2.
 * Threading: counters are atomic; open and close from one thread. */
#ifndef MZ_TESTS_OOM_H
#define MZ_TESTS_OOM_H

#include <stdbool.h>
#include <stdint.h>

/* From here on fail the nth allocation (1-based; 0: none), and all later ones too when for_good. */
void oom_open(uint64_t nth, bool for_good);
/* Stops failing. Returns how many allocations were seen; *failed tells whether one was refused. */
uint64_t oom_close(bool *failed);
/* Blocks handed out and not freed; -1 when this build cannot tell (sanitizers can, at exit). */
int64_t oom_live(void);

#endif
