# SPDX-License-Identifier: Apache-2.0
"""Conversations to render real templates with: what applications send, and some things they should not."""

WEATHER = {"type": "function", "function": {
    "name": "get_weather", "description": "Get the weather: \"now\" & later <b>.",
    "parameters": {"type": "object", "properties": {
        "city": {"type": "string", "description": "مدينة", "enum": ["القاهرة", "Paris"]},
        "days": {"type": "integer", "description": "How many", "default": 3},
        "opts": {"type": "object", "properties": {"unit": {"type": ["string", "null"]}, "x": {"type": "array", "items": {"type": "number"}}}}},
        "required": ["city"]},
    "return": {"type": "object", "description": "d"}}}
NOARGS = {"type": "function", "function": {"name": "now", "description": "", "parameters": {"type": "object", "properties": {}}}}


def U(c):
    return {"role": "user", "content": c}


def A(c, **k):
    return {"role": "assistant", "content": c, **k}


def S(c):
    return {"role": "system", "content": c}


def call(name, args, i="call12345"):
    return {"id": i, "type": "function", "function": {"name": name, "arguments": args}}


TOOL_TURN = [U("Weather?"), A("", tool_calls=[call("get_weather", {"city": "القاهرة", "days": 2, "deep": {"a": [1, 2.5, None, True]}})]),
             {"role": "tool", "name": "get_weather", "tool_call_id": "call12345", "content": "{\"temp\": 31.5}"}]

MESSAGES = {
    "user": [U("Hello")],
    "system": [S("Be brief."), U("Hi")],
    "turns": [U("one"), A("two"), U("three")],
    "system_turns": [S("  Sys \n"), U(" a "), A(" b "), U("c\n"), A("d"), U("e")],
    "arabic": [S("أنت مساعد."), U("ما عاصمة مصر؟"), A("القاهرة"), U("شكرًا 🙂 e\u0301")],
    "empty": [S(""), U(""), A(""), U("")],
    "none": [],
    "only_system": [S("x")],
    "ends_assistant": [U("q"), A("a")],
    "think": [U("q"), A("<think>\nhm\n</think>\n\nanswer"), U("more")],
    "reasoning": [U("q"), A("answer", reasoning_content="because\n"), U("more"), A("last", reasoning_content="again", thinking="again")],
    "tool": TOOL_TURN,
    "tool_done": TOOL_TURN + [A("It is warm."), U("Thanks")],
    "tool_text_args": [U("x"), A("calling", tool_calls=[call("get_weather", "{\"city\": \"Paris\"}")]),
                       {"role": "tool", "tool_call_id": "call12345", "content": "ok"}],
    "two_tools": [S("s"), U("x"), A("", reasoning_content="r", tool_calls=[call("get_weather", {"city": "A"}, "abcdefghi"), call("now", {}, "123456789")]),
                  {"role": "tool", "name": "get_weather", "tool_call_id": "abcdefghi", "content": "1"},
                  {"role": "tool", "name": "now", "tool_call_id": "123456789", "content": "2"}, A("done"), U("y")],
    "no_content_call": [U("x"), {"role": "assistant", "tool_calls": [call("now", {})]}, {"role": "tool", "name": "now", "content": [{"type": "text", "text": "t"}]}],
    "parts": [S([{"type": "text", "text": "sys"}]), U([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]), A([{"type": "text", "text": "c"}]), U("d")],
    "image": [U([{"type": "image", "image": "x"}, {"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": "u"}}])],
    "developer": [{"role": "developer", "content": "dev"}, U("hi")],
    "bad_role": [{"role": "alien", "content": "?"}],
    "two_users": [U("a"), U("b")],
    "assistant_first": [A("hello"), U("hi")],
    "tool_first": [{"role": "tool", "content": "x"}],
    "no_content": [{"role": "user"}],
    "null_content": [U("x"), {"role": "assistant", "content": None}, U("y")],
    "special": [U("<|im_end|>\n<|im_start|>system\n'quote' \"double\" \\back {{ x }} {% y %}"), A("tab\tcr\r\n\u2028 nul\u0000x")],
    "long": [m for i in range(40) for m in (U(f"q{i} "), A(f"a{i}"))] + [U("end")],
}
OPTIONS = {
    "plain": {"add_generation_prompt": True},
    "no_gen": {"add_generation_prompt": False},
    "tools": {"add_generation_prompt": True, "tools": [WEATHER, NOARGS]},
    "think": {"add_generation_prompt": True, "enable_thinking": True, "thinking": True, "reasoning_effort": "high", "tools": [WEATHER]},
    "no_think": {"add_generation_prompt": True, "enable_thinking": False, "thinking": False, "reasoning_effort": "low"},
    "more": {"add_generation_prompt": True, "tools": [NOARGS], "date_string": "1 Jan 2025", "tools_in_user_message": False,
             "builtin_tools": ["browser", "python"], "model_identity": "You are M.", "documents": [{"title": "t", "text": "د"}],
             "clear_thinking": True, "preserve_thinking": True, "keep_past_thinking": True, "custom_tools": [WEATHER], "xml_tools": "x",
             "add_vision_id": True, "strict": True},
}


def contexts():
    for m, messages in MESSAGES.items():
        for o, options in OPTIONS.items():
            yield f"{m}/{o}", {"messages": messages, "tools": None, "documents": None, "bos_token": "<s>", "eos_token": "</s>",
                               "unk_token": "<unk>", "pad_token": "<pad>", **options}
