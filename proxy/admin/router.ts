import { GwError, messageOf } from '../../src/shared/errors.ts';
import type { Log } from '../../src/shared/log.ts';
import type { AdminCall, AdminReply } from './admin-call.ts';
import { refusedSite, type BrowserHints } from './browser-guard.ts';
import { text, type Endpoint, type EndpointReply } from './endpoint.ts';

export interface RoutedRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly hints: BrowserHints;
  readonly signal: AbortSignal;
  body(): Promise<Uint8Array>;
}

/** Finds the endpoint of a request and turns whatever happens into a reply. */
export class AdminRouter {
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #log: Log;

  constructor(endpoints: readonly Endpoint[], log: Log) {
    this.#log = log;
    for (const endpoint of endpoints) this.#endpoints.set(endpoint.path, endpoint);
  }

  async route(request: RoutedRequest): Promise<EndpointReply> {
    const url = parseTarget(request.target);
    if (url === null) return text(400, 'bad request target\n');
    const endpoint = this.#endpoints.get(url.pathname);
    if (endpoint === undefined) return text(404, 'not found\n');
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    if (!endpoint.methods.includes(method)) return notAllowed(endpoint);
    const refused = endpoint.guarded?.includes(method) === true ? refusedSite(request.hints) : null;
    if (refused !== null) return text(403, `${refused}\n`);
    try {
      return await endpoint.handle({
        method,
        path: url.pathname,
        query: url.searchParams,
        signal: request.signal,
        body: () => request.body(),
      });
    } catch (error) {
      return this.#failed(endpoint, error);
    }
  }

  /** A request of an `internal` backend: whole answers only. */
  async call(call: AdminCall): Promise<AdminReply> {
    const gone = new AbortController();
    const { host, origin, 'sec-fetch-site': fetchSite } = call.headers;
    const hints = { host, origin, fetchSite, localAddress: undefined };
    const reply = await this.route({
      method: call.method,
      target: call.path,
      hints,
      signal: gone.signal,
      body: () => Promise.resolve(call.body ?? new Uint8Array()),
    });
    if (reply.kind === 'whole') return { status: reply.status, headers: reply.headers, body: reply.body };
    gone.abort();
    return {
      status: 501,
      headers: { 'content-type': 'text/plain' },
      body: 'streams are served on the admin address only\n',
    };
  }

  #failed(endpoint: Endpoint, error: unknown): EndpointReply {
    if (error instanceof GwError && error.code === 'GW_BAD_PARAMETER') return text(400, `${error.message}\n`);
    if (error instanceof GwError && error.code === 'GW_NOT_FOUND') return text(404, `${error.message}\n`);
    this.#log.warn(`${endpoint.path} failed`, { error: messageOf(error) });
    return text(500, `${messageOf(error)}\n`);
  }
}

/** A query parameter that cannot be used; answered with 400. */
export function badParameter(message: string): GwError {
  return new GwError(message, { code: 'GW_BAD_PARAMETER' });
}

function notAllowed(endpoint: Endpoint): EndpointReply {
  const allow = endpoint.methods.includes('GET')
    ? ['GET', 'HEAD', ...endpoint.methods.filter((name) => name !== 'GET')]
    : endpoint.methods;
  return { kind: 'whole', status: 405, headers: { allow: allow.join(', ') }, body: '' };
}

function parseTarget(target: string): URL | null {
  return target.startsWith('/')
    ? URL.parse(`http://admin${target.startsWith('//') ? '/' : ''}${target}`)
    : URL.parse(target);
}
