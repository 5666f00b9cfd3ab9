"""The public reference implementation (transformers) of each dense family, on weights we hand it.

Two ways in: build() takes a config and published-order arrays; load_gguf() reads any GGUF of these families, decodes it
with the `gguf` package and undoes what its converters do (q and k rows interleaved, norm weights shifted by one). The two share nothing but build(),
so a file written by tests/golden/tiny.py and read back here checks the writer.

Precision: weights are used as decoded. In float64 the matrix products and sums are double; transformers itself
computes norms, softmax and rotary angles in float32, so results are good to about 1e-6 relative.
"""
import numpy as np
import torch
import transformers as tf

CLASSES = {"llama": (tf.LlamaConfig, tf.LlamaForCausalLM), "smollm3": (tf.SmolLM3Config, tf.SmolLM3ForCausalLM),
           "qwen2": (tf.Qwen2Config, tf.Qwen2ForCausalLM), "qwen3": (tf.Qwen3Config, tf.Qwen3ForCausalLM),
           "gemma2": (tf.Gemma2Config, tf.Gemma2ForCausalLM), "gemma3": (tf.Gemma3TextConfig, tf.Gemma3ForCausalLM)}
PERIOD = {"gemma2": 2, "gemma3": 6}   # every which layer is global


def config_of(arch, *, hidden, heads, kv, head_dim, ffn, layers, vocab, eps, context, tied, rope, theta, attn_bias=False, mlp_bias=False,
              window=0, period=0, local_theta=0.0, attn_cap=0.0, final_cap=0.0):
    """Keyword arguments of the family's config class. rope: the published spelling of the scaling, {} for none."""
    c = dict(hidden_size=hidden, num_attention_heads=heads, num_key_value_heads=kv, head_dim=head_dim, intermediate_size=ffn,
             num_hidden_layers=layers, vocab_size=vocab, rms_norm_eps=eps, max_position_embeddings=context, tie_word_embeddings=tied)
    full = dict(rope or {"rope_type": "default"}, rope_theta=theta)
    c["rope_parameters"] = full
    if arch in ("llama", "smollm3"):
        c.update(attention_bias=attn_bias, mlp_bias=mlp_bias)
    if arch in PERIOD:
        local = [window > 0 and (i + 1) % (period or PERIOD[arch]) != 0 for i in range(layers)]
        c.update(query_pre_attn_scalar=head_dim, sliding_window=window or context, attn_logit_softcapping=attn_cap or None,
                 final_logit_softcapping=final_cap or None, layer_types=["sliding_attention" if x else "full_attention" for x in local])
    if arch == "gemma3":
        c["rope_parameters"] = {"full_attention": full, "sliding_attention": {"rope_type": "default", "rope_theta": local_theta or 10000.0}}
    return c


def build(arch, config, state, dtype=torch.float64):
    """config: keyword arguments of the config class. state: {published name: array}. Missing or unused names are errors."""
    config_class, model_class = CLASSES[arch]
    cfg = config_class(**config, attn_implementation="eager", use_cache=False, bos_token_id=None, eos_token_id=None, pad_token_id=None)
    torch.set_default_dtype(dtype)
    try:
        model = model_class(cfg).eval()
    finally:
        torch.set_default_dtype(torch.float32)
    have = {k: torch.from_numpy(np.array(v)).to(dtype) for k, v in state.items()}
    if cfg.tie_word_embeddings:
        have["lm_head.weight"] = have["model.embed_tokens.weight"]
    model.load_state_dict(have, strict=True)
    return model.to(dtype)


def logits_of(model, ids, start=0, dtype=np.float64):
    """[len(ids) - start, vocab] as numpy."""
    with torch.no_grad():
        out = model(torch.tensor([ids]), use_cache=False, logits_to_keep=len(ids) - start).logits
    return out[0].to(torch.float64 if dtype == np.float64 else torch.float32).numpy()


def taps_of(model, ids):
    """All taps of one pass: {"0.embed": [T, width], "0.attn_in": ..., "final.norm": ...} and the logits."""
    got, hooks = {}, []

    def keep(name):
        def hook(_module, _inputs, out):
            got[name] = (out[0] if isinstance(out, tuple) else out).detach().double().numpy().reshape(len(ids), -1)
        return hook

    m = model.model
    hooks.append(m.embed_tokens.register_forward_hook(keep("0.embed")))
    for i, layer in enumerate(m.layers):
        for name, module in (("attn_in", layer.input_layernorm), ("attn_out", layer.self_attn.o_proj),
                             ("ffn_out", layer.mlp), ("resid", layer)):
            hooks.append(module.register_forward_hook(keep("%d.%s" % (i, name))))
    hooks.append(m.norm.register_forward_hook(keep("final.norm")))
    logits = logits_of(model, ids)
    for h in hooks:
        h.remove()
    return got, logits


