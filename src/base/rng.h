/* SPDX-License-Identifier: Apache-2.0
 *
 * rng.h: a counter-based random generator: the value is a pure function of (seed, index).
 *
 * Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
 * There is no state, so one row's randomness cannot depend on its neighbours. Not for cryptography.
 * Pure functions, any thread. */
#ifndef MZ_BASE_RNG_H
#define MZ_BASE_RNG_H

#include <stdint.h>

/* out = Philox4x32 with 10 rounds of ctr under key. out may alias ctr. */
void mz_philox4x32(const uint32_t key[2], const uint32_t ctr[4], uint32_t out[4]);

/* Uniform in [0, 1), a multiple of 2^-53: key = seed, counter = index (low word first), the first output
 * word gives the upper 27 bits and the second the lower 26. */
double mz_rng_uniform(uint64_t seed, uint64_t index);

#endif
