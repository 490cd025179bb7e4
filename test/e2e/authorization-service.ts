import type { IncomingMessage, ServerResponse } from 'node:http';

import { type Ask, ask, type Cleanup, echo, startGateway, upstream } from './gateway.ts';

interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

type Decide = (asked: Asked, response: ServerResponse, count: number) => void;

interface Setup {
  /** What stands under `protocol.http`. */
  readonly http?: string;
  /** Further keys of the policy. */
  readonly more?: string;
  /** Further policies of the route. */
  readonly policies?: string;
  /** The authorization service: `host` of the policy. */
  readonly host: string | number;
}

/** Authorization services that are asked over HTTP, and gateways that ask them; all goes away with `cleanup`. */
export function authorizing(cleanup: Cleanup) {
  /** An authorization service that notes what it was asked. */
  async function service(decide: Decide = (_asked, response) => response.end()) {
    const asked: Asked[] = [];
    const server = await upstream((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        const one = { method, url, headers, body: Buffer.concat(chunks).toString() };
        asked.push(one);
        decide(one, response, asked.length);
      });
    });
    return cleanup.add({ asked, port: server.port, close: () => server.close() });
  }

  /** A gateway whose only route asks the service, in front of an upstream that echoes. */
  async function gatewayWith(setup: Setup) {
    const backend = cleanup.add(await upstream(echo));
    const running = cleanup.add(
      await startGateway(`gateways: {default: {port: 80}}
routes:
- policies: {extAuthz: ${policy(setup)}${setup.policies === undefined ? '' : `, ${setup.policies}`}}
  backends: [{host: "127.0.0.1:${backend.port}"}]
`),
    );
    return { ...running, backend, ask: (path: string, options?: Ask) => ask(running.port(80), path, options) };
  }

  return { service, gatewayWith };
}

export function policy({ http = '{}', more = '', host }: Setup): string {
  const target = typeof host === 'number' ? `127.0.0.1:${host}` : host;
  return `{host: "${target}", protocol: {http: ${http}}${more === '' ? '' : `, ${more}`}}`;
}
