# SPDX-License-Identifier: Apache-2.0
"""Small templates, one feature each; CONTEXT is what they are rendered with."""

CONTEXT = {
    "s": "Hello World", "e": "", "ar": "مرحبا بالعالم", "mix": "aé漢🙂z", "ws": "  \t padded \n ", "html": "<a href=\"x\">'&'</a>",
    "n": 7, "neg": -7, "z": 0, "f": 2.5, "big": 9007199254740993, "t": True, "no": False, "none": None,
    "l": [3, 1, 2], "words": ["pear", "Apple", "fig", "apple", "Fig"], "nested": [[1, 2], [3, [4, 5]]], "el": [], "mixed": [1, "a", None, True, 2.0, [1], {"k": 1}],
    "d": {"b": 2, "a": 1, "C": 3}, "ed": {}, "dd": {"x": {"y": {"z": "deep"}}, "items": "shadow", "list": [10, 20]},
    "people": [{"name": "Ann", "age": 30, "city": "Oslo", "ok": True}, {"name": "bob", "age": 25, "city": "oslo", "ok": False},
               {"name": "Cid", "age": 30, "city": "Rome"}, {"name": "Dee", "age": 41, "city": "Rome", "ok": True, "kids": [{"name": "Eve"}]}],
    "floats": [0.1, 1.0, 1e16, 1e15, 123456789.123, 1e-5, 0.0001, 1e300, -0.0, 3.141592653589793, 5e-324, 2.0, 100.0],
    "lines": "one\ntwo\r\nthree\rfour\n\nfive", "tree": [{"n": "a", "c": [{"n": "b", "c": []}, {"n": "c", "c": [{"n": "d", "c": []}]}]}, {"n": "e", "c": []}],
}

