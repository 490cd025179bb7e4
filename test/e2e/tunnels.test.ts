import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';

import { afterEach, describe, expect, test } from '@jest/globals';
import { WebSocket } from 'undici';

import { eventually, type OpenServer, RawClient, signal, tcpUpstream } from './clients.ts';
import { Cleanup } from './gateway.ts';
import { answering, type Facing, gatewayTo, nothingLeft, okAnswer, sha256 } from './wire.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const connectRoute = 'frontendPolicies: {connect: {mode: route}}\n';
const UPGRADE = 'GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
const SWITCH = 'HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';

/** The frames of RFC 6455 that a server needs: unfragmented, masked by the client. */
function webSocket(
  onFrame: (opcode: number, payload: Buffer, send: (opcode: number, payload: Buffer) => void) => void,
) {
  return (socket: Socket): void => {
    let unread = Buffer.alloc(0);
    let open = false;
    const send = (opcode: number, payload: Buffer): void => {
      const head = Buffer.alloc(10);
      head.writeUInt8(0x80 | opcode);
      head.writeUInt8(127, 1);
      head.writeBigUInt64BE(BigInt(payload.length), 2);
      const short = payload.length < 126 ? Buffer.from([0x80 | opcode, payload.length]) : head;
      socket.write(Buffer.concat([short, payload]));
    };
    socket.on('data', (chunk: Buffer) => {
      unread = Buffer.concat([unread, chunk]);
      if (!open) {
        const end = unread.indexOf('\r\n\r\n');
        if (end === -1) return;
        const key = /sec-websocket-key: (\S+)/i.exec(unread.toString('latin1', 0, end))?.[1] ?? '';
        const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
        socket.write(SWITCH.replace('\r\n\r\n', `\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`));
        unread = unread.subarray(end + 4);
        open = true;
        onFrame(-1, Buffer.alloc(0), send);
      }
      for (let frame = readFrame(unread); frame !== null; frame = readFrame(unread)) {
        unread = unread.subarray(frame.used);
        onFrame(frame.opcode, frame.payload, send);
        if (frame.opcode === 8) socket.end();
      }
    });
  };
}

function readFrame(bytes: Buffer): { opcode: number; payload: Buffer; used: number } | null {
  if (bytes.length < 14 && bytes.length < 6 + ((bytes[1] ?? 0x7f) & 0x7f)) return null;
  const short = (bytes[1] ?? 0) & 0x7f;
  const lengthBytes = short === 127 ? 8 : short === 126 ? 2 : 0;
  const length = short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short;
  const start = 2 + lengthBytes + 4;
  if (bytes.length < start + length) return null;
  const payload = Buffer.from(bytes.subarray(start, start + length));
  for (let at = 0; at < length; at++) payload[at] = (payload[at] ?? 0) ^ (bytes[start - 4 + (at % 4)] ?? 0);
  return { opcode: (bytes[0] ?? 0) & 0x0f, payload, used: start + length };
}

describe('a WebSocket', () => {
  test('carries frames of every size both ways, and its server may speak first', async () => {
    const server = cleanup.add(
      await tcpUpstream(
        webSocket((opcode, payload, send) => {
          if (opcode === -1) send(1, Buffer.from('welcome'));
          else send(opcode, payload);
        }),
      ),
    );
    const gateway = await gatewayTo(cleanup, server.port);
    const socket = new WebSocket(`ws://127.0.0.1:${gateway.http}/chat`);
    socket.binaryType = 'arraybuffer';
    const [welcome] = await once(socket, 'message');
    expect(welcome.data).toBe('welcome');
    for (const size of [0, 1, 125, 126, 65_535, 65_536, 4 * 1024 * 1024]) {
      const sent = randomBytes(size);
      socket.send(sent);
      const [message] = await once(socket, 'message');
      expect([size, sha256(Buffer.from(message.data))]).toEqual([size, sha256(sent)]);
    }
    socket.close(1000, 'done');
    const [end] = await once(socket, 'close');
    expect([end.code, end.wasClean]).toEqual([1000, true]);
    await gateway.logged('http.status=101');
    await nothingLeft(gateway);
    expect(server.sockets.size).toBe(0);
  });

  test('may be closed by its server', async () => {
    const server = cleanup.add(
      await tcpUpstream(
        webSocket((opcode, _payload, send) => {
          if (opcode === 1) send(8, Buffer.from([0x0f, 0xa1]));
        }),
      ),
    );
    const gateway = await gatewayTo(cleanup, server.port);
    const socket = new WebSocket(`ws://127.0.0.1:${gateway.http}/chat`);
    await once(socket, 'open');
    socket.send('close, please');
    const [end] = await once(socket, 'close');
    expect([end.code, end.wasClean]).toEqual([4001, true]);
    await nothingLeft(gateway);
  });
});

