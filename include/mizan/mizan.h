/* SPDX-License-Identifier: Apache-2.0
 *
 * mizan.h: everything. See engine.h for the order of calls. */
#ifndef MIZAN_MIZAN_H
#define MIZAN_MIZAN_H

#include <mizan/bench.h>
#include <mizan/checkpoint.h>
#include <mizan/engine.h>
#include <mizan/eval.h>
#include <mizan/sample.h>
#include <mizan/session.h>
#include <mizan/status.h>
#include <mizan/text.h>

#endif