TEXT = r"""
{{ 1 + 2 * 3 - 4 }}
{{ (1 + 2) * 3 }}
{{ 7 // 2 }} {{ -7 // 2 }} {{ 7 // -2 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ 7 % 3 }}
{{ 7 / 2 }} {{ 6 / 2 }} {{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ 7.5 % -2 }} {{ -1 // 2.0 }}
{{ 2 ** 10 }} {{ 2 ** -1 }} {{ 2 ** 3 ** 2 }} {{ -2 ** 2 }} {{ 2.0 ** 3 }} {{ 2 ** 0.5 }} {{ 0 ** 0 }}
{{ 1 ~ 2 ~ 'x' ~ none ~ true ~ 1.5 ~ [1, 'a'] }}
{{ 1 ~ 2 * 3 }} {{ 'a' + 1 ~ 2 }} {{ 1 ~ 2 == '12' }}
{{ 'a' + 'b' * 3 }} {{ 3 * 'ab' }} {{ 'ab' * 0 }}|{{ 'ab' * -1 }}|
{{ [1] + [2, 3] }} {{ [1, 2] * 2 }} {{ (1, 2) + (3,) }} {{ () }} {{ (1,) }} {{ 1, 2 }}
{{ true + 1 }} {{ true * 2 }} {{ true / 2 }} {{ -true }} {{ +true }}
{{ 9223372036854775807 }} {{ -9223372036854775807 - 1 }} {{ big }} {{ big == 9007199254740992.0 }} {{ big > 9007199254740992.0 }}
{{ 1_000_000 }} {{ 0x1F }} {{ 0b101 }} {{ 0o17 }} {{ 1.5e3 }} {{ 1e2 }} {{ 1_0.5 }} {{ 00 }} {{ 0xdead_beef }}
{{ 1.0 }} {{ 0.1 + 0.2 }} {{ 1e16 }} {{ 1e22 }} {{ 123456789012345680.0 }} {{ 1e-7 }} {{ 1.0e5 }} {{ 5e-324 }} {{ 1.7976931348623157e308 }}
{{ floats }}
{% for x in floats %}{{ x }} {% endfor %}
{{ 1 < 2 }} {{ 1 <= 1 }} {{ 2 > 3 }} {{ 1 == 1.0 }} {{ 1 != 2 }} {{ true == 1 }} {{ 'a' < 'b' }} {{ 'é' > 'z' }}
{{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 3 > 2 > 1 == 1 }} {{ 1 < n <= 7 }}
{{ [1, 2] < [1, 3] }} {{ [1, 2] == [1, 2] }} {{ (1, 2) == [1, 2] }} {{ (1, 'a') < (2,) }} {{ [] < [1] }} {{ {'a': 1} == {'a': 1.0} }} {{ {'a': 1, 'b': 2} == {'b': 2, 'a': 1} }}
{{ 1 in l }} {{ 9 in l }} {{ 9 not in l }} {{ 'ell' in s }} {{ '' in s }} {{ 'a' in d }} {{ 'zz' not in d }} {{ 1 in (1, 2) }} {{ 5 in range(10) }} {{ 'x' in undefinedvar }}
{{ not 1 }} {{ not 0 }} {{ not not 'x' }} {{ not (1 and 0) }} {{ 1 and 0 }} {{ 0 or 'x' }} {{ '' or none or [] }} {{ 1 and 'last' }} {{ 0 or 0.0 or '' }}|
{{ 'a' if n == 7 else 'b' }} {{ 'a' if n == 8 else 'b' }} {{ 'a' if false }}| {{ 'a' if 0 else 'b' if 0 else 'c' }} {{ ('x' if t) is defined }} {{ ('x' if no) is defined }}
{{ 'a' 'b' "c" }} {{ "it's" }} {{ 'say "x"' }} {{ 'tab\there' }} {{ 'nl\nx' }} {{ '\x41\u00e9\U0001F642' }} {{ '\101' }} {{ '\q' }} {{ '\\' }} {{ '\'' }}
{{ 'a\
b' }} {{ '\é\漢' }}
{{ ['it\'s', 'say "x"', 'both \' "', 'nl\n\t\r\\', 'é漢🙂', '\x00\x1f\x7f\x80\xa0', '\u200b\u2028\ufeff'] }}
{{ s[0] }} {{ s[-1] }} {{ s[1:4] }} {{ s[::-1] }} {{ s[-3:] }} {{ s[:-3] }} {{ s[::2] }} {{ s[10:2:-3] }} {{ s[5:1] }}| {{ s[99:] }}| {{ s[-99:2] }} {{ s[None:3] }}
{{ mix[1] }} {{ mix[-1] }} {{ mix[1:4] }} {{ mix[::-1] }} {{ mix|length }} {{ mix[3] }} {{ ar[0:5] }} {{ ar[::-2] }}
{{ l[0] }} {{ l[-1] }} {{ l[5] }}| {{ l[:2] }} {{ l[::-1] }} {{ l[1:] }} {{ l[-2:] }} {{ l[::2] }} {{ l[2:0:-1] }} {{ nested[1][1][0] }} {{ (1, 2, 3)[1:] }} {{ range(10)[2:8:2]|list }} {{ range(5)[::-1]|list }} {{ range(5)[-1] }}
{{ d.a }} {{ d['b'] }} {{ d.missing }}| {{ d['missing'] }}| {{ dd.x.y.z }} {{ dd['x']['y'] }} {{ dd.items is callable }} {{ dd['items'] }} {{ dd.list.0 }} {{ dd.list[1] }} {{ l.0 }} {{ d.0 }}|
{{ nope }}| {{ nope is defined }} {{ nope is undefined }} {{ nope|default('x') }} {{ nope or 'y' }} {{ not nope }} {{ nope == nope2 }} {{ nope == none }} {{ nope|length }} {{ nope|list }} {{ nope|string }}| {{ [nope] }}
{{ 'upper' in s.upper|string }} {{ s['upper']() }} {{ s.upper() }} {{ s.nope }}|
{{ d.__class__ }}| {{ s.__len__ }}| {{ d._x }}| {{ l.append }}| {{ d.update }}| {{ d.pop is defined }} {{ d.get is defined }}
{{ true }} {{ True }} {{ false }} {{ False }} {{ none }} {{ None }} {{ [true, none] }}
{{ [1, 'a', 2.0, none, true, {'k': 'v'}, (1, 2), [], {}] }}
{{ {'a': 1, 'b': [1, 2], 3: 'x', none: 1, (1, 2): 3, 1.5: 2, true: 'yes'} }}
{{ {1: 'a', 1.0: 'b', true: 'c'} }} {{ {'a': 1, 'a': 2} }} {{ {'x': 1}.x }} {{ {}['q'] }}|
{{ mixed }} {{ mixed[6].k }}
{{ dict(a=1, b='x') }} {{ dict([('k', 1), ['j', 2]]) }} {{ dict(d, z=9) }} {{ dict(d) == d }} {{ dict() }} {{ dict(**d) }}
{{ range(5)|list }} {{ range(2, 5)|list }} {{ range(10, 0, -3)|list }} {{ range(0) }} {{ range(1, 10, 2) }} {{ range(3)|length }} {{ range(5).stop }} {{ range(3) == range(0, 3) }}
{% set x = 1 %}{{ x }}{% set x = x + 1 %}{{ x }}
{% set a, b = 1, 2 %}{{ a }}{{ b }} {% set a, b = b, a %}{{ a }}{{ b }} {% set (p, q) = 'xy' %}{{ p }}{{ q }} {% set m, (o, r) = 1, [2, 3] %}{{ m }}{{ o }}{{ r }}
{% set x %}block {{ n }}{% endset %}[{{ x }}] {{ x|length }}
{% set x | upper %}block {{ s }}{% endset %}{{ x }}
{% set x | replace('o', '0') | trim %}  foo boo  {% endset %}[{{ x }}]
{% set ns = namespace(a=1, b='x') %}{{ ns.a }}{% set ns.a = ns.a + 1 %}{{ ns.a }}{{ ns.b }}{{ ns.c }}|{{ ns['a'] }}{% set ns.new = [1] %}{{ ns.new }} {{ ns }}
{% set ns = namespace({'q': 5}) %}{{ ns.q }} {% set ns.a, ns.b = 1, 2 %}{{ ns.a + ns.b }}
{% set ns = namespace(found=false) %}{% for x in l %}{% if x == 1 %}{% set ns.found = true %}{% endif %}{% endfor %}{{ ns.found }}
{% set x = 0 %}{% for i in l %}{% set x = i %}{{ x }}{% endfor %}{{ x }}
{% set x = 'outer' %}{% for i in [1, 2] %}{{ x }}{% set x = 'inner' ~ i %}{{ x }} {% endfor %}
{% if n > 5 %}big{% elif n > 2 %}mid{% else %}small{% endif %} {% if no %}x{% elif none %}y{% endif %}| {% if e %}a{% else %}b{% endif %}
{% if t %}{% set v = 'in if' %}{% endif %}{{ v }} {% if no %}{% set w = 1 %}{% endif %}{{ w is defined }}
{% if l and d and s and n and f and t and people[0] %}truthy{% endif %}{% if not (el or ed or e or z or 0.0 or none or no or ()) %} falsy{% endif %}
{% for x in l %}{{ x }},{% endfor %} {% for x in el %}x{% else %}empty{% endfor %} {% for c in mix %}{{ c }}.{% endfor %} {% for k in d %}{{ k }}{% endfor %} {% for x in none_ %}z{% endfor %}|
{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %} {% for k, v in d|items %}{{ k }}{{ v }}{% endfor %} {% for (a, b), c in [((1, 2), 3)] %}{{ a }}{{ b }}{{ c }}{% endfor %}
{% for x in l if x > 1 %}{{ loop.index }}:{{ x }} {{ loop.length }} {{ loop.last }}; {% else %}none{% endfor %} {% for x in l if x > 5 %}{{ x }}{% else %}none{% endfor %}
{% for x in l %}{{ loop.index }} {{ loop.index0 }} {{ loop.revindex }} {{ loop.revindex0 }} {{ loop.first }} {{ loop.last }} {{ loop.length }} {{ loop.depth }} {{ loop.depth0 }}; {% endfor %}
{% for x in l %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }} {{ loop.previtem is defined }}{{ loop.nextitem is defined }} {% endfor %}
{% for x in [1, 1, 2, 2, 1] %}{{ loop.changed(x) }} {{ loop.cycle('a', 'b', 'c') }} {% endfor %}
{% for x in l|map('string') %}{{ loop.length }}{{ loop.revindex }}{{ x }} {% endfor %} {% for x in l|select('odd') %}{{ x }}{% if not loop.last %}, {% endif %}{% endfor %}
{% for x in [1, 2, 3] if x < 3 %}{{ x }}{{ loop.last }}{{ loop.nextitem }} {% endfor %} {% for x in l|select('gt', 1) %}{{ x }}{{ loop.last }}{% endfor %}
{% for x in l %}{% for y in l %}{{ loop.index }}{% endfor %}{{ loop.index }}|{% endfor %}
{% for x in l %}{% set outer = loop %}{% for y in [1, 2] %}{{ outer.index }}.{{ loop.index }} {% endfor %}{% endfor %}
{% for item in tree recursive %}{{ item.n }}{{ loop.depth }}{% if item.c %}[{{ loop(item.c) }}]{% endif %}{% if not loop.last %},{% endif %}{% endfor %}
{% for x in range(10) %}{% if x == 2 %}{% continue %}{% endif %}{% if x == 5 %}{% break %}{% endif %}{{ x }}{% endfor %}
{% for x in [1] %}{% continue %}{% else %}E{% endfor %} {% for x in [1, 2] %}{% if x == 2 %}{% break %}{% endif %}{% else %}E{% endfor %}| {% for x in [1] %}{% break %}{% else %}E{% endfor %}
{% for x in l %}{% for y in l %}{% if y == 1 %}{% break %}{% endif %}{{ x }}{{ y }} {% endfor %}{% endfor %}
{% for x in l if loop is defined %}{{ x }}{% endfor %}| {{ loop is defined }} {% for x in l %}{% for y in [1, 2, 3] if loop.index == y %}{{ y }}{% endfor %}{% endfor %}
{% for x in l %}{{ loop }} {% endfor %} {% for x in l %}{{ loop|length }}{% endfor %}
{% macro m(a, b='B', c=none) %}({{ a }},{{ b }},{{ c }}){% endmacro %}{{ m(1) }}{{ m(1, 2) }}{{ m(1, c=3) }}{{ m(b=1, a=2) }}{{ m() }}
{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, x=3) }}{{ m() }}
{% macro m(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }} {{ m.name }} {{ m.arguments }} {{ m.catch_kwargs }} {{ m.catch_varargs }} {{ m.caller }} {{ m }}
{% macro wrap(tag) %}<{{ tag }}>{{ caller() }}</{{ tag }}>{% endmacro %}{% call wrap('b') %}in {{ n }}{% endcall %}
{% macro each(xs) %}{% for x in xs %}{{ caller(x, loop.index) }}{% endfor %}{% endmacro %}{% call(v, i) each(l) %}[{{ i }}:{{ v }}]{% endcall %}
{% macro opt() %}{% if caller is defined and caller %}C{{ caller() }}{% else %}none{% endif %}{% endmacro %}{{ opt() }} {% call opt() %}x{% endcall %}
{% macro fact(n) %}{% if n <= 1 %}1{% else %}{{ n * (fact(n - 1)|int) }}{% endif %}{% endmacro %}{{ fact(10) }}
{% macro m() %}{{ x }}{% endmacro %}{% set x = 5 %}{{ m() }} {% macro late() %}{{ other() }}{% endmacro %}{% macro other() %}O{% endmacro %}{{ late() }}
{% macro m(x) %}{% set x = x + 1 %}{{ x }}{% endmacro %}{% set x = 10 %}{{ m(1) }}{{ x }}
{% macro m(a) %}{{ a|default('D') }}{% endmacro %}{{ m() }}
{% macro m(items) %}{% for i in items %}{{ i }}{% endfor %}{% endmacro %}{{ m(l) }} {{ m(*[l]) }} {{ m(**{'items': l}) }}
{% filter upper %}text {{ s }}{% endfilter %} {% filter replace('a', 'b')|title %}banana{% endfilter %} {% filter indent(2) %}a
b{% endfilter %}
{% with a=1, b=2 %}{{ a }}{{ b }}{% endwith %}{{ a is defined }} {% set a = 5 %}{% with a=a + 1, c=a %}{{ a }}{{ c }}{% endwith %}{{ a }} {% with %}{% set q = 1 %}{{ q }}{% endwith %}{{ q is defined }}
{% generation %}gen {{ n }}{% set inside = 1 %}{% endgeneration %}{{ inside is defined }}
{% raw %}{{ x }} {% if %} {# c #}{% endraw %} {%- raw -%}  a {%- endraw -%}  b
a{# comment #}b {#- c -#} c {# multi
line #}
  d
{% print 1 + 1 %} {% print 'a', 'b' %}
  {% if t %}
    indented
  {% endif %}
after
  {%+ if t %}
 kept
  {%+ endif %}
after
a {%- if t -%} b {%- endif -%} c
a  {{- n -}}  b {{ n -}} c {{- n }}
{% if t +%}
x{% endif %}
  {{ n }}
  {# c #}
x
  {# c +#}
x
	{% for x in l %}	
{{ x }}
	{% endfor %}	
end
line1
{% set x = 1 %}

line3
{{ '{{' }} {{ '%}' }} {{ "}}" }} { { x } } {{ {'a': {'b': 1}}['a']['b'] }} {{ {'a':{}} }}
{{ s|upper }} {{ s|lower }} {{ 'hELLO wORLD'|capitalize }} {{ 'hello wORLD-foo (bar) [baz] it\'s'|title }} {{ mix|upper }} {{ 'straße'|upper }} {{ 'ÀÉ'|lower }} {{ 'ΑΣ'|lower }} {{ 12|upper }} {{ 'ﬁx'|title }}
{{ 'hello wORLD it\'s 3rd x-y'.title() }} {{ 'hELLO'.capitalize() }} {{ 'aBc'.swapcase() }} {{ 'Straße'.casefold() }} {{ 'éa'.upper() }} {{ 'ABC'.lower() }}
[{{ ws|trim }}] [{{ 'xxaxx'|trim('x') }}] [{{ ws.strip() }}] [{{ 'xyaxy'.strip('yx') }}] [{{ 'aab'.lstrip('a') }}] [{{ 'baa'.rstrip('a') }}] [{{ ' a '.lstrip() }}] [{{ ' a '.rstrip() }}] [{{ '\u2003é\u00a0'.strip() }}] [{{ 'ééaé'.strip('é') }}] [{{ 'x'.strip(none) }}] [{{ 12|trim }}]
{{ s|length }} {{ ar|length }} {{ l|count }} {{ d|length }} {{ e|length }} {{ range(4)|length }} {{ d.items()|length }} {{ (1, 2)|length }}
{{ l|join }} {{ l|join(', ') }} {{ people|join(',', attribute='name') }} {{ 'abc'|join('-') }} {{ d|join }} {{ el|join('x') }}| {{ [1, none, 'a', true]|join('|') }} {{ l|join(0) }}
{{ s|replace('o', '0') }} {{ s|replace('o', '0', 1) }} {{ 'aaa'|replace('a', 'b', 2) }} {{ 'ab'|replace('', '-') }} {{ 123|replace(2, 'x') }} {{ 'aaa'.replace('aa', 'b') }} {{ 'aXbX'.replace('X', '', 1) }} {{ 'é漢'.replace('', '.') }} {{ 'abab'.replace('ab', 'x', -1) }}
{{ nope|default }}| {{ nope|default('d') }} {{ none|default('d') }} {{ none|default('d', true) }} {{ e|default('d', boolean=true) }} {{ nope|d(1) }} {{ z|d('zero', true) }} {{ d.nope|default(d.a) }} {{ n|default(1) }}
{{ l|first }} {{ l|last }} {{ el|first }}| {{ el|last }}| {{ s|first }} {{ s|last }} {{ d|first }} {{ d|last }} {{ mix|last }} {{ (l|map('string'))|first }}
{{ s|list }} {{ d|list }} {{ l|list }} {{ range(3)|list }} {{ d.items()|list }} {{ d.keys()|list }} {{ d.values()|list }} {{ mix|list }}
{{ d.items() }} {{ d.keys() }} {{ d.values() }} {{ d|items|list }} {{ ed|items|list }} {{ nope|items|list }}
{{ d|dictsort }} {{ d|dictsort(true) }} {{ d|dictsort(by='value') }} {{ d|dictsort(reverse=true) }} {{ d|dictsort(false, 'value', true) }}
{{ people|map(attribute='name')|list }} {{ people|map(attribute='ok', default='?')|list }} {{ people|map(attribute='kids.0', default='-')|list }} {{ words|map('upper')|list }} {{ l|map('string')|join }} {{ words|map('replace', 'a', 'x')|list }} {{ nested|map('first')|list }} {{ nested|map(attribute=0)|list }} {{ el|map('nosuchfilter')|list }} {{ words|map('length')|sum }} {{ [[1,2],[3]]|map('join', '+')|list }}
{{ people|map('attr', 'name')|list }} {{ d|attr('x') }}| {{ 'a'|attr('upper') is callable }} {{ d|attr('a') is defined }} {{ d|attr('keys') is defined }}
{{ l|select|list }} {{ [0, 1, '', 'a', none]|select|list }} {{ l|select('odd')|list }} {{ l|select('gt', 1)|list }} {{ l|reject('equalto', 1)|list }} {{ [0, 1]|reject|list }} {{ l|select('in', [1, 2])|list }} {{ mixed|select('string')|list }} {{ mixed|reject('none')|list }} {{ l|select('divisibleby', 3)|list }}
{{ people|selectattr('ok')|map(attribute='name')|list }} {{ people|rejectattr('ok')|map(attribute='name')|list }} {{ people|selectattr('age', 'equalto', 30)|map(attribute='name')|join(',') }} {{ people|selectattr('ok', 'defined')|list|length }} {{ people|rejectattr('city', 'in', ['Rome'])|map(attribute='name')|list }} {{ people|selectattr('kids', 'defined')|selectattr('kids.0.name', 'eq', 'Eve')|map(attribute='name')|first }} {{ people|selectattr('name', 'lower')|list|length }}
{% if people|selectattr('nope') %}generators are true{% endif %} {% set g = l|map('string') %}{{ g|join }}{{ g|join }}| {{ (l|map('string')) is iterable }} {{ (l|map('string')) is sequence }} {{ l|map('string') is defined }}
{{ words|sort }} {{ words|sort(case_sensitive=true) }} {{ words|sort(reverse=true) }} {{ l|sort }} {{ people|sort(attribute='age')|map(attribute='name')|list }} {{ people|sort(attribute='age,name', reverse=true)|map(attribute='name')|list }} {{ 'hello'|sort }} {{ d|sort }} {{ [2.5, 1, true]|sort }} {{ [[2], [1, 5], [1]]|sort }} {{ people|sort(false, true, 'city')|map(attribute='name')|list }}
{{ l|reverse|list }} {{ s|reverse }} {{ mix|reverse }} {{ d|reverse|list }} {{ range(3)|reverse|list }} {{ l|map('string')|reverse|list }} {{ (1, 2)|reverse|list }} {{ d.items()|reverse|list }}
{{ words|unique|list }} {{ words|unique(true)|list }} {{ [1, 1.0, true, '1']|unique|list }} {{ people|unique(attribute='age')|map(attribute='name')|list }} {{ 'abcAB'|unique|join }}
{{ '42'|int }} {{ 'x'|int }} {{ 'x'|int(-1) }} {{ '3.9'|int }} {{ 3.9|int }} {{ -3.9|int }} {{ ' 12 '|int }} {{ '0x1A'|int(base=16) }} {{ '101'|int(0, 2) }} {{ true|int }} {{ none|int(5) }} {{ '1_000'|int }} {{ [1]|int }} {{ '-7'|int }} {{ ''|int }} {{ '1e3'|int }} {{ 'ff'|int(0, 16) }} {{ 'inf'|int }} {{ '٣'|int }} {{ '۱۲۳'|int }} {{ ' १२ '|int }} {{ '٣.٥'|float }} {{ '²'|int }}
{{ '4.5'|float }} {{ 'x'|float }} {{ 'x'|float(1.5) }} {{ 3|float }} {{ '1e3'|float }} {{ ' 2 '|float }} {{ 'inf'|float }} {{ '-Infinity'|float }} {{ 'nan'|float }} {{ none|float }} {{ '1_0.5'|float }} {{ '.5'|float }} {{ true|float }}
{{ 12|string + 'x' }} {{ none|string }} {{ [1]|string }} {{ 1.0|string }} {{ true|string|length }}
{{ -5|abs }} {{ 5|abs }} {{ -2.5|abs }} {{ true|abs }} {{ (-5)|abs }}
{{ 2.5|round }} {{ 3.5|round }} {{ 2.567|round(2) }} {{ 2.567|round(1, 'floor') }} {{ 2.512|round(2, 'ceil') }} {{ 7|round }} {{ -2.5|round }} {{ 1234.5|round(-2) }} {{ 2.4|round(method='ceil') }} {{ 0.125|round(2) }} {{ 2.675|round(2) }} {{ 1e20|round(1) }} {{ 5|round(0, 'floor') }} {{ -0.4|round(0, 'ceil') }} {{ 2.5|round|int }}
{{ l|min }} {{ l|max }} {{ words|min }} {{ words|max }} {{ el|min }}| {{ people|max(attribute='age') }} {{ words|min(case_sensitive=true) }} {{ people|min(attribute='age')|attr('x') }}| {{ [1, 2.5]|max }} {{ 'hello'|max }}
{{ l|sum }} {{ people|sum(attribute='age') }} {{ l|sum(start=10) }} {{ [1.5, 2]|sum }} {{ el|sum }} {{ [[1], [2]]|sum(start=[]) }} {{ floats[:2]|sum }}
{{ range(7)|batch(3)|list }} {{ range(7)|batch(3, 'x')|list }} {{ el|batch(2)|list }} {{ range(4)|batch(2)|map('join')|list }} {{ [1, 2, 3]|batch(3)|list }}
{{ range(7)|slice(3)|list }} {{ range(7)|slice(3, 'x')|list }} {{ range(2)|slice(3)|list }} {% for col in range(5)|slice(2) %}{{ col|join }} {% endfor %}
{{ 'a\nb\n\nc'|indent }} | {{ 'a\nb'|indent(2, true) }} | {{ 'a\n\nb'|indent(2, blank=true) }} | {{ 'a\nb'|indent('> ') }} | {{ 'a\n'|indent }}| {{ ''|indent }}| {{ 'a\nb'|indent(width=1, first=true) }} {{ 'a\r\nb'|indent }}
{{ 'one two  three-four it\'s é漢 x_y'|wordcount }} {{ ''|wordcount }}
{{ html|e }} {{ html|escape }} {{ html|safe }} {{ html|e|e }} {{ html|forceescape }} {{ (html|e) + '<' }} {{ '<' + (html|safe) }} {{ (html|safe) ~ '<' }} {{ '<'|safe is escaped }} {{ '<' is escaped }} {{ none|e }} {{ [html|e] }} {{ html|safe|upper }} {{ html|safe|replace('<', '&') }} {{ (html|safe).replace('a', '<') }} {{ ['<', '>']|join('&'|safe) }} {{ ('<'|safe).join(['&']) }} {{ ('%s'|safe)|format('x') }} {{ html|safe|length }} {{ html|safe|tojson }} {{ html|safe|string is escaped }}
{{ 'a b/c?d=é&x'|urlencode }} {{ {'a': 'b c', 'x': '/'}|urlencode }} {{ [('k', 1)]|urlencode }} {{ 5|urlencode }}
{{ '%s is %d' | format('x', 5) }} {{ '%(a)s %(b)05.2f' | format(a=1, b=2.5) }} {{ '%5s|%-5s|%05d|%+d|%x|%X|%o|%#x|%%|%c|%r|%.2s|%e|%g' % ('a', 'b', 42, 7, 255, 255, 8, 255, 'z', 'q', 'abc', 12345.678, 0.0001) }} {{ '%s' % none }} {{ '%s' % [1, 2] }} {{ '%s %s' % (1, nope) }}| {{ '%d' % 3.7 }} {{ '%i' % true }} {{ '%.3f' % 2 }} {{ '%5.1f|' % -2.25 }} {{ '%s' % 'é' }} {{ '%3s|' % 'é' }} {{ '%*d' % (5, 42) }} {{ '%-8s|' % s[:3] }} {{ '%F' % 1.5 }} {{ '% d' % 5 }}
{{ '{} {}'.format(1, 'a') }} {{ '{1} {0}'.format('a', 'b') }} {{ '{x} {y.a} {z[0]}'.format(x=1, y=d, z=l) }} {{ '{:>5}|{:<5}|{:^5}|{:*^7}'.format('a', 'b', 'c', 'd') }} {{ '{:05d} {:+d} {:,} {:x} {:#x} {:b} {:o} {:e} {:.2f} {:%} {:g}'.format(42, 5, 1234567, 255, 255, 5, 8, 12345.6789, 3.14159, 0.25, 1e10) }} {{ '{{}} {!r} {!s}'.format('q', 1) }} {{ '{:.3}'.format('abcdef') }} {{ '{:5}|{:5}|'.format(1, 'a') }} {{ '{}'.format(none) }} {{ '{:>{w}}'.replace('{w}', '4').format('x') }} {{ '{:.1f}'.format(2) }} {{ '{:_}'.format(1000000) }} {{ '{:=+6d}'.format(5) }} {{ '{:,.2f}'.format(1234567.891) }} {{ '{:é^5}'.format('x') }} {{ '{a[b]}'.format(a=d) }} {{ '{}'.format(1.0) }} {{ '{:06.2f}'.format(-1.5) }} {{ '{x}'.format_map({'x': 'm'}) }} {{ '{:10}|'.format(2.5) }} {{ '{:d}'.format(true) }} {{ '{}'.format(true) }}
{{ s|truncate(5) }} {{ 'foo bar baz qux'|truncate(9) }} {{ 'foo bar baz qux'|truncate(9, true) }} {{ 'foo bar baz qux'|truncate(11) }} {{ 'foo bar baz qux'|truncate(9, false, '..') }} {{ 'foo bar baz qux'|truncate(9, leeway=0) }} {{ ar|truncate(6, true, '…', 0) }} {{ 'abcdefghijklmnop'|truncate(8) }}
[{{ 'x'|center(5) }}] [{{ 'xy'|center(5) }}] [{{ 'x'.center(4, '*') }}] [{{ 'x'.ljust(3, '-') }}] [{{ 'x'.rjust(3) }}] [{{ '-5'.zfill(4) }}] [{{ '5'.zfill(3) }}] [{{ 'abc'.zfill(2) }}] [{{ 'é'.center(5, '漢') }}] [{{ 'ab'.center(5) }}] [{{ 'ab'.center(7, '.') }}] [{{ 'a'|center }}]
{{ people|groupby('city')|list }}
{% for city, ps in people|groupby('city') %}{{ city }}:{{ ps|map(attribute='name')|join(',') }} {% endfor %}{% for g in people|groupby('age') %}{{ g.grouper }}={{ g.list|length }} {% endfor %}{% for g in people|groupby('ok', default=0) if g.grouper %}{{ g[1]|length }}{% endfor %}
{{ (people|groupby('city', case_sensitive=true))|map('first')|list }}
{{ d|tojson }} {{ mixed|tojson }} {{ s|tojson }} {{ html|tojson }} {{ ar|tojson }} {{ 'nl\n\t"\\\x00\x1f\x7f/'|tojson }} {{ none|tojson }} {{ true|tojson }} {{ 1.0|tojson }} {{ floats|tojson }} {{ el|tojson }} {{ ed|tojson }} {{ (1, 2)|tojson }}
{{ d|tojson(indent=2) }} {{ nested|tojson(indent=4) }} {{ el|tojson(indent=2) }} {{ d|tojson(indent='\t') }} {{ l|tojson(indent=0) }} {{ people[3]|tojson(indent=1) }}
{{ d|tojson(sort_keys=true) }} {{ d|tojson(separators=(',', ':')) }} {{ d|tojson(separators=[' ; ', ' = '], indent=1) }} {{ mix|tojson(ensure_ascii=true) }} {{ mix|tojson(true) }} {{ {1: 2, none: 3, true: 4, 1.5: 5}|tojson }} {{ {'b': 1, 'a': {'d': 1, 'c': 2}}|tojson(sort_keys=true, indent=2) }} {{ '\u2028🙂'|tojson }} {{ 'inf'|float|tojson }} {{ '-inf'|float|tojson }} {{ 'nan'|float|tojson }} {{ range(3)|list|tojson }}
{{ 'a,b,c'.split(',') }} {{ 'a,b,c'.split(',', 1) }} {{ 'a,b,c'.rsplit(',', 1) }} {{ ' a  b c '.split() }} {{ ' a  b c '.split(none, 1) }} {{ ' a  b c '.rsplit(none, 1) }} {{ ''.split() }} {{ ''.split(',') }} {{ 'abc'.split('abc') }} {{ 'a--b--c'.split('--') }} {{ 'a b'.split(maxsplit=0) }} {{ 'aXbXc'.rsplit('X') }} {{ 'a,b'.split(sep=',') }} {{ 'é漢é'.split('漢') }} {{ ' x '.split(' ') }} {{ 'aaa'.rsplit('aa') }} {{ 'a\u2003b'.split() }} {{ 'a,b,c'.split(',')[-1] }} {{ '</think>x'.split('</think>')[-1] }}
{{ lines.splitlines() }} {{ lines.splitlines(true) }} {{ ''.splitlines() }} {{ 'a\n'.splitlines() }} {{ 'a\x0bb\x85c\u2028d'.splitlines() }} {{ 'x\n\n'.splitlines(keepends=true) }}
{{ s.startswith('He') }} {{ s.startswith(('x', 'H')) }} {{ s.endswith('ld') }} {{ s.endswith(('x', 'y')) }} {{ s.startswith('World', 6) }} {{ s.startswith('') }} {{ s.endswith('Hello', 0, 5) }} {{ s.startswith('x' * 50) }} {{ ar.startswith('مر') }} {{ 'é漢'.startswith('漢', 1) }} {{ 'a'.startswith((), 0) }}
{{ s.find('o') }} {{ s.find('o', 5) }} {{ s.find('x') }} {{ s.rfind('o') }} {{ s.index('W') }} {{ s.count('l') }} {{ s.count('') }} {{ 'aaaa'.count('aa') }} {{ mix.find('z') }} {{ mix.rfind('漢') }} {{ s.find('') }} {{ s.find('o', -4) }} {{ s.find('H', 1, 3) }} {{ s.rindex('l') }} {{ s.count('o', 5) }} {{ s.find('', 50) }} {{ ''.count('') }}
{{ '123'.isdigit() }} {{ ''.isdigit() }} {{ 'a1'.isalnum() }} {{ 'é漢'.isalpha() }} {{ 'a b'.isalpha() }} {{ ' \t'.isspace() }} {{ 'abc'.islower() }} {{ 'ABC1'.isupper() }} {{ '²'.isdigit() }} {{ '½'.isnumeric() }} {{ '٣'.isdecimal() }} {{ 'é'.isascii() }} {{ ''.isascii() }} {{ '123'.islower() }} {{ 'aB'.islower() }}
{{ 'prefix-x'.removeprefix('prefix-') }} {{ 'x.txt'.removesuffix('.txt') }} {{ 'x'.removeprefix('y') }} {{ 'a=b=c'.partition('=') }} {{ 'a=b=c'.rpartition('=') }} {{ 'abc'.partition('x') }} {{ 'abc'.rpartition('x') }} {{ ', '.join(['a', 'b']) }} {{ ''.join([]) }}| {{ '-'.join('abc') }} {{ '-'.join(d) }} {{ ' '.join(words|map('lower')) }}
{{ d.get('a') }} {{ d.get('x') }} {{ d.get('x', 5) }} {{ d.get('a', 9) }} {{ d.keys()|list }} {{ d.values()|sum }} {{ 'a' in d.keys() }} {{ 2 in d.values() }} {{ ('a', 1) in d.items() }} {{ d.copy() == d }} {{ ed.items()|list }} {{ d.get('x', default='k') if false else 'skip' }}
{{ l.index(1) }} {{ l.count(1) }} {{ (1, 2, 1).count(1) }} {{ (1, 2).index(2) }} {{ l.copy() }} {{ words.index('fig') }} {{ [1, 2, 1].index(1, 1) }}
{{ 1 is defined }} {{ none is none }} {{ 1 is none }} {{ none is not none }} {{ 's' is string }} {{ 1 is string }} {{ 1 is number }} {{ 1.5 is number }} {{ true is number }} {{ 's' is number }} {{ 1 is integer }} {{ true is integer }} {{ 1.0 is integer }} {{ 1.0 is float }} {{ 1 is float }} {{ true is boolean }} {{ 1 is boolean }} {{ true is true }} {{ 1 is true }} {{ false is false }} {{ 0 is false }}
{{ d is mapping }} {{ l is mapping }} {{ l is sequence }} {{ s is sequence }} {{ d is sequence }} {{ 1 is sequence }} {{ (1,) is sequence }} {{ l is iterable }} {{ s is iterable }} {{ 1 is iterable }} {{ none is iterable }} {{ nope is iterable }} {{ nope is sequence }} {{ range(2) is sequence }} {{ d.items() is sequence }} {{ d.items() is iterable }} {{ d.items() is mapping }}
{{ range is callable }} {{ s is callable }} {{ s.upper is callable }} {{ nope is callable }} {{ raise_exception is callable }} {{ namespace is callable }} {{ dict is defined }} {{ cycler('a') is callable }} {{ joiner() is callable }}
{{ 2 is even }} {{ 3 is odd }} {{ 9 is divisibleby 3 }} {{ 9 is divisibleby(2) }} {{ 2.0 is even }} {{ true is odd }} {{ -3 is odd }}
{{ 1 is eq 1 }} {{ 1 is equalto(2) }} {{ 1 is ne 2 }} {{ 1 is lt 2 }} {{ 1 is gt 2 }} {{ 1 is le 1 }} {{ 1 is ge 2 }} {{ 1 is lessthan 2 }} {{ 1 is greaterthan 0 }} {{ 1 is in [1] }} {{ 1 is in([2]) }} {{ 'a' is in 'abc' }} {{ 1 is sameas 1 }} {{ none is sameas none }} {{ 1 is sameas true }} {{ l is sameas l }} {{ l is not eq [1] }} {{ [1,2]|select('==', 1)|list }} {{ [1,2]|select('<=', 1)|list }} {{ [1,2]|reject('!=', 1)|list }}
{{ 'abc' is lower }} {{ 'ABC' is upper }} {{ 'Abc' is lower }} {{ '' is lower }} {{ 1 is lower }} {{ 'upper' is filter }} {{ 'nosuch' is filter }} {{ 'odd' is test }} {{ 'nosuch' is test }} {{ 'tojson' is filter }}
{{ 1 is defined and 2 is even or nope }} {{ not 1 is odd }} {{ n is odd and n > 5 }} {{ (n is odd) == true }} {{ s is string and s|length > 3 }} {{ 'x' if s is defined else 'y' }} {{ n + 1 is even }} {{ -n is odd }} {{ s|upper is upper }} {{ d.a is defined and d.q is not defined }} {{ 5 is not even }}
{% set c = cycler('a', 'b', 'c') %}{{ c.next() }}{{ c.next() }}{{ c.current }}{{ c.next() }}{{ c.next() }}{{ c.reset() }}{{ c.current }}
{% set j = joiner('; ') %}{{ j() }}a{{ j() }}b{{ j() }}c {% set k = joiner() %}{{ k() }}{{ k() }}
{{ strftime_now('%Y-%m-%d %H:%M:%S') }} {{ strftime_now('%d %b %Y') }} {{ strftime_now('%A, %B %d, %Y %j %p %y %%') }} {{ strftime_now('') }}| {{ strftime_now('%d/%m/%Y, %f') }}
{% if false %}{{ x|nosuchfilter }}{{ y is nosuchtest }}{% endif %}ok {{ 'a' if true else x|nosuchfilter }}
{% if true %}{{ 'ok' }}{% elif x|nosuch %}{% endif %}
{{ x.y if x is defined else 'safe' }} {{ (d.q or {}).r }}| {{ d.q.r if d.q else 'no' }} {{ nope|default({})|length }} {{ (nope|default({})).x }}|
{{ '%s' | format(s) | upper | lower | title }} {{ l | map('string') | map('upper') | join(',') | length }} {{ words | map('length') | list | sort | reverse | list | first }}
{{ {'a': [1, {'b': (2, 3)}]}.a[1].b[0] }} {{ [[1, 2], [3]][0][1] }} {{ 'abc'[1]|upper }} {{ (1, 2)[0] }} {{ [1, 2][-1] }} {{ 'abc'.upper()[0].lower() }} {{ l|sort|first + 10 }}
{{ 1if true else 2 }} {{ n-1 }} {{ n -1 }} {{ l[n-6] }} {{ 3-1-1 }} {{ 2*3%4 }} {{ 10//3*3 }} {{ -n }} {{ +n }} {{ - -n }} {{ 1 - -1 }} {{ not -1 }} {{ -1 ** 2 }} {{ -f|abs }} {{ (-f)|abs }} {{ -l[0] }}
{{ [1, 2, 3,] }} {{ {'a': 1,} }} {{ (1, 2,) }} {{ range(3,)|list }} {{ [  ] }} {{ {
 'multi': 1,
 'line': 2
} }}
{%- for m in people -%}
  {%- if loop.first -%} first: {%- endif -%}
  {{- m.name -}}
  {%- if not loop.last %}, {% endif -%}
{%- endfor -%}
{{- '\n' -}} x {{- ' ' }} y
{% for m in people %}
{{ m.name }}
{% if m.ok %}
  ok
{% else %}
  not
{% endif %}
{% endfor %}
{{ people[0]['na' ~ 'me'] }} {{ people[-1].kids[0].name }} {{ people|map(attribute='name')|map('lower')|sort|join(' ') }} {{ people|length > 3 }} {{ people[1:3]|map(attribute='name')|list }}
{% set content = '<think>\nr\n</think>\n\nanswer' %}{{ content.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') }}|{{ content.split('</think>')[-1].lstrip('\n') }}
{% set ns = namespace(idx=-1) %}{% for m in people %}{% if m.ok %}{% set ns.idx = loop.index0 %}{% endif %}{% endfor %}{{ ns.idx }} {% for m in people[::-1] %}{% set i = (people|length - 1) - loop.index0 %}{{ i }}{% endfor %}
{% macro render(v, depth=0) %}{% if v is mapping %}{{ '{' }}{% for k, x in v|dictsort %}{{ k }}:{{ render(x, depth + 1) }}{% if not loop.last %},{% endif %}{% endfor %}{{ '}' }}{% elif v is string %}"{{ v }}"{% elif v is iterable %}[{% for x in v %}{{ render(x, depth + 1) }}{% if not loop.last %},{% endif %}{% endfor %}]{% else %}{{ v }}@{{ depth }}{% endif %}{% endmacro %}{{ render(mixed) }} {{ render(dd) }}
{% set x = [] %}{% for i in range(3) %}{% set x = x + [i] %}{% endfor %}{{ x }} {% set ns = namespace(x=[]) %}{% for i in range(3) %}{% set ns.x = ns.x + [i] %}{% endfor %}{{ ns.x }}
{% for i in range(3) %}{% if not loop.first %}{% set sep = '-' %}{% endif %}{{ sep }}{{ i }}{% endfor %}
{% set x %}{% for i in l %}{{ i }}{% endfor %}{% endset %}{{ x }} {% set y %}{% set z = 1 %}{{ z }}{% endset %}{{ y }}{{ z }}
{% for x in l %}{% set inner %}{{ x }}!{% endset %}{{ inner }}{% endfor %} {% for x in l %}{% filter upper %}a{{ x }}{% endfilter %}{% endfor %}
{% for a in [1, 2] %}{% macro f() %}{{ a }}{% endmacro %}{{ f() }}{% endfor %}
{% set f = s.upper %}{{ f() }} {% set g = range %}{{ g(2)|list }} {% set h = d.get %}{{ h('a') }}
{{ [s.upper(), s.lower()]|join }} {{ (s.split(' ')|last).upper() }} {{ s.split()|map('lower')|list }}
{{ 'a' ~ ('b' if t else 'c') ~ 'd' }} {{ ('a', 'b') ~ '' }} {{ 'x' * n ~ 'y' }} {{ 1 ~ 1 == '11' }} {{ ('1' ~ 1)|int + 1 }}
{{ ''|default('x', true) ~ (none or 'y') ~ (0 and 1) }} {{ [] or {} or 'z' }} {{ {} and 1 }} {{ l and l[0] }}
{{ "a" == 'a' }} {{ none == none }} {{ none == false }} {{ [] == () }} {{ 1 == '1' }} {{ nope == '' }} {{ nope != '' }} {{ nope is eq nope }} {{ true != 1.0 }}
{{ 'é' == 'e\u0301' }} {{ 'é'|length }} {{ 'e\u0301'|length }} {{ '👨‍👩‍👧'|length }} {{ '🙂'[0] }} {{ '🙂'|list }} {{ ar|upper }} {{ ar.split() }} {{ ar.find('بال') }} {{ ar|reverse }} {{ 'ﷺ'|upper }}
{{ 5 if 5 is odd else 6 }} {{ [x]|length if x is defined else [] }} {{ 1 if 1 else nope.foo }} {{ nope.foo if 0 else 2 }}
{{ (1, 2)|list }} {{ ((1, 2), (3, 4))|list }} {{ [(1, 2)]|first }} {{ dict([(1, 2)]) }} {{ dict([(1, 2)])|tojson }} {% for a, b in [(1, 2), [3, 4], 'xy'] %}{{ a }}{{ b }} {% endfor %}
{{ 9.0 is divisibleby 3 }} {{ 1e3|int }} {{ 1e3 }} {{ 1.10 }} {{ 100000000000000000000.0 }} {{ 0.00001 }} {{ 1/3 }} {{ 2/3 }} {{ 1e15 + 0.3 }} {{ 4.35 * 100 }} {{ 1.1 + 2.2 }} {{ 3.0 // 1 }} {{ 0.1 * 3 }} {{ 1e100 }}
{{ f.is_integer() }} {{ 2.0.is_integer() if false else 'x' }} {{ n.real }} {{ n.numerator }} {{ n.imag }} {{ n.foo }}| {{ none.foo }}| {{ f.real }} {{ t.real }}
{{ x
 }}|{{
n
}}|{%
if t
%}y{%
endif
%}
{{ d['a'] + d.b }} {{ d['C']|string + 'x' }} {{ d[s[:1]|lower] }}| {{ d['a' if t else 'b'] }} {{ l[l[1]] }} {{ people[l|min].name }}
{% if 'a' in d and d.a == 1 and 'z' not in d %}yes{% endif %} {% if not 'a' in d %}no{% else %}has{% endif %} {% if d is mapping and d %}m{% endif %} {% if 'x' in [none, 'x'] %}in{% endif %} {% if (1, 2) in [(1, 2)] %}t{% endif %} {% if [1] in [[1]] %}l{% endif %}
{{ 'b'.join(['a', 'c']) }} {{ 'x'.join(('1', '2')) }} {{ 'é'.join(words) }} {{ ', '.join(d.keys()) }} {{ '\n'.join(['a', 'b']) }}
{{ [[1, 2], [3, 4]]|map('sum')|list }} {{ [1, 2, 3]|map('string')|list }} {{ ['1', '2']|map('int')|sum }} {{ [{'a': 1}, {'a': 2}]|map(attribute='a')|max }} {{ ['a', 'b']|map('upper')|list|tojson }} {{ [[3, 1], [2]]|map('sort')|list }} {{ [none, 1]|map('default', 'x', true)|list }}
{{ loop }}| {{ caller }}| {{ varargs }}|
{% for x in 'ab' %}{% for y in 'cd' %}{{ x }}{{ y }}{{ loop.first }}{% if loop.last %};{% endif %}{% endfor %}{% endfor %}
{% with %}{% set a = 1 %}{% with b = a %}{{ b }}{% endwith %}{% endwith %} {% with (a, b) = (1, 2) %}{{ a }}{{ b }}{% endwith %}
{{ 10**18 }} {{ 10**18 * 9 }} {{ 2**62 }} {{ -2**63 }} {{ 3**30 }} {{ 0x7fffffffffffffff }} {{ (-8)**3 }} {{ 10**-2 }}
{{ [3,1,2]|sort(reverse=True)|first }} {{ ['b', 'A']|sort }} {{ ['b', 'A']|sort(case_sensitive=True) }} {{ [(2, 'b'), (1, 'z'), (2, 'a')]|sort }} {{ {'z': 1, 'a': 2}|dictsort|first }} {{ {'z': 1, 'a': 2}|sort }}
"""

