/** Places where an expression decides. */
import { ask } from '../gateway.ts';
import { MISSING, type Row, type World, yaml } from './world.ts';

const NO_BOOL = [`${MISSING} == "alice"`, '"text"', '1', '1 / 0 == 1', 'null', 'nothing', 'noFunction()'];
/** A connection has no tokens, which is found out before. */
const NO_BOOL_EITHER = ['source.spiffeId == "x"', ...NO_BOOL.slice(1)];

function rule(mode: 'allow' | 'deny' | 'require'): Row['run'] {
  return async (expression, world) => {
    const { answer, got } = await world.through(`authorization: {rules: [{${mode}: ${yaml(expression)}}]}`);
    return [answer.status, got === undefined ? 'refused' : 'passed'];
  };
}

/** What a connection gets: a status, or its end. */
function networkRule(mode: 'allow' | 'deny' | 'require'): Row['run'] {
  return async (expression, world) => {
    const backend = await world.backend();
    const running = await world.gateway(
      `frontendPolicies: {networkAuthorization: {rules: [{${mode}: ${yaml(expression)}}]}}
routes: [{backends: [{host: "127.0.0.1:${backend.port}"}]}]`,
    );
    return ask(running.port(80), '/').then(
      ({ status }) => status,
      () => 'closed',
    );
  };
}

/** How often a backend is asked that answers so. */
function tries(status: number, policy: (expression: string) => string): Row['run'] {
  return async (expression, world) => {
    const backend = await world.backend((_request, response) => void response.writeHead(status).end());
    const running = await world.gateway(
      `routes: [{policies: {retry: {attempts: 2, ${policy(yaml(expression))}}}, backends: [{host: "127.0.0.1:${backend.port}"}]}]`,
    );
    await ask(running.port(80), '/');
    return backend.seen.length;
  };
}

async function condition(expression: string, world: World): Promise<unknown> {
  const { answer } = await world.through(
    `directResponse: {conditional: [{condition: ${yaml(expression)}, status: 201}, {status: 202}]}`,
  );
  return answer.status;
}

/** Whether the one of two endpoints that answers with 500 is still chosen in the end. */
async function health(expression: string, world: World): Promise<unknown> {
  const policy = `{health: {unhealthyExpression: ${yaml(expression)}, eviction: {consecutiveFailures: 1, duration: 1h}}}`;
  const running = await world.gateway(await service(world, [200, 500], policy));
  for (let i = 0; i < 40; i++) await ask(running.port(80), '/');
  const statuses = new Set<number>();
  for (let i = 0; i < 40; i++) statuses.add((await ask(running.port(80), '/')).status);
  return statuses.has(500) ? 'chosen' : 'out';
}

/** How many endpoints answer one and the same client. */
async function affinity(expression: string, world: World): Promise<unknown> {
  const policy = `{sessionAffinity: {source: ${yaml(expression)}}}`;
  const running = await world.gateway(await service(world, [200, 201, 202], policy));
  const answered = new Set<number>();
  for (let i = 0; i < 60; i++) answered.add((await ask(running.port(80), '/')).status);
  return answered.size > 1 ? 'several' : 'one';
}

/** Routes to a service whose endpoints answer with these statuses. */
async function service(world: World, statuses: readonly number[], policies: string): Promise<string> {
  const workloads: string[] = [];
  for (const status of statuses) {
    const { port } = await world.backend((_request, response) => void response.writeHead(status).end());
    workloads.push(
      `{uid: e${status}, name: e${status}, namespace: default, workloadIps: [127.0.0.1], services: {default/svc.test: {80: ${port}}}}`,
    );
  }
  return `
services: [{name: svc, namespace: default, hostname: svc.test, vips: [], ports: {80: 8080}}]
workloads: [${workloads.join(', ')}]
routes: [{backends: [{service: {name: default/svc.test, port: 80}, policies: ${policies}}]}]`;
}

async function target(expression: string, world: World): Promise<unknown> {
  const backend = await world.backend();
  const running = await world.gateway(
    `routes: [{backends: [{dynamic: {target: ${yaml(expression.replace('PORT', String(backend.port)))}}}]}]`,
  );
  const { status, headers } = await ask(running.port(80), '/');
  return [status, headers['x-gw-reason']];
}

async function tcpTarget(expression: string, world: World): Promise<unknown> {
  const backend = await world.backend();
  const running = await world.gateway(`gateways: {default: {port: 80, protocol: TCP}}
tcpRoutes: [{backends: [{dynamic: {target: ${yaml(expression.replace('PORT', String(backend.port)))}}}]}]`);
  return ask(running.port(80), '/').then(
    ({ status }) => status,
    () => 'closed',
  );
}

