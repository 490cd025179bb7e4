/** Requests over HTTP/2 that are refused before their body has come, by every policy that looks at them. */
import { afterEach, describe, expect, test } from '@jest/globals';

import { eventually, Http2Client, tcpUpstream } from './clients.ts';
import { Cleanup, upstream } from './gateway.ts';
import { facing, nothingLeft } from './wire.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

describe('a stream that is refused while its body is on its way', () => {
  const basic = 'basicAuth: {htpasswd: "ann:abNANd1rDfiNc"}';
  const cases: readonly (readonly [string, string, number])[] = [
    ['a missing password', basic, 401],
    ['a missing key', 'apiKey: {keys: [{key: k1}]}', 401],
    ['a rule', `authorization: {rules: [{deny: 'true'}]}`, 403],
    ['a spent budget', 'localRateLimit: [{maxTokens: 0, fillInterval: 1h}]', 429],
    ['another origin', 'csrf: {}', 403],
    ['a service that is down', 'extAuthz: {host: "127.0.0.1:1"}', 403],
    ['a buffer', 'buffer: {request: {maxBytes: 10}}', 413],
    [
      'a limit of an authorization service',
      'extAuthz: {host: "127.0.0.1:1", includeRequestBody: {maxRequestBytes: 10}}',
      413,
    ],
    ['a body that does not come in time', 'buffer: {request: {}}, timeout: {requestTimeout: 60ms}', 504],
    ['a response of the gateway', 'directResponse: {status: 404}', 404],
  ];

  test.each(cases)('by %s ends, and its connection serves the next one', async (_what, policies, status) => {
    let reached = 0;
    const server = cleanup.add(await upstream((_request, response) => ((reached += 1), response.end())));
    const gateway = await facing(
      cleanup,
      `routes:
- {matches: [{path: {exact: /free}}], policies: {directResponse: {status: 200}}}
- {policies: {${policies}}, backends: [{host: "127.0.0.1:${server.port}"}]}
`,
    );
    const client = cleanup.add(await Http2Client.connect(`http://127.0.0.1:${gateway.http}`));
    const stream = client.stream({ ':method': 'POST', ':path': '/', origin: 'https://evil.test' });
    let got = 0;
    let closed = false;
    stream.on('response', (headers) => (got = headers[':status'] ?? 0));
    stream.on('close', () => (closed = true));
    stream.resume();
    stream.write('x'.repeat(20));
    await eventually('the answer', () => got !== 0);
    expect(got).toBe(status);
    await eventually('the stream is closed by the gateway', () => closed);
    expect(reached).toBe(0);
    expect((await client.ask({ ':path': '/free' })).status).toBe(200);
    client.close();
    await nothingLeft(gateway);
  });

  test('does not keep a question open when its client resets it', async () => {
    const service = cleanup.add(await tcpUpstream((socket) => void socket.on('data', () => {})));
    const gateway = await facing(
      cleanup,
      `routes: [{policies: {extAuthz: {host: "127.0.0.1:${service.port}", protocol: {http: {}}, failureMode: allow}, directResponse: {status: 200}}}]\n`,
    );
    const client = cleanup.add(await Http2Client.connect(`http://127.0.0.1:${gateway.http}`));
    const streams = Array.from({ length: 20 }, () => client.stream({ ':path': '/' }, true));
    await eventually('all are asked about', () => service.sockets.size === 20);
    for (const stream of streams) stream.close(8);
    await eventually('no question is left', () => service.sockets.size === 0);
    client.close();
    await nothingLeft(gateway);
  });
});