def greedy(model, ids, n):
    """n greedy tokens and the smallest gap between the best two logits on the way (nats)."""
    ids, out, gap = list(ids), [], float("inf")
    for _ in range(n):
        row = logits_of(model, ids, len(ids) - 1)[0]
        best, second = np.sort(row)[[-1, -2]]
        gap = min(gap, float(best - second))
        out.append(int(np.argmax(row)))
        ids.append(out[-1])
    return out, gap


def deinterleave(a, heads):
    """GGUF llama row order back to published order (the inverse of convert_hf_to_gguf's permute)."""
    return a.reshape(heads, a.shape[0] // heads // 2, 2, *a.shape[1:]).swapaxes(1, 2).reshape(a.shape)


LAYER = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm", "attn_q_norm": "self_attn.q_norm",
         "attn_k_norm": "self_attn.k_norm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
         "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}
GEMMA = {"post_attention_norm": "post_attention_layernorm", "ffn_norm": "pre_feedforward_layernorm", "post_ffw_norm": "post_feedforward_layernorm"}
WHOLE = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}


def load_gguf(path, dtype=torch.float32):
    """A model from a GGUF file of one of the families."""
    import gguf
    r = gguf.GGUFReader(path)
    arch = r.get_field("general.architecture").contents()
    gemma, layer_names = arch in PERIOD, dict(LAYER, **(GEMMA if arch in PERIOD else {}))

    def key(name, default=None):
        f = r.get_field(arch + "." + name)
        return default if f is None else f.contents()

    heads, kv = key("attention.head_count"), key("attention.head_count_kv", key("attention.head_count"))
    hidden = key("embedding_length")
    rope, state, factors = {"rope_type": "default"}, {}, None
    if key("rope.scaling.type") in ("linear", "yarn"):
        rope = {"rope_type": key("rope.scaling.type"), "factor": key("rope.scaling.factor")}
        if rope["rope_type"] == "yarn":
            rope["original_max_position_embeddings"] = key("rope.scaling.original_context_length")
    for t in r.tensors:
        a = gguf.quants.dequantize(t.data, t.tensor_type).astype(np.float32)
        a = a.reshape([int(n) for n in reversed(t.shape)])
        stem, kind = t.name.rsplit(".", 1)
        if gemma and stem.endswith("_norm"):
            a = a - np.float32(1)
        if stem == "rope_freqs":
            factors = a
        elif stem in WHOLE:
            state[WHOLE[stem] + "." + kind] = a
        else:
            _, i, part = stem.split(".")
            if part in ("attn_q", "attn_k") and arch in ("llama", "smollm3"):
                a = deinterleave(a, heads if part == "attn_q" else kv)
            state["model.layers.%s.%s.%s" % (i, layer_names[part], kind)] = a
    vocab, layers = state["model.embed_tokens.weight"].shape[0], key("block_count")
    attn_bias = any(k.endswith("_proj.bias") and "self_attn" in k for k in state)
    mlp_bias = any(k.endswith("_proj.bias") and "mlp" in k for k in state)
    config = config_of(arch, hidden=hidden, heads=heads, kv=kv, head_dim=key("attention.key_length", hidden // heads),
                       ffn=key("feed_forward_length"), layers=layers, vocab=vocab, eps=key("attention.layer_norm_rms_epsilon"),
                       context=key("context_length"), tied="lm_head.weight" not in state, rope=rope, theta=key("rope.freq_base", 10000.0),
                       attn_bias=attn_bias, mlp_bias=mlp_bias, window=key("attention.sliding_window", 4096 if arch == "gemma2" else 0),
                       period=key("attention.sliding_window_pattern", 0), local_theta=key("rope.freq_base_swa", 0.0),
                       attn_cap=key("attn_logit_softcapping", 50.0 if arch == "gemma2" else 0.0),
                       final_cap=key("final_logit_softcapping", 30.0 if arch == "gemma2" else 0.0))
    if arch == "qwen2":
        config["use_sliding_window"] = False
    for i in range(layers):      # a bias the file leaves out is zero
        for part, module in layer_names.items():
            has = arch == "qwen2" and part in ("attn_q", "attn_k", "attn_v") or arch in ("llama", "smollm3") and (
                attn_bias if "attn" in part else mlp_bias)
            if has and "norm" not in part:
                w = state["model.layers.%d.%s.weight" % (i, module)]
                state.setdefault("model.layers.%d.%s.bias" % (i, module), np.zeros(w.shape[0], np.float32))
    model = build(arch, config, state, dtype)
    if factors is not None:
        inv = model.model.rotary_emb.inv_freq
        model.model.rotary_emb.inv_freq = inv / torch.from_numpy(factors).to(inv.dtype)
    return model
