import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { PublicJwk } from '../../../src/config/ir/index.ts';

/** A real server whose answer a test changes as it goes. */
export class DocumentServer {
  readonly url: string;
  answer: RequestListener;
  /** Paths that were asked for. */
  readonly asked: string[] = [];
  readonly #close: () => Promise<void>;

  private constructor(port: number, close: () => Promise<void>, answer: RequestListener) {
    this.url = `http://127.0.0.1:${port}`;
    this.#close = close;
    this.answer = answer;
  }

  static async start(answer: RequestListener): Promise<DocumentServer> {
    const server = createServer((request, response) => {
      documents.asked.push(request.url ?? '');
      documents.answer(request, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const close = async (): Promise<void> => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    };
    // `as`: a TCP server that listens has an address with a port.
    const documents = new DocumentServer((server.address() as AddressInfo).port, close, answer);
    return documents;
  }

  /** Serves a text; `headers` go with it. */
  serve(text: string, headers: Record<string, string> = {}): void {
    this.answer = (_request, response) => response.writeHead(200, headers).end(text);
  }

  /** Serves a key set. */
  serveKeys(...kids: string[]): void {
    this.serve(keySetText(...kids));
  }

  close(): Promise<void> {
    return this.#close();
  }
}

const made = new Map<string, PublicJwk>();

/** A public key of that id, the same one each time. */
function publicJwk(kid: string): PublicJwk {
  let key = made.get(kid);
  if (key === undefined) {
    const exported = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
    key = { kid, kty: 'EC', crv: 'P-256', x: String(exported.x), y: String(exported.y) };
    made.set(kid, key);
  }
  return key;
}

export function keySetText(...kids: string[]): string {
  return JSON.stringify({ keys: kids.map(publicJwk) });
}
