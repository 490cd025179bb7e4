/**
 * Keeps many streams of chat completions open at once and tells when their first texts came:
 * `node bench/stream-client.ts '{"port":…,"path":…,"streams":…,"seconds":…,"headers":{…},"body":…}'`, the result as JSON.
 */
import { connect, type Socket } from 'node:net';
import { WORD } from './llm.ts';

export interface StreamLoad {
  readonly port: number;
  readonly path: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** At once; each begins again when it has ended. */
  readonly streams: number;
  readonly seconds: number;
}

export interface StreamResult {
  /** Microseconds to the first text, the median. */
  readonly firstText: number;
  /** First texts that came. */
  readonly begun: number;
  /** Events that came, in all streams. */
  readonly events: number;
  /** Connections that broke, and answers that were no streams. */
  readonly errors: number;
}

/** Streams begin one after the other over this time: all at once would measure how fast they can be queued. */
const SPREAD_MS = 2000;
const LAST_CHUNK = '\r\n0\r\n\r\n';

const [given = '{}'] = process.argv.slice(2);
// `as`: written by the one who starts this.
const load = JSON.parse(given) as StreamLoad;
const head = Object.entries({ ...load.headers, host: 'bench', 'content-length': String(load.body.length) })
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('');
const request = Buffer.from(`POST ${load.path} HTTP/1.1\r\n${head}\r\n${load.body}`);
const firsts: number[] = [];
const counts = { events: 0, errors: 0 };
const sockets = new Set<Socket>();

for (let index = 0; index < load.streams; index += 1) setTimeout(open, (SPREAD_MS * index) / load.streams);
setTimeout(tell, SPREAD_MS + load.seconds * 1000);

function open(): void {
  const socket = connect({ port: load.port, host: '127.0.0.1', noDelay: true });
  sockets.add(socket);
  socket.once('connect', () => ask(socket));
  socket.on('error', () => (counts.errors += 1));
}

function ask(socket: Socket): void {
  const startedAt = performance.now();
  let texts = 0;
  const onData = (chunk: Buffer): void => {
    const text = chunk.toString('latin1');
    if (texts === 0 && text.startsWith('HTTP/1.1 ') && !text.startsWith('HTTP/1.1 200')) {
      counts.errors += 1;
      socket.destroy();
    }
    const words = text.split(WORD).length - 1;
    if (texts === 0 && words > 0) firsts.push((performance.now() - startedAt) * 1000);
    texts += words;
    counts.events += words;
    if (!text.endsWith(LAST_CHUNK) && text !== '0\r\n\r\n') return;
    socket.off('data', onData);
    if (texts === 0) counts.errors += 1;
    ask(socket);
  };
  socket.on('data', onData);
  socket.write(request);
}

function tell(): void {
  firsts.sort((a, b) => a - b);
  const result: StreamResult = { firstText: firsts[firsts.length >> 1] ?? 0, begun: firsts.length, ...counts };
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
}
