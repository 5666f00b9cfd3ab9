/* SPDX-License-Identifier: Apache-2.0
 * Saving and loading sessions. The file is hashed once before anything of the session changes, then read into place. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mizan/session.h>

#include "base/file.h"
#include "base/hash.h"
#include "prog/kv_name.h"
#include "rt/engine_int.h"
#include "rt/session_header.h"

/* Of the tensors' data only samples are hashed: a changed weight is found when its tensor's sample changed, which is so for any
 * retrained or requantised model. Few, because each brings pages of the file back into memory. */
enum { N_SAMPLE = 16, SAMPLE_BYTES = 64 };

static uint64_t hash_model(const mz_gguf *g)
{
    mz_hash h;
    mz_hash_begin(&h);
    mz_hash_add(&h, g->part[0].data, g->header_bytes);
    mz_hash_add_u64(&h, g->file_bytes);
    mz_hash_add_u64(&h, g->n_tensor);
    for (uint64_t i = 0; i < g->n_tensor; i++) { /* those of further parts are in no hashed header */
        const mz_gguf_tensor *t = &g->tensor[i];
        mz_hash_add(&h, t->name, strlen(t->name));
        mz_hash_add_u64(&h, t->type);
        for (int d = 0; d < 4; d++) mz_hash_add_u64(&h, (uint64_t)t->dim[d]);
        mz_hash_add_u64(&h, t->n_bytes);
    }
    uint64_t step = g->n_tensor > N_SAMPLE ? g->n_tensor / N_SAMPLE : 1;
    for (uint64_t i = 0; i < g->n_tensor; i += step) {
        const mz_gguf_tensor *t = &g->tensor[i];
        size_t n = t->n_bytes < SAMPLE_BYTES ? t->n_bytes : SAMPLE_BYTES, at = (t->n_bytes - n) / 2;
        mz_hash_add(&h, t->data + at, n);
        mz_file_release(&g->part[t->i_part], t->file_offset + at, n);
    }
    return mz_hash_end(&h);
}

static uint64_t hash_layout(const mz_engine *e)
{
    mz_hash h;
    mz_hash_begin(&h);
    mz_hash_add_u64(&h, MZ_PAGE_TOK);
    mz_hash_add_u64(&h, e->layout.page_bytes);
    for (int i = 0; i < e->m->prog->n_seg; i++) {
        const mz_prog_seg *s = &e->m->prog->seg[i];
        mz_hash_add_u64(&h, s->kind);
        mz_hash_add_u64(&h, (uint64_t)s->layer);
        mz_hash_add_u64(&h, (uint64_t)s->n_head_kv);
        mz_hash_add_u64(&h, (uint64_t)s->d_k);
        mz_hash_add_u64(&h, (uint64_t)s->d_v);
        mz_hash_add_u64(&h, e->layout.k_offset[i]);
        mz_hash_add_u64(&h, e->layout.v_offset[i]);
    }
    return mz_hash_end(&h);
}

static uint8_t *page_at(const mz_session *s, int64_t i)
{
    return s->e->pool.data + (size_t)s->page[i] * s->e->pool.page_bytes;
}

/* Clears what lies behind the first n_used tokens of a page: other sessions' leftovers must not get into a file. */
static void clear_tail(const mz_engine *e, uint8_t *page, int64_t n_used)
{
    size_t elem = mz_kv_elem_bytes(e->layout.kv), used = (size_t)n_used;
    for (int i = 0; i < e->m->prog->n_seg; i++) {
        const mz_prog_seg *g = &e->m->prog->seg[i];
        uint8_t *k = page + e->layout.k_offset[i], *v = page + e->layout.v_offset[i];
        for (size_t r = 0; r < (size_t)(g->n_head_kv * g->d_k); r++)
            memset(k + (r * MZ_PAGE_TOK + used) * elem, 0, (MZ_PAGE_TOK - used) * elem);
        for (size_t head = 0; head < (size_t)g->n_head_kv; head++)
            memset(v + (head * MZ_PAGE_TOK + used) * (size_t)g->d_v * elem, 0, (MZ_PAGE_TOK - used) * (size_t)g->d_v * elem);
    }
}

