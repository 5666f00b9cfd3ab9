/* SPDX-License-Identifier: Apache-2.0
 * The program checker: broken programs are named, and no two ops that touch the same memory run without a barrier
 * between them unless the same thread owns the same rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "prog/prog.h"

#define D 32

typedef struct made {
    mz_prog *p;
    int x, y, z, w, norm;
} made;

/* x = embed; y = rms_norm(x); z = W y; x = x + z; logits. Left unfinished so that tests can break it. */
static made make(void)
{
    made m = {.p = mz_prog_create(false)};
    assert_non_null(m.p);
    m.x = mz_prog_add_buf(m.p, "x", MZ_ROWS_STEP, MZ_ELEM_F32, D);
    m.y = mz_prog_add_buf(m.p, "y", MZ_ROWS_STEP, MZ_ELEM_F32, D);
    m.z = mz_prog_add_buf(m.p, "z", MZ_ROWS_STEP, MZ_ELEM_F32, D);
    int embed = mz_prog_add_weight(m.p, "embed", MZ_DTYPE_F32, 7, D, false);
    m.norm = mz_prog_add_weight(m.p, "norm", MZ_DTYPE_F32, 1, D, true);
    m.w = mz_prog_add_weight(m.p, "w", MZ_DTYPE_F32, D, D, false);
    mz_op op = mz_op_make(MZ_OP_EMBED, -1);
    op.out = m.x;
    op.weight = embed;
    mz_prog_add_op(m.p, &op);
    return m;
}

static void add(made *m, mz_op_kind kind, int in, int in2, int out, int weight)
{
    mz_op op = mz_op_make(kind, 0);
    op.in = in;
    op.in2 = in2;
    op.out = out;
    op.weight = weight;
    op.p.n_head = 1;
    mz_prog_add_op(m->p, &op);
}

static void finish(made *m)
{
    add(m, MZ_OP_RMS_NORM, m->x, -1, m->y, m->norm);
    add(m, MZ_OP_MATMUL, m->y, -1, m->z, m->w);
    add(m, MZ_OP_ADD, m->x, m->z, m->x, -1);
    m->p->logits = m->x;
}

static void expect(made *m, mz_status want, const char *word)
{
    mz_err err = {0};
    assert_int_equal(mz_prog_check(m->p, &err), want);
    if (word && !strstr(err.text, word)) fail_msg("'%s' does not mention '%s'", err.text, word);
    mz_prog_free(m->p);
}

static void test_good(void **state)
{
    (void)state;
    made m = make();
    finish(&m);
    expect(&m, MZ_OK, NULL);
}

static void test_broken(void **state)
{
    (void)state;
    made m = make();
    add(&m, MZ_OP_ADD, m.x, m.y, m.x, -1); /* y not written yet */
    finish(&m);
    expect(&m, MZ_EINVAL, "'y'");

    m = make();
    finish(&m);
    add(&m, MZ_OP_MATMUL, m.y, -1, m.z, m.w); /* w used twice, declared once */
    expect(&m, MZ_EINVAL, "'w' is used 2");

    m = make();
    finish(&m);
    m.p->buf[m.z].width = D + 1; /* shapes disagree */
    expect(&m, MZ_EINVAL, "op 2 (matmul)");

    m = make();
    finish(&m);
    m.p->weight[m.w].w.type = MZ_DTYPE_Q8_0; /* low-bit weight, float rows */
    expect(&m, MZ_EINVAL, "element kind");

    m = make();
    finish(&m);
    m.p->logits = -1;
    expect(&m, MZ_EINVAL, "logits");

    m = make();
    finish(&m);
    mz_prog_add_weight(m.p, "spare", MZ_DTYPE_F32, D, D, false);
    expect(&m, MZ_EINVAL, "'spare' is used 0");

    m = make();
    finish(&m);
    int seg = mz_prog_add_seg(m.p, (mz_prog_seg){.kind = MZ_SEG_KV, .n_head_kv = 1, .d_k = D, .d_v = D});
    mz_op op = mz_op_make(MZ_OP_ATTEND, 0);
    op.in = m.x;
    op.out = m.y;
    op.seg = seg;
    op.p.n_head = 1;
    mz_prog_add_op(m.p, &op); /* nothing stored in this step */
    expect(&m, MZ_EINVAL, "segment");
}

/* What an op touches, told independently of the checker: bit i for buffer i, bit 40 + s for segment s. */
static void touched(const mz_op *op, uint64_t *reads, uint64_t *writes)
{
    *reads = *writes = 0;
    if (op->in >= 0) *reads |= 1ull << op->in;
    if (op->in2 >= 0) *reads |= 1ull << op->in2;
    if (op->out >= 0) *writes |= 1ull << op->out;
    if (op->kind == MZ_OP_ROPE) *reads |= 1ull << op->out;
    if (op->kind == MZ_OP_ATTEND) *reads |= 1ull << (40 + op->seg);
    if (op->kind == MZ_OP_KV_STORE) *writes |= 1ull << (40 + op->seg);
}

static bool owns_rows(const mz_op *op)
{
    return mz_op_split(op->kind) == MZ_SPLIT_ROWS && op->kind != MZ_OP_SELECT_ROWS;
}

