/** Places where an expression says something to a service, or makes something of its answer. */
import { verifySignature } from '../../proxy/backends/auth/aws-verifier.ts';
import { serveAuthz, serveRateLimit, structJson } from '../../services/envoy.ts';
import { eventually } from '../clients.ts';
import { ask } from '../gateway.ts';
import { processor } from '../processor.ts';
import { type Backend, MISSING, type Row, type World, yaml } from './world.ts';

const NO_TEXT = [MISSING, '1', 'null', '["a"]'];

interface Descriptor {
  readonly entries: readonly { readonly key: string }[];
}

/** Keys of the descriptors that a rate limit service is asked about: two, of which the expression is in the first. */
function descriptors(first: (expression: string) => string): Row['run'] {
  return async (expression, world) => {
    const server = world.cleanup.add(await serveRateLimit(() => ({ overallCode: 'OK' })));
    const second = '{entries: [{key: second, value: \'"x"\'}]}';
    const { answer } = await world.through(
      `remoteRateLimit: {host: "127.0.0.1:${server.port}", domain: d, descriptors: [${first(yaml(expression))}, ${second}]}`,
    );
    const asked = server.requests.map(({ descriptors: list }) => list as readonly Descriptor[]); // by its definition
    const keys = asked.map((list) => list.map(({ entries }) => entries.map(({ key }) => key).join('+')));
    return [answer.status, ...keys];
  };
}

/** An authorization service over HTTP that answers so. */
async function authz(world: World, status = 200): Promise<Backend> {
  return world.backend((_request, response) => void response.writeHead(status, { 'x-user': 'bob' }).end('no'));
}

/** Status and location for the client, and what the authorization service got. */
function question(protocol: (expression: string) => string, { status = 200, method = 'GET' } = {}): Row['run'] {
  return async (expression, world) => {
    const service = await authz(world, status);
    const { answer } = await world.through(
      `extAuthz: {host: "127.0.0.1:${service.port}", protocol: {http: {${protocol(yaml(expression))}}}}`,
      { method, headers: { authorization: 'mine', 'x-a': 'original' } },
    );
    const [seen] = service.seen;
    return [answer.status, answer.headers.location, seen?.url, seen?.body, seen?.headers['x-a']];
  };
}

async function connectionQuestion(expression: string, world: World): Promise<unknown> {
  const service = await authz(world);
  const backend = await world.backend();
  const running = await world.gateway(
    `frontendPolicies: {networkExtAuthz: {host: "127.0.0.1:${service.port}", protocol: {http: {path: ${yaml(expression)}}}}}
routes: [{backends: [{host: "127.0.0.1:${backend.port}"}]}]`,
  );
  const status = await ask(running.port(80), '/').then(
    (answer) => answer.status,
    () => 'closed',
  );
  return [status, service.seen[0]?.url];
}

async function answerMetadata(expression: string, world: World): Promise<unknown> {
  const service = await authz(world);
  const { got } = await world.through(
    `extAuthz: {host: "127.0.0.1:${service.port}", protocol: {http: {metadata: {m: ${yaml(expression)}, n: "2"}}}}, transformations: {request: {set: {x-m: 'string(has(extauthz.m)) + string(extauthz.n)'}}}`,
  );
  return got?.headers['x-m'];
}

/** How often the service is asked for three equal requests. */
function questions(cache: (expression: string) => string): Row['run'] {
  return async (expression, world) => {
    const service = await authz(world);
    const { running } = await world.through(
      `extAuthz: {host: "127.0.0.1:${service.port}", protocol: {http: {}}, cache: {${cache(yaml(expression))}}}`,
    );
    for (let i = 0; i < 2; i++) await ask(running.port(80), '/');
    return service.seen.length;
  };
}

async function grpcMetadata(expression: string, world: World): Promise<unknown> {
  const server = world.cleanup.add(await serveAuthz(() => ({})));
  const { answer } = await world.through(
    `extAuthz: {host: "127.0.0.1:${server.port}", protocol: {grpc: {metadata: {one: ${yaml(expression)}, two: '{"n": 2}'}}}}`,
  );
  // `as`: decoded by the public definition.
  const attributes = server.requests[0]?.['attributes'] as
    | { metadataContext?: { filterMetadata?: object } }
    | undefined;
  return [answer.status, Object.keys(attributes?.metadataContext?.filterMetadata ?? {})];
}

