import { request as httpRequest } from 'node:http';

import { afterEach, describe, expect, test } from '@jest/globals';

import { serveOtlpHttp } from '../services/otlp.ts';
import { type Ask, ask, Cleanup, startGateway } from './gateway.ts';
import { modelService, type ModelService, sample } from './model-service.ts';
import { TraceWatch } from './trace-watch.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const CATALOG = `config:
  modelCatalog:
  - inline:
      providers:
        openai: {models: {gpt-4o: {rates: {input: "2.50", output: "10", cacheRead: "1.25"}}, bare: {}}}
        anthropic: {models: {claude-x: {rates: {input: "3", output: "15", cacheRead: "0.30", cacheWrite: "3.75"}}}}
`;

interface Setup {
  readonly provider?: string;
  readonly config?: string;
  readonly frontend?: string;
  readonly settings?: string;
}

async function gatewayTo(service: ModelService, setup: Setup = {}) {
  const { provider = '{openAI: {}}', config = CATALOG, frontend = '', settings = '' } = setup;
  const gateway = cleanup.add(
    await startGateway(`${config}
gateways: {default: {port: 80}}
${frontend}
routes:
- backends:
  - ai:
      name: service
      provider: ${provider}
      hostOverride: "127.0.0.1:${service.port}"
      ${settings}
      policies: {ai: {routes: {"/v1/messages": messages, "/v1/embeddings": embeddings, "*": completions}}}
