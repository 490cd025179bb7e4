/** A simulated identity provider: documents by path, and what it was asked. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { type Signer, token, type Changes } from '../proxy/jwt/tokens.ts';

export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Answering = (asked: Asked, response: ServerResponse) => void;

export class IdentityProvider {
  readonly origin: string;
  readonly asked: Asked[] = [];
  /** By path; what is not here is not found. */
  readonly answers = new Map<string, Answering>();
  readonly #signer: Signer;
  readonly #close: () => Promise<void>;

  private constructor(port: number, signer: Signer, close: () => Promise<void>) {
    this.origin = `http://127.0.0.1:${port}`;
    this.#signer = signer;
    this.#close = close;
  }

  static async start(signer: Signer): Promise<IdentityProvider> {
    const server = createServer((request, response) => void provider.#answer(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const close = async (): Promise<void> => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    };
    // `as`: a TCP server that listens has an address with a port.
    const provider = new IdentityProvider((server.address() as AddressInfo).port, signer, close);
    return provider;
  }

  /** Serves a key set, so that a configuration with this provider loads. */
  keysAt(path: string): this {
    return this.json(path, { keys: [this.#signer.jwk] });
  }

  json(path: string, document: unknown, status = 200): this {
    this.answers.set(path, (_asked, response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(document)),
    );
    return this;
  }

  /** Metadata with all that a client needs, and `more`. */
  metadataAt(path: string, issuer: string, more: Readonly<Record<string, unknown>> = {}): this {
    return this.json(path, {
      issuer,
      authorization_endpoint: `${this.origin}/authorize`,
      token_endpoint: `${this.origin}/token`,
      registration_endpoint: `${this.origin}/register`,
      response_types_supported: ['code'],
      jwks_uri: `${this.origin}/keys`,
      ...more,
    });
  }

  token(issuer: string, changes: Changes = {}): Promise<string> {
    return token(this.#signer, { ...changes, claims: { iss: issuer, aud: 'api', ...changes.claims } });
  }

  asksOf(path: string): Asked[] {
    return this.asked.filter(({ url }) => url.split('?', 1)[0] === path);
  }

  close(): Promise<void> {
    return this.#close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer); // a request without an encoding yields buffers
    const { method = '', url = '', headers } = request;
    const asked = { method, url, headers, body: Buffer.concat(chunks).toString() };
    this.asked.push(asked);
    const answering = this.answers.get(url.split('?', 1)[0] ?? '');
    if (answering === undefined) response.writeHead(404).end('nothing here');
    else answering(asked, response);
  }
}
