import type { TraceEvent } from '../../src/admin/protocol/trace-event.ts';
import { EventReader } from '../proxy/admin/sse.ts';
import { type Cleanup, type RunningGateway, startGateway, upstream, type Upstream } from './gateway.ts';

/** Gateways of two threads, and somebody who watches them. All of it goes away with `cleanup`. */
export function observing(cleanup: Cleanup) {
  async function start(text: string): Promise<RunningGateway> {
    return cleanup.add(await startGateway(text, { threads: 2 }));
  }

  /** A gateway on port 80 with the given routes. */
  function startRoutes(routes: string): Promise<RunningGateway> {
    return start(`gateways: {default: {port: 80}}\nroutes:\n${routes}`);
  }

  async function answering(status: number, body: string): Promise<Upstream> {
    return cleanup.add(
      await upstream((request, response) => {
        request.resume();
        request.on('end', () => response.writeHead(status).end(body));
      }),
    );
  }

  async function watch({ admin }: RunningGateway, query = ''): Promise<EventReader> {
    return cleanup.add(await EventReader.open(`${admin}/debug/trace${query}`));
  }

  /** The events of the next request that `act` makes. */
  async function traceOf(running: RunningGateway, act: () => unknown): Promise<TraceEvent[]> {
    const reader = await watch(running);
    await act();
    await reader.ended;
    return eventsOf(reader);
  }

  return { start, startRoutes, answering, watch, traceOf };
}

// `as`: what the gateway under test sends; the decoder has tests of its own.
export const eventsOf = (reader: EventReader): TraceEvent[] => reader.events as TraceEvent[];

export function only<T extends TraceEvent['message']['type']>(events: readonly TraceEvent[], type: T) {
  return events
    .map(({ message }) => message)
    .filter((message): message is Extract<TraceEvent['message'], { type: T }> => message.type === type);
}

/** One line per event: scope, type, what makes it this one, and how it went. */
export function outline(events: readonly TraceEvent[]): string[] {
  return events.map(({ message, scope, severity }) => {
    const what =
      'stage' in message ? message.stage : 'phase' in message ? message.phase : 'kind' in message ? message.kind : '';
    const outcome = 'status' in message && message.status !== null ? String(message.status) : '';
    return [
      ...(scope ?? []).map((name) => `${name}:`),
      message.type,
      what,
      outcome,
      severity === 'info' ? '' : severity,
    ]
      .filter((part) => part !== '')
      .join(' ');
  });
}

/** With what every trace begins. */
export const BEGIN = [
  'requestStarted',
  'requestSnapshot initial request',
  'policySelection listenerFrontend',
  'policySelection gateway',
  'requestSnapshot gateway policies',
];
