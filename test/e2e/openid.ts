/** A real OpenID provider, and a browser to log in with. */
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

import OidcProvider from 'oidc-provider';

export interface OpenIdProvider {
  readonly issuer: string;
  readonly port: number;
  /** Answers before the provider does, when it returns true. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Paths that were asked for. */
  readonly asked: string[];
  close(): Promise<void>;
}

export const CLIENT_ID = 'shop client';
export const CLIENT_SECRET = 'p%s:w+rd & more, long enough to be a secret';

/** Starts a provider with one client; whoever logs in gets in. */
export async function startProvider(
  redirectUri: string,
  tokenEndpointAuth: 'client_secret_basic' | 'client_secret_post' = 'client_secret_basic',
): Promise<OpenIdProvider> {
  let handle: RequestListener = (_request, response) => response.end();
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    running.asked.push(`${request.method} ${path}`);
    if (!running.intercept(request, response)) handle(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // `as`: a TCP server that listens has an address with a port.
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const running: OpenIdProvider = {
    issuer,
    port,
    asked: [],
    intercept: () => false,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const provider = quietly(
    () =>
      new OidcProvider(issuer, {
        clients: [
          {
            client_id: CLIENT_ID,
            client_secret: CLIENT_SECRET,
            redirect_uris: [redirectUri],
            token_endpoint_auth_method: tokenEndpointAuth,
          },
        ],
        clientAuthMethods: [tokenEndpointAuth],
        jwks: { keys: [{ ...key, kid: 'provider-key', alg: 'RS256', use: 'sig' }] },
        cookies: { keys: ['a', 'b'] },
        pkce: { required: () => true },
        ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
        scopes: ['openid', 'email'],
        claims: { openid: ['sub'], email: ['email', 'padding'] },
        conformIdTokenClaims: false,
        findAccount: (_context, id) => ({
          accountId: id,
          claims: () => ({
            sub: id,
            email: `${id}@example.test`,
            padding: id.startsWith('large') ? 'x'.repeat(5000) : '',
          }),
        }),
      }),
  );
  handle = provider.callback();
  return running;
}

const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });

/** The library warns that it is set up for a test, which it is. */
export function quietly<T>(make: () => T): T {
  const { warn } = console;
  console.warn = () => {};
  try {
    return make();
  } finally {
    console.warn = warn;
  }
}

export interface Page {
  readonly url: string;
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

interface Cookie {
  readonly value: string;
  readonly path: string;
}

/** Keeps cookies by host, follows redirects and fills in forms, as far as logins need it. */
export class Browser {
  /** By `host:port`, then by name; port matters here, as everything runs on one address. */
  readonly jar = new Map<string, Map<string, Cookie>>();
  /** Every address that was asked for. */
  readonly visited: string[] = [];

  /** Asks once and follows nothing. */
  ask(
    url: string,
    options: { method?: string; headers?: Record<string, string>; form?: Record<string, string> } = {},
  ): Promise<Page> {
    this.visited.push(url);
    const { host, pathname } = new URL(url);
    const cookie = this.#cookies(host, pathname);
    const body = options.form === undefined ? undefined : new URLSearchParams(options.form).toString();
    const headers = {
      ...(cookie === '' ? {} : { cookie }),
      ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      ...options.headers,
    };
    const method = options.method ?? (body === undefined ? 'GET' : 'POST');
    return new Promise((resolve, reject) => {
      const outgoing = httpRequest(url, { method, headers, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          for (const line of response.headers['set-cookie'] ?? []) this.#keep(host, line);
          const text = Buffer.concat(chunks).toString();
          resolve({ url, status: response.statusCode ?? 0, headers: response.headers, body: text });
        });
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }

  /** Asks and follows redirects for as long as `until` does not hold for the next address. */
  async open(url: string, until: (next: string) => boolean = () => false): Promise<Page> {
    return this.#follow(await this.ask(url), until);
  }

  /** Logs in and agrees, from the page of the provider on; nothing to do where the provider still knows the browser. */
  async logIn(page: Page, user: string, until: (next: string) => boolean = () => false): Promise<Page> {
    if (page.headers.location !== undefined) return page;
    const asked = await this.#submit(page, { prompt: 'login', login: user, password: 'any' }, until);
    return /value="consent"/.test(asked.body) ? this.#submit(asked, { prompt: 'consent' }, until) : asked;
  }

  cookies(origin: string): ReadonlyMap<string, Cookie> {
    return this.jar.get(new URL(origin).host) ?? new Map();
  }

  async #submit(page: Page, form: Record<string, string>, until: (next: string) => boolean): Promise<Page> {
    const action = /<form[^>]* action="([^"]+)"/.exec(page.body)?.[1];
    if (action === undefined) throw new Error(`no form on ${page.url} (${page.status}): ${page.body.slice(0, 500)}`);
    return this.#follow(await this.ask(new URL(action, page.url).href, { form }), until);
  }

  async #follow(first: Page, until: (next: string) => boolean): Promise<Page> {
    let page = first;
    for (let hops = 0; hops < 20; hops++) {
      const { location } = page.headers;
      if (location === undefined) return page;
      const next = new URL(location, page.url).href;
      if (until(next)) return page;
      page = await this.ask(next);
    }
    throw new Error(`a loop of redirects:\n${this.visited.slice(-10).join('\n')}`);
  }

  #cookies(host: string, path: string): string {
    return [...(this.jar.get(host) ?? [])]
      .filter(([, cookie]) => path.startsWith(cookie.path))
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ');
  }

  #keep(host: string, line: string): void {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
    const equals = pair.indexOf('=');
    const name = pair.slice(0, equals);
    const of = (key: string): string | undefined =>
      attributes.find((each) => each.toLowerCase().startsWith(`${key}=`))?.slice(key.length + 1);
    const own = this.jar.get(host) ?? new Map<string, Cookie>();
    this.jar.set(host, own);
    const expires = of('expires');
    const gone = of('max-age') === '0' || (expires !== undefined && Date.parse(expires) < Date.now());
    if (gone) own.delete(name);
    else own.set(name, { value: pair.slice(equals + 1), path: of('path') ?? '/' });
  }
}
