/** Uses everything that the reference server has, with the clients of both SDKs, and writes down what comes of it. */
import type { Client as NewClient } from '@modelcontextprotocol/client';
import type { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

/** By what was asked. */
export type Transcript = Readonly<Record<string, unknown>>;

/** What the server tells and asks by itself is handled here, before the client connects. */
export interface Heard {
  readonly asked: string[];
  readonly updated: PromiseWithResolvers<string>;
  readonly logged: PromiseWithResolvers<string>;
}

export const CAPABILITIES = {
  sampling: {},
  elicitation: { form: {}, url: {} },
  roots: { listChanged: true },
};

const SAMPLE = { model: 'm', role: 'assistant', content: { type: 'text', text: 'sampled' } } as const;
const FILLED = { action: 'accept', content: { name: 'Ada', check: true } } as const;
const ROOTS = { roots: [{ uri: 'file:///here', name: 'here' }] };

function heard(): Heard {
  return { asked: [], updated: Promise.withResolvers(), logged: Promise.withResolvers() };
}

export function hearOld(client: OldClient): Heard {
  const all = heard();
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => (note(all, 'sampling', params), SAMPLE));
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => (note(all, 'elicitation', params), FILLED));
  client.setRequestHandler(ListRootsRequestSchema, () => ROOTS);
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => all.logged.resolve(params.level));
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => all.updated.resolve(params.uri));
  return all;
}

export function hearNew(client: NewClient): Heard {
  const all = heard();
  client.setRequestHandler('sampling/createMessage', ({ params }) => (note(all, 'sampling', params), SAMPLE));
  client.setRequestHandler('elicitation/create', ({ params }) => (note(all, 'elicitation', params), FILLED));
  client.setRequestHandler('roots/list', () => ROOTS);
  client.setNotificationHandler('notifications/message', ({ params }) => all.logged.resolve(params.level));
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => all.updated.resolve(params.uri));
  return all;
}

function note({ asked }: Heard, what: string, params: unknown): void {
  asked.push(`${what} ${JSON.stringify(params)}`);
}

interface Options {
  readonly onprogress?: (report: { readonly progress: number; readonly total?: number | undefined }) => void;
  readonly signal?: AbortSignal;
}

type Call = (
  params: { readonly name: string; readonly arguments?: Record<string, unknown> },
  options?: Options,
) => Promise<unknown>;
type Either = OldClient | NewClient;

/** The two differ in where options stand. */
export function callOf(client: Either): Call {
  // `as`: their types of the same things differ.
  if ('experimental' in client)
    return (params, options) => (client as OldClient).callTool(params, undefined, options as never);
  return (params, options) => (client as NewClient).callTool(params, options as never);
}

const STATIC = 'demo://resource/static/document/features.md';
const DYNAMIC = 'demo://resource/dynamic/text/1';

/** `named` is what tools and prompts are called, `at` where resources are. */
export interface Ways {
  readonly named: (name: string) => string;
  readonly at: (uri: string) => string;
}

export async function walk(client: Either, all: Heard, ways: Ways): Promise<Transcript> {
  return { ...(await walkCalls(client, all, ways)), ...(await walkSession(client, all, ways)) };
}