describe('an upgrade', () => {
  test('is answered without the fields that belong to the connection of the backend', async () => {
    const extra =
      'Connection: upgrade, x-hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nContent-Length: 5\r\nX-Kept: 1\r\n';
    const server = await answering(cleanup, `HTTP/1.1 101 X\r\nUpgrade: WebSocket\r\n${extra}\r\n`);
    const { connect } = await gatewayTo(cleanup, server.port);
    const text = await connect(UPGRADE).until((all) => all.endsWith('\r\n\r\n'));
    expect(text).toMatch(/^HTTP\/1\.1 101 /);
    expect(text).not.toMatch(/x-hop|keep-alive|content-length/);
    expect(text).toMatch(/connection: upgrade\r\n/);
    expect(text).toMatch(/upgrade: WebSocket\r\n/);
    expect(text).toMatch(/x-kept: 1\r\n/);
  });

  test('by a backend that dies right behind its 101 ends the client connection', async () => {
    const server = await answering(cleanup, (socket) => socket.write(SWITCH, () => socket.resetAndDestroy()));
    const gateway = await gatewayTo(cleanup, server.port);
    const client = gateway.connect(UPGRADE);
    await client.closed;
    expect(client.text).toMatch(/^HTTP\/1\.1 (101|50[23]) /);
    await nothingLeft(gateway);
  });
});

/** A tunnel through the gateway, with the backend's end of it. */
interface Tunnel {
  readonly gateway: Facing;
  readonly client: RawClient;
  readonly backend: Socket;
  readonly server: OpenServer;
  readonly received: () => string;
}

async function tunnel(kind: 'CONNECT' | 'upgrade'): Promise<Tunnel> {
  const connection = signal<Socket>();
  let received = '';
  const server = cleanup.add(
    await tcpUpstream(
      (socket) => {
        if (kind === 'CONNECT') connection.resolve(socket);
        socket.on('data', (chunk: Buffer) => {
          received += chunk.toString('latin1');
          if (kind !== 'upgrade' || !received.endsWith('\r\n\r\n')) return;
          received = '';
          socket.write(SWITCH);
          connection.resolve(socket);
        });
      },
      { allowHalfOpen: true },
    ),
  );
  const gateway = await gatewayTo(cleanup, server.port, kind === 'CONNECT' ? connectRoute : '');
  const client = new RawClient(gateway.http, { allowHalfOpen: true });
  cleanup.add({ close: () => client.socket.destroy() });
  client.write(kind === 'CONNECT' ? 'CONNECT db.test:5432 HTTP/1.1\r\nHost: db.test:5432\r\n\r\n' : UPGRADE);
  const backend = await connection.promise;
  await client.until((text) => text.includes('\r\n\r\n'));
  return { gateway, client, backend, server, received: () => received };
}

describe.each(['CONNECT', 'upgrade'] as const)('a tunnel by %s', (kind) => {
  test('stays open towards the client when the client has ended its side', async () => {
    const { gateway, client, backend, received } = await tunnel(kind);
    client.socket.end('question');
    await once(backend, 'end');
    expect(received()).toBe('question');
    backend.end('a late answer');
    await client.closed;
    expect(client.text).toMatch(/\r\n\r\na late answer$/);
    await nothingLeft(gateway);
  });

  test('stays open towards the backend when the backend has ended its side', async () => {
    const { gateway, client, backend, received } = await tunnel(kind);
    backend.end('the last word');
    await once(client.socket, 'end');
    expect(client.text).toMatch(/the last word$/);
    client.write('not yet').write(', and more');
    await eventually('it arrives', () => received() === 'not yet, and more');
    client.socket.end();
    await client.closed;
    await nothingLeft(gateway);
  });

  test('takes the backend along when the client vanishes, and the other way round', async () => {
    const one = await tunnel(kind);
    one.backend.on('error', () => {});
    one.client.socket.resetAndDestroy();
    await once(one.backend, 'end');
    await nothingLeft(one.gateway);
    const other = await tunnel(kind);
    other.backend.resetAndDestroy();
    await once(other.client.socket, 'end');
    await nothingLeft(other.gateway);
  });

  test('holds a fast side back for a slow one and loses nothing', async () => {
    const { client, backend } = await tunnel(kind);
    const size = 24 * 1024 * 1024;
    client.socket.pause();
    const before = client.received.length;
    const bytes = randomBytes(size);
    backend.end(bytes);
    client.socket.removeAllListeners('data');
    const hash = createHash('sha256');
    let count = before;
    client.socket.on('data', (chunk: Buffer) => (hash.update(chunk), (count += chunk.length)));
    client.socket.resume();
    await once(client.socket, 'end');
    expect(count - before).toBe(size);
    expect(hash.digest('hex')).toBe(sha256(bytes));
  });
});

describe('CONNECT', () => {
  test('is refused by default, and the backend hears nothing of it', async () => {
    const server = await answering(cleanup, okAnswer());
    const gateway = await gatewayTo(cleanup, server.port);
    const client = gateway.connect('CONNECT db.test:5432 HTTP/1.1\r\nHost: db.test:5432\r\n\r\n');
    expect(await client.until((text) => text.includes('\r\n\r\n'))).toMatch(/^HTTP\/1\.1 405 /);
    expect(server.opened()).toBe(0);
  });

  test('hands on what the client sends before it has its answer', async () => {
    const server = cleanup.add(await tcpUpstream((socket) => socket.pipe(socket)));
    const gateway = await gatewayTo(cleanup, server.port, connectRoute);
    const client = gateway.connect('CONNECT db.test:5432 HTTP/1.1\r\nHost: db.test:5432\r\n\r\nearly');
    expect(await client.until((text) => text.endsWith('early'))).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\nearly$/);
  });
});
