/* SPDX-License-Identifier: Apache-2.0
 *
 * message.h: when a message of several lines is complete. A line that ends in an odd number of backslashes goes on in the next
 * one; so does a block between lines of three backquotes (which stay), or between """ and """ (which do not). Pure functions. */
#ifndef MZ_CLI_MESSAGE_H
#define MZ_CLI_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the lines typed so far, text [n] without the last newline, want another one. A backslash that says so is cut off. */
bool mz_message_goes_on(char *text, size_t *n);
/* Takes the """ off; the result is shorter or the same. */
void mz_message_unwrap(char *text, size_t *n);

#endif