/* Bytes go to the hash, and to the file when there is one, padded to a multiple of 8. */
static mz_status put(mz_hash *h, mz_out *o, const void *data, size_t n, mz_err *err)
{
    static const uint8_t zero[8];
    size_t pad = (8 - n % 8) % 8;
    if (!o) {
        mz_hash_add(h, data, n);
        mz_hash_add(h, zero, pad);
        return MZ_OK;
    }
    mz_status st = mz_out_write(o, data, n, err);
    return st == MZ_OK ? mz_out_write(o, zero, pad, err) : st;
}

static mz_status put_body(const mz_session *s, const mz_session_header *head, const char *note, const uint8_t *last_page, mz_hash *h,
                          mz_out *o, mz_err *err)
{
    mz_status st = MZ_OK;
    MZ_TRY(put(h, o, note, head->note_bytes, err));
    MZ_TRY(put(h, o, s->ids, (size_t)s->len * sizeof *s->ids, err));
    if (head->has_logits) MZ_TRY(put(h, o, s->logits, head->n_vocab * sizeof *s->logits, err));
    for (int64_t i = 0; i < s->n_page; i++)
        MZ_TRY(put(h, o, i == s->n_page - 1 && last_page ? last_page : page_at(s, i), s->e->pool.page_bytes, err));
out:
    return st;
}

/* A slip of the name must not cost a model or a letter: only a session file, or an empty one, is replaced. */
static mz_status may_replace(const char *path, mz_err *err)
{
    mz_status st = MZ_OK;
    struct stat info;
    uint8_t begin[8];
    FILE *f = NULL;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) return MZ_OK; /* mz_out_open judges the rest */
    f = fopen(path, "rbe");
    if (!f || !mz_session_is_begun(begin, fread(begin, 1, sizeof begin, f)))
        MZ_FAIL(MZ_EINVAL, err, "%s: is there already and is not a session file, so it is not replaced; choose another name", path);
out:
    if (f) (void)fclose(f);
    return st;
}

mz_status mz_session_save(const mz_session *s, const char *path, const char *note, size_t n_note, mz_err *err)
{
    mz_status st = MZ_OK;
    const mz_engine *e = s->e;
    mz_out o = {0};
    mz_hash h;
    mz_session_places places;
    uint8_t *last_page = NULL, bytes[MZ_SESSION_HEADER_BYTES];
    mz_session_header head = {.model = hash_model(e->g),
                              .layout = hash_layout(e),
                              .kv = e->layout.kv,
                              .n_vocab = (uint32_t)e->m->n_vocab,
                              .has_logits = s->has_logits,
                              .n_tok = (uint64_t)s->len,
                              .note_bytes = n_note,
                              .state_bytes = (uint64_t)s->n_page * e->pool.page_bytes};
    if (n_note > MZ_SESSION_NOTE_LIMIT)
        MZ_FAIL(MZ_ELIMIT, err, "%s: a note of %zu bytes does not go into a session file; the limit is %zu", path, n_note,
                MZ_SESSION_NOTE_LIMIT);
    if (e->pool.page_bytes % 8 != 0 || !mz_session_place(&head, &places))
        MZ_FAIL(MZ_ERANGE, err, "%s: the session is too large for a file", path);
    if (s->len % MZ_PAGE_TOK != 0) {
        last_page = mz_calloc(1, e->pool.page_bytes);
        if (!last_page) MZ_FAIL(MZ_ENOMEM, err, "%s: out of memory", path);
        memcpy(last_page, page_at(s, s->n_page - 1), e->pool.page_bytes);
        clear_tail(e, last_page, s->len % MZ_PAGE_TOK);
    }
    mz_hash_begin(&h);
    MZ_TRY(put_body(s, &head, note, last_page, &h, NULL, err));
    head.body_hash = mz_hash_end(&h);
    mz_session_header_write(&head, bytes);
    MZ_TRY(may_replace(path, err));
    MZ_TRY(mz_out_open_mode(path, S_IRUSR | S_IWUSR, &o, err));
    if (fchmod(fileno(o.f), S_IRUSR | S_IWUSR) != 0) MZ_FAIL(MZ_EIO, err, "%s: cannot be made private: %s", path, strerror(errno));
    MZ_TRY(mz_out_write(&o, bytes, sizeof bytes, err));
    MZ_TRY(put_body(s, &head, note, last_page, &h, &o, err));
    MZ_TRY(mz_out_commit(&o, err));
out:
    mz_out_abort(&o);
    mz_free(last_page);
    return st;
}