/** What a service of external processing is told. */
function told(more: (expression: string) => string, look: (seen: Told) => unknown): Row['run'] {
  return async (expression, world) => {
    const service = await processor(world.cleanup);
    const { answer } = await world.through(
      `extProc: {host: "127.0.0.1:${service.port}", ${more(yaml(expression))}, processingOptions: {requestBodyMode: none, responseBodyMode: none}}`,
    );
    await eventually('both parts were told', () => service.parts().includes('responseHeaders'));
    const [stream] = service.streams;
    return [answer.status, look({ messages: stream?.messages ?? [], metadata: stream?.metadata.getMap() ?? {} })];
  };
}

interface Told {
  readonly messages: readonly Record<string, unknown>[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Names of the attributes that came with one message. */
function attributeNames(message: Record<string, unknown> | undefined): readonly string[] {
  const sets = Object.values((message?.['attributes'] ?? {}) as Readonly<Record<string, unknown>>); // by its definition
  return sets.flatMap((struct) => Object.keys(structJson(struct))).sort();
}

function contextNames(message: Record<string, unknown> | undefined): readonly string[] {
  const { filterMetadata = {} } = (message?.['metadataContext'] ?? {}) as { filterMetadata?: Record<string, unknown> };
  return Object.values(filterMetadata)
    .flatMap((struct) => Object.keys(structJson(struct)))
    .sort();
}

/** What a role is asked for with, when it is asked for. */
function role(settings: (expression: string) => string): Row['run'] {
  return async (expression, world) => {
    const forms: Record<string, string>[] = [];
    const sts = await world.backend((_request, response) => {
      forms.push(Object.fromEntries(new URLSearchParams(sts.seen.at(-1)?.body)));
      const keys =
        '<AccessKeyId>ASIA1</AccessKeyId><SecretAccessKey>role</SecretAccessKey><SessionToken>t</SessionToken>';
      const end = new Date(Date.now() + 3_600_000).toISOString();
      response.end(
        `<R><AssumeRoleResult><Credentials>${keys}<Expiration>${end}</Expiration></Credentials></AssumeRoleResult></R>`,
      );
    });
    const backend = await world.backend();
    const aws = `{region: eu-west-1, serviceName: execute-api, assumeRole: {roleArn: "arn:aws:iam::123456789012:role/r", ${settings(yaml(expression))}}}`;
    const running = await world.gateway(
      `routes: [{backends: [{host: "127.0.0.1:${backend.port}", policies: {backendAuth: {aws: ${aws}}}}]}]`,
      {
        AWS_ACCESS_KEY_ID: 'AKOWN',
        AWS_SECRET_ACCESS_KEY: 'own',
        AWS_ENDPOINT_URL_STS: `http://127.0.0.1:${sts.port}`,
      },
    );
    const { status } = await ask(running.port(80), '/');
    const [got] = backend.seen;
    if (got === undefined) return [status, forms.length];
    const { method, url, headers } = got;
    const keys = { accessKeyId: 'ASIA1', secretAccessKey: 'role', sessionToken: 't' };
    const verdict = await verifySignature({ method, url, headers, body: Buffer.from('') }, () => keys);
    return [status, verdict, forms[0]?.['RoleSessionName'], forms[0]?.['Tags.member.1.Value']];
  };
}

/** What a token endpoint is asked with, when it is asked. */
function exchange(settings: (expression: string) => string): Row['run'] {
  return async (expression, world) => {
    const endpoint = await world.backend((_request, response) => {
      const answer = { access_token: 'traded', issued_token_type: ACCESS_TOKEN, token_type: 'Bearer', expires_in: 60 };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
    const backend = await world.backend();
    const trade = `{host: "127.0.0.1:${endpoint.port}", ${settings(yaml(expression))}}`;
    const running = await world.gateway(
      `routes: [{backends: [{host: "127.0.0.1:${backend.port}", policies: {backendAuth: {oauthTokenExchange: ${trade}}}}]}]`,
    );
    const { status } = await ask(running.port(80), '/', {
      headers: { authorization: 'Bearer own', 'x-token': 'other' },
    });
    const form = Object.fromEntries(new URLSearchParams(endpoint.seen[0]?.body ?? ''));
    return [status, form['subject_token'], form['team'], backend.seen[0]?.headers.authorization];
  };
}

const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

export const services: readonly Row[] = [
  {
    site: '`remoteRateLimit` value of an entry',
    takes: 'text, a bool, int or uint; bytes as base64',
    effect: 'the descriptor is left out',
    failing: [MISSING, 'null', '["a"]', '{}', '1.5'],
    run: descriptors((value) => `{entries: [{key: a, value: ${value}}, {key: b, value: '"b"'}]}`),
    failed: [200, ['second']],
    works: ['true', [200, ['a+b', 'second']]],
  },
  {
    site: '`remoteRateLimit` `cost`',
    takes: 'an int or uint from 0 on',
    effect: 'the descriptor is left out',
    failing: [MISSING, 'null', '"1"', '-1', '1.5'],
    run: descriptors((cost) => `{entries: [{key: a, value: '"a"'}], cost: ${cost}}`),
    failed: [200, ['second']],
    works: ['2u', [200, ['a', 'second']]],
  },
  {
    site: '`remoteRateLimit` `limitOverride`',
    takes: 'a map: `unit`, `requestsPerUnit`',
    effect: 'the descriptor is left out',
    failing: [
      MISSING,
      'null',
      '1',
      '{}',
      '{"unit": "week", "requestsPerUnit": 1}',
      '{"unit": "day", "requestsPerUnit": -1}',
    ],
    run: descriptors((limit) => `{entries: [{key: a, value: '"a"'}], limitOverride: ${limit}}`),
    failed: [200, ['second']],
    works: ['{"unit": "day", "requestsPerUnit": 1}', [200, ['a', 'second']]],
  },
  {
    site: '`extAuthz` `grpc.metadata`',
    takes: 'a map',
    effect: 'the entry is left out',
    failing: [MISSING, '1', '"text"', 'null', '[1]'],
    run: grpcMetadata,
    failed: [200, ['two']],
    works: ['{"a": request.method}', [200, ['one', 'two']]],
  },
  {
    site: '`extAuthz` `http.path`',
    takes: 'text',
    effect: 'answered with 403, nobody is asked',
    failing: NO_TEXT,
    run: question((path) => `path: ${path}`),
    failed: [403, undefined, undefined, undefined, undefined],
    works: ['"/check" + request.path', [200, undefined, '/check/', '', undefined]],
  },
  {
    site: '`extAuthz` `http.body`',
    takes: 'anything: text and bytes as they are, the rest as JSON',
    effect: 'answered with 403, nobody is asked',
    failing: [MISSING, '1 / 0'],
    run: question((body) => `body: ${body}`, { method: 'POST' }),
    failed: [403, undefined, undefined, undefined, undefined],
    works: ['{"m": request.method}', [200, undefined, '/', '{"m":"POST"}', undefined]],
  },
  {
    site: '`extAuthz` `http.redirect`',
    takes: 'text or bytes',
    effect: 'answered with 403',
    failing: NO_TEXT,
    run: question((redirect) => `redirect: ${redirect}`, { status: 401 }),
    failed: [403, undefined, '/', '', undefined],
    works: ['"/login"', [302, '/login', '/', '', undefined]],
  },
  {
    site: '`extAuthz` `http.addRequestHeaders`',
    takes: 'text or bytes',
    effect: 'the header is not sent to the service',
    failing: NO_TEXT,
    run: question((value) => `addRequestHeaders: {x-a: ${value}}`),
    failed: [200, undefined, '/', '', undefined],
    works: ['"new"', [200, undefined, '/', '', 'new']],
  },
  {
    site: '`extAuthz` `http.metadata`',
    takes: 'anything',
    effect: 'the entry is left out',
    failing: [MISSING, '1 / 0', 'response.headers["x-none"]'],
    run: answerMetadata,
    failed: 'false2',
    works: ['response.headers["x-user"]', 'true2'],
  },
  {
    site: '`extAuthz` `cache.key`',
    takes: 'text, a bool, a number, bytes',
    effect: 'not remembered',
    failing: [MISSING, '1 / 0', '[1]', '{}'],
    run: questions((key) => `key: [request.path, ${key}], ttl: 1h`),
    failed: 3,
    works: ['request.method', 1],
  },
  {
    site: '`extAuthz` `cache.ttl`',
    takes: 'a duration, a timestamp, or Unix seconds',
    effect: 'not remembered',
    failing: [MISSING, '"text"', 'null', '-1', 'duration("-1h")'],
    run: questions((ttl) => `key: [request.path], ttl: ${ttl}`),
    failed: 3,
    works: ['duration("1h")', 1],
  },
  {
    site: '`networkExtAuthz` `http.path`, `body`',
    takes: 'as for `extAuthz`',
    effect: 'the connection is closed, nobody is asked',
    failing: ['source.spiffeId', '1', 'null'],
    run: connectionQuestion,
    failed: ['closed', undefined],
    works: ['"/from/" + source.address', [200, '/from/127.0.0.1']],
  },
  {
    site: '`extProc` `requestAttributes`',
    takes: 'anything',
    effect: 'the entry is left out',
    failing: [MISSING, '1 / 0'],
    run: told(
      (value) => `requestAttributes: {a: ${value}, b: "2"}`,
      ({ messages }) => attributeNames(messages[0]),
    ),
    failed: [200, ['b']],
    works: ['request.path', [200, ['a', 'b']]],
  },
  {
    site: '`extProc` `responseAttributes`',
    takes: 'anything',
    effect: 'the entry is left out',
    failing: [MISSING, '1 / 0'],
    run: told(
      (value) => `responseAttributes: {a: ${value}, b: "2"}`,
      ({ messages }) => attributeNames(messages[1]),
    ),
    failed: [200, ['b']],
    works: ['response.code', [200, ['a', 'b']]],
  },
  {
    site: '`extProc` `metadataContext`',
    takes: 'anything',
    effect: 'the entry is left out',
    failing: [MISSING, '1 / 0'],
    run: told(
      (value) => `metadataContext: {app: {a: ${value}, b: "2"}}`,
      ({ messages }) => contextNames(messages[0]),
    ),
    failed: [200, ['b']],
    works: ['request.path', [200, ['a', 'b']]],
  },
  {
    site: '`extProc` metadata of the call',
    takes: 'text, a bool or a number',
    effect: 'the entry is left out',
    failing: [MISSING, '1 / 0', '[1]', 'null'],
    run: told(
      (value) => `metadataContext: {"gw.dev.grpc_initial_metadata": {x-a: ${value}, x-b: '"b"'}}`,
      ({ metadata }) => [metadata['x-a'], metadata['x-b']],
    ),
    failed: [200, [undefined, 'b']],
    works: ['request.path', [200, ['/', 'b']]],
  },
  {
    site: '`backendAuth.aws` `sessionName`',
    takes: 'text',
    effect: 'answered with 500',
    failing: [...NO_TEXT, '""', '"not a name"'],
    run: role((name) => `sessionName: {expression: ${name}}`),
    failed: [500, 0],
    works: ['"user-" + request.method', [200, 'valid', 'user-GET', undefined]],
  },
  {
    site: '`backendAuth.aws` `tags`',
    takes: 'text',
    effect: 'answered with 500',
    failing: NO_TEXT,
    run: role((tag) => `tags: [{key: team, expression: ${tag}}]`),
    failed: [500, 0],
    works: ['"red"', [200, 'valid', 'gwctl', 'red']],
  },
  {
    site: '`backendAuth.oauthTokenExchange` `additionalParams`',
    takes: 'text',
    effect: 'answered with 400',
    failing: NO_TEXT,
    run: exchange((value) => `additionalParams: {team: ${value}}`),
    failed: [400, undefined, undefined, undefined],
    works: ['request.method', [200, 'own', 'GET', 'Bearer traded']],
  },
  {
    site: '`backendAuth.oauthTokenExchange` `source.expression` of a token',
    takes: 'text',
    effect: 'answered with 400',
    failing: NO_TEXT,
    run: exchange((value) => `subjectToken: {source: {expression: ${value}}}`),
    failed: [400, undefined, undefined, undefined],
    works: ['request.headers["x-token"]', [200, 'other', undefined, 'Bearer traded']],
  },
];