`),
  );
  const chat = (body: object, more: Ask = {}, path = '/v1/chat/completions') =>
    ask(gateway.port(80), path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hello' }], ...body }),
      ...more,
    });
  return { ...gateway, chat };
}

const usage = {
  prompt_tokens: 1000,
  completion_tokens: 50,
  total_tokens: 1050,
  prompt_tokens_details: { cached_tokens: 400 },
};

describe('what a call came to', () => {
  test('stands in the access log, its cost as an exact decimal', async () => {
    const service = cleanup.add(await modelService({ usage }));
    const gateway = await gatewayTo(service);
    await gateway.chat({ temperature: 0.5, max_tokens: 100, seed: 7 });
    const line = await gateway.logged('gen_ai.request.model=gpt-4o');
    for (const field of [
      'protocol=llm',
      'gen_ai.operation.name=chat',
      'gen_ai.provider.name=openai',
      'gen_ai.response.model=gpt-4o',
      'gen_ai.usage.input_tokens=1000',
      'gen_ai.usage.cache_read.input_tokens=400',
      'gen_ai.usage.output_tokens=50',
      // 600 × 2.50 + 400 × 1.25 + 50 × 10, for a million.
      'gw.ai.usage.cost.total=0.0025 ',
      'gen_ai.request.temperature=0.5',
      'gen_ai.request.max_tokens=100',
      'gen_ai.request.seed=7',
    ])
      expect(line).toContain(field);
    expect(line).toMatch(/gw\.ai\.time_to_first_token=[\d.]+ms/);
    expect(line).not.toContain('time_per_output_token');
  });

  test('of a service whose input leaves out its cache is made comparable', async () => {
    const told = {
      input_tokens: 100,
      output_tokens: 10,
      cache_read_input_tokens: 900,
      cache_creation_input_tokens: 50,
    };
    const service = cleanup.add(await modelService({ usage: told, format: 'messages', model: 'claude-x' }));
    const gateway = await gatewayTo(service, { provider: '{anthropic: {}}' });
    await gateway.chat({ model: 'claude-x', max_tokens: 10 }, {}, '/v1/messages');
    const line = await gateway.logged('gen_ai.provider.name=anthropic');
    expect(line).toContain('gen_ai.usage.input_tokens=1050 ');
    // 100 × 3 + 900 × 0.30 + 50 × 3.75 + 10 × 15, for a million.
    expect(line).toContain('gw.ai.usage.cost.total=0.0009075 ');
  });

  test.each([
    ['chat completions', 'completions', '{openAI: {}}', '/v1/chat/completions'],
    ['a translated stream', 'messages', '{anthropic: {}}', '/v1/chat/completions'],
  ] as const)('of %s that streams has the pace that the client feels', async (_name, format, provider, path) => {
    const told = format === 'messages' ? { input_tokens: 9, output_tokens: 5 } : { ...usage, completion_tokens: 5 };
    const service = cleanup.add(
      await modelService({ usage: told, format, pieces: ['one ', 'two ', 'three'], model: 'm' }),
    );
    const gateway = await gatewayTo(service, { provider });
    const answered = gateway.chat({ stream: true, model: 'm', max_tokens: 5 }, {}, path);
    await service.next('one ');
    await service.next('two ');
    await service.next('three');
    service.end();
    expect((await answered).body).toContain('three');
    const line = await gateway.logged('gen_ai.usage.output_tokens=5');
    const read = (field: string) => Number(new RegExp(`${field}=([\\d.]+)ms`).exec(line)?.[1]);
    expect(read('time_to_first_token')).toBeGreaterThan(0);
    expect(read('time_per_output_token')).toBeGreaterThan(0);
    expect(read('time_to_first_token')).toBeLessThan(read('duration'));
  });

  test('is counted with the labels of the model and the route', async () => {
    const service = cleanup.add(await modelService({ usage }));
    const gateway = await gatewayTo(service);
    await gateway.chat({});
    await gateway.logged('gen_ai.request.model');
    const text = await (await fetch(`${gateway.stats}/metrics`)).text();
    const labels =
      'gen_ai_operation_name="chat",gen_ai_system="openai",gen_ai_request_model="gpt-4o",gen_ai_response_model="gpt-4o",bind="bind/80"';
    expect(sample(text, 'gw_gen_ai_client_token_usage_sum', `gen_ai_token_type="input",${labels}`)).toBe(1000);
    expect(sample(text, 'gw_gen_ai_client_token_usage_sum', `gen_ai_token_type="output",${labels}`)).toBe(50);
    expect(sample(text, 'gw_gen_ai_client_token_usage_sum', `gen_ai_token_type="input_cache_read",${labels}`)).toBe(
      400,
    );
    expect(
      sample(text, 'gw_gen_ai_client_token_usage_bucket', `gen_ai_token_type="input",${labels}`, 'le="1024.0"'),
    ).toBe(1);
    expect(sample(text, 'gw_gen_ai_client_cost_usd_total', labels)).toBe(0.0025);
    expect(sample(text, 'gw_gen_ai_server_request_duration_count', labels)).toBe(1);
    expect(sample(text, 'gw_gen_ai_server_time_to_first_token_count', labels)).toBe(1);
    expect(sample(text, 'gw_cost_catalog_lookups_total', `status="Exact",${labels}`)).toBe(1);
    expect(text).toContain('gw_requests_total{backend="');
    expect(text).toContain('protocol="llm"');
  });

  test.each([
    ['missing', 'other', CATALOG, 'Missing', 'the catalogue has no other of openai'],
    ['unpriced', 'bare', CATALOG, 'Unpriced', 'the catalogue has the model without rates'],
    ['noCatalog', 'gpt-4o', '', 'NoCatalog', 'there is no catalogue of prices'],
  ])('is told to be %s when the catalogue says nothing', async (status, model, config, label, reason) => {
    const service = cleanup.add(await modelService({ usage, model }));
    const gateway = await gatewayTo(service, { config });
    const watch = cleanup.add(await TraceWatch.open(gateway.admin));
    await gateway.chat({ model });
    const events = await watch.finished();
    expect(events).toContain(`"status":"${status}","reason":"${reason}`);
    expect(await gateway.logged('gen_ai.request.model')).not.toContain('cost.total');
    const text = await (await fetch(`${gateway.stats}/metrics`)).text();
    expect(text).toContain(`gw_cost_catalog_lookups_total{status="${label}"`);
  });

  test('is traced with its rates', async () => {
    const service = cleanup.add(await modelService({ usage }));
    const gateway = await gatewayTo(service);
    const watch = cleanup.add(await TraceWatch.open(gateway.admin));
    await gateway.chat({});
    const line = (await watch.finished()).split('\n').find((each) => each.includes('llm_cost')) ?? '';
    expect(JSON.parse(line.slice(line.indexOf('{'))).message.details).toMatchObject({
      provider: 'openai',
      model: 'gpt-4o',
      status: 'exact',
      cacheTokenConvention: 'includes',
      contextTokens: 1000,
      pricesCacheRead: true,
      pricesCacheWrite: false,
      rates: { input: '2.50', output: '10', cacheRead: '1.25' },
      cost: { total: '0.0025', input: '0.0015', cacheRead: '0.0005', output: '0.0005', reasoning: '0' },
    });
  });

  test('leaves in spans with the parts of its cost, and in exported logs', async () => {
    const receiver = cleanup.add(await serveOtlpHttp());
    const service = cleanup.add(await modelService({ usage }));
    const otlp = `{host: "127.0.0.1:${receiver.port}", protocol: http}`;
    const gateway = await gatewayTo(service, {
      frontend: `frontendPolicies:
  accessLog: {otlp: ${otlp}}
  tracing: {host: "127.0.0.1:${receiver.port}", protocol: http, randomSampling: true}`,
    });
    await gateway.chat({});
    const common = { 'gen_ai.provider.name': 'openai', 'gw.ai.usage.cost.total': '0.0025', protocol: 'llm' };
    const [record] = await receiver.records(1);
    expect(record?.attributes).toMatchObject(common);
    expect(record?.attributes).not.toHaveProperty('gw.ai.usage.cost.input');
    const spans = await receiver.spans(2);
    const server = spans.find(({ attributes }) => 'gen_ai.provider.name' in attributes);
    expect(server?.attributes).toMatchObject({
      ...common,
      'gw.ai.usage.cost.input': '0.0015',
      'gw.ai.usage.cost.cache_read': '0.0005',
      'gw.ai.usage.cost.output': '0.0005',
    });
  });

  test('is read by expressions, what was said only where they ask for it', async () => {
    const service = cleanup.add(
      await modelService({ usage, pieces: ['hi ', 'there'], call: { id: 'c1', name: 'f', arguments: '{"a":1}' } }),
    );
    const add = `
      tokens: llm.inputTokens + llm.outputTokens
      micros: uint(llm.cost.total * 1000000.0)
      said: llm.prompt[0].content
      heard: llm.completion[0]
      called: llm.toolCalls[0].name + llm.toolCalls[0].arguments
      hot: llm.params.temperature
      kind: backend.type + '/' + backend.protocol
      rate: llm.costRates.cacheRead`;
    const gateway = await gatewayTo(service, { frontend: `frontendPolicies:\n  accessLog:\n    add:${add}` });
    for (const stream of [false, true]) {
      const answered = gateway.chat({ temperature: 0.25, stream });
      if (stream) {
        await service.next('hi ');
        await service.next('there');
        service.end();
      }
      await answered;
      const line = await gateway.logged('tokens=1050', stream ? 'time_per_output_token' : 'tokens');
      for (const field of [
        'micros=2500',
        'said=hello',
        'heard="hi there"',
        'called="f{"a":1}"',
        'hot=0.25',
        'kind=ai/llm',
      ])
        expect(line.replaceAll('\\"', '"')).toContain(field);
      expect(line).toContain('rate=1.25');
    }
  });
});

