/** Places around requests to language models. */
import { ask } from '../gateway.ts';
import { MISSING, type Row, type World, yaml } from './world.ts';

const NOT_A_BOOL = [MISSING, '1', '"true"', 'null', 'llmRequest.nothing', '[true]'];

interface Part {
  /** Of the section `llm`, behind its models. */
  readonly section?: string;
  /** Of the model `m`. */
  readonly model?: string;
  readonly asked?: string;
}

/** A request for a model; what the provider got and what the client did. */
async function chat(world: World, { section = '', model = '', asked = 'm' }: Part) {
  const backend = await world.backend((_request, response) => {
    response.setHeader('content-type', 'application/json').end('{"choices": []}');
  });
  const baseUrl = `http://127.0.0.1:${backend.port}/v1`;
  const running = await world.gateway(`
llm:
  models: [{name: m, provider: openAI, params: {baseUrl: "${baseUrl}"}, ${model}}, {name: other, provider: openAI, params: {baseUrl: "${baseUrl}"}}]
  ${section}
`);
  const body = JSON.stringify({ model: asked, messages: [], user: 'original' });
  const answer = await ask(running.port(80), '/v1/chat/completions', { method: 'POST', body });
  const [got] = backend.seen;
  return { status: answer.status, sent: got === undefined ? undefined : JSON.parse(got.body) };
}

function field(key: 'transformation' | 'finalTransformation'): Row['run'] {
  return async (expression, world) => (await chat(world, { model: `${key}: {user: ${yaml(expression)}}` })).sent?.user;
}

async function when(expression: string, world: World): Promise<unknown> {
  const targets = `[{model: m, when: ${yaml(expression)}}, {model: other}]`;
  const section = `virtualModels: [{name: v, routing: {conditional: {targets: ${targets}}}}]`;
  return (await chat(world, { section, asked: 'v' })).sent?.model;
}

async function ofModel(expression: string, world: World): Promise<unknown> {
  return (await chat(world, { model: `authorization: {rules: [${yaml(expression)}]}` })).status;
}

export const models: readonly Row[] = [
  {
    site: '`authorization` of a model',
    takes: 'a bool',
    effect: 'as for every `authorization`; the next entry of that name is looked at',
    failing: NOT_A_BOOL,
    run: ofModel,
    failed: 403,
    works: ['llmRequest.user == "original"', 200],
  },
  {
    site: '`when` of a target of a virtual model',
    takes: 'a bool',
    effect: 'the next target is looked at',
    failing: NOT_A_BOOL,
    run: when,
    failed: 'other',
    works: ['llmRequest.model == "v"', 'm'],
  },
  {
    site: '`ai.transformations`, `transformation` of a model',
    takes: 'anything: a field of the body',
    effect: 'the field is removed',
    failing: [MISSING, 'llmRequest.nothing', '1 / 0'],
    run: field('transformation'),
    failed: undefined,
    works: ['[llmRequest.user, 1]', ['original', 1]],
  },
  {
    site: '`ai.finalTransformations`, `finalTransformation` of a model',
    takes: 'anything: a field of the body',
    effect: 'the field is removed',
    failing: [MISSING, 'llmRequest.nothing', '1 / 0'],
    run: field('finalTransformation'),
    failed: undefined,
    works: ['{"was": llmRequest.user}', { was: 'original' }],
  },
];