# Separated by lines of "====": templates with line ends that matter.
BLOCKS = r"""
a
{% if t %}
b
{% endif %}
c
====
    {% for x in l %}
        {{ x }}
    {% endfor %}

end

====
{%- macro field(name, type='text') -%}
    <input name="{{ name }}" type="{{ type }}">
{%- endmacro -%}
{{ field('a') }}
{{ field('b', type='password') }}
====
<ul>
{%- for x in l %}
  <li>{{ x }}</li>
{%- endfor %}
</ul>
====
{% raw %}
  {{ not }} {% parsed %}
{% endraw %}
after
====
  {%- raw %}
  x
  {%- endraw %}
after
====
x   {#- strip -#}   y
  {# own line #}
z {# inline #}
w
====
{% set doc -%}
   some text
{%- endset %}
[{{ doc }}]
====
   {%- if t +%}

 two
   {%+ endif -%}

three
====
{{ "a\nb" }}
{{- "\n" }}
{{ s }}

{{ s -}}

end
====
{% for p in people %}
{%- set label = p.name | upper %}
{{ loop.index }}. {{ label }}
{%- if p.kids is defined %}

  kids: {{ p.kids | map(attribute='name') | join(', ') }}
{%- endif %}
{% endfor %}
====
{#
 {% if broken %} {{ also }}
#}
{% if t %}x{% endif %}
{% if t %}y{% endif %} z
   {{ n }}   {% if t %} q {% endif %}   
	{%- if t %}	tab{% endif %}
====
{%- set tools = people %}
{{- "<tools>" }}
{%- for tool in tools %}
    {{- "\n" }}
    {{- tool | tojson }}
{%- endfor %}
{{- "\n</tools>" }}
"""

