"""The public reference implementation (transformers' LlamaForCausalLM) on weights we hand it.

Two ways in: build() takes a config and published-order arrays; load_gguf() reads any GGUF of the llama family,
decodes it with the `gguf` package and undoes the interleaving of q and k rows. The two share nothing but build(),
so a file written by tests/golden/tiny.py and read back here checks the writer.

Precision: weights are used as decoded. In float64 the matrix products and sums are double; transformers itself
computes norms, softmax and rotary angles in float32, so results are good to about 1e-6 relative.
"""
import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM


def build(config, state, dtype=torch.float64):
    """config: keyword arguments of LlamaConfig. state: {published name: array}. Missing or unused names are errors."""
    cfg = LlamaConfig(**config, attn_implementation="eager", use_cache=False, bos_token_id=None, eos_token_id=None, pad_token_id=None)
    torch.set_default_dtype(dtype)
    try:
        model = LlamaForCausalLM(cfg).eval()
    finally:
        torch.set_default_dtype(torch.float32)
    have = {k: torch.from_numpy(np.array(v)).to(dtype) for k, v in state.items()}
    if cfg.tie_word_embeddings:
        have["lm_head.weight"] = have["model.embed_tokens.weight"]
    model.load_state_dict(have, strict=True)
    return model.to(dtype)


def logits_of(model, ids, start=0):
    """[len(ids) - start, vocab] as float64 numpy."""
    with torch.no_grad():
        out = model(torch.tensor([ids]), use_cache=False, logits_to_keep=len(ids) - start).logits
    return out[0].double().numpy()


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


LAYER = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
         "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}
WHOLE = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}


def load_gguf(path, dtype=torch.float32):
    """A model from a GGUF file of architecture `llama`."""
    import gguf
    r = gguf.GGUFReader(path)

    def key(name, default=None):
        f = r.get_field("llama." + name)
        return default if f is None else f.contents()

    heads, kv = key("attention.head_count"), key("attention.head_count_kv", key("attention.head_count"))
    hidden = key("embedding_length")
    rope, theta, state, factors = {"rope_type": "default"}, key("rope.freq_base", 10000.0), {}, None
    if key("rope.scaling.type") in ("linear", "yarn"):
        rope = {"rope_type": key("rope.scaling.type"), "factor": key("rope.scaling.factor")}
        if rope["rope_type"] == "yarn":
            rope["original_max_position_embeddings"] = key("rope.scaling.original_context_length")
    for t in r.tensors:
        a = gguf.quants.dequantize(t.data, t.tensor_type).astype(np.float32)
        a = a.reshape([int(n) for n in reversed(t.shape)])
        stem, kind = t.name.rsplit(".", 1)
        if stem == "rope_freqs":
            factors = a
        elif stem in WHOLE:
            state[WHOLE[stem] + "." + kind] = a
        else:
            _, i, part = stem.split(".")
            if part in ("attn_q", "attn_k"):
                a = deinterleave(a, heads if part == "attn_q" else kv)
            state["model.layers.%s.%s.%s" % (i, LAYER[part], kind)] = a
    vocab = state["model.embed_tokens.weight"].shape[0]
    attn_bias = any(k.endswith("_proj.bias") and "self_attn" in k for k in state)
    mlp_bias = any(k.endswith("_proj.bias") and "mlp" in k for k in state)
    config = dict(hidden_size=hidden, num_attention_heads=heads, num_key_value_heads=kv, head_dim=key("attention.key_length", hidden // heads),
                  intermediate_size=key("feed_forward_length"), num_hidden_layers=key("block_count"), vocab_size=vocab,
                  rms_norm_eps=key("attention.layer_norm_rms_epsilon"), max_position_embeddings=key("context_length"),
                  tie_word_embeddings="lm_head.weight" not in state, attention_bias=attn_bias, mlp_bias=mlp_bias,
                  rope_parameters=dict(rope, rope_theta=theta))
    for i in range(config["num_hidden_layers"]):      # a bias the file leaves out is zero
        for part, module in LAYER.items():
            w = state.get("model.layers.%d.%s.weight" % (i, module))
            if part.endswith("norm") or not (attn_bias if "attn" in part else mlp_bias):
                continue
            state.setdefault("model.layers.%d.%s.bias" % (i, module), np.zeros(w.shape[0], np.float32))
    model = build(config, state, dtype)
    if factors is not None:
        inv = model.model.rotary_emb.inv_freq
        model.model.rotary_emb.inv_freq = inv / torch.from_numpy(factors).to(inv.dtype)
    return model
