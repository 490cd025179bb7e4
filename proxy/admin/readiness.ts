import { Duplex } from 'node:stream';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

import type { ListenAddress } from '../../src/config/ir/index.ts';
import type { Log } from '../../src/shared/log.ts';
import { LocalServer } from './local-server.ts';

/** Opens `/healthz/ready`. `pending` names what is not ready; empty means ready. */
export function openReadinessServer(
  address: ListenAddress,
  pending: () => readonly string[],
  log: Log,
): Promise<LocalServer> {
  let failures = 0;
  return LocalServer.open({
    name: 'readiness',
    setting: 'config.readinessAddr (READINESS_ADDR)',
    address,
    onServer: tolerateProxyPreamble,
    handle: (request, response) => {
      request.resume();
      const path = (request.url ?? '').split('?', 1)[0];
      if (path !== '/healthz/ready') {
        response.writeHead(404).end();
        return;
      }
      if (request.method !== 'GET') {
        response.writeHead(405, { allow: 'GET' }).end();
        return;
      }
      const missing = [...pending()].sort();
      failures = missing.length === 0 ? 0 : failures + 1;
      if (missing.length > 0) report(log, failures, missing);
      const body = missing.length === 0 ? 'ready\n' : `not ready, pending: ${missing.join(', ')}\n`;
      response.writeHead(missing.length === 0 ? 200 : 500, {
        'content-type': 'text/plain; charset=utf-8',
        'content-length': Buffer.byteLength(body),
      });
      response.end(body);
    },
  });
}

/** Louder the longer it lasts: a start takes a few checks, a fault takes many. */
function report(log: Log, failures: number, missing: readonly string[]): void {
  const message = `not ready, pending: ${missing.join(', ')}`;
  if (failures <= 5) log.debug(message);
  else if (failures <= 30) log.info(message);
  else log.warn(message);
}

const V2_SIGNATURE = Buffer.from([0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a]);
const V1_SIGNATURE = Buffer.from('PROXY ');
const MAX_V1_BYTES = 107;
const MAX_V2_BYTES = 16 + 512;
const PREAMBLE_TIMEOUT_MS = 2000;

/** Load balancers that speak the PROXY protocol to the service speak it to its health check too: the header is skipped. */
function tolerateProxyPreamble(server: Server): void {
  const accept = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => socket.destroy());
    const timer = setTimeout(() => socket.destroy(), PREAMBLE_TIMEOUT_MS);
    socket.once('close', () => clearTimeout(timer));
    readPreamble(socket, (length, bytes) => {
      clearTimeout(timer);
      if (length === null) {
        socket.destroy();
        return;
      }
      if (bytes.byteLength > length) socket.unshift(bytes.subarray(length));
      for (const listener of accept) Reflect.apply(listener, server, [socket]);
      socket.resume();
    });
  });
}

type PreambleRead = (length: number | null, bytes: Buffer) => void;

function readPreamble(socket: Duplex, done: PreambleRead): void {
  let bytes: Buffer = Buffer.alloc(0);
  const onData = (chunk: Buffer): void => {
    bytes = Buffer.concat([bytes, chunk]);
    const length = preambleLength(bytes);
    if (length === 'more') return;
    socket.removeListener('data', onData);
    socket.pause();
    done(length, bytes);
  };
  socket.on('data', onData);
}

/** Bytes of the header in front of the request, 0 without one, null when it is malformed. */
function preambleLength(bytes: Buffer): number | 'more' | null {
  if (startsLike(bytes, V2_SIGNATURE)) {
    if (bytes.byteLength < 16) return 'more';
    const length = 16 + bytes.readUInt16BE(14);
    if (length > MAX_V2_BYTES) return null;
    return bytes.byteLength < length ? 'more' : length;
  }
  if (!startsLike(bytes, V1_SIGNATURE)) return 0;
  const end = bytes.subarray(0, MAX_V1_BYTES).indexOf('\r\n');
  if (end !== -1) return end + 2;
  return bytes.byteLength < MAX_V1_BYTES ? 'more' : null;
}

function startsLike(bytes: Buffer, signature: Buffer): boolean {
  const length = Math.min(bytes.byteLength, signature.byteLength);
  return bytes.subarray(0, length).equals(signature.subarray(0, length));
}