ERRORS = r"""
{{ nope.x }}
{{ nope['x'] }}
{{ nope() }}
{{ nope + 1 }}
{{ 1 + nope }}
{{ 'a' + nope }}
{{ nope < 1 }}
{{ -nope }}
{{ nope|int }}
{{ nope|abs }}
{{ d.q.r }}
{{ d['q']['r'] }}
{{ l[9].x }}
{{ none.x.y }}
{{ s.nope() }}
{{ s.nope.x }}
{{ n.x.y }}
{{ l.append(1) }}
{{ d.update({}) }}
{{ d.pop('a') }}
{{ l.sort() }}
{{ d.setdefault('a', 1) }}
{{ d.clear() }}
{{ s.__class__.__mro__ }}
{{ ''.__class__() }}
{{ d.__init__() }}
{{ s.format.__globals__.x }}
{{ raise_exception('Boom!') }}
{{ raise_exception('Rôles: ' ~ l) }}
{{ raise_exception() }}
{{ raise_exception(1) }}
{{ 1 + 'a' }}
{{ 'a' + 1 }}
{{ 'a' - 'b' }}
{{ [1] + (2,) }}
{{ {} + {} }}
{{ none + 1 }}
{{ -'a' }}
{{ 1 < 'a' }}
{{ none < 1 }}
{{ [1] < ['a'] }}
{{ {} < {} }}
{{ 1 / 0 }}
{{ 1 // 0 }}
{{ 1 % 0 }}
{{ 1.0 / 0 }}
{{ 0 ** -1 }}
{{ 1 in 1 }}
{{ 1 in 'a' }}
{{ nope in 'a' }}
{{ [] in {} }}
{{ {[]: 1} }}
{{ {{}: 1} }}
{{ s() }}
{{ n() }}
{{ 5|length }}
{{ none|length }}
{{ (l|map('string'))|length }}
{{ (l|map('string'))|last }}
{{ l|map|list }}
{{ l|map('nosuch')|list }}
{{ l|map(attribute='a', x=1)|list }}
{{ l|select('nosuch')|list }}
{{ people|selectattr|list }}
{{ people|selectattr('ok', 'nosuch')|list }}
{{ ['a', 1]|sort }}
{{ [none, 1]|max }}
{{ ['a']|sum }}
{{ d|dictsort(by='x') }}
{{ l|dictsort }}
{{ l|items|list }}
{{ l|tojson(nope=1) }}
{{ nope|tojson }}
{{ [nope]|tojson }}
{{ range|tojson }}
{{ (l|map('string'))|tojson }}
{{ {(1, 2): 3}|tojson }}
{{ namespace()|tojson }}
{{ d.items()|tojson }}
{{ {1: 1, 'a': 2}|tojson(sort_keys=true) }}
{{ 'x'|round }}
{{ 1|round(1, 'up') }}
{{ 'x'|abs }}
{{ l|replace }}
{{ l|replace('a') }}
{{ s|upper(1) }}
{{ s|default(1, 2, 3) }}
{{ s|default(x=1) }}
{{ 1|indent }}
{{ s|truncate(1) }}
{{ 1|truncate }}
{{ l|batch }}
{{ l|slice(0)|list }}
{{ 5|list }}
{{ 5|join }}
{{ 5|first }}
{{ 5|reverse }}
{{ none|unique|list }}
{{ [[1]]|unique|list }}
{{ s.split('') }}
{{ s.split(1) }}
{{ s.index('zz') }}
{{ l.index(99) }}
{{ s.startswith(1) }}
{{ s.startswith(['a']) }}
{{ s.join([1]) }}
{{ s.center() }}
{{ s.center(3, 'ab') }}
{{ s.strip(1) }}
{{ s.replace('a') }}
{{ s.partition('') }}
{{ d.get() }}
{{ d.get([]) }}
{{ '%d' % 'a' }}
{{ '%s %s' % 1 }}
{{ '%s' % (1, 2) }}
{{ '%q' % 1 }}
{{ '%(a)s' % 1 }}
{{ '%(q)s' % d }}
{{ '%' % 1 }}
{{ '{}'.format() }}
{{ '{x}'.format() }}
{{ '{'.format(1) }}
{{ '}'.format(1) }}
{{ '{:d}'.format('a') }}
{{ '{:s}'.format(1) }}
{{ '{0} {}'.format(1, 2) }}
{{ '{.nope.x}'.format(s) }}
{{ range() }}
{{ range('a') }}
{{ range(1, 2, 0) }}
{{ range(1.5) }}
{{ dict(1) }}
{{ dict([1]) }}
{{ dict(1, 2) }}
{{ namespace(1) }}
{{ namespace(_x=1) }}
{% set ns = namespace() %}{% set ns._x = 1 %}
{% set ns = {} %}{% set ns.x = 1 %}
{% set nope2.x = 1 %}
{% set a, b = 1 %}
{% set a, b = [1] %}
{% set a, b = [1, 2, 3] %}
{% for a, b in [1] %}{% endfor %}
{% for a, b in [[1, 2, 3]] %}{% endfor %}
{% for x in none %}{% endfor %}
{% for x in 5 %}{% endfor %}
{% for x in l %}{{ loop(l) }}{% endfor %}
{% for x in l %}{{ loop.cycle() }}{% endfor %}
{% for x in l %}{{ loop.nope.x }}{% endfor %}
{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}
{% macro m(a) %}{% endmacro %}{{ m(b=1) }}
{% macro m(a) %}{{ a.x }}{% endmacro %}{{ m() }}
{% macro m() %}{% endmacro %}{% call m() %}{% endcall %}
{% macro m() %}{{ caller() }}{% endmacro %}{{ m() }}
{% call s.nope() %}{% endcall %}
{{ cycler() }}
{{ strftime_now() }}
{{ strftime_now(1) }}
{{ l[1:2:0] }}
{{ l['a':] }}
{{ d[1:] }}
{% set q = none %}{{ q[1:] }}
{{ n[1:] }}
{{ nope[1:] }}
{{ s|nosuch }}
{{ s is nosuch }}
{% for x in l %}{{ x|nosuch }}{% endfor %}
{% if true %}{{ x|nosuch }}{% endif %}
{% if true %}{{ x is nosuch }}{% endif %}
{% if true %}{% for x in l %}{{ x|nosuch }}{% endfor %}{% endif %}
{% if false %}{% for x in l %}{{ x|nosuch }}{% endfor %}{% endif %}
{% if false %}{% set y | nosuch %}{% endset %}{% endif %}
{% filter nosuch %}{% endfilter %}
{{ 1 is divisibleby }}
{{ 1 is divisibleby 0 }}
{{ 'a' is divisibleby 2 }}
{{ 'a' is odd }}
{{ 1 is even is odd }}
{{ 1 is gt 'a' }}
{{ 1 is in 5 }}
{{ }}
{{ 1 + }}
{{ 1 2 }}
{{ (1 }}
{{ 1) }}
{{ [1 }}
{{ {'a' 1} }}
{{ {'a': } }}
{{ 'abc }}
{{ a..b }}
{{ a. }}
{{ a[ }}
{{ a[] .x }}
{{ a | }}
{{ a is }}
{{ f(a=1, 2) }}
{{ f(a=1, a=2) }}
{{ f(**d, 1) }}
{{ f(*l, 1) }}
{{ not }}
{{ a ? b }}
{{ a & b }}
{{ a $ }}
{{ 'a' if }}
{{ lambda x: x }}
{{ [x for x in l] }}
{{ a = 1 }}
{{ '\x4' }}
{{ '\u12' }}
{{ x
{% if %}{% endif %}
{% if a %}
{% if a %}{% else %}
{% if a %}{% endfor %}
{% endif %}
{% else %}
{% for %}{% endfor %}
{% for x %}{% endfor %}
{% for x in %}{% endfor %}
{% for 1 in l %}{% endfor %}
{% set a = b = 1 %}
{% set w, = [5] %}
{% macro k(**kwargs) %}{% endmacro %}
{% call(x) (l|first)|string %}{% endcall %}
{% call(x) none %}{% endcall %}
{% for x in l
{% for x in l %}
{% for loop in l %}{% endfor %}
{% for x in l %}{% set loop = 1 %}{% endfor %}
{% set %}
{% set x %}
{% set 1 = 2 %}
{% set true = 1 %}
{% set x.y.z = 1 %}
{% set x[0] = 1 %}
{% macro %}{% endmacro %}
{% macro m %}{% endmacro %}
{% macro m(1) %}{% endmacro %}
{% macro m(a=1, b) %}{% endmacro %}
{% macro m(a, a) %}{% endmacro %}
{% macro m(*a) %}{% endmacro %}
{% call 1 %}{% endcall %}
{% call %}{% endcall %}
{% break %}
{% continue %}
{% for x in l %}{% macro m() %}{% break %}{% endmacro %}{% endfor %}
{% for x in l %}{% generation %}{% break %}{% endgeneration %}{% endfor %}
{% if t %}{% else %}{% break %}{% endif %}
{% nosuch %}
{% do l %}
{% with a %}{% endwith %}
{% with a=1 %}
{% raw %} x
{% filter %}{% endfilter %}
{% filter upper %}
{# never closed
{% if t %}x{% endif
{% 1 %}
{% include 'x' %}
{% import 'x' as y %}
{% extends 'x' %}
"""