/* ---- loading ---------------------------------------------------------------------------------- */

static mz_status read_at(int fd, uint64_t at, void *data, size_t n, mz_err *err)
{
    uint8_t *p = data;
    while (n > 0) {
        ssize_t got = pread(fd, p, n, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return mz_err_set(err, MZ_EIO, "cannot read: %s", strerror(errno));
        if (got == 0) return mz_err_set(err, MZ_EIO, "the file became shorter while it was read");
        p += got;
        at += (uint64_t)got;
        n -= (size_t)got;
    }
    return MZ_OK;
}

static mz_status check_body(int fd, const mz_session_header *head, uint64_t end, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_hash h;
    enum { CHUNK = 1 << 18 };
    uint8_t *buf = mz_calloc(1, CHUNK);
    if (!buf) MZ_FAIL(MZ_ENOMEM, err, "out of memory");
    mz_hash_begin(&h);
    for (uint64_t at = MZ_SESSION_HEADER_BYTES; at < end;) {
        size_t n = end - at < CHUNK ? (size_t)(end - at) : CHUNK;
        MZ_TRY(read_at(fd, at, buf, n, err));
        mz_hash_add(&h, buf, n);
        at += n;
    }
    if (mz_hash_end(&h) != head->body_hash) MZ_FAIL(MZ_EFORMAT, err, "the session file is damaged (its checksum does not match)");
out:
    mz_free(buf);
    return st;
}

static mz_status check_fits(const mz_session *s, const mz_session_header *h, mz_err *err)
{
    mz_status st = MZ_OK;
    const mz_engine *e = s->e;
    if (h->model != hash_model(e->g))
        MZ_FAIL(MZ_ESUPPORT, err, "the session was saved with another model; it continues only with the very file it was made with");
    if (h->kv != (uint32_t)e->layout.kv) {
        bool known = h->kv < MZ_KV_COUNT;
        MZ_FAIL(MZ_ESUPPORT, err, "the session holds keys and values as %s, but they are kept as %s here; open the model with --kv %s",
                known ? mz_kv_type_name((mz_kv_type)h->kv) : "an unknown type", mz_kv_type_name(e->layout.kv),
                known ? mz_kv_type_name((mz_kv_type)h->kv) : "as it was");
    }
    if (h->layout != hash_layout(e))
        MZ_FAIL(MZ_ESUPPORT, err, "the session was saved by a mizan that lays out the state differently; it cannot be continued");
    if (h->n_tok > (uint64_t)e->o.ctx_tok)
        MZ_FAIL(MZ_ERANGE, err, "the session holds %llu tokens, the context is %lld; use a larger one (-c)", (unsigned long long)h->n_tok,
                (long long)e->o.ctx_tok);
    if (h->state_bytes != (h->n_tok + MZ_PAGE_TOK - 1) / MZ_PAGE_TOK * e->pool.page_bytes ||
        (h->has_logits && (h->n_vocab != (uint64_t)e->m->n_vocab || h->n_tok == 0)) || h->note_bytes > MZ_SESSION_NOTE_LIMIT)
        MZ_FAIL(MZ_EFORMAT, err, "the session file's header contradicts itself about sizes");
out:
    return st;
}

/* The session is empty; on failure it stays so. */
static mz_status read_state(mz_session *s, int fd, const mz_session_header *h, const mz_session_places *p, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_engine *e = s->e;
    int64_t n_tok = (int64_t)h->n_tok, n_page = (n_tok + MZ_PAGE_TOK - 1) / MZ_PAGE_TOK;
    MZ_TRY(read_at(fd, p->ids, s->ids, (size_t)n_tok * sizeof *s->ids, err));
    for (int64_t i = 0; i < n_tok; i++)
        if (s->ids[i] < 0 || s->ids[i] >= e->m->n_vocab)
            MZ_FAIL(MZ_EFORMAT, err, "token id %d at position %lld of the session is outside the vocabulary", s->ids[i], (long long)i);
    if (h->has_logits) MZ_TRY(read_at(fd, p->logits, s->logits, (size_t)e->m->n_vocab * sizeof *s->logits, err));
    while (s->n_page < n_page) s->page[s->n_page++] = e->pool.free_page[--e->pool.n_free];
    for (int64_t i = 0; i < n_page; i++)
        MZ_TRY(read_at(fd, p->state + (uint64_t)i * e->pool.page_bytes, page_at(s, i), e->pool.page_bytes, err));
    s->len = n_tok;
    s->has_logits = h->has_logits;
out:
    return st;
}

static mz_status load(mz_session *s, int fd, char **note, size_t *n_note, mz_err *err)
{
    mz_status st = MZ_OK;
    struct stat sb;
    mz_session_header h;
    mz_session_places p;
    uint8_t bytes[MZ_SESSION_HEADER_BYTES];
    char *text = NULL;
    if (fstat(fd, &sb) != 0) MZ_FAIL(MZ_EIO, err, "cannot stat: %s", strerror(errno));
    if (S_ISDIR(sb.st_mode)) MZ_FAIL(MZ_EINVAL, err, "is a directory, expected a file");
    if (!S_ISREG(sb.st_mode)) MZ_FAIL(MZ_EINVAL, err, "is not a regular file");
    size_t n = sb.st_size < MZ_SESSION_HEADER_BYTES ? (size_t)sb.st_size : MZ_SESSION_HEADER_BYTES;
    MZ_TRY(read_at(fd, 0, bytes, n, err));
    MZ_TRY(mz_session_header_read(bytes, n, (uint64_t)sb.st_size, &h, &p, err));
    MZ_TRY(check_fits(s, &h, err));
    MZ_TRY(check_body(fd, &h, p.end, err));
    text = mz_calloc(1, h.note_bytes + 1);
    if (!text) MZ_FAIL(MZ_ENOMEM, err, "out of memory");
    MZ_TRY(read_at(fd, p.note, text, h.note_bytes, err));
    MZ_TRY(mz_session_rewind(s, 0, err));
    st = read_state(s, fd, &h, &p, err);
    if (st != MZ_OK) {
        while (s->n_page > 0) s->e->pool.free_page[s->e->pool.n_free++] = s->page[--s->n_page];
        goto out;
    }
    if (note) {
        *note = text;
        *n_note = h.note_bytes;
        text = NULL;
    }
out:
    mz_free(text);
    return st;
}

mz_status mz_session_load(mz_session *s, const char *path, char **note, size_t *n_note, mz_err *err)
{
    if (note) *note = NULL;
    if (n_note) *n_note = 0;
    /* O_NONBLOCK: opening a FIFO must not hang; it is refused. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return mz_err_set(err, MZ_EIO, "%s: cannot open: %s", path, strerror(errno));
    mz_status st = load(s, fd, note, n_note, err);
    (void)close(fd);
    if (st != MZ_OK) mz_err_prefix(err, path);
    return st;
}