/** What needs no session. */
export async function walkCalls(client: Either, all: Heard, { named, at }: Ways): Promise<Transcript> {
  // `as`: the methods that are used are those of both.
  const it = client as OldClient;
  const call = callOf(client);
  const said: Record<string, unknown> = {};
  const write = writer(said);
  const tool = (name: string, args: Record<string, unknown> = {}, options?: Options): Promise<unknown> =>
    call({ name: named(name), arguments: args }, options);

  said['capabilities'] = it.getServerCapabilities();
  said['instructions'] = it.getInstructions();
  await write('ping', it.ping());
  await write('tools', it.listTools());
  await write('prompts', it.listPrompts());
  await write('resources', it.listResources());
  await write('templates', it.listResourceTemplates());
  await write('a bad cursor', it.listTools({ cursor: 'nonsense' }));
  await write('read', it.readResource({ uri: at(STATIC) }));
  await write('read by template', it.readResource({ uri: at(DYNAMIC) }));
  await write('read a blob', it.readResource({ uri: at('demo://resource/dynamic/blob/2') }));
  await write('read nothing', it.readResource({ uri: at('demo://resource/nothing') }));
  await write('prompt', it.getPrompt({ name: named('simple-prompt') }));
  await write('prompt with arguments', it.getPrompt({ name: named('args-prompt'), arguments: { city: 'Paris' } }));
  await write('prompt without arguments', it.getPrompt({ name: named('args-prompt') }));
  const resource = { resourceType: 'Text', resourceId: '1' };
  await write('prompt with a resource', it.getPrompt({ name: named('resource-prompt'), arguments: resource }));
  await write('no prompt', it.getPrompt({ name: named('nothing') }));
  const ofPrompt = { type: 'ref/prompt', name: named('completable-prompt') } as const;
  await write('complete', it.complete({ ref: ofPrompt, argument: { name: 'department', value: 'E' } }));
  const context = { arguments: { department: 'Engineering' } };
  await write('complete further', it.complete({ ref: ofPrompt, argument: { name: 'name', value: 'A' }, context }));
  const ofTemplate = { type: 'ref/resource', uri: at('demo://resource/dynamic/text/{resourceId}') } as const;
  await write('complete an address', it.complete({ ref: ofTemplate, argument: { name: 'resourceId', value: '1' } }));

  await write('echo', tool('echo', { message: 'Grüße \ud83d\ude00' }));
  await write('sum', tool('get-sum', { a: 1.5, b: -3 }));
  await write('wrong arguments', tool('get-sum', { a: 'one' }));
  await write('no tool', tool('nothing'));
  await write('annotations', tool('get-annotated-message', { messageType: 'error', includeImage: true }));
  await write('structured', tool('get-structured-content', { location: 'Chicago' }));
  await write('image', tool('get-tiny-image'));
  await write('links', tool('get-resource-links', { count: 2 }));
  await write('a resource within', tool('get-resource-reference', { resourceType: 'Blob', resourceId: 3 }));
  await write('roots', tool('get-roots-list'));
  await write('sampling', tool('trigger-sampling-request', { prompt: 'hi', maxTokens: 5 }));
  await write('elicitation', tool('trigger-elicitation-request'));
  const url = { url: 'https://here.test/', elicitationId: 'e1' };
  await write('elicitation by address', tool('trigger-url-elicitation', url));
  await write(
    'elicitation by error',
    tool('trigger-url-elicitation', { ...url, elicitationId: 'e2', errorPath: true }),
  );
  said['asked'] = all.asked.toSorted();

  await write('long', tool('trigger-long-running-operation', { duration: 0.2, steps: 4 }));
  // Reports that come with the answer may not be heard, so there is none.
  const reports: unknown[] = [];
  const leaving = new AbortController();
  const onprogress: Options['onprogress'] = (report) => {
    if (reports.length < 3) reports.push(report.total);
    else leaving.abort('enough');
  };
  const endless = { duration: 20, steps: 400 };
  await write('cancelled', tool('trigger-long-running-operation', endless, { onprogress, signal: leaving.signal }));
  said['progress'] = reports;
  await write('after that', tool('echo', { message: 'still here' }));
  return said;
}

async function walkSession(client: Either, all: Heard, { named, at }: Ways): Promise<Transcript> {
  // `as`: the methods that are used are those of both.
  const it = client as OldClient;
  const call = callOf(client);
  const said: Record<string, unknown> = {};
  const write = writer(said);
  const tool = (name: string): Promise<unknown> => call({ name: named(name), arguments: {} });
  await write('level', it.setLoggingLevel('debug'));
  await write('logging', tool('toggle-simulated-logging'));
  said['logged'] = typeof (await all.logged.promise);
  await write('subscribe', it.subscribeResource({ uri: at(DYNAMIC) }));
  await write('updates', tool('toggle-subscriber-updates'));
  said['updated'] = await all.updated.promise;
  await write('unsubscribe', it.unsubscribeResource({ uri: at(DYNAMIC) }));
  await write('no more logging', tool('toggle-simulated-logging'));
  await write('no more updates', tool('toggle-subscriber-updates'));
  return said;
}

function writer(said: Record<string, unknown>): (what: string, doing: Promise<unknown>) => Promise<void> {
  return async (what, doing) => {
    said[what] = await doing.catch((error: unknown) => ({ failed: failureOf(error) }));
  };
}

/** Tasks, which the SDK of the first generation has. */
export async function walkTasks(client: OldClient, named: (name: string) => string): Promise<Transcript> {
  const said: Record<string, unknown> = {};
  const steps: unknown[] = [];
  const { tasks } = client.experimental;
  let taskId = '';
  for await (const message of tasks.callToolStream({
    name: named('simulate-research-query'),
    arguments: { topic: 'bees' },
  })) {
    if (message.type === 'taskCreated') taskId = message.task.taskId;
    const status = 'task' in message ? message.task.status : null;
    if (steps.at(-1) !== `${message.type} ${status}`) steps.push(`${message.type} ${status}`);
    if (message.type === 'result') said['result'] = message.result;
  }
  said['steps'] = steps;
  said['status'] = (await tasks.getTask(taskId)).status;
  const { tasks: known } = await tasks.listTasks();
  said['known'] = known.some((task) => task.taskId === taskId);
  said['cancelled'] = await tasks.cancelTask(taskId).catch((error: unknown) => ({ failed: failureOf(error) }));
  return said;
}

function failureOf(error: unknown): unknown {
  // `as`: errors of the SDKs have a code and a message.
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return { code, message };
}
