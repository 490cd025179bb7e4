import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { once } from 'node:events';

import { afterEach, describe, expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { verifySignature, type VendorKeys } from '../proxy/backends/auth/aws-verifier.ts';
import { eventually, fixture, fixturePath } from './clients.ts';
import { ask, Cleanup, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const KEYS: VendorKeys = { accessKeyId: 'AKENV', secretAccessKey: 'env/secret+' };
const ENV = {
  AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
  AWS_REGION: 'us-east-1',
};
const ARN = 'arn:aws:bedrock-agentcore:eu-west-1:123456789012:runtime/shop_agent-AbCdEfGhIj';
const PATH =
  '/runtimes/arn%3Aaws%3Abedrock%2Dagentcore%3Aeu%2Dwest%2D1%3A123456789012%3Aruntime%2Fshop%5Fagent%2DAbCdEfGhIj/invocations';
const HOST = 'bedrock-agentcore.eu-west-1.amazonaws.com';

interface Seen {
  readonly verdict: string;
  readonly line: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

function closing(server: { close(): unknown; closeAllConnections(): void }) {
  return {
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Agents of AWS that verify signatures by the vendor's library, and a proxy that leads there whatever is asked for. */
async function runtime(
  reply: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => response.end('{"ok":1}'),
) {
  const seen: Seen[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer); // what a request without an encoding yields
    const { method = '', url = '', headers } = request;
    const body = Buffer.concat(chunks);
    const verdict = await verifySignature({ method, url, headers, body }, () => KEYS);
    seen.push({ verdict, line: `${method} ${url}`, headers, body: body.toString() });
    if (verdict === 'valid') reply(request, response);
    else response.writeHead(403).end(verdict);
  };
  const service = createHttpsServer(
    { cert: fixture('a.crt'), key: fixture('a.key') },
    (request, response) => void answer(request, response),
  );
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  cleanup.add(closing(service));
  const { port } = service.address() as AddressInfo; // a TCP server that listens has one
  const named: string[] = [];
  const proxy = createServer().on('connect', (request: IncomingMessage, client: Duplex) => {
    named.push(request.url ?? '');
    const upstream = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on('error', () => client.destroy());
    client.on('error', () => upstream.destroy()).on('close', () => upstream.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  cleanup.add(closing(proxy));
  const way = `backendTunnel: {proxy: {host: "127.0.0.1:${(proxy.address() as AddressInfo).port}"}}`; // as above
  return {
    seen,
    named,
    way,
    policies: `${way}, backendTLS: {root: ${fixturePath('ca.crt')}, hostname: a.example.com}`,
  };
}

async function gateway(agent: string, policies: string, route = '') {
  const running = cleanup.add(
    await startGateway(
      `gateways: {default: {port: 80}}\nroutes: [{${route}backends: [{aws: {agentCore: {${agent}}}, policies: {${policies}}}]}]`,
      { env: ENV },
    ),
  );
  return { ...running, http: running.port(80) };
}

describe('a runtime of AgentCore', () => {
  test('gets every request at its own path, signed with the keys of the environment', async () => {
    const { seen, named, policies } = await runtime();
    const { http } = await gateway(`agentRuntimeArn: "${ARN}", qualifier: v2`, policies);
    const session = 's'.repeat(40);
    const headers = {
      'x-amzn-bedrock-agentcore-runtime-session-id': session,
      'content-type': 'application/json',
      authorization: 'Bearer mine',
    };
    const answer = await ask(http, '/anything?at=all', { method: 'POST', body: '{"prompt":"hi"}', headers });
    expect(answer).toMatchObject({ status: 200, body: '{"ok":1}' });
    expect(named).toEqual([`${HOST}:443`]);
    expect(seen).toMatchObject([
      {
        verdict: 'valid',
        line: `POST ${PATH}?qualifier=v2`,
        body: '{"prompt":"hi"}',
        headers: { host: HOST, 'x-amzn-bedrock-agentcore-runtime-session-id': session },
      },
    ]);
    const { authorization } = seen[0]?.headers ?? {};
    expect(authorization).toMatch(/Credential=AKENV\/\d{8}\/eu-west-1\/bedrock-agentcore\/aws4_request/);
    expect(authorization).toMatch(/SignedHeaders=[^,]*x-amzn-bedrock-agentcore-runtime-session-id/);
  });

  test('gets copies of requests at its own path, signed', async () => {
    const { seen, policies } = await runtime();
    const main = cleanup.add(
      await upstream((request, response) => void request.resume().on('end', () => response.end('main'))),
    );
    const running = cleanup.add(
      await startGateway(
        `gateways: {default: {port: 80}}
backends: [{name: agent, aws: {agentCore: {agentRuntimeArn: "${ARN}"}}, policies: {${policies}}}]
routes: [{policies: {requestMirror: {backend: {backend: agent}, percentage: 1}}, backends: [{host: "127.0.0.1:${main.port}"}]}]`,
        { env: ENV },
      ),
    );
    const headers = { 'content-type': 'application/json', authorization: 'Bearer mine' };
    const asked = { method: 'POST', body: '{"prompt":"hi"}', headers };
    expect(await ask(running.port(80), '/chat', asked)).toMatchObject({ status: 200, body: 'main' });
    await eventually('the copy has come', () => seen.length === 1);
    expect(seen).toMatchObject([
      { verdict: 'valid', line: `POST ${PATH}`, body: '{"prompt":"hi"}', headers: { host: HOST } },
    ]);
  });

  test('is signed for with keys of its own, where it and its service are known', async () => {
    const { seen, policies } = await runtime();
    const auth = `backendAuth: {aws: {accessKeyId: ${KEYS.accessKeyId}, secretAccessKey: ${KEYS.secretAccessKey}}}`;
    const { http } = await gateway(`agentRuntimeArn: "${ARN}"`, `${policies}, ${auth}`);
    await ask(http, '/');
    expect(seen[0]).toMatchObject({ verdict: 'valid', line: `GET ${PATH}` });
    expect(seen[0]?.headers.authorization).toContain('/eu-west-1/bedrock-agentcore/');
  });

  test('gets the token that a user configures instead of a signature', async () => {
    const { seen, policies } = await runtime();
    const { http } = await gateway(`agentRuntimeArn: "${ARN}"`, `${policies}, backendAuth: {key: abc}`);
    await ask(http, '/');
    expect(seen[0]?.headers.authorization).toBe('Bearer abc');
  });

  test('is reached over TLS that is verified', async () => {
    const { seen, way } = await runtime();
    const { http, logged } = await gateway(`agentRuntimeArn: "${ARN}"`, way);
    expect((await ask(http, '/')).status).toBe(503);
    await logged('reason=UpstreamFailure', 'http.status=503');
    expect(seen).toEqual([]);
  });

  test('keeps its path over retries and rewrites', async () => {
    let calls = 0;
    const { seen, policies } = await runtime((_, response) => response.writeHead(++calls === 1 ? 503 : 200).end());
    const route = 'policies: {retry: {attempts: 1, codes: [503]}, urlRewrite: {path: {full: /elsewhere}}}, ';
    const { http } = await gateway(`agentRuntimeArn: "${ARN}"`, policies, route);
    expect((await ask(http, '/a', { method: 'POST', body: 'x' })).status).toBe(200);
    expect(seen.map(({ verdict, line, body }) => [verdict, line, body])).toEqual([
      ['valid', `POST ${PATH}`, 'x'],
      ['valid', `POST ${PATH}`, 'x'],
    ]);
  });

  test('is an agent of A2A, whose card leads to the gateway', async () => {
    // As the tools of the vendor write it: less is encoded than may be.
    const own = `/runtimes/${encodeURIComponent(ARN)}/invocations/`;
    const card = { supportedInterfaces: [{ url: `https://${HOST}${own}`, protocolBinding: 'JSONRPC' }] };
    const { seen, policies } = await runtime((request, response) => {
      const body = request.method === 'GET' ? card : { jsonrpc: '2.0', id: 1, result: { message: { contextId: 'c' } } };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    });
    const { http, logged } = await gateway(
      `agentRuntimeArn: "${ARN}"`,
      `${policies}, a2a: {}`,
      'matches: [{path: {pathPrefix: /shop}}], ',
    );
    const headers = { host: 'agents.example' };
    const { body } = await ask(http, '/shop/.well-known/agent-card.json', { headers });
    expect(JSON.parse(body).supportedInterfaces[0].url).toBe('http://agents.example/shop/');
    await ask(http, '/shop/', {
      method: 'POST',
      body: '{"method":"SendMessage"}',
      headers: { 'content-type': 'application/json' },
    });
    expect(seen.map(({ verdict, line }) => [verdict, line])).toEqual([
      ['valid', `GET ${PATH}/.well-known/agent-card.json`],
      ['valid', `POST ${PATH}`],
    ]);
    await logged('protocol=a2a', 'a2a.method=SendMessage', 'a2a.response.outcome=success', 'a2a.context.id=c');
  });

  test('is a target of MCP, by its name', async () => {
    const { seen, policies } = await runtime((request, response) => {
      if (request.method !== 'POST') return void response.writeHead(405).end();
      const asked = JSON.parse(seen.at(-1)?.body ?? '');
      if (asked.id === undefined) return void response.writeHead(202).end();
      const result =
        asked.method === 'initialize'
          ? { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'shop', version: '1' } }
          : { tools: [{ name: 'sell', inputSchema: { type: 'object' } }] };
      response.setHeader('content-type', 'application/json').setHeader('mcp-session-id', 's1');
      return void response.end(JSON.stringify({ jsonrpc: '2.0', id: asked.id, result }));
    });
    const running = cleanup.add(
      await startGateway(
        `gateways: {default: {port: 80}}
routes: [{backends: [{mcp: {targets: [{name: shop, mcp: {backend: runtime}}]}}]}]
backends: [{name: runtime, aws: {agentCore: {agentRuntimeArn: "${ARN}"}}, policies: {${policies}}}]`,
        { env: ENV },
      ),
    );
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${running.port(80)}/mcp`)));
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['sell']);
    await client.close();
    const posts = seen.filter(({ line }) => line.startsWith('POST'));
    expect(posts.map(({ verdict, line }) => [verdict, line])).toEqual(posts.map(() => ['valid', `POST ${PATH}`]));
    expect(posts.length).toBeGreaterThan(2);
  });
});

describe('a session of a runtime of AgentCore', () => {
  const session = `session-${'0123456789'.repeat(4)}`;
  const SESSION = 'x-amzn-bedrock-agentcore-runtime-session-id';

  test('goes with every message of MCP, and is covered by the signature', async () => {
    const { seen, policies } = await runtime((request, response) => {
      if (request.method !== 'POST') return void response.writeHead(request.method === 'DELETE' ? 200 : 405).end();
      const asked = JSON.parse(seen.at(-1)?.body ?? '');
      if (asked.id === undefined) return void response.writeHead(202).end();
      const result =
        asked.method === 'initialize'
          ? { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'shop', version: '1' } }
          : { content: [{ type: 'text', text: 'sold' }] };
      response.setHeader('content-type', 'application/json').setHeader('mcp-session-id', 'of-the-runtime');
      return void response.end(JSON.stringify({ jsonrpc: '2.0', id: asked.id, result }));
    });
    const running = cleanup.add(
      await startGateway(
        `gateways: {default: {port: 80}}
routes: [{backends: [{mcp: {targets: [{name: shop, mcp: {backend: runtime}}]}}]}]
backends: [{name: runtime, aws: {agentCore: {agentRuntimeArn: "${ARN}", qualifier: v2}}, policies: {${policies}}}]`,
        { env: ENV },
      ),
    );
    const client = new Client({ name: 'test', version: '1' });
    const headers = { [SESSION]: session, authorization: 'Bearer of-the-client' };
    const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${running.port(80)}/mcp`), {
      requestInit: { headers },
    });
    await client.connect(transport);
    expect((await client.callTool({ name: 'sell' })).content).toEqual([{ type: 'text', text: 'sold' }]);
    await transport.terminateSession();
    await client.close();
    expect(new Set(seen.map(({ verdict }) => verdict))).toEqual(new Set(['valid']));
    expect(new Set(seen.map(({ line }) => line.replace(/^\w+ /, '')))).toEqual(new Set([`${PATH}?qualifier=v2`]));
    for (const { headers: got } of seen) {
      expect(got[SESSION]).toBe(session);
      expect(got.authorization).toMatch(/SignedHeaders=[^,]*x-amzn-bedrock-agentcore-runtime-session-id/);
    }
    const call = seen.find(({ body }) => body.includes('tools/call'));
    expect(call?.headers['mcp-session-id']).toBe('of-the-runtime');
    expect(seen.some(({ line }) => line.startsWith('DELETE'))).toBe(true);
  });

  test('that the runtime names comes back to the client, also of an agent that streams', async () => {
    const { seen, policies } = await runtime((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', [SESSION]: session });
      response.end(
        'data: {"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","status":{"state":"completed"}}}\n\n',
      );
    });
    const { http, logged } = await gateway(`agentRuntimeArn: "${ARN}"`, `${policies}, a2a: {}`);
    const body = '{"jsonrpc":"2.0","id":1,"method":"message/stream"}';
    const answer = await ask(http, '/', { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    expect([answer.status, answer.headers[SESSION]]).toEqual([200, session]);
    expect(answer.body).toContain('"completed"');
    expect(seen).toMatchObject([{ verdict: 'valid', body }]);
    await logged('a2a.method=message/stream', 'a2a.task.state=completed');
  });
});

describe('a request that a runtime of AgentCore cannot get', () => {
  test('without keys is refused, and nothing of the client goes there instead', async () => {
    const { seen, policies } = await runtime();
    const running = cleanup.add(
      await startGateway(
        `gateways: {default: {port: 80}}\nroutes: [{backends: [{aws: {agentCore: {agentRuntimeArn: "${ARN}"}}, policies: {${policies}}}]}]`,
        { env: { AWS_EC2_METADATA_DISABLED: 'true', HOME: '/nonexistent' } },
      ),
    );
    const answer = await ask(running.port(80), '/', { headers: { authorization: 'Bearer mine' } });
    expect(answer.status).toBe(500);
    expect(answer.body).toMatch(/^backend authentication failed/);
    expect(seen).toEqual([]);
  });

  test('is too large to be signed', async () => {
    const { seen, policies } = await runtime();
    const running = cleanup.add(
      await startGateway(
        `gateways: {default: {port: 80}}\nfrontendPolicies: {http: {maxBufferSize: 65536}}\nroutes: [{backends: [{aws: {agentCore: {agentRuntimeArn: "${ARN}"}}, policies: {${policies}}}]}]`,
        { env: ENV },
      ),
    );
    const answer = await ask(running.port(80), '/', { method: 'POST', body: 'x'.repeat(70_000) });
    expect(answer.status).toBe(413);
    expect(seen).toEqual([]);
  });

  test('is refused by it: the client gets its words', async () => {
    const { policies } = await runtime((_, response) =>
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"message":"no such endpoint"}'),
    );
    const { http } = await gateway(`agentRuntimeArn: "${ARN}", qualifier: gone`, policies);
    expect(await ask(http, '/')).toMatchObject({ status: 404, body: '{"message":"no such endpoint"}' });
  });

  test.each(['v 2', 'v2&x=1', 'v2#', ''])('has a qualifier that is none: %j', async (qualifier) => {
    await expect(gateway(`agentRuntimeArn: "${ARN}", qualifier: "${qualifier}"`, '')).rejects.toThrow('qualifier');
  });
});

describe('what is asked about a runtime of AgentCore', () => {
  test('explains its path without a call or keys', async () => {
    const running = cleanup.add(
      await startGateway(
        `gateways: {default: {port: 80}}\nroutes: [{backends: [{aws: {agentCore: {agentRuntimeArn: "${ARN}"}}, policies: {a2a: {}}}]}]`,
        { env: ENV },
      ),
    );
    const question = {
      method: 'GET',
      scheme: 'http',
      authority: 'g.example',
      target: '/.well-known/agent-card.json',
      headers: [],
    };
    const answer = await fetch(`${running.admin}/debug/explain`, { method: 'POST', body: JSON.stringify(question) });
    const text = await answer.text();
    expect(answer.status).toBe(200);
    expect(text).toContain(`asks for ${PATH}/.well-known/agent-card.json`);
    expect(text).not.toContain('processing failed');
  });
});