test('counts that are none are not believed', async () => {
  const lies = { prompt_tokens: -5, completion_tokens: 1e300, total_tokens: 1.5 };
  const service = cleanup.add(await modelService({ usage: lies }));
  const gateway = await gatewayTo(service);
  expect((await gateway.chat({})).status).toBe(200);
  expect(await gateway.logged('gen_ai.request.model')).not.toContain('gen_ai.usage');
});

test('a catalogue whose file changes is read again, and one that became invalid changes nothing', async () => {
  const { mkdtemp, rm, writeFile } = await import('node:fs/promises');
  const directory = await mkdtemp('/tmp/prices-');
  cleanup.add({ close: () => rm(directory, { recursive: true }) });
  const file = `${directory}/prices.json`;
  const write = (input: string) =>
    writeFile(file, JSON.stringify({ providers: { openai: { models: { 'gpt-4o': { rates: { input } } } } } }));
  await write('1');
  const service = cleanup.add(await modelService({ usage: { prompt_tokens: 1_000_000, completion_tokens: 0 } }));
  const config = `config: {modelCatalog: [{file: ${file}}, {file: ${directory}/none.json}]}`;
  const text = `${config}
gateways: {default: {port: 80}}
routes: [{backends: [{ai: {name: s, provider: {openAI: {}}, hostOverride: "127.0.0.1:${service.port}"}}]}]
`;
  const gateway = cleanup.add(await startGateway(text));
  const cost = async () => {
    gateway.log.length = 0;
    const body = JSON.stringify({ model: 'gpt-4o', messages: [] });
    await ask(gateway.port(80), '/v1/chat/completions', { method: 'POST', body });
    return /cost\.total=(\S+)/.exec(await gateway.logged('gen_ai.request.model'))?.[1];
  };
  expect(await cost()).toBe('1');
  await write('2.5');
  expect((await gateway.reload(text)).kind).toBe('live');
  expect(await cost()).toBe('2.5');
  await write('cheap');
  expect((await gateway.reload(text)).kind).toBe('rejected');
  expect(await cost()).toBe('2.5');
});