def snippets():
    """(name, template, is expected to fail)"""
    lines, start = TEXT.strip("\n").split("\n"), 0
    # A line that begins a template whose tags or strings run over several lines is joined with what follows.
    for i, line in enumerate(lines):
        text = "\n".join(lines[start:i + 1])
        if i + 1 < len(lines) and not _complete(text):
            continue
        yield f"text {start + 1}", text, False
        start = i + 1
    for i, block in enumerate(BLOCKS.strip("\n").split("\n====\n")):
        yield f"block {i + 1}", block, False
    for i, line in enumerate(ERRORS.strip("\n").split("\n")):
        yield f"error {i + 1}", line, True


def _complete(text):
    opened = sum(text.count(x) for x in ("{{", "{%", "{#"))
    closed = sum(text.count(x) for x in ("}}", "%}", "#}"))
    openers = ("{% if", "{% for", "{%+ if", "{%- for", "{%- if", "{%- set content", "{% filter", "{%\nif")
    ends = text.count("{% endif") + text.count("{% endfor") + text.count("{%+ endif") + text.count("{%- endfor") + text.count("{%- endif")
    ends += text.count("{% endfilter") + text.count("{%\nendif")
    starts = sum(text.count(x) for x in openers)
    return opened <= closed and starts <= ends or "{{ '{{'" in text
