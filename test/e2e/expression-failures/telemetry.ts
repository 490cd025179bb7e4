/** Places where an expression says what is told of a request. */
import { type Receiver, serveOtlpHttp } from '../../services/otlp.ts';
import { ask, type RunningGateway } from '../gateway.ts';
import { MISSING, type Row, type World, yaml } from './world.ts';

const NO_BOOL = [`${MISSING} == "alice"`, '"text"', '1', 'null', 'noFunction()'];
const SPAN_OF_CLIENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

interface Watched {
  readonly running: RunningGateway;
  readonly receiver: Receiver;
  readonly port: number;
  /** The trace that the backend got with the last request. */
  trace(): string | undefined;
}

/** A gateway that tells a collector what the settings say; `COLLECTOR` stands for how to reach it. */
async function watched(world: World, frontend: string): Promise<Watched> {
  const receiver = world.cleanup.add(await serveOtlpHttp());
  const backend = await world.backend();
  const collector = `host: "127.0.0.1:${receiver.port}", protocol: http`;
  const running = await world.gateway(`
frontendPolicies: {${frontend.replace('COLLECTOR', collector)}}
routes: [{backends: [{host: "127.0.0.1:${backend.port}"}]}]`);
  const trace = (): string | undefined => backend.seen.at(-1)?.headers['traceparent'] as string | undefined; // one value
  return { running, receiver, port: running.port(80), trace };
}

/** An expression that holds for the last request, whatever else it does with others. */
function orLast(expression: string): string {
  return yaml(`request.path == "/last" || (${expression})`);
}

/** Asks for two paths, and waits for what is told of the last. */
async function both(port: number): Promise<void> {
  await ask(port, '/first');
  await ask(port, '/last');
}

async function logFilter(expression: string, world: World): Promise<unknown> {
  const { running, port } = await watched(world, `accessLog: {filter: ${orLast(expression)}}`);
  await both(port);
  await running.logged('http.path=/last');
  return running.log.filter((line) => line.includes('http.path=/first')).length;
}

async function recordFilter(expression: string, world: World): Promise<unknown> {
  const { receiver, port } = await watched(world, `accessLog: {otlp: {COLLECTOR, filter: ${orLast(expression)}}}`);
  await both(port);
  for (let count = 1; ; count++) {
    const records = await receiver.records(count);
    const paths = records.map(({ attributes }) => attributes['http.path']);
    if (paths.includes('/last')) return paths.filter((path) => path === '/first').length;
  }
}

async function spanFilter(expression: string, world: World): Promise<unknown> {
  const { receiver, port } = await watched(
    world,
    `tracing: {COLLECTOR, randomSampling: true, filter: ${orLast(expression)}}`,
  );
  await both(port);
  for (let count = 1; ; count++) {
    const spans = await receiver.spans(count);
    const paths = spans.map(({ attributes }) => attributes['http.path'] ?? attributes['url.path']);
    if (paths.includes('/last')) return paths.includes('/first') ? 1 : 0;
  }
}

async function logField(expression: string, world: World): Promise<unknown> {
  const { running, port } = await watched(world, `accessLog: {add: {own: ${yaml(expression)}, other: '"o"'}}`);
  await ask(port, '/a');
  const line = await running.logged('http.path=/a');
  return [/ own=(\S+)/.exec(line)?.[1], / other=(\S+)/.exec(line)?.[1]];
}

/** A field in place of a default one. */
async function replacedField(expression: string, world: World): Promise<unknown> {
  const { running, port } = await watched(world, `accessLog: {add: {http.path: ${yaml(expression)}, other: '"o"'}}`);
  await ask(port, '/a');
  return / http\.path=(\S+)/.exec(await running.logged('other=o'))?.[1];
}

async function recordField(expression: string, world: World): Promise<unknown> {
  const settings = `accessLog: {otlp: {COLLECTOR, fields: {add: {own: ${yaml(expression)}, other: '"o"'}}}}`;
  const { receiver, port } = await watched(world, settings);
  await ask(port, '/a');
  const [record] = await receiver.records(1);
  return [record?.attributes['own'], record?.attributes['other']];
}

async function spanAttribute(expression: string, world: World): Promise<unknown> {
  const settings = `tracing: {COLLECTOR, randomSampling: true, attributes: {own: ${yaml(expression)}, other: '"o"'}}`;
  const { receiver, port } = await watched(world, settings);
  await ask(port, '/a');
  const span = (await receiver.spans(1)).find(({ attributes }) => attributes['other'] !== undefined);
  return [span?.attributes['own'], span?.attributes['other']];
}