/* Counts pairs that conflict without a barrier between them. */
static int count_races(const mz_prog *p)
{
    int races = 0;
    for (int j = 1; j < p->n_op; j++)
        for (int i = j - 1; i >= 0 && !p->op[i + 1].barrier; i--) {
            uint64_t ri, wi, rj, wj;
            touched(&p->op[i], &ri, &wi);
            touched(&p->op[j], &rj, &wj);
            bool conflict = (wi & (rj | wj)) || (ri & wj);
            if (conflict && !(owns_rows(&p->op[i]) && owns_rows(&p->op[j]))) races++;
        }
    return races;
}

/* A layer as families emit it, twice over. */
static mz_prog *make_layers(void)
{
    made m = make();
    mz_prog *p = m.p;
    int q = mz_prog_add_buf(p, "q", MZ_ROWS_STEP, MZ_ELEM_F32, D), t = mz_prog_add_buf(p, "t", MZ_ROWS_STEP, MZ_ELEM_F32, D);
    int last = mz_prog_add_buf(p, "last", MZ_ROWS_LOGIT, MZ_ELEM_F32, D);
    static const float freq[D / 2] = {0};
    mz_op op = mz_op_make(MZ_OP_ROPE_TABLE, -1);
    op.out = t;
    op.p.n_rot = D;
    op.p.freq = freq;
    mz_prog_add_op(p, &op);
    mz_prog_share_weight(p, m.norm, 2);
    mz_prog_share_weight(p, m.w, 6);
    for (int layer = 0; layer < 2; layer++) {
        int seg = mz_prog_add_seg(p, (mz_prog_seg){.kind = MZ_SEG_KV, .layer = layer, .n_head_kv = 1, .d_k = D, .d_v = D});
        add(&m, MZ_OP_RMS_NORM, m.x, -1, m.y, m.norm);
        add(&m, MZ_OP_MATMUL, m.y, -1, q, m.w);
        add(&m, MZ_OP_MATMUL, m.y, -1, m.z, m.w);
        op = mz_op_make(MZ_OP_ROPE, layer);
        op.in = t;
        op.out = q;
        op.p.n_head = 1;
        op.p.d_head = op.p.n_rot = D;
        mz_prog_add_op(p, &op);
        op = mz_op_make(MZ_OP_KV_STORE, layer);
        op.in = q;
        op.in2 = m.z;
        op.seg = seg;
        mz_prog_add_op(p, &op);
        op = mz_op_make(MZ_OP_ATTEND, layer);
        op.in = q;
        op.out = m.y;
        op.seg = seg;
        op.p.n_head = 1;
        mz_prog_add_op(p, &op);
        add(&m, MZ_OP_MATMUL, m.y, -1, m.z, m.w);
        add(&m, MZ_OP_ADD, m.x, m.z, m.x, -1);
        add(&m, MZ_OP_GLU, m.x, m.z, m.z, -1);
    }
    op = mz_op_make(MZ_OP_SELECT_ROWS, -1);
    op.in = m.x;
    op.out = last;
    mz_prog_add_op(p, &op);
    p->logits = last;
    return p;
}

static void test_barriers(void **state)
{
    (void)state;
    mz_err err = {0};
    mz_prog *p = make_layers();
    if (mz_prog_check(p, &err) != MZ_OK) fail_msg("%s", err.text);
    assert_int_equal(count_races(p), 0);
    int n_barrier = 0;
    for (int i = 0; i < p->n_op; i++) n_barrier += p->op[i].barrier;
    assert_true(n_barrier < p->n_op * 2 / 3); /* and not simply everywhere */
    /* Each single barrier is needed: without it the count above must see a race. */
    for (int i = 0; i < p->n_op; i++) {
        if (!p->op[i].barrier) continue;
        p->op[i].barrier = false;
        assert_true(count_races(p) > 0);
        p->op[i].barrier = true;
    }
    mz_buf text = {0};
    assert_int_equal(mz_prog_print(p, &text, &err), MZ_OK);
    assert_non_null(strstr(text.data, "kv_store"));
    mz_buf_free(&text);
    mz_prog_free(p);
}

static void test_accounting(void **state)
{
    (void)state;
    mz_err err = {0};
    mz_prog *p = make_layers();
    assert_int_equal(mz_prog_check(p, &err), MZ_OK);
    mz_state_layout l;
    assert_int_equal(mz_state_layout_make(p, MZ_KV_F16, &l, &err), MZ_OK);
    assert_int_equal(l.bytes_per_tok, 2 * 2 * D * 2); /* layers, keys and values, width, bytes */
    assert_int_equal(l.page_bytes, l.bytes_per_tok * MZ_PAGE_TOK);
    assert_int_equal(l.v_offset[1] - l.k_offset[1], D * 2 * MZ_PAGE_TOK);
    mz_state_layout_free(&l);
    size_t total;
    assert_true(mz_prog_buffer_bytes(p, 10, 2, NULL, &total));
    assert_int_equal(total, 5 * 10 * D * 4 + 2 * D * 4);
    assert_false(mz_prog_buffer_bytes(p, INT64_MAX, 2, NULL, &total));
    mz_prog_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_good), cmocka_unit_test(test_broken), cmocka_unit_test(test_barriers),
                                       cmocka_unit_test(test_accounting)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
