import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

import { Metadata, Server, ServerCredentials, status } from '@grpc/grpc-js';

import { recordsOf, type SeenRecord, type SeenSpan, spansOf } from '../proxy/telemetry/otlp/protocol.ts';

/** What a receiver got. */
export interface Batch {
  readonly signal: 'traces' | 'logs';
  readonly bytes: Buffer;
  /** Headers of HTTP, metadata of gRPC. */
  readonly headers: IncomingHttpHeaders | Readonly<Record<string, unknown>>;
  /** Of an HTTP request. */
  readonly path: string;
}

/** How a receiver answers: an HTTP status (with headers) or a gRPC status (with details); null takes the batch. */
export type Refuse = () => {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly details?: Buffer;
} | null;

export interface Receiver {
  readonly port: number;
  readonly batches: Batch[];
  /** Waits until that many spans have come in. */
  spans(count: number): Promise<SeenSpan[]>;
  records(count: number): Promise<SeenRecord[]>;
  close(): Promise<void>;
}

const PATIENCE_MS = 8000;
const OK_RESPONSE = Buffer.alloc(0);

/** OTLP over HTTP with protobuf; `/v1/logs` and paths that end in it are logs, everything else traces. */
export async function serveOtlpHttp(refuse: Refuse = () => null): Promise<Receiver> {
  const inbox = new Inbox();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const refused = refuse();
      if (refused !== null) {
        inbox.refused();
        response.writeHead(refused.status, refused.headers).end('no');
        return;
      }
      const path = request.url ?? '';
      const signal = path.endsWith('logs') ? 'logs' : 'traces';
      inbox.add({ signal, bytes: Buffer.concat(chunks), headers: request.headers, path });
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end(OK_RESPONSE);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return inbox.receiver(
    // `as`: a TCP server that listens has an address with a port.
    (server.address() as AddressInfo).port,
    async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  );
}

/** OTLP over gRPC, by the library of gRPC; messages are handed over as bytes. */
export async function serveOtlpGrpc(refuse: Refuse = () => null): Promise<Receiver> {
  const inbox = new Inbox();
  const server = new Server();
  const bytes = { serialize: (value: Buffer) => value, deserialize: (value: Buffer) => value };
  for (const [signal, service] of [
    ['traces', 'trace.v1.TraceService'],
    ['logs', 'logs.v1.LogsService'],
  ] as const) {
    server.addService(
      {
        Export: {
          path: `/opentelemetry.proto.collector.${service}/Export`,
          requestStream: false,
          responseStream: false,
          requestSerialize: bytes.serialize,
          requestDeserialize: bytes.deserialize,
          responseSerialize: bytes.serialize,
          responseDeserialize: bytes.deserialize,
        },
      },
      {
        Export: (
          call: { request: Buffer; metadata: Metadata },
          answer: (error: { code: status; details: string; metadata: Metadata } | null, response?: Buffer) => void,
        ) => {
          const refused = refuse();
          if (refused !== null) {
            inbox.refused();
            const metadata = new Metadata();
            if (refused.details !== undefined) metadata.set('grpc-status-details-bin', refused.details);
            answer({ code: refused.status, details: 'no', metadata });
            return;
          }
          inbox.add({ signal, bytes: call.request, headers: call.metadata.getMap(), path: '' });
          answer(null, OK_RESPONSE);
        },
      },
    );
  }
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return inbox.receiver(port, async () => server.forceShutdown());
}

class Inbox {
  readonly #batches: Batch[] = [];
  #refusals = 0;
  #changed = Promise.withResolvers<void>();

  add(batch: Batch): void {
    this.#batches.push(batch);
    this.#notify();
  }

  refused(): void {
    this.#refusals += 1;
    this.#notify();
  }

  receiver(port: number, close: () => Promise<void>): Receiver {
    return {
      port,
      batches: this.#batches,
      spans: (count) => this.#wait('traces', spansOf, count),
      records: (count) => this.#wait('logs', recordsOf, count),
      close,
    };
  }

  async #wait<T>(signal: Batch['signal'], read: (bytes: Uint8Array) => T[], count: number): Promise<T[]> {
    const giveUp = new Promise<'late'>((resolve) => setTimeout(resolve, PATIENCE_MS, 'late').unref());
    for (;;) {
      const seen = this.#batches.filter((batch) => batch.signal === signal).flatMap(({ bytes }) => read(bytes));
      if (seen.length >= count) return seen;
      const late = await Promise.race([this.#changed.promise, giveUp]);
      if (late === 'late') throw new Error(`${seen.length} of ${count} ${signal} came, ${this.#refusals} were refused`);
    }
  }

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
