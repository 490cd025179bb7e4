/** Values that clients choose, at every place where an expression writes them: headers, the request line, logs, metrics, traces. */
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';

import { ISSUER, type Signer, signer, token } from '../proxy/jwt/tokens.ts';
import { RawClient } from './clients.ts';
import { ask, Cleanup, echo, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

let one: Signer;
beforeAll(async () => {
  one = await signer('one');
});

/** Names of people who mean harm. */
const subjects = [
  'a\r\nx-evil: 1',
  'a\nx-evil: 1',
  'a\rx-evil: 1',
  'a\0b',
  'a\u007fb',
  'a\u010d\u010ax-evil: 1\u010d\u010a\u010d\u010aGET /smuggled HTTP/1.1',
  'a\u2028b\u2029c',
  '\ud800',
  '\u202eevil',
  '\u001b[2J\u001b]0;owned\u0007',
  'a"b\\c\n',
  '{"level":"error"}',
  '',
  ' ',
  '../../etc/passwd',
  '/?#',
  'a b\tc',
  '# HELP x y\nevil_metric 1',
  'x '.repeat(1500),
];

const TEMPLATES = (backend: number, jwks: string): string => `config:
  adminAddr: "127.0.0.1:1"
  statsAddr: "127.0.0.1:1"
  readinessAddr: "127.0.0.1:1"
  metrics: {fields: {add: {who: jwt.sub}}}
frontendPolicies: {accessLog: {add: {who: jwt.sub, all: flatten(jwt)}}}
gateways: {default: {port: 80}}
routes:
- matches: [{path: {exact: /direct}}]
  policies:
    jwtAuth: {issuer: ${ISSUER}, jwks: '${jwks}'}
    directResponse: {status: 200, bodyExpression: '"body"', headers: {x-who: jwt.sub, location: '"/" + jwt.sub'}}
- policies:
    jwtAuth: {issuer: ${ISSUER}, jwks: '${jwks}'}
    transformations:
      request:
        set: {x-who: jwt.sub, ":path": '"/" + jwt.sub', ":authority": jwt.sub, ":method": jwt.sub}
        add: {x-more: jwt.sub}
      response:
        set: {x-who: jwt.sub}
  backends: [{host: "127.0.0.1:${backend}"}]
`;

describe('a name that means harm', () => {
  test.each(subjects)('%j breaks no message, no line of the log, no metric and no trace', async (sub) => {
    const requests: string[] = [];
    const server = cleanup.add(
      await upstream((request, response) => {
        requests.push(`${request.method} ${request.url}`);
        echo(request, response);
      }),
    );
    const running = cleanup.add(await startGateway(TEMPLATES(server.port, JSON.stringify({ keys: [one.jwk] }))));
    const port = running.port(80);
    const text = await token(one, { claims: { sub, [sub]: [sub] } });
    for (const path of ['/direct', '/p']) {
      const client = new RawClient(port);
      client.write(
        `GET ${path} HTTP/1.1\r\nhost: shop.test\r\nauthorization: Bearer ${text}\r\nconnection: close\r\n\r\n`,
      );
      await client.closed;
      expect(client.text).toMatch(/^HTTP\/1\.1 200 /);
      expect(client.text).not.toMatch(/^x-evil/im);
      expect(client.text.match(/^HTTP\/1\.1/gm)).toHaveLength(1);
      const [head = '', body = ''] = client.text.split('\r\n\r\n');
      // oxlint-disable-next-line no-control-regex
      expect(head).not.toMatch(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/);
      expect(body).toMatch(path === '/direct' ? /^body$/ : /^\{"method":/);
      expect(body).not.toContain('"x-evil"');
    }
    expect(requests).toHaveLength(1);
    // The token was taken away wherever else it went.
    await running.logged('http.path=/direct', 'who=').catch(() => running.logged('http.path=/direct'));
    await running.logged('http.path=/p');
    for (const line of running.log) {
      // oxlint-disable-next-line no-control-regex
      expect(line).not.toMatch(/[\0-\x08\x0a-\x1f\x7f\u2028\u2029]/);
      expect(line).toMatch(/^\d{4}-\d\d-\d\dT/);
    }
    const metrics = await (await fetch(`${running.stats}/metrics`)).text();
    for (const line of metrics.split('\n'))
      expect(line).toMatch(/^(# (HELP|TYPE|UNIT|EOF)[^\n]*|[a-z_]+(\{[^\n]*\})? [-+.\deInfNa]+|)$/);
    const watching = await fetch(`${running.admin}/debug/trace`, { headers: { accept: 'text/event-stream' } });
    await ask(port, '/direct', { headers: { authorization: `Bearer ${text}` } });
    const events = (await watching.text()).split('\n').filter((line) => line.startsWith('data: '));
    expect(events.length).toBeGreaterThan(0);
    for (const event of events) expect(JSON.parse(event.slice(6))).toHaveProperty('message');
  });
});

describe('a text of the configuration', () => {
  test.each([
    ['a path of a rewrite', 'urlRewrite: {path: {full: "/a\u010d\u010ax-evil:1"}}', /path/],
    ['a prefix of a rewrite', 'urlRewrite: {path: {prefix: "/\\u0000"}}', /path/],
    ['an authority of a rewrite', 'urlRewrite: {authority: {full: "a\u010d\u010ax-evil:1"}}', /authority/],
    ['a path of a redirect', 'requestRedirect: {path: {full: "/a\\u007f"}}', /path/],
    ['an authority of a redirect', 'requestRedirect: {authority: {full: "a\\u0001"}}', /authority/],
    ['a header to set', 'requestHeaderModifier: {set: {x-a: "a\u010d\u010ax-evil:1"}}', /./],
    ['a header to add', 'responseHeaderModifier: {add: {x-a: "a\\r\\nx-evil:1"}}', /./],
    ['a host', 'urlRewrite: {authority: {host: "a\u010a"}}', /host/],
    ['an origin', 'cors: {allowOrigins: ["https://a\u010d\u010a"]}', /origin/],
    ['a method', 'cors: {allowMethods: ["PUT\\r\\nx: y"]}', /allowMethods/],
    ['a name of a cookie or header', 'apiKey: {keys: [], location: {header: {name: "x\\r\\ny"}}}', /header/],
  ])('that would break a message is refused as %s', async (_what, policies, message) => {
    await expect(
      startGateway(
        `gateways: {default: {port: 80}}\nroutes: [{policies: {${policies}}, backends: [{host: "127.0.0.1:1"}]}]\n`,
      ),
    ).rejects.toThrow(message);
  });
});
