/** Places where an expression gives a part of a message. */
import { ask } from '../gateway.ts';
import { TraceWatch } from '../trace-watch.ts';
import { MISSING, type Row, type World, yaml } from './world.ts';

const NO_HEADER = [MISSING, '1', '1.5', 'true', 'null', '["a"]', '{}', '"a\\nb"', 'request.headers["x-none"]'];

/** What the backend gets of a header that the client sends as `original`. */
function requestHeader(step: 'add' | 'set'): Row['run'] {
  return async (expression, world) => {
    const policy = `transformations: {request: {${step}: {x-a: ${yaml(expression)}}}}`;
    const { got } = await world.through(policy, { headers: { 'x-a': 'original' } });
    return got?.headers['x-a'];
  };
}

async function responseHeader(expression: string, world: World): Promise<unknown> {
  const policy = `transformations: {response: {set: {x-a: ${yaml(expression)}}}}`;
  const { answer } = await world.through(policy);
  return answer.headers['x-a'];
}

function requestLine(pseudo: string): Row['run'] {
  return async (expression, world) => {
    const { got } = await world.through(`transformations: {request: {set: {":${pseudo}": ${yaml(expression)}}}}`);
    return [got?.method, got?.url];
  };
}

async function authority(expression: string, world: World): Promise<unknown> {
  const { got } = await world.through(`transformations: {request: {set: {":authority": ${yaml(expression)}}}}`);
  return got?.headers.host;
}

async function status(expression: string, world: World): Promise<unknown> {
  const { answer } = await world.through(`transformations: {response: {set: {":status": ${yaml(expression)}}}}`);
  return answer.status;
}

async function replace(expression: string, world: World): Promise<unknown> {
  const policy = `transformations: {request: {replace: ${yaml(expression)}}}`;
  const { got } = await world.through(policy, { headers: { 'x-a': 'original' } });
  return [got?.headers['x-a'], got?.headers['x-b']];
}

function body(side: 'request' | 'response'): Row['run'] {
  return async (expression, world) => {
    const policy = `transformations: {${side}: {body: ${yaml(expression)}}}`;
    const { got, answer } = await world.through(policy, { method: 'POST', body: 'original' });
    return side === 'request' ? got?.body : answer.body;
  };
}

async function metadata(expression: string, world: World): Promise<unknown> {
  const policy = `transformations: {request: {metadata: {m: ${yaml(expression)}, n: "2"}, set: {x-m: 'string(has(metadata.m)) + string(metadata.n)'}}}`;
  return (await world.through(policy)).got?.headers['x-m'];
}

async function directBody(expression: string, world: World): Promise<unknown> {
  const { answer } = await world.through(`directResponse: {status: 200, bodyExpression: ${yaml(expression)}}`);
  return [answer.status, answer.status === 200 ? answer.body : answer.headers['x-gw-reason']];
}

async function directHeader(expression: string, world: World): Promise<unknown> {
  const { answer } = await world.through(
    `directResponse: {status: 200, headers: {x-a: ${yaml(expression)}, x-b: '"b"'}}`,
  );
  return [answer.status, answer.headers['x-a'], answer.headers['x-b']];
}