async function credential(expression: string, world: World): Promise<unknown> {
  const policy = `apiKey: {location: {expression: ${yaml(expression)}}, keys: [{key: red-key}]}`;
  const { answer } = await world.through(policy, { headers: { 'x-key': 'red-key' } });
  return [answer.status, answer.headers['x-gw-reason']];
}

export const decisions: readonly Row[] = [
  {
    site: '`authorization` rule `allow`',
    takes: 'a bool',
    effect: 'the rule does not allow',
    failing: NO_BOOL,
    run: rule('allow'),
    failed: [403, 'refused'],
    works: ['true', [200, 'passed']],
  },
  {
    site: '`authorization` rule `deny`',
    takes: 'a bool',
    effect: 'the rule does not refuse',
    failing: NO_BOOL,
    run: rule('deny'),
    failed: [200, 'passed'],
    works: ['true', [403, 'refused']],
  },
  {
    site: '`authorization` rule `require`',
    takes: 'a bool',
    effect: 'the request is refused',
    failing: NO_BOOL,
    run: rule('require'),
    failed: [403, 'refused'],
    works: ['true', [200, 'passed']],
  },
  {
    site: '`networkAuthorization` rule `allow`',
    takes: 'a bool',
    effect: 'the rule does not allow',
    failing: NO_BOOL_EITHER,
    run: networkRule('allow'),
    failed: 'closed',
    works: ['source.address == "127.0.0.1"', 200],
  },
  {
    site: '`networkAuthorization` rule `deny`',
    takes: 'a bool',
    effect: 'the rule does not refuse',
    failing: NO_BOOL_EITHER,
    run: networkRule('deny'),
    failed: 200,
    works: ['source.address == "127.0.0.1"', 'closed'],
  },
  {
    site: '`networkAuthorization` rule `require`',
    takes: 'a bool',
    effect: 'the connection is closed',
    failing: NO_BOOL_EITHER,
    run: networkRule('require'),
    failed: 'closed',
    works: ['source.address == "127.0.0.1"', 200],
  },
  {
    site: '`condition` of an entry of `conditional`',
    takes: 'a bool',
    effect: 'the next entry is looked at',
    failing: NO_BOOL,
    run: condition,
    failed: 202,
    works: ['true', 201],
  },
  {
    site: '`retry.precondition`',
    takes: 'a bool',
    effect: 'no retries',
    failing: NO_BOOL,
    run: tries(503, (expression) => `codes: [503], precondition: ${expression}`),
    failed: 1,
    works: ['request.method == "GET"', 3],
  },
  {
    site: '`retry.condition`',
    takes: 'a bool',
    effect: 'the try has not failed on its account',
    failing: NO_BOOL,
    run: tries(200, (expression) => `codes: [503], condition: ${expression}`),
    failed: 1,
    works: ['response.code == 200', 3],
  },
  {
    site: '`health.unhealthyExpression`',
    takes: 'a bool',
    effect: 'the endpoint counts as healthy',
    failing: NO_BOOL,
    run: health,
    failed: 'chosen',
    works: ['response.code == 500', 'out'],
  },
  {
    site: '`sessionAffinity.source`',
    takes: 'text, bytes, a bool, int or uint',
    effect: 'any endpoint',
    failing: [MISSING, '[1]', 'null', '{}', '1.5'],
    run: affinity,
    failed: 'several',
    works: ['"always"', 'one'],
  },
  {
    site: '`dynamic.target` of a backend',
    takes: 'text: `host:port`',
    effect: 'answered with 503',
    failing: [MISSING, '1', 'null', '"no port"', '""', '"a b:1"'],
    run: target,
    failed: [503, 'NoHealthyBackend'],
    works: ['"127.0.0.1:PORT"', [200, undefined]],
  },
  {
    site: '`dynamic.target` of a backend of a TCP route',
    takes: 'text: `host:port`',
    effect: 'the connection is closed',
    failing: ['source.spiffeId', '1', 'null', '"no port"'],
    run: tcpTarget,
    failed: 'closed',
    works: ['"127.0.0.1:PORT"', 200],
  },
  {
    site: '`location.expression` of a credential',
    takes: 'text',
    effect: 'as if there were no credential',
    failing: ['request.headers["x-none"]', '1', 'null', '["red-key"]'],
    run: credential,
    failed: [401, 'APIKeyAuth'],
    works: ['request.headers["x-key"]', [200, undefined]],
  },
];
