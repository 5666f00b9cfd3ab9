"""llama.cpp through its C API (package llama-cpp-py-sync, cffi): tokens and logits of every position, nothing else.

The wrapper states each setting which moves numbers (KV type, flash attention, threads, batch), since a comparison
which leaves them to defaults compares defaults.
"""
import numpy as np
from llama_cpp_py_sync._cffi_bindings import get_ffi, get_lib

KV = {"f32": 0, "f16": 1, "q8_0": 8, "bf16": 30}
_started = []


def _quiet(ffi, lib):
    """Errors only, and the backend once."""
    if _started:
        return
    @ffi.callback("void(enum ggml_log_level, const char *, void *)")
    def log(level, text, _user):
        if int(level) == 4:      # GGML_LOG_LEVEL_ERROR
            print(ffi.string(text).decode("utf-8", "replace"), end="")
    _started.append(log)
    lib.llama_log_set(log, ffi.NULL)
    lib.llama_backend_init()


class Model:
    def __init__(self, path, n_ctx=512, kv="f16", flash=False, threads=2):
        self.ffi, self.lib = get_ffi(), get_lib()
        _quiet(self.ffi, self.lib)
        mp = self.lib.llama_model_default_params()
        mp.n_gpu_layers = 0
        self.model = self.lib.llama_model_load_from_file(str(path).encode(), mp)
        if self.model == self.ffi.NULL:
            raise RuntimeError("llama.cpp does not load %s" % path)
        cp = self.lib.llama_context_default_params()
        cp.n_ctx = cp.n_batch = cp.n_ubatch = n_ctx
        cp.n_threads = cp.n_threads_batch = threads
        cp.type_k = cp.type_v = KV[kv]
        cp.flash_attn_type = 1 if flash else 0
        self.ctx = self.lib.llama_init_from_model(self.model, cp)
        if self.ctx == self.ffi.NULL:
            raise RuntimeError("llama.cpp makes no context for %s" % path)
        self.vocab = self.lib.llama_model_get_vocab(self.model)
        self.n_vocab = self.lib.llama_vocab_n_tokens(self.vocab)
        self.n_ctx = n_ctx

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lib.llama_free(self.ctx)
        self.lib.llama_model_free(self.model)

    def system_info(self):
        return self.ffi.string(self.lib.llama_print_system_info()).decode()

    def tokenize(self, text, bos=False, special=False):
        b = text.encode()
        room = len(b) + 8
        buf = self.ffi.new("llama_token[]", room)
        n = self.lib.llama_tokenize(self.vocab, b, len(b), buf, room, bos, special)
        if n < 0:
            raise RuntimeError("tokenize: %d" % n)
        return list(buf[0:n])

    def logits(self, ids):
        """[len(ids), vocab] float32, one batch from an empty cache."""
        if len(ids) > self.n_ctx:
            raise ValueError("%d ids in a context of %d" % (len(ids), self.n_ctx))
        self.lib.llama_memory_clear(self.lib.llama_get_memory(self.ctx), True)
        b = self.lib.llama_batch_init(len(ids), 0, 1)
        try:
            b.n_tokens = len(ids)
            for i, t in enumerate(ids):
                b.token[i], b.pos[i], b.n_seq_id[i], b.logits[i] = t, i, 1, 1
                b.seq_id[i][0] = 0
            rc = self.lib.llama_decode(self.ctx, b)
            if rc:
                raise RuntimeError("llama_decode: %d" % rc)
            p = self.lib.llama_get_logits(self.ctx)
            return np.frombuffer(self.ffi.buffer(p, 4 * len(ids) * self.n_vocab), np.float32).reshape(len(ids), self.n_vocab).copy()
        finally:
            self.lib.llama_batch_free(b)
