import type { RequestShort, RouteShort } from './build.ts';

export interface RoutingCase {
  rule: string;
  routes: RouteShort[];
  /** Each request and the name of the route that must win; null is no route. */
  requests: [RequestShort, string | null][];
}

export const routingCases: RoutingCase[] = [
  {
    rule: 'exact beats prefix beats regex, however long the pattern',
    routes: [
      { name: 'regex', matches: [{ regex: '/api/v1/.*aaaaaaaaaaaaaaaa|/api.*' }] },
      { name: 'prefix', matches: [{ prefix: '/api' }] },
      { name: 'exact', matches: [{ exact: '/api/v1' }] },
    ],
    requests: [
      [{ target: '/api/v1' }, 'exact'],
      [{ target: '/api/v1/x' }, 'prefix'],
      [{ target: '/apix' }, 'regex'],
      [{ target: '/' }, null],
    ],
  },
  {
    rule: 'the longer prefix wins',
    routes: [
      { name: 'root', matches: [{ prefix: '/' }] },
      { name: 'a', matches: [{ prefix: '/a' }] },
      { name: 'ab', matches: [{ prefix: '/a/b' }] },
      { name: 'abc', matches: [{ prefix: '/a/b/c' }] },
    ],
    requests: [
      [{ target: '/a/b/c/d' }, 'abc'],
      [{ target: '/a/b/cd' }, 'ab'],
      [{ target: '/a/bc' }, 'a'],
      [{ target: '/ab' }, 'root'],
      [{ target: '/a?x=/a/b' }, 'a'],
    ],
  },
  {
    rule: 'a prefix ends on a segment boundary and ignores a slash at the end',
    routes: [{ name: 'foo', matches: [{ prefix: '/foo/' }] }],
    requests: [
      [{ target: '/foo' }, 'foo'],
      [{ target: '/foo/' }, 'foo'],
      [{ target: '/foo/bar' }, 'foo'],
      [{ target: '/foo?x=1' }, 'foo'],
      [{ target: '/foobar' }, null],
      [{ target: '/fo' }, null],
    ],
  },
  {
    rule: 'a slash at the end of a prefix makes it longer',
    routes: [
      { name: 'short', matches: [{ prefix: '/foo', method: 'GET' }] },
      { name: 'long', matches: [{ prefix: '/foo/' }] },
    ],
    requests: [[{ target: '/foo/bar' }, 'long']],
  },
  {
    rule: 'exact paths are byte-exact: no decoding, no case folding, no slash at the end',
    routes: [{ name: 'exact', matches: [{ exact: '/a%20b' }] }],
    requests: [
      [{ target: '/a%20b' }, 'exact'],
      [{ target: '/a%20b?q' }, 'exact'],
      [{ target: '/a b' }, null],
      [{ target: '/A%20b' }, null],
      [{ target: '/a%20b/' }, null],
    ],
  },
  {
    rule: 'a regex covers the whole path and is case-sensitive',
    routes: [{ name: 'regex', matches: [{ regex: '/v[0-9]+|/v[0-9]+/users' }] }],
    requests: [
      [{ target: '/v12' }, 'regex'],
      [{ target: '/v12/users' }, 'regex'],
      [{ target: '/v12/users/7' }, null],
      [{ target: '/x/v12' }, null],
      [{ target: '/V12' }, null],
    ],
  },
  {
    rule: 'the exact host comes before wildcards, the longest of them first, then any host',
    routes: [
      { name: 'any' },
      { name: 'star', hosts: ['*'] },
      { name: 'wide', hosts: ['*.example.com'] },
      { name: 'narrow', hosts: ['*.eu.example.com'] },
      { name: 'exact', hosts: ['shop.eu.example.com'] },
    ],
    requests: [
      [{ host: 'shop.eu.example.com' }, 'exact'],
      [{ host: 'cart.eu.example.com' }, 'narrow'],
      [{ host: 'a.b.c.example.com' }, 'wide'],
      [{ host: 'eu.example.com' }, 'wide'],
      [{ host: 'example.com' }, 'star'],
      [{ host: 'xexample.com' }, 'star'],
    ],
  },
  {
    rule: 'the first hostname bucket with a match beats a better path in a later one',
    routes: [
      { name: 'wildcard', hosts: ['*.test'], matches: [{ exact: '/cart' }] },
      { name: 'host', hosts: ['shop.test'], matches: [{ prefix: '/' }] },
    ],
    requests: [[{ target: '/cart' }, 'host']],
  },
  {
    rule: 'a bucket without a match hands over to the next',
    routes: [
      { name: 'host', hosts: ['shop.test'], matches: [{ prefix: '/cart' }] },
      { name: 'wildcard', hosts: ['*.test'], matches: [{ prefix: '/orders' }] },
      { name: 'any', matches: [{ prefix: '/' }] },
    ],
    requests: [
      [{ target: '/cart' }, 'host'],
      [{ target: '/orders' }, 'wildcard'],
      [{ target: '/other' }, 'any'],
    ],
  },
  {
    rule: 'hosts are compared without case, port or the root dot',
    routes: [{ name: 'shop', hosts: ['shop.test'] }],
    requests: [
      [{ host: 'SHOP.Test' }, 'shop'],
      [{ host: 'shop.test:8080' }, 'shop'],
      [{ host: 'shop.test.' }, 'shop'],
      [{ host: 'shop.test.:443' }, 'shop'],
      [{ host: 'shop.test.evil' }, null],
      [{ host: '' }, null],
    ],
  },
  {
    rule: 'a method match wins over none, and methods are case-sensitive',
    routes: [
      { name: 'any', matches: [{ prefix: '/' }] },
      { name: 'post', matches: [{ prefix: '/', method: 'POST' }] },
    ],
    requests: [
      [{ method: 'POST' }, 'post'],
      [{ method: 'post' }, 'any'],
      [{ method: 'GET' }, 'any'],
    ],
  },
  {
    rule: 'a method outranks any number of headers, headers outrank queries',
    routes: [
      { name: 'query', matches: [{ query: { a: '1', b: '2', c: '3' } }] },
      { name: 'headers', matches: [{ headers: { 'x-a': '1', 'x-b': '2' } }] },
      { name: 'method', matches: [{ method: 'GET' }] },
    ],
    requests: [
      [
        {
          target: '/?a=1&b=2&c=3',
          headers: [
            ['x-a', '1'],
            ['x-b', '2'],
          ],
        },
        'method',
      ],
      [
        {
          method: 'PUT',
          target: '/?a=1&b=2&c=3',
          headers: [
            ['x-a', '1'],
            ['x-b', '2'],
          ],
        },
        'headers',
      ],
      [{ method: 'PUT', target: '/?a=1&b=2&c=3', headers: [['x-a', '1']] }, 'query'],
      [{ method: 'PUT', target: '/?a=1&b=2' }, null],
    ],
  },
  {
    rule: 'any one of repeated headers may match; commas do not split',
    routes: [{ name: 'team', matches: [{ headers: { 'X-Team': 'blue' } }] }],
    requests: [
      [
        {
          headers: [
            ['x-team', 'red'],
            ['X-Team', 'blue'],
          ],
        },
        'team',
      ],
      [{ headers: [['x-team', 'red, blue']] }, null],
      [{ headers: [['x-team', 'Blue']] }, null],
    ],
  },
  {
    rule: 'header values may be matched by regex, whole',
    routes: [{ name: 'beta', matches: [{ headers: { 'x-version': { regex: '[0-9]+-beta' } } }] }],
    requests: [
      [{ headers: [['x-version', '12-beta']] }, 'beta'],
      [{ headers: [['x-version', '12-beta.1']] }, null],
    ],
  },
  {
    rule: 'pseudo-headers can be matched like headers',
    routes: [{ name: 'put', matches: [{ headers: { ':method': { regex: 'PUT|PATCH' }, ':authority': 'shop.test' } }] }],
    requests: [
      [{ method: 'PATCH' }, 'put'],
      [{ method: 'GET' }, null],
    ],
  },
  {
    rule: 'queries are form-decoded and the last duplicate counts',
    routes: [{ name: 'page', matches: [{ query: { 'q q': 'a b&c' } }] }],
    requests: [
      [{ target: '/?q+q=a%20b%26c' }, 'page'],
      [{ target: '/?q%20q=x&q+q=a+b%26c' }, 'page'],
      [{ target: '/?q+q=a+b%26c&q+q=x' }, null],
      [{ target: '/?q+q' }, null],
      [{ target: '/' }, null],
    ],
  },
  {
    rule: 'equal routes keep the order of the file, not of their names',
    routes: [{ name: 'route2' }, { name: 'route10' }, { name: 'a' }],
    requests: [[{}, 'route2']],
  },
  {
    rule: 'an empty list of matches never matches',
    routes: [{ name: 'off', matches: [] }],
    requests: [[{}, null]],
  },
  {
    rule: 'alternatives of one route each count for themselves',
    routes: [
      { name: 'two', matches: [{ exact: '/x' }, { prefix: '/y' }] },
      { name: 'one', matches: [{ prefix: '/x' }, { exact: '/y/z' }] },
    ],
    requests: [
      [{ target: '/x' }, 'two'],
      [{ target: '/x/1' }, 'one'],
      [{ target: '/y/z' }, 'one'],
      [{ target: '/y' }, 'two'],
    ],
  },
  {
    rule: 'OPTIONS *, CONNECT and an empty path count as /',
    routes: [
      { name: 'root', matches: [{ exact: '/' }] },
      { name: 'rest', matches: [{ prefix: '/' }] },
    ],
    requests: [
      [{ method: 'OPTIONS', target: '*' }, 'root'],
      [{ method: 'CONNECT', target: '' }, 'root'],
    ],
  },
  {
    rule: 'empty segments are segments',
    routes: [
      { name: 'double', matches: [{ prefix: '/a//b' }] },
      { name: 'single', matches: [{ prefix: '/a' }] },
    ],
    requests: [
      [{ target: '/a//b/c' }, 'double'],
      [{ target: '/a/b' }, 'single'],
      [{ target: '//a' }, null],
    ],
  },
];