/** What the trace tells of the pause. */
async function delay(expression: string, world: World): Promise<unknown> {
  const backend = await world.backend();
  const running = await world.gateway(
    `routes: [{policies: {delay: {duration: ${yaml(expression)}}}, backends: [{host: "127.0.0.1:${backend.port}"}]}]`,
  );
  const watch = world.cleanup.add(await TraceWatch.open(running.admin));
  const [answer, text] = await Promise.all([ask(running.port(80), '/'), watch.finished()]);
  const outcome = /"kind":"delay","result":\{"type":"(\w+)"/.exec(text)?.[1];
  return [answer.status, outcome];
}

export const changes: readonly Row[] = [
  {
    site: '`transformations.request.set`',
    takes: 'text or bytes',
    effect: 'the header is removed',
    failing: NO_HEADER,
    run: requestHeader('set'),
    failed: undefined,
    works: ['"new"', 'new'],
  },
  {
    site: '`transformations.request.add`',
    takes: 'text or bytes',
    effect: 'the header is removed',
    failing: NO_HEADER,
    run: requestHeader('add'),
    failed: undefined,
    works: ['b"new"', 'original, new'],
  },
  {
    site: '`transformations.response.set`, `add`',
    takes: 'text or bytes',
    effect: 'the header is removed',
    failing: NO_HEADER,
    run: responseHeader,
    failed: undefined,
    works: ['string(response.code)', '200'],
  },
  {
    site: '`:method` of a request',
    takes: 'text or bytes',
    effect: 'stays what it is',
    failing: [...NO_HEADER, '""', '"not a method"'],
    run: requestLine('method'),
    failed: ['GET', '/'],
    works: ['"PUT"', ['PUT', '/']],
  },
  {
    site: '`:authority` of a request',
    takes: 'text or bytes',
    effect: 'stays what it is',
    failing: NO_HEADER,
    run: authority,
    failed: 'shop.test',
    works: ['"new.test"', 'new.test'],
  },
  {
    site: '`:path` of a request',
    takes: 'text or bytes',
    effect: 'stays what it is',
    failing: NO_HEADER,
    run: requestLine('path'),
    failed: ['GET', '/'],
    works: ['"/new?a=b"', ['GET', '/new?a=b']],
  },
  {
    site: '`:status` of a response',
    takes: 'an int or uint',
    effect: 'stays what it is',
    failing: [MISSING, '"text"', 'null', '0', '1000', '200.5'],
    run: status,
    failed: 200,
    works: ['response.code + 1u', 201],
  },
  {
    site: '`transformations` `replace`',
    takes: 'a map of texts, bools and numbers, or lists of them',
    effect: 'all headers stay',
    failing: [MISSING, '1', 'null', '"text"', '["x-b"]'],
    run: replace,
    failed: ['original', undefined],
    works: ['{"x-b": "b"}', [undefined, 'b']],
  },
  {
    site: '`transformations.request.body`',
    takes: 'anything: text and bytes as they are, the rest as JSON',
    effect: 'an empty body',
    failing: [MISSING, '1 / 0', 'type(1) == 1 ? 1 : fail("no")'],
    run: body('request'),
    failed: '',
    works: ['{"a": 1}', '{"a":1}'],
  },
  {
    site: '`transformations.response.body`',
    takes: 'anything: text and bytes as they are, the rest as JSON',
    effect: 'an empty body',
    failing: [MISSING, '1 / 0'],
    run: body('response'),
    failed: '',
    works: ['"new"', 'new'],
  },
  {
    site: '`transformations` `metadata`',
    takes: 'anything',
    effect: 'the value is left out',
    failing: [MISSING, '1 / 0'],
    run: metadata,
    failed: 'false2',
    works: ['null', 'true2'],
  },
  {
    site: '`directResponse.bodyExpression`',
    takes: 'anything: text and bytes as they are, the rest as JSON',
    effect: 'answered with 500',
    failing: [MISSING, '1 / 0'],
    run: directBody,
    failed: [500, 'Internal'],
    works: ['[1]', [200, '[1]']],
  },
  {
    site: '`directResponse.headers`',
    takes: 'text or bytes',
    effect: 'the header is left out',
    failing: NO_HEADER,
    run: directHeader,
    failed: [200, undefined, 'b'],
    works: ['request.method', [200, 'GET', 'b']],
  },
  {
    site: '`delay.duration`',
    takes: 'a duration, or a number of milliseconds',
    effect: 'no delay',
    failing: [MISSING, '"text"', 'null', '-1', '0.0 / 0.0', 'duration("-1s")'],
    run: delay,
    failed: [200, 'skip'],
    works: ['duration("1ms")', [200, 'apply']],
  },
];