describe('a stream whose service has not told its usage', () => {
  const leave = (port: number, body: object) =>
    new Promise<void>((resolve) => {
      const options = { host: '127.0.0.1', port, path: '/v1/chat/completions', method: 'POST', agent: false };
      const request = httpRequest(options, (response) => {
        let text = '';
        response.on('error', () => {}).on('close', resolve);
        response.on('data', (chunk: Buffer) => {
          text += chunk.toString();
          if (text.includes('in the north')) request.destroy();
        });
      });
      request.on('error', () => {});
      request.end(JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'x'.repeat(40) }], ...body }));
    });

  test.each([
    [false, 10],
    [true, 12],
  ])('because its client left, is counted by its texts (tokenize %s)', async (tokenize, input) => {
    const service = cleanup.add(await modelService({ usage }));
    const gateway = await gatewayTo(service, { settings: `tokenize: ${tokenize}` });
    const left = leave(gateway.port(80), { stream: true });
    // Twenty bytes.
    await service.next('Rain ');
    await service.next('in the north...');
    await left;
    const line = await gateway.logged('client went away');
    for (const field of [
      `gen_ai.usage.input_tokens=${input}`,
      'gen_ai.usage.output_tokens=5',
      'gw.ai.usage.estimated=true',
      'gw.ai.usage.cost.total=',
    ])
      expect(line).toContain(field);
    const text = await (await fetch(`${gateway.stats}/metrics`)).text();
    expect(sample(text, 'gw_gen_ai_client_token_usage_sum', 'gen_ai_token_type="output"')).toBe(5);
    expect(sample(text, 'gw_gen_ai_client_cost_usd_total')).toBeCloseTo((input * 2.5 + 50) / 1e6, 9);
  });

  test('because nobody asked for it, is counted by its texts', async () => {
    const service = cleanup.add(await modelService());
    const gateway = await gatewayTo(service);
    const whole = gateway.chat({ stream: true, stream_options: { include_usage: false } });
    await service.next('Rain in the north...');
    service.end();
    expect((await whole).status).toBe(200);
    expect(await gateway.logged('gen_ai.usage.output_tokens=5')).toContain('gw.ai.usage.estimated=true');
  });

  test('is not estimated where it has told it', async () => {
    const service = cleanup.add(await modelService({ usage }));
    const gateway = await gatewayTo(service);
    const whole = gateway.chat({ stream: true });
    await service.next('Rain');
    service.end();
    await whole;
    expect(await gateway.logged('gen_ai.usage.output_tokens=50')).not.toContain('estimated');
  });
});
