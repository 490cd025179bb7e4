import { once } from 'node:events';
import { request } from 'node:http';
import net from 'node:net';
import { join } from 'node:path';

import { afterEach, describe, expect, test } from '@jest/globals';

import type { TraceEvent } from '../../src/admin/protocol/trace-event.ts';
import { Cleanup, startGateway } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** Follows every trace; `finished` waits for the events of the n-th one that has ended. */
async function follow(admin: string): Promise<(count: number) => Promise<TraceEvent[][]>> {
  const outgoing = request(`${admin}/debug/trace?follow=true`, { method: 'POST' }).end();
  const [response] = await once(outgoing, 'response');
  cleanup.add({ close: () => outgoing.destroy() });
  const traces = new Map<string, TraceEvent[]>();
  const ended: TraceEvent[][] = [];
  let rest = '';
  response.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines.filter((each) => each.startsWith('data: '))) {
      const event: TraceEvent = JSON.parse(line.slice(6));
      const events = traces.get(event.requestId ?? '') ?? [];
      traces.set(event.requestId ?? '', [...events, event]);
      if (event.message.type === 'requestFinished') ended.push([...events, event]);
    }
  });
  response.on('error', () => {});
  await once(response, 'data');
  return async (count) => {
    while (ended.length < count) await once(response, 'data');
    return ended;
  };
}

const types = (events: readonly TraceEvent[] | undefined): string[] =>
  (events ?? []).map(({ message }) => message.type);

describe('followers', () => {
  test('see a TCP connection with its route, its backend and its end', async () => {
    const echo = net.createServer((socket) => socket.pipe(socket));
    echo.listen(0, '127.0.0.1');
    await once(echo, 'listening');
    cleanup.add({ close: () => echo.close() });
    const { port } = echo.address() as net.AddressInfo; // a TCP server that listens
    const running = cleanup.add(
      await startGateway(
        `gateways: {default: {port: 81, protocol: TCP}}\ntcpRoutes: [{name: db, backends: [{host: "127.0.0.1:${port}"}]}]`,
      ),
    );
    const finished = await follow(running.admin);
    const socket = net.connect(running.port(81), '127.0.0.1');
    socket.write('ping');
    expect(String((await once(socket, 'data'))[0])).toBe('ping');
    socket.end();
    const [events] = await finished(1);
    expect(types(events)).toEqual([
      'requestStarted',
      'requestSnapshot',
      'routeSelection',
      'backendCallStart',
      'backendCallResult',
      'policyEvent',
      'requestFinished',
    ]);
    expect(events?.[2]?.message).toMatchObject({ selectedRoute: 'gateway/default/default/db' });
    expect(events?.[5]?.message).toMatchObject({ kind: 'tcp', details: { bytesReceived: 4, bytesSent: 4 } });
    await running.logged('protocol=tcp', `endpoint=127.0.0.1:${port}`);
  });

  test('see why a connection was refused before it carried anything', async () => {
    const tls = join(import.meta.dirname, '../fixtures/tls');
    const running = cleanup.add(
      await startGateway(
        `gateways: {default: {port: 82, tls: {cert: ${tls}/a.crt, key: ${tls}/a.key}}}\nroutes: [{policies: {directResponse: {status: 200}}}]`,
      ),
    );
    const finished = await follow(running.admin);
    const socket = net.connect(running.port(82), '127.0.0.1');
    socket.on('error', () => {}).resume();
    socket.write('this is not TLS at all\r\n\r\n');
    const [events] = await finished(1);
    expect(types(events)).toEqual(['requestStarted', 'requestSnapshot', 'policyEvent', 'requestFinished']);
    expect(events?.at(-1)).toMatchObject({ severity: 'error', message: { status: null } });
    socket.destroy();
  });
});
