/** Uses everything that the server of the modern versions has, with a client of either generation, and writes down what comes of it. */
import { Client, LOG_LEVEL_META_KEY } from '@modelcontextprotocol/client';

import { NOTE } from '../mcp/modern-server.ts';
import { CAPABILITIES, type Transcript, type Ways } from './mcp-features.ts';

export interface Attentive {
  readonly client: Client;
  readonly asked: string[];
  readonly logged: unknown[];
  readonly changed: Set<string>;
  /** Waits until it has heard of all of the changes. */
  heardOf(...changes: string[]): Promise<void>;
}

const INFO = { name: 'test', version: '1' };
const SAMPLE = { model: 'm', role: 'assistant', content: { type: 'text', text: 'sampled' } } as const;

export function attentive(mode: 'legacy' | 'auto' | 'modern'): Attentive {
  const client = new Client(INFO, {
    capabilities: CAPABILITIES,
    versionNegotiation: { mode: mode === 'modern' ? { pin: '2026-07-28' } : mode },
  });
  const asked: string[] = [];
  const logged: unknown[] = [];
  const changed = new Set<string>();
  let woken = Promise.withResolvers<void>();
  const wake = (change: string): void => {
    changed.add(change);
    woken.resolve();
    woken = Promise.withResolvers();
  };
  const note = (what: string, params: unknown): void => void asked.push(`${what} ${JSON.stringify(params)}`);
  client.setRequestHandler('sampling/createMessage', ({ params }) => (note('sampling', params), SAMPLE));
  client.setRequestHandler('elicitation/create', ({ params }) => {
    note('elicitation', { ...params, mode: params.mode ?? 'form' });
    return params.mode === 'url' ? { action: 'decline' } : { action: 'accept', content: { name: 'Ada' } };
  });
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///here', name: 'here' }] }));
  // Servers of sessions tell other things besides.
  client.setNotificationHandler('notifications/message', ({ params }) => {
    if (params.logger === 'here') logged.push(params);
  });
  client.setNotificationHandler('notifications/tools/list_changed', () => wake('tools'));
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => wake(params.uri));
  const heardOf = async (...changes: string[]): Promise<void> => {
    while (!changes.every((each) => changed.has(each))) await woken.promise;
  };
  return { client, asked, logged, changed, heardOf };
}

/** All of it, or some. */
export async function walkModern(from: Attentive, { named, at }: Ways, only?: readonly string[]): Promise<Transcript> {
  const { client } = from;
  const modern = client.getProtocolEra() === 'modern';
  const said: Record<string, unknown> = {};
  const write = async (what: string, doing: () => Promise<unknown>): Promise<void> => {
    if (only?.includes(what) !== false)
      said[what] = await doing().catch((error: unknown) => ({ failed: failureOf(error) }));
  };
  const tool = (name: string, args: Record<string, unknown> = {}): Promise<unknown> =>
    client.callTool({ name: named(name), arguments: args });

  said['capabilities'] = client.getServerCapabilities();
  said['instructions'] = client.getInstructions();
  said['server'] = client.getServerVersion();
  await write('tools', () => client.listTools());
  await write('prompts', () => client.listPrompts());
  await write('resources', () => client.listResources());
  await write('templates', () => client.listResourceTemplates());
  await write('read', () => client.readResource({ uri: at(NOTE) }));
  await write('read a blob', () => client.readResource({ uri: at('memo:blob') }));
  await write('read by template', () => client.readResource({ uri: at('memo:number/7') }));
  await write('read nothing', () => client.readResource({ uri: at('memo:nothing') }));
  await write('prompt', () => client.getPrompt({ name: named('travel'), arguments: { city: 'Rome' } }));
  await write('prompt without arguments', () => client.getPrompt({ name: named('travel') }));
  await write('prompt that asks', () => client.getPrompt({ name: named('ask') }));
  await write('no prompt', () => client.getPrompt({ name: named('nothing') }));
  const travel = { type: 'ref/prompt', name: named('travel') } as const;
  await write('complete', () => client.complete({ ref: travel, argument: { name: 'city', value: 'P' } }));
  const context = { arguments: { city: 'Rome' } };
  await write('complete further', () =>
    client.complete({ ref: travel, argument: { name: 'street', value: 'Via' }, context }),
  );
  const number = { type: 'ref/resource', uri: at('memo:number/{n}') } as const;
  await write('complete an address', () => client.complete({ ref: number, argument: { name: 'n', value: '4' } }));

  await write('echo', () => tool('echo', { text: 'Grüße \ud83d\ude00' }));
  await write('structured', () => tool('structured', { of: 'four' }));
  const _meta = { 'test.example/colour': { shade: 2 } };
  await write('meta', () => client.callTool({ name: named('meta'), arguments: {}, _meta }));
  await write('fail', () => tool('fail'));
  await write('refuse', () => tool('refuse'));
  await write('wrong arguments', () => tool('echo', { text: 1 }));
  await write('no tool', () => tool('nothing'));
  await write('headers', () => tool('where', { region: 'eu-ö' }));
  await write('links', () => tool('links'));
  for (const name of ['ask', 'ask-by-address', 'ask-all', 'ask-thrice', 'again']) await write(name, () => tool(name));
  said['asked'] = from.asked.toSorted();

  await write('steps', () => client.callTool({ name: named('steps'), arguments: { to: 3 } }, { onprogress: () => {} }));
  // Reports that come with the answer may not be heard, so there is none.
  const steps: unknown[] = [];
  const leaving = new AbortController();
  const onprogress = (step: unknown): void => {
    if (steps.push(step) === 3) leaving.abort('enough');
  };
  await write('cancelled', () =>
    client.callTool({ name: named('endless'), arguments: {} }, { signal: leaving.signal, onprogress }),
  );
  said['progress'] = steps;
  await write('after that', () => tool('echo', { text: 'still here' }));

  if (modern) {
    const asks = { [LOG_LEVEL_META_KEY]: 'info' };
    await write('log', () => client.callTool({ name: named('log'), arguments: {}, _meta: asks }));
  } else {
    await write('log', () => client.setLoggingLevel('info').then(() => tool('log')));
  }
  said['logged'] = from.logged;
  await write('changes', () => changes(from, { named, at }, modern));
  return said;
}

async function changes(from: Attentive, { named, at }: Ways, modern: boolean): Promise<unknown> {
  const { client } = from;
  from.changed.clear();
  const filter = { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: [at(NOTE)] };
  const subscription = modern ? await client.listen(filter) : null;
  if (!modern) await client.subscribeResource({ uri: at(NOTE) });
  await client.callTool({ name: named('change'), arguments: {} });
  await from.heardOf('tools', at(NOTE));
  await subscription?.close();
  if (!modern) await client.unsubscribeResource({ uri: at(NOTE) });
  return {
    tools: from.changed.has('tools'),
    note: from.changed.has(at(NOTE)),
    how: (await subscription?.closed) ?? 'local',
  };
}

function failureOf(error: unknown): unknown {
  // `as`: errors of the SDKs have a code and a message.
  const { code, message, data } = error as {
    readonly code?: unknown;
    readonly message?: unknown;
    readonly data?: unknown;
  };
  return { code, message, data };
}