async function resource(expression: string, world: World): Promise<unknown> {
  const settings = `tracing: {COLLECTOR, randomSampling: true, resources: {own: ${yaml(expression)}, other: '"o"'}}`;
  const { receiver, port } = await watched(world, settings);
  await ask(port, '/a');
  const [span] = await receiver.spans(1);
  return [span?.resource['own'], span?.resource['other']];
}

async function randomSampling(expression: string, world: World): Promise<unknown> {
  const { port, trace } = await watched(world, `tracing: {COLLECTOR, randomSampling: ${yaml(expression)}}`);
  await ask(port, '/a');
  return trace() === undefined ? 'not sampled' : 'sampled';
}

async function clientSampling(expression: string, world: World): Promise<unknown> {
  const { port, trace } = await watched(world, `tracing: {COLLECTOR, clientSampling: ${yaml(expression)}}`);
  await ask(port, '/a', { headers: { traceparent: SPAN_OF_CLIENT } });
  return trace() === SPAN_OF_CLIENT ? 'not sampled' : 'sampled';
}

async function label(expression: string, world: World): Promise<unknown> {
  const backend = await world.backend();
  const running = await world.gateway(`
config:
  adminAddr: "127.0.0.1:1"
  statsAddr: "127.0.0.1:1"
  readinessAddr: "127.0.0.1:1"
  metrics: {fields: {add: {own: ${yaml(expression)}}}}
routes: [{backends: [{host: "127.0.0.1:${backend.port}"}]}]`);
  await ask(running.port(80), '/');
  const text = await (await fetch(`${running.stats}/metrics`)).text();
  return /requests_total\{[^}]*own="([^"]*)"/.exec(text)?.[1];
}

// What is exported takes a second to come: two expressions each are enough there.
const NO_SHARE = [MISSING, '"text"', 'null', '2', '-1', '[true]'];
const NO_FIELD = [MISSING, 'null', '1 / 0', 'request.headers["x-none"]'];

export const telemetry: readonly Row[] = [
  {
    site: '`accessLog.filter`',
    takes: 'a bool',
    effect: 'not logged',
    failing: NO_BOOL,
    run: logFilter,
    failed: 0,
    works: ['true', 1],
  },
  {
    site: '`accessLog.otlp.filter`',
    takes: 'a bool',
    effect: 'not sent',
    failing: NO_BOOL.slice(0, 2),
    run: recordFilter,
    failed: 0,
    works: ['true', 1],
  },
  {
    site: '`tracing.filter`',
    takes: 'a bool',
    effect: 'not sent',
    failing: NO_BOOL.slice(0, 2),
    run: spanFilter,
    failed: 0,
    works: ['true', 1],
  },
  {
    site: '`accessLog.add`',
    takes: 'anything',
    effect: 'the field is left out; so is one whose value is null',
    failing: NO_FIELD,
    run: logField,
    failed: [undefined, 'o'],
    works: ['response.code', ['200', 'o']],
  },
  {
    site: '`accessLog.add` in place of a field that is there by itself',
    takes: 'anything',
    effect: 'the field is left out',
    failing: NO_FIELD,
    run: replacedField,
    failed: undefined,
    works: ['"hidden"', 'hidden'],
  },
  {
    site: '`accessLog.otlp.fields.add`',
    takes: 'anything',
    effect: 'the field is left out; so is one whose value is null',
    failing: NO_FIELD.slice(0, 2),
    run: recordField,
    failed: [undefined, 'o'],
    works: ['request.method', ['GET', 'o']],
  },
  {
    site: '`tracing.attributes`',
    takes: 'anything',
    effect: 'the attribute is left out; so is one whose value is null',
    failing: NO_FIELD.slice(0, 2),
    run: spanAttribute,
    failed: [undefined, 'o'],
    works: ['request.method', ['GET', 'o']],
  },
  {
    site: '`tracing.resources`',
    takes: 'anything that needs no request',
    effect: 'the attribute is left out',
    failing: ['request.method', 'null'],
    run: resource,
    failed: [undefined, 'o'],
    works: ['"shop".upperAscii()', ['SHOP', 'o']],
  },
  {
    site: '`tracing.randomSampling`',
    takes: 'a bool, or a share from 0 to 1',
    effect: 'not sampled',
    failing: NO_SHARE,
    run: randomSampling,
    failed: 'not sampled',
    works: ['1.5', 'sampled'],
  },
  {
    site: '`tracing.clientSampling`',
    takes: 'a bool, or a share from 0 to 1',
    effect: 'not sampled',
    failing: NO_SHARE,
    run: clientSampling,
    failed: 'not sampled',
    works: ['1', 'sampled'],
  },
  {
    site: '`metrics.fields.add`',
    takes: 'text',
    effect: 'the label is `unknown`',
    failing: [MISSING, '1', 'null', 'true', '["a"]'],
    run: label,
    failed: 'unknown',
    works: ['request.method', 'GET'],
  },
];
