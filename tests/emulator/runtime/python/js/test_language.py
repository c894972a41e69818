"""The JavaScript language through `js`; every expected text is Node.js's util.inspect of the same expression."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from flarebed.emulator.runtime.python.js import language
from flarebed.emulator.runtime.python.js.console import inspect
from flarebed.emulator.runtime.python.proxy import JsException, from_python, jsnull, to_python
from flarebed.emulator.runtime.python.pyproxy import make_proxy

js = SimpleNamespace(**language.exports())


def obj(**members: Any) -> Any:
    return to_python({name: from_python(member) for name, member in members.items()})


def arr(*items: Any) -> Any:
    return to_python([from_python(item) for item in items])


SCOPE = {"js": js, "obj": obj, "arr": arr, "null": jsnull}


OBJECTS = [
    ("js.Object.keys(obj(b=1, a=2))", "[ 'b', 'a' ]"),
    ("js.Object.values(obj(b=1, a=arr(2)))", "[ 1, [ 2 ] ]"),
    ("js.Object.entries(obj(b=1))", "[ [ 'b', 1 ] ]"),
    ("js.Object.keys('ab')", "[ '0', '1' ]"),
    ("js.Object.keys(arr('x', 'y'))", "[ '0', '1' ]"),
    ("js.Object.fromEntries(arr(arr('a', 1), arr('b', arr(2))))", "{ a: 1, b: [ 2 ] }"),
    ("js.Object.fromEntries(js.Map.new(arr(arr('k', 'v'))))", "{ k: 'v' }"),
    ("js.Object.fromEntries(arr(arr('2', 1), arr('a', 2), arr('1', 3))).object_keys()", "[ '1', '2', 'a' ]"),
    ("js.Object.assign(obj(a=1), obj(b=2), null, obj(a=3))", "{ a: 3, b: 2 }"),
    ("js.Object.freeze(obj(a=1))", "{ a: 1 }"),
    ("js.Object.keys(js.Object.create(null))", "[]"),
    ("js.Object.getOwnPropertyNames(arr(1))", "[ '0', 'length' ]"),
    ("js.Object.getOwnPropertyDescriptor(obj(a=1), 'a')",
     "{ value: 1, writable: true, enumerable: true, configurable: true }"),
    ("js.Object.defineProperty(obj(), 'a', obj(value=5, enumerable=True)).a", "5"),
    ("js.Object.hasOwn(obj(a=1), 'a')", "true"),
    ("js.Object.is_(js.NaN, js.NaN)", "true"),
    ("js.Object.is_(0.0, -0.0)", "false"),
    ("js.Object.is_('1', 1)", "false"),
    ("js.Object.groupBy(arr(1, 2, 3), lambda x, i: 'odd' if x % 2 else 'even')", "{ odd: [ 1, 3 ], even: [ 2 ] }"),
    ("js.Object.new()", "{}"),
    ("js.Reflect.has(obj(a=1), 'a')", "true"),
    ("js.Reflect.get(obj(a=1), 'a')", "1"),
    ("js.Reflect.ownKeys(obj(a=1))", "[ 'a' ]"),
    ("js.Reflect.construct(js.Array, arr(1, 2))", "[ 1, 2 ]"),
]  # fmt: skip

ARRAYS = [
    ("js.Array.new(3).length", "3"),
    ("js.Array.new(1, 'a')", "[ 1, 'a' ]"),
    ("js.Array.of(3)", "[ 3 ]"),
    ("js.Array.from_('aé😀')", "[ 'a', 'é', '😀' ]"),
    ("js.Array.from_(js.Set.new(arr(1, 1, 2)))", "[ 1, 2 ]"),
    ("js.Array.from_(arr(1, 2), lambda x, i: x * 10 + i)", "[ 10, 21 ]"),
    ("js.Array.from_(obj(length=2)).length", "2"),
    ("js.Array.from_(5)", "[]"),
    ("js.Array.isArray(arr())", "true"),
    ("js.Array.isArray(obj())", "false"),
    ("arr(1, 2, 3).map(lambda x, i, a: x * a.length)", "[ 3, 6, 9 ]"),
    ("arr(1, 2, 3).filter(lambda x, i, a: x != 2)", "[ 1, 3 ]"),
    ("arr(1, 2, 3).reduce(lambda t, x, i, a: t + x)", "6"),
    ("arr(1, 2, 3).reduceRight(lambda t, x, i, a: t + str(x), '')", "'321'"),
    ("arr(1, 2, 3).find(lambda x, i, a: x > 1)", "2"),
    ("arr(1, 2).find(lambda x, i, a: x > 5)", None),
    ("arr(1, 2, 3).findIndex(lambda x, i, a: x > 1)", "1"),
    ("arr(1, 2, 3).findLast(lambda x, i, a: x < 3)", "2"),
    ("arr(1, 2).every(lambda x, i, a: x > 1)", "false"),
    ("arr(1, 2).some(lambda x, i, a: x > 1)", "true"),
    ("arr(1, 2, 3).at(-1)", "3"),
    ("arr(1, 2, 3).slice(-2, -1)", "[ 2 ]"),
    ("arr(1, null, None, arr(2, 3)).join('-')", "'1---2,3'"),
    ("arr(1, js.NaN).includes(js.NaN)", "true"),
    ("arr(1, '1').indexOf('1')", "1"),
    ("arr(1, True).indexOf(True)", "1"),
    ("arr(1, 2, 1).lastIndexOf(1)", "2"),
    ("arr(3, 20, 100, None, 1).sort()", "[ 1, 100, 20, 3, undefined ]"),
    ("arr(3, 20, 100).sort(lambda a, b: b - a)", "[ 100, 20, 3 ]"),
    ("arr(3, 1).toSorted()", "[ 1, 3 ]"),
    ("arr(1, 2).toReversed()", "[ 2, 1 ]"),
    ("arr(1, 2).with_(-1, 5)", "[ 1, 5 ]"),
    ("arr(1, 2, 3, 4).toSpliced(1, 2, 'x')", "[ 1, 'x', 4 ]"),
    ("arr(1, 2, 3, 4).splice(-3, 2)", "[ 2, 3 ]"),
    ("arr(1).push(2, 3)", "3"),
    ("arr(1, 2).shift()", "1"),
    ("arr().shift()", None),
    ("arr(1).unshift(0)", "2"),
    ("arr(1, 2, 3).fill(0, 1)", "[ 1, 0, 0 ]"),
    ("arr(1, 2, 3, 4).copyWithin(0, 2)", "[ 3, 4, 3, 4 ]"),
    ("arr(1).concat(2, arr(3, arr(4)))", "[ 1, 2, 3, [ 4 ] ]"),
    ("arr(1, arr(2, arr(3))).flat()", "[ 1, 2, [ 3 ] ]"),
    ("arr(1, arr(2, arr(3))).flat(js.Infinity)", "[ 1, 2, 3 ]"),
    ("arr(1, 2).flatMap(lambda x, i, a: arr(x, x))", "[ 1, 1, 2, 2 ]"),
    ("arr(1, 2).toString()", "'1,2'"),
]  # fmt: skip

COLLECTIONS = [
    ("js.Map.new(arr(arr('a', 1), arr(null, obj(b=2))))", "Map(2) { 'a' => 1, null => { b: 2 } }"),
    ("js.Map.new().set('a', 1).size", "1"),
    ("js.Map.groupBy(arr(1, 2, 3), lambda x, i: x % 2)", "Map(2) { 1 => [ 1, 3 ], 0 => [ 2 ] }"),
    ("js.Set.new(arr(1, 1, 'a'))", "Set(2) { 1, 'a' }"),
    ("js.Set.new(arr(1, 2)).union(js.Set.new(arr(2, 3)))", "Set(3) { 1, 2, 3 }"),
    ("js.Set.new(arr(1, 2)).intersection(js.Set.new(arr(2, 3)))", "Set(1) { 2 }"),
    ("js.Set.new(arr(1, 2)).difference(js.Set.new(arr(2, 3)))", "Set(1) { 1 }"),
    ("js.Set.new(arr(1, 2)).symmetricDifference(js.Set.new(arr(2, 3)))", "Set(2) { 1, 3 }"),
    ("js.Set.new(arr(1)).isSubsetOf(js.Set.new(arr(1, 2)))", "true"),
    ("js.WeakMap.new().set(arr(), 1).has(arr())", "false"),
    ("js.Symbol('a').toString()", "'Symbol(a)'"),
    ("js.Symbol.for_('x') == js.Symbol.for_('x')", "true"),
    ("js.Symbol('x') == js.Symbol('x')", "false"),
    ("js.Symbol.keyFor(js.Symbol.for_('x'))", "'x'"),
    ("js.Symbol.iterator.toString()", "'Symbol(Symbol.iterator)'"),
]  # fmt: skip

NUMBERS = [
    ("js.parseInt('12px')", "12"), ("js.parseInt('-0x1f')", "-31"), ("js.parseInt('z', 36)", "35"),
    ("js.parseInt('1', 1)", "NaN"), ("js.parseInt('')", "NaN"),
    ("js.parseInt('123456789012345678901')", "123456789012345680000"),
    ("js.parseInt(' 010 ')", "10"), ("js.parseInt('102', 2)", "2"), ("js.parseFloat('3.14abc')", "3.14"),
    ("js.parseFloat('.5e1')", "5"), ("js.parseFloat('-Infinityx')", "-Infinity"), ("js.parseFloat('x')", "NaN"),
    ("js.isNaN('x')", "true"), ("js.isFinite('5')", "true"), ("js.Number('0x10')", "16"), ("js.Number(None)", "NaN"),
    ("js.Number(null)", "0"), ("js.Number(js.BigInt(5))", "5"), ("js.Number.isInteger(5.5)", "false"),
    ("js.Number.isInteger('5')", "false"), ("js.Number.isSafeInteger(9007199254740990)", "true"),
    ("js.Number.isNaN('x')", "false"), ("js.Number.EPSILON", "2.220446049250313e-16"), ("js.BigInt('0xff')", "255n"),
    ("js.BigInt(10)", "10n"), ("js.BigInt.asIntN(8, js.BigInt(255))", "-1n"),
    ("js.BigInt.asUintN(8, js.BigInt(-1))", "255n"),
    ("js.Math.round(2.5)", "3"), ("js.Math.round(-2.5)", "-2"), ("js.Math.round(0.49999999999999994)", "0"),
    ("js.Math.max()", "-Infinity"), ("js.Math.max(1, '3', 2)", "3"), ("js.Math.min(1, js.NaN)", "NaN"),
    ("js.Math.floor(-1.5)", "-2"), ("js.Math.trunc(-1.5)", "-1"), ("js.Math.sign(-3)", "-1"),
    ("js.Math.sqrt(-1)", "NaN"),
    ("js.Math.pow(2, 10)", "1024"), ("js.Math.pow(0, -1)", "Infinity"), ("js.Math.pow(-8, 1 / 3)", "NaN"),
    ("js.Math.pow(10, 400)", "Infinity"), ("js.Math.cbrt(27)", "3"), ("js.Math.log(0)", "-Infinity"),
    ("js.Math.log2(8)", "3"), ("js.Math.log(-1)", "NaN"), ("js.Math.exp(1000)", "Infinity"),
    ("js.Math.hypot(3, 4)", "5"),
    ("js.Math.fround(5.5)", "5.5"), ("js.Math.fround(1e300)", "Infinity"), ("js.Math.clz32(1)", "31"),
    ("js.Math.imul(4294967295, 5)", "-5"), ("js.Math.atan2(1, 1)", "0.7853981633974483"), ("js.Math.cos(0)", "1"),
    ("js.Math.PI", "3.141592653589793"), ("js.Math.abs('-5')", "5"), ("js.Boolean('')", "false"),
    ("js.Boolean(arr())", "true"),
    ("js.Boolean(js.NaN)", "false"),
]  # fmt: skip

STRINGS = [
    ("js.String(12)", "'12'"), ("js.String(arr(1, null))", "'1,'"), ("js.String.fromCharCode(72, 105)", "'Hi'"),
    ("js.String.fromCharCode(55357, 56832)", "'😀'"), ("js.String.fromCodePoint(128512)", "'😀'"),
    ("js.String.raw(obj(raw=arr('a', 'b')), 1)", "'a1b'"),
    ("js.encodeURIComponent(\"é ;/?:@&=+$,#-_.!~*()'[]\")",
     "\"%C3%A9%20%3B%2F%3F%3A%40%26%3D%2B%24%2C%23-_.!~*()'%5B%5D\""),
    ("js.encodeURI(\"é ;/?:@&=+$,#-_.!~*()'[]%\")", "\"%C3%A9%20;/?:@&=+$,#-_.!~*()'%5B%5D%25\""),
    ("js.decodeURIComponent('%3B%C3%A9%20x%F0%9F%98%80')", "';é x😀'"), ("js.decodeURI('%3B%C3%A9%20')", "'%3Bé '"),
    ("js.escape('é☃ @*_+-./')", "'%E9%u2603%20@*_+-./'"), ("js.unescape('%E9%u2603%20%zz')", "'é☃ %zz'"),
]  # fmt: skip

JSON = [
    ("js.JSON.parse('{\"a\":[1,null,{\"b\":1.5}]}')", "{ a: [ 1, null, { b: 1.5 } ] }"),
    ("js.JSON.parse('[1,2]', lambda k, v: v if k == '' else v * 2)", "[ 2, 4 ]"),
    ("js.JSON.parse('{\"a\":1,\"b\":2}', lambda k, v: None if k == 'a' else v)", "{ b: 2 }"),
    ("js.JSON.stringify(obj(a=1, b=None, c=null))", "'{\"a\":1,\"c\":null}'"),
    ("js.JSON.stringify(obj(a=arr(1), b=2), null, 1)", "'{\\n \"a\": [\\n  1\\n ],\\n \"b\": 2\\n}'"),
    ("js.JSON.stringify(obj(a=1, b=obj(c=2, a=3)), arr('a', 'b'))", "'{\"a\":1,\"b\":{\"a\":3}}'"),
    ("js.JSON.stringify(obj(a=1, b=2), lambda k, v: None if k == 'a' else v)", "'{\"b\":2}'"),
    ("js.JSON.stringify(js.Date.new(0))", "'\"1970-01-01T00:00:00.000Z\"'"), ("js.JSON.stringify(None)", None),
    ("js.JSON.stringify(js.Map.new())", "'{}'"),
]  # fmt: skip

REGEXPS = [
    ("js.RegExp.new('a+', 'gi').toString()", "'/a+/gi'"), ("js.RegExp.new('a+', 'i').test('xA')", "true"),
    ("js.RegExp.new('(?<y>\\\\d{4})-(\\\\d)').exec('in 2020-1').groups.y", "'2020'"),
    ("js.RegExp.new('b(c)?').exec('ab').index", "1"), ("js.RegExp.new('(b)(c)?').exec('ab')[1]", "'b'"),
    ("js.RegExp.new('x').exec('a')", "null"), ("js.RegExp.new('a$').test('a\\n')", "false"),
    ("js.RegExp.new('^a$', 'm').test('b\\na')", "true"), ("js.RegExp.new('\\\\d').test('١')", "false"),
    ("js.RegExp.new('[^]').test('\\n')", "true"), ("js.RegExp.new('[\\\\d[]').test('[')", "true"),
    ("js.RegExp.new('\\\\u0061').test('a')", "true"), ("js.RegExp.new('a.c', 's').test('a\\nc')", "true"),
    ("js.RegExp.new('a').constructor.name", "'RegExp'"), ("js.RegExp.new('').source", "'(?:)'"),
]  # fmt: skip

TABLE = OBJECTS + ARRAYS + COLLECTIONS + NUMBERS + STRINGS + JSON + REGEXPS


@pytest.mark.parametrize(("code", "shown"), TABLE)
def test_an_expression(code: str, shown: str | None) -> None:
    value = eval(code, dict(SCOPE))
    assert (None if value is None else inspect(from_python(value))) == shown


THROWS = [
    ("js.Object.keys(null)", "TypeError: Cannot convert undefined or null to object"),
    ("js.Object.fromEntries(5)", "TypeError: number 5 is not iterable (cannot read property Symbol(Symbol.iterator))"),
    ("js.Object.fromEntries(None)", "TypeError: undefined is not iterable"),
    ("js.Object.fromEntries(arr(1))", "TypeError: Iterator value 1 is not an entry object"),
    ("js.Object.create(5)", "TypeError: Object prototype may only be an Object or null: 5"),
    ("js.Reflect.ownKeys(1)", "TypeError: Reflect.ownKeys called on non-object"),
    ("js.Array.new(-1)", "RangeError: Invalid array length"),
    ("arr().reduce(lambda a, b: a)", "TypeError: Reduce of empty array with no initial value"),
    ("arr(1).map(5)", "TypeError: number 5 is not a function"),
    ("arr(1).map('x')", 'TypeError: string "x" is not a function'),
    ("arr(1).with_(5, 1)", "RangeError: Invalid index : 5"),
    ("js.Map()", "TypeError: Constructor Map requires 'new'"),
    ("js.Set.new(5)", "TypeError: number 5 is not iterable (cannot read property Symbol(Symbol.iterator))"),
    ("js.Map.new(obj())", "TypeError: object is not iterable (cannot read property Symbol(Symbol.iterator))"),
    ("js.WeakMap.new().set(1, 2)", "TypeError: Invalid value used as weak map key"),
    ("js.WeakSet.new().add(1)", "TypeError: Invalid value used in weak set"),
    ("js.WeakRef.new(1)", "TypeError: WeakRef: invalid target"),
    ("js.Symbol.new()", "TypeError: Symbol is not a constructor"),
    ("js.BigInt(1.5)", "RangeError: The number 1.5 cannot be converted to a BigInt because it is not an integer"),
    ("js.BigInt('x')", "SyntaxError: Cannot convert x to a BigInt"),
    ("js.BigInt(None)", "TypeError: Cannot convert undefined to a BigInt"),
    ("js.BigInt.new(1)", "TypeError: BigInt is not a constructor"),
    ("js.Math.abs(js.BigInt(5))", "TypeError: Cannot convert a BigInt value to a number"),
    ("js.decodeURIComponent('%')", "URIError: URI malformed"),
    ("js.decodeURIComponent('%ff')", "URIError: URI malformed"),
    ("js.encodeURI('\\ud800')", "URIError: URI malformed"),
    ("js.String.fromCodePoint(-1)", "RangeError: Invalid code point -1"),
    ("js.RegExp.new('a', 'gg')", "SyntaxError: Invalid flags supplied to RegExp constructor 'gg'"),
    ("js.JSON.parse('nope')", "SyntaxError: Unexpected token 'o', \"nope\" is not valid JSON"),
    ("js.JSON.stringify(js.BigInt(1))", "TypeError: Do not know how to serialize a BigInt"),
    ("js.structuredClone(js.Symbol('x'))", "DataCloneError: Symbol(x) could not be cloned."),
]  # fmt: skip


@pytest.mark.parametrize(("code", "message"), THROWS)
def test_an_expression_that_throws(code: str, message: str) -> None:
    with pytest.raises(JsException) as thrown:
        eval(code, dict(SCOPE))
    assert str(thrown.value) == message


@pytest.mark.parametrize("code", ["js.eval('1+1')", "js.Function.new('return 1')", "js.Function('1')"])
def test_text_is_never_code(code: str) -> None:
    """Observed on wrangler 4.164."""
    with pytest.raises(JsException) as thrown:
        eval(code, dict(SCOPE))
    assert str(thrown.value) == "EvalError: Code generation from strings disallowed for this context"


def test_what_a_regular_expression_without_an_end_says() -> None:
    with pytest.raises(JsException, match=r"^SyntaxError: Invalid regular expression: /\(/: "):
        js.RegExp.new("(")


def test_a_global_expression_remembers_where_it_was() -> None:
    expression = js.RegExp.new("a", "g")
    found = [(expression.test("aba"), expression.lastIndex) for _ in range(3)]
    assert found == [(True, 1), (True, 3), (False, 0)]


def test_the_text_of_a_python_object_is_pythons() -> None:
    assert (js.String(Decimal("1.5")), js.String(date(2020, 1, 2))) == ("1.5", "2020-01-02")


def test_constructors_of_values() -> None:
    assert arr().constructor is js.Array
    assert obj().constructor is js.Object
    assert js.Date.new(0).constructor is js.Date
    assert js.Uint8Array.new(1).constructor is js.Uint8Array
    assert str(js.Array) == "function Array() { [native code] }"
    assert str(js.parseInt) == "function parseInt() { [native code] }"
    assert (str(js.Math), str(js.JSON), js.Math.constructor.name) == ("[object Math]", "[object JSON]", "Object")
    assert (js.Object.constructor.name, js.Promise.constructor.name, js.parseInt.constructor.name) == ("Function",) * 3


def test_a_property_named_value() -> None:
    """Iterators, stream readers and KV all answer with one."""
    result = obj(value=1, done=False)
    result.value += 1
    assert (result.value, js.JSON.stringify(result)) == (2, '{"value":2,"done":false}')


def test_python_pairs_make_an_object() -> None:
    made = js.Object.fromEntries({"a": 1, "b": [2]}.items())
    assert (made.a, from_python(made.b).of) == (1, [2])


def test_changes_are_seen_through_every_proxy() -> None:
    shared: list[Any] = [1]
    one, two = to_python(shared), to_python(shared)
    one.push(2)
    two.reverse()
    assert (list(one), two.length, one == two) == ([2, 1], 2, True)


def test_an_array_has_no_keys_method() -> None:
    """Pyodide hides it: Python code takes what has `keys` for a mapping."""
    assert not hasattr(arr(), "keys")
    assert [entry.to_py() for entry in arr("x").entries()] == [[0, "x"]]


def test_walking_maps_and_sets() -> None:
    seen: list[Any] = []
    js.Map.new(arr(arr("k", 1))).forEach(lambda value, key, _map: seen.append((key, value)))
    js.Set.new(arr("m")).forEach(lambda value, key, _set: seen.append((key, value)))
    assert seen == [("k", 1), ("m", "m")]


def test_errors() -> None:
    error = js.TypeError.new("no", obj(cause="why"))
    assert (str(error), error.name, error.message, error.cause) == ("TypeError: no", "TypeError", "no", "why")
    several = js.AggregateError.new(arr(js.Error.new("a")), "all")
    assert (str(several), str(several.errors[0])) == ("AggregateError: all", "Error: a")


def test_a_structured_clone() -> None:
    original = obj(a=arr(1), d=js.Date.new(5))
    copy = js.structuredClone(original)
    copy.a.push(2)
    assert (list(original.a), list(copy.a), copy.d.getTime()) == ([1], [1, 2], 5)
    with pytest.raises(JsException) as thrown:
        js.structuredClone(obj(f=make_proxy(object())))
    assert thrown.value.name == "DataCloneError"


def test_a_transferred_buffer_is_detached() -> None:
    buffer = js.ArrayBuffer.new(4)
    copy = js.structuredClone(buffer, obj(transfer=arr(buffer)))
    assert (buffer.byteLength, buffer.detached, copy.byteLength) == (0, True, 4)
