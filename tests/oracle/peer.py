"""llama.cpp through its C API (package llama-cpp-python, ctypes): tokens and logits of every position, nothing else.

The wrapper states each setting which moves numbers (KV type, flash attention, threads, batch), since a comparison
which leaves them to defaults compares defaults.
"""
import ctypes

import llama_cpp as lc
import numpy as np

KV = {"f32": 0, "f16": 1, "q8_0": 8, "bf16": 30}   # ggml type numbers
VERSION = "llama-cpp-python " + lc.__version__


@lc.llama_log_callback
def _errors_only(level, text, _user):
    if level == 4:      # GGML_LOG_LEVEL_ERROR
        print(text.decode("utf-8", "replace"), end="")


class Model:
    def __init__(self, path, n_ctx=512, kv="f16", flash=False, threads=2):
        lc.llama_log_set(_errors_only, ctypes.c_void_p(0))
        lc.llama_backend_init()
        mp = lc.llama_model_default_params()
        mp.n_gpu_layers = 0
        self.model = lc.llama_model_load_from_file(str(path).encode(), mp)
        if not self.model:
            raise RuntimeError("llama.cpp does not load %s" % path)
        cp = lc.llama_context_default_params()
        cp.n_ctx = cp.n_batch = cp.n_ubatch = n_ctx
        cp.n_threads = cp.n_threads_batch = threads
        cp.type_k = cp.type_v = KV[kv]
        cp.flash_attn_type = 1 if flash else 0
        self.ctx = lc.llama_init_from_model(self.model, cp)
        if not self.ctx:
            raise RuntimeError("llama.cpp makes no context for %s" % path)
        self.vocab = lc.llama_model_get_vocab(self.model)
        self.n_vocab = lc.llama_vocab_n_tokens(self.vocab)
        self.n_ctx = n_ctx

    def __enter__(self):
        return self

    def __exit__(self, *_):
        lc.llama_free(self.ctx)
        lc.llama_model_free(self.model)

    def system_info(self):
        return lc.llama_print_system_info().decode()

    def tokenize(self, text, bos=False, special=False):
        b = text.encode()
        buf = (lc.llama_token * (len(b) + 8))()
        n = lc.llama_tokenize(self.vocab, b, len(b), buf, len(buf), bos, special)
        if n < 0:
            raise RuntimeError("tokenize: %d" % n)
        return list(buf[:n])

    def first_ids(self):
        """What the vocabulary wants before every text: one id or none."""
        return [lc.llama_vocab_bos(self.vocab)] if lc.llama_vocab_get_add_bos(self.vocab) else []

    def logits(self, ids):
        """[len(ids), vocab] float32, one batch from an empty cache."""
        if len(ids) > self.n_ctx:
            raise ValueError("%d ids in a context of %d" % (len(ids), self.n_ctx))
        lc.llama_memory_clear(lc.llama_get_memory(self.ctx), True)
        b = lc.llama_batch_init(len(ids), 0, 1)
        try:
            b.n_tokens = len(ids)
            for i, t in enumerate(ids):
                b.token[i], b.pos[i], b.n_seq_id[i], b.logits[i] = t, i, 1, 1
                b.seq_id[i][0] = 0
            rc = lc.llama_decode(self.ctx, b)
            if rc:
                raise RuntimeError("llama_decode: %d" % rc)
            p = lc.llama_get_logits(self.ctx)
            return np.ctypeslib.as_array(p, (len(ids), self.n_vocab)).astype(np.float32, copy=True)
        finally:
            lc.llama_batch_free(b)
