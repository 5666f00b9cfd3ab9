/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_chatjson.c: any bytes as a chat request: a refusal with a sentence, or ids in which every control token was written by the
 * template. The template writes none but <s>, once, in front. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../text/tiny_vocab.h"
#include "text/text.h"

static void demand(int ok)
{
    if (!ok) abort();
}

static mz_text *text(void)
{
    static mz_text *t;
    if (!t) {
        tv_options o = TV_DEFAULT;
        mz_gguf *g;
        mz_err err;
        o.chat_template =
            "{{ bos_token }}{% for m in messages %}{{ m.role }}:{% if m.content is string %}{{ m.content | trim }}"
            "{% else %}{% for p in m.content %}{{ p.text }}{% endfor %}{% endif %}{{ m.thinking }}\n{% endfor %}{{ tools | tojson }}";
        tv_bytes b = tv_build(o);
        demand(mz_gguf_open_memory(b.data, b.n, &g, &err) == MZ_OK);
        demand(mz_text_from_gguf(g, &t, &err) == MZ_OK && t);
        mz_gguf_close(g);
        free(b.data);
    }
    return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const mz_text *t = text();
    const char *json = (const char *)data;
    char *out = NULL;
    int32_t *ids = NULL;
    size_t n_out, n_ids;
    mz_err err = {0};
    mz_status plain = mz_text_render_chat(t, json, size, 0, &out, &n_out, &err);
    demand(plain == MZ_OK ? out != NULL : err.text[0] != 0 && !out);
    mz_status st = mz_text_encode_chat(t, json, size, 0, &ids, &n_ids, &err);
    if (st == MZ_OK) {
        /* kwargs may hide bos_token by anything; then the first id is whatever that is */
        for (size_t i = 1; i < n_ids; i++) demand(mz_tokenizer_kind(mz_text_tokenizer(t), ids[i]) != MZ_TOKEN_CONTROL);
    } else {
        demand(err.text[0] != 0 && !ids);
    }
    mz_text_release(out);
    mz_text_release(ids);
    return 0;
}
