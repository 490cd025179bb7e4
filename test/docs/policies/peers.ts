import type { RateLimitRequest, RateLimitResponse } from '../../../proxy/services/messages/rate-limit.ts';
import { createServer as createHttpsServer } from 'node:https';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { AddressInfo } from 'node:net';

import { fixture } from '../../e2e/clients.ts';
import { startAgent } from '../../e2e/a2a-agent.ts';
import { connectProxy } from '../../e2e/connect-proxy.ts';
import { echo, upstream, type Cleanup } from '../../e2e/gateway.ts';
import { startProvider } from '../../e2e/openid.ts';
import { answering, type TokenEndpoint, tokenEndpoint } from '../../e2e/token-endpoint.ts';
import { startEverything } from '../../mcp/everything.ts';
import { serveRateLimit } from '../../services/envoy.ts';
import { root } from '../markdown.ts';

/** What stands behind the ports that examples name; each is started on a free port when an example uses it. */
export const peers: Readonly<Record<number, (cleanup: Cleanup) => Promise<number>>> = {
  /** Answers with what it was asked, as JSON. */
  9000: async (cleanup) => cleanup.add(await upstream(echo)).port,
  /** Allows every connection, and those requests that bring a name as their token. */
  9001: async (cleanup) => {
    const server = await upstream((request, response) => {
      const [, name] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? [];
      if (name !== undefined) response.setHeader('x-user', name);
      const allowed = name !== undefined || request.url?.startsWith('/connections') === true;
      response.writeHead(allowed ? 200 : 401).end(allowed ? '' : 'who are you?');
    });
    return cleanup.add(server).port;
  },
  /** An OpenID provider. */
  9003: async (cleanup) => cleanup.add(await startProvider('http://localhost:8080/oauth/callback')).port,
  /** Names the caller, says no to secrets. */
  9006: (cleanup) => running(cleanup, 'examples/external-services/processor.js'),
  /** An agent. */
  9008: async (cleanup) => cleanup.add(await startAgent('/agents/shop')).port,
  /** A server of MCP with one of everything. */
  9009: async (cleanup) => cleanup.add(await startEverything()).port,
  /** Says no to secrets, hides numbers of cards. */
  9010: (cleanup) => running(cleanup, 'examples/external-services/mcp-guard.js'),
  /** Exchanges tokens of people that it knows. */
  9007: async (cleanup) => (await tokenEndpoint(cleanup, knownPeople)).port,
  /** Two requests for each team. */
  9002: async (cleanup) => cleanup.add(await serveRateLimit(twoEach(new Map()))).port,
  /** Two endpoints of a service, which say their names. */
  9004: async (cleanup) => cleanup.add(await upstream((_request, response) => response.end('one'))).port,
  9005: async (cleanup) => cleanup.add(await upstream((_request, response) => response.end('two'))).port,
  /** A proxy that knows `shop.internal`. */
  9128: async (cleanup) =>
    cleanup.add(await connectProxy({ credential: 'Basic Z3c6c2VjcmV0', hosts: { 'shop.internal': '127.0.0.1' } })).port,
  /** The same over TLS, as `a.example.com`. */
  9443: async (cleanup) => {
    const server = createHttpsServer({ cert: fixture('a.crt'), key: fixture('a.key') }, echo).listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanup.add({ close: () => (server.closeAllConnections(), server.close()) });
    // `as`: a TCP server that listens has an address with a port.
    return (server.address() as AddressInfo).port;
  },
};

function twoEach(counts: Map<string, number>): (request: RateLimitRequest) => RateLimitResponse {
  return ({ descriptors }) => {
    const team = descriptors[0]?.entries[0]?.value ?? '';
    const left = (counts.get(team) ?? 2) - 1;
    counts.set(team, left);
    const status = { currentLimit: { requestsPerUnit: 2 }, limitRemaining: Math.max(0, left) };
    if (left >= 0) return { overallCode: 'OK', statuses: [status] };
    return { overallCode: 'OVER_LIMIT', statuses: [status], rawBody: Buffer.from(`too many of ${team}`) };
  };
}

const knownPeople: TokenEndpoint['answer'] = (call, response) => {
  const form = new URLSearchParams(call.form);
  const name = form.get('subject_token');
  if (name !== 'alice') return answering(400, { error: 'invalid_grant' })(call, response);
  const token = `${name}, for ${form.get('audience')}: ${form.get('scope')}`;
  return { access_token: token, token_type: 'Bearer', expires_in: 300 };
};

/** A service of the examples, in a process of its own, on a port that it tells. */
function running(cleanup: Cleanup, script: string): Promise<number> {
  const child = spawn(process.execPath, [join(root, script), '0'], { stdio: ['ignore', 'ignore', 'pipe'] });
  cleanup.add({ close: () => child.kill() });
  let said = '';
  return new Promise((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      const [, port] = /listening on (\d+)\n/.exec(said) ?? [];
      if (port !== undefined) resolve(Number(port));
    });
    child.on('close', () => reject(new Error(`${script} did not start:\n${said}`)));
  });
}
