/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_template.c: any bytes as a chat template, rendered over one small conversation under tight limits. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "text/template.h"

static const char context_json[] =
    "{\"messages\":[{\"role\":\"system\",\"content\":\"Sys\"},{\"role\":\"user\",\"content\":\"\xd9\x85\xd8\xb1\xd8\xad\xd8\xa8\xd8\xa7 "
    "a\"},"
    "{\"role\":\"assistant\",\"content\":\"<think>x</"
    "think>y\",\"tool_calls\":[{\"id\":\"1\",\"function\":{\"name\":\"f\",\"arguments\":{\"a\":[1,2.5,null,true]}}}]}],"
    "\"tools\":null,\"add_generation_prompt\":true,\"bos_token\":\"<s>\",\"s\":\"Hello "
    "World\",\"e\":\"\",\"mix\":\"a\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x99\x82z\","
    "\"n\":7,\"z\":0,\"f\":2.5,\"t\":true,\"none\":null,\"l\":[3,1,2],\"words\":[\"pear\",\"Apple\",\"fig\"],\"d\":{\"b\":2,\"a\":1,\"C\":"
    "3},"
    "\"people\":[{\"name\":\"Ann\",\"age\":30,\"ok\":true},{\"name\":\"bob\",\"age\":25,\"kids\":[{\"name\":\"Eve\"}]}],\"nested\":[[1,2],["
    "3,[4,5]]]}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static json_t *context;
    const mz_template_limits lim = {.n_step = 20000, .depth = 60, .output_bytes = 65536, .memory_bytes = (size_t)4 << 20};
    mz_template *t = NULL;
    mz_err err = {0};
    if (!context) context = json_loads(context_json, 0, NULL);
    if (!context) abort();
    mz_status st = mz_template_parse((const char *)data, n, &t, &err);
    if ((st == MZ_OK) != (t != NULL) || (st != MZ_OK && !err.text[0])) abort();
    if (t) {
        mz_buf out = {0};
        st = mz_template_render(t, context, &lim, 1735689600, &out, &err);
        if (st != MZ_OK && (out.len || err.status != st)) abort();
        if (out.len > lim.output_bytes) abort();
        mz_buf_free(&out);
    }
    mz_template_free(t);
    return 0;
}
