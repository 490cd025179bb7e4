import { describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { evaluate, shown } from '../evaluate.ts';
import type { Json } from '../../../src/cel/value/map.ts';

const variables = {
  m: { a: 1, b: 'two', c: null, list: [1, 2.5, 'x'], nested: { k: [true] } },
  text: 'héllo wörld',
  uri: 'https://h.example/p?a=1&b=x%20y&a=2#frag',
  path: '/p',
  token: `h.${Buffer.from('{"sub":"alice","n":5}').toString('base64url')}.s`,
};

function table(cases: readonly (readonly [string, Json])[]): void {
  test.each(cases)('%s', (source, wanted) => {
    expect(shown(source, variables)).toEqual(wanted);
  });
}

const fails = (text: string) => expect.stringContaining(`! ${text}`) as unknown as Json;

describe('data and control', () => {
  table([
    ['json("{\\"n\\": 1, \\"f\\": 1.5, \\"l\\": [1, {\\"x\\": null}]}")', { n: 1, f: 1.5, l: [1, { x: null }] }],
    ['type(json("1")) == int && type(json("1.5")) == double && type(json("18446744073709551615")) == double', true],
    ['json("[9007199254740993]")[0] == 9007199254740992', true],
    ['json(b"true")', true],
    ['json("{")', fails('not JSON')],
    ['json("")', fails('not JSON')],
    ['json(b"\\xff")', fails('the bytes are not UTF-8')],
    ['json(1)', fails('no such overload: json(int)')],
    ['json("{\\"__proto__\\": 1}").__proto__', 1],
    ['json("{}").constructor', fails('no such key: constructor')],
    ['jsonField("{\\"a\\": 1, \\"a\\": 2}", "a")', 2],
    ['jsonField("{}", "a")', fails('no such key: a')],
    ['default(jsonField("{}", "a"), "none")', 'none'],
    ['jsonField("[1]", "a")', fails('the JSON text is not an object')],
    ['toJson(m)', '{"a":1,"b":"two","c":null,"list":[1,2.5,"x"],"nested":{"k":[true]}}'],
    [
      'to_json([1u, 2.0, b"hi", duration("90s"), timestamp("2024-01-01T00:00:00Z"), ip("::1"), 9223372036854775807])',
      '[1,2,"aGk=","90s","2024-01-01T00:00:00Z","::1",9223372036854775807]',
    ],
    ['toJson({1: double("NaN"), true: double("inf")})', '{"1":null,"true":null}'],
    ['unvalidatedJwtPayload(token).sub', 'alice'],
    ['unvalidatedJwtPayload(token).n + 1', 6],
    ['unvalidatedJwtPayload("a.b")', fails('not a JWT')],
    ['unvalidatedJwtPayload("a.#.c")', fails('not a JWT')],
    ['unvalidatedJwtPayload("a.e30=.c")', {}],
    ['m.a.with(x, x + x)', 2],
    ['m.missing.with(x, 3)', 3],
    ['m.mapValues(v, type(v) == int)', { a: true, b: false, c: false, list: false, nested: false }],
    ['m.list.mapValues(v, v)', fails('no such overload: mapValues(list)')],
    ['m.filterKeys(k, k.startsWith("n") || k == "a")', { a: 1, nested: { k: [true] } }],
    ['m.filterKeys(k, 1)', fails('no such overload: filterKeys(int)')],
    ['m.merge({"a": 2, "d": 3}).filterKeys(k, k in ["a", "d"])', { a: 2, d: 3 }],
    ['m.merge(1)', fails('no such overload: merge(map, int)')],
    ['default(m.c, "d")', 'd'],
    ['default(m.zz, "d")', 'd'],
    ['default(nobody, "d")', 'd'],
    ['default(nobody(), "d")', 'd'],
    ['default(m.zz.y.x, "d")', 'd'],
    ['default(1 / 0, "d")', fails('divide by zero')],
    ['default(fail("no"), "d")', fails('no')],
    ['default(m.a, 1 / 0)', 1],
    ['coalesce(m.zz, null, 1 / 0, m.a, fail("x"))', 1],
    ['coalesce(m.zz, null)', null],
    ['coalesce(m.zz, fail("last"))', fails('last')],
    ['coalesce()', fails('no such overload: coalesce() takes at least one argument')],
    ['variables().m.a', 1],
    ['variables().all(k, k in ["m", "text", "uri", "path", "token"])', true],
    ['fail("why")', fails('why')],
    ['fail(1)', fails('no such overload: fail(int)')],
    ['uuid()', '00000000-0000-4000-8000-000000000000'],
    ['random()', 0.25],
    ['min(3, 1, 2) == 1 && max([1, 2.5]) == 2.5 && min() == null && max([]) == null && max("a", "b") == "b"', true],
    ['[type(max(1, 1.0)), type(min(2u, 2))] == [double, int] && type(math.greatest(1, 1.0)) == int', true],
    ['type(duration("1s")) == duration && type(timestamp(0)) == google.protobuf.Timestamp', true],
    ['duration(9223372036854775807)', fails('duration out of range')],
    ['duration(90) == duration("1m30s")', true],
    ['max(1, "a")', fails('no such overload: max(int, string)')],
    ['contains([1, 2], 2) && m.contains("a") && "abc".contains("b") && b"abc".contains(b"bc")', true],
    ['"abc".contains(1)', fails('no such overload: contains(string, int)')],
    ['"b" in "abc" && !("d" in "abc")', true],
  ]);
});

describe('encoding and hashing', () => {
  table([
    ['base64.encode("hé")', 'aMOp'],
    ['base64Encode(b"\\xff")', '/w=='],
    ['string(base64.decode("aMOp"))', 'hé'],
    ['base64Decode("/w") == b"\\xff" && base64.decode("/w==") == b"\\xff"', true],
    ['base64.decode("_w")', fails('not base64')],
    ['base64.decode("a")', fails('not base64')],
    ['base64.decode("aaaa=")', fails('not base64')],
    ['base64.decode(1)', fails('no such overload')],
    ['url.encode("a b/ä~")', 'a%20b%2F%C3%A4~'],
    ['url.decode("a+b%20%C3%A4")', 'a+b ä'],
    ['url.decode("100%")', '100%'],
    ['url.decode("%ff")', fails('the decoded text is not UTF-8')],
    ['form.decode("a=1&b=x+y&a=2&c")', { a: ['1', '2'], b: 'x y', c: '' }],
    ['form.encode({"b": [1, 2u], "a": "x y", "n": null, "t": true, "by": b"hi"})', 'a=x+y&b=1&b=2&by=aGk%3D&t=true'],
    ['form.encode({"a": {}})', fails('no such overload')],
    ['md5.encode("a")', createHash('md5').update('a').digest('hex')],
    ['sha1.encode(b"a")', createHash('sha1').update('a').digest('hex')],
    ['sha256.encode("é")', createHash('sha256').update('é').digest('hex')],
    ['sha256.encode(1)', fails('no such overload')],
  ]);
});

describe('regular expressions and texts', () => {
  table([
    ['"abc".matches("b") && !"abc".matches("^b") && matches("abc", "^a.c$")', true],
    ['"a".matches("(")', fails('not a regular expression in RE2 syntax')],
    ['"a".matches("(?=a)")', fails('not a regular expression in RE2 syntax')],
    ['"aa bb".regexReplace("(\\\\w)(\\\\w)", "$2-$1-$$")', 'a-a-$ bb'],
    ['"key=v".regexReplace("(?P<k>\\\\w+)=", "${k}:")', 'key:v'],
    ['"a".regexReplace("x", "y")', 'a'],
    ['"a".regexReplace("a", "$9")', ''],
    ['text.size() == 11 && text.indexOf("w") == 6 && text.charAt(1) == "é" && text.substring(6) == "wörld"', true],
    ['"😀a😀".size() == 3 && "😀a😀".lastIndexOf("😀") == 2 && "😀a".reverse() == "a😀"', true],
    ['" \\u0085\\u3000x\\ufeff ".trim() == "x\\ufeff"', true],
    ['"abc".stripPrefix("a") + "abc".stripSuffix("bc") + "abc".stripPrefix("x")', 'bcaabc'],
    ['"a,b,c".split(",", 2) == ["a", "b,c"] && "a,b".split(",", 0) == [] && "ab".split("") == ["a", "b"]', true],
    [
      '"aaa".replace("a", "b", 2) == "bba" && "aaa".replace("a", "b", 0) == "aaa" && "ab".replace("", "-") == "-a-b-"',
      true,
    ],
    ['["a", "b"].join("-") == "a-b" && [].join() == ""', true],
    ['["a", 1].join()', fails('no such overload: join')],
    ['"é".upperAscii() == "é" && "aÉ".upperAscii() == "AÉ"', true],
  ]);
});

describe('addresses', () => {
  table([
    ['ip("10.0.0.1").family() == 4 && ip("::1").family() == 6 && ip("::ffff:1.2.3.4").family() == 6', true],
    ['isIP("1.2.3.4") && !isIP("1.2.3") && !isIP("01.2.3.4") && !isIP("fe80::1%eth0") && !isIP("")', true],
    ['ip("1.2.3.256")', fails('not an IP address: "1.2.3.256"')],
    [
      'ip("0.0.0.0").isUnspecified() && ip("::").isUnspecified() && ip("127.9.9.9").isLoopback() && ip("::1").isLoopback()',
      true,
    ],
    [
      'ip("224.0.0.9").isLinkLocalMulticast() && ip("ff02::1").isLinkLocalMulticast() && !ip("224.0.1.1").isLinkLocalMulticast()',
      true,
    ],
    ['ip("169.254.1.1").isLinkLocalUnicast() && ip("fe80::1").isLinkLocalUnicast()', true],
    [
      'ip("10.0.0.1").isGlobalUnicast() && !ip("fd00::1").isGlobalUnicast() && ip("2001:db8::1").isGlobalUnicast()',
      true,
    ],
    [
      '!ip("255.255.255.255").isGlobalUnicast() && !ip("239.0.0.1").isGlobalUnicast() && !ip("::1").isGlobalUnicast()',
      true,
    ],
    ['cidr("10.0.0.0/8").containsIP("10.255.0.1") && !cidr("10.0.0.0/8").containsIP(ip("11.0.0.1"))', true],
    [
      'cidr("10.0.0.0/8").containsCIDR(cidr("10.1.0.0/16")) && !cidr("10.1.0.0/16").containsCIDR(cidr("10.0.0.0/8"))',
      true,
    ],
    ['cidr("0.0.0.0/0").containsIP("::1")', false],
    ['cidr("10.0.0.0/8").containsIP("nonsense")', fails('not an IP address')],
    ['cidr("10.0.0.0/33")', fails('not a CIDR')],
    ['cidr("10.0.0.0")', fails('not a CIDR')],
    [
      'string(cidr("10.1.2.3/9").masked()) == "10.0.0.0/9" && string(cidr("10.1.2.3/9").ip()) == "10.1.2.3" && cidr("::/0").prefixLength() == 0',
      true,
    ],
    ['string(cidr("2001:db8:ff::/36").masked())', '2001:db8::/36'],
    ['ip("::1") == ip("0:0:0:0:0:0:0:1") && ip.isCanonical("::1") && !ip.isCanonical("0::1")', true],
  ]);
});

describe('queries', () => {
  table([
    ['uri.query("a")', ['1', '2']],
    ['uri.query("b")', ['x y']],
    ['uri.query("zz")', fails('no such key: zz')],
    ['default(path.query("a"), [])', []],
    ['path.addQuery("k", "v w")', '/p?k=v+w'],
    ['uri.setQuery("a", "9")', 'https://h.example/p?a=9&b=x+y#frag'],
    ['uri.addQuery("a", "é")', 'https://h.example/p?a=1&b=x+y&a=2&a=%C3%A9#frag'],
    ['1.query("a")', fails('no such overload: query(int, string)')],
  ]);
});

describe('functions that a configuration defines', () => {
  const definitions = `
    # A comment
    twice(x) { x * 2 } // and another
    this.joined(sep, parts...) { [this].map(t, t + sep)[0] + parts.join(sep) }
    braces() { {"}": "{"}["}"] + '}' + r"{" }
    all_of(xs...) { xs }
    nested(x) { twice(twice(x)) + 1 }
    shadow(request) { request.method }
  `;
  test.each([
    ['twice(4)', 8],
    ['"a".joined("-", "b", "c")', 'a-b-c'],
    ['"a".joined("-")', 'a-'],
    ['braces()', '{}{'],
    ['all_of() == [] && all_of(1, 2) == [1, 2]', true],
    ['[1, 2].map(i, nested(i))', [5, 9]],
    ['shadow({"method": "mine"})', 'mine'],
    ['twice()', fails('no such overload: twice() takes 1 arguments, not 0')],
    ['"a".joined()', fails('no such overload: joined() takes at least 1 arguments, not 0')],
    ['twice(1 / 0)', fails('divide by zero')],
    ['joined("a", "b")', fails('there is no function joined')],
    ['1.twice()', fails('there is no function twice')],
    ['size(twice("x"))', fails('no such overload: _*_(string, int)')],
  ])('%s', (source, wanted) => {
    expect(shown(source, { request: { method: 'real' } }, definitions)).toEqual(wanted);
  });

  test('a chain of calls that doubles at each step ends at the bound', () => {
    const chain = Array.from({ length: 30 }, (_, i) => `f${i}(x) { f${i + 1}(x) + f${i + 1}(x) }`).join('\n');
    expect(evaluate('f0(1)', {}, `${chain}\nf30(x) { x }`)).toMatchObject({ kind: 'limit' });
  });
});
