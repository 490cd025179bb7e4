import { afterEach, describe, expect, test } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

import { Cleanup } from '../e2e/gateway.ts';
import { startDemo } from './demo.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

type Answer = {
  readonly action: 'accept' | 'decline';
  readonly content?: { readonly confirm: boolean; note?: string };
};

interface Asked {
  readonly text: string;
  readonly isError: boolean;
}

interface Talk {
  /** What the server asked back. */
  readonly asked: string[];
  names(): Promise<string[]>;
  call(name: string, args?: object): Promise<Asked>;
}

async function current(base: string, answer: Answer): Promise<Talk> {
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } },
  );
  const asked: string[] = [];
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params.message);
    return { ...answer };
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${base}/mcp`)));
  cleanup.add(client);
  return talk(client as never, asked);
}

async function older(base: string, answer: Answer): Promise<Talk> {
  const client = new OlderClient({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
  const asked: string[] = [];
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params.message);
    return { ...answer };
  });
  // `as`: the library's own types differ in what may be undefined.
  await client.connect(new OlderTransport(new URL(`${base}/mcp`)) as never);
  cleanup.add(client);
  return talk(client, asked);
}

function talk(client: OlderClient, asked: string[]): Talk {
  return {
    asked,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}) => {
      const { content, isError } = await client.callTool({ name, arguments: { ...args } });
      // `as`: the tools of the demo answer with one text.
      const [first] = content as { text: string }[];
      return { text: first?.text ?? '', isError: isError === true };
    },
  };
}

const clients = [
  { era: 'a client of the current version', connect: current },
  { era: 'a client of the older versions', connect: older },
];

describe.each(clients)('$era', ({ connect }) => {
  test('sees two servers as one, without the tool that nobody may use', async () => {
    const { base } = await startDemo(cleanup);
    const { names, call } = await connect(base, { action: 'decline' });
    expect((await names()).sort()).toEqual(['delivery_quote', 'shop_order', 'shop_restock', 'shop_search']);
    expect(await call('shop_search', { query: 'teapot' })).toEqual({
      text: 'teapot: for tea, with a lid, €18.50, 25 left\ntray: carries a teapot and four cups, €12.00, sold out',
      isError: false,
    });
    expect(await call('delivery_quote', { country: 'jp', kilograms: 2.5 })).toEqual({
      text: '€21.00, 8 days',
      isError: false,
    });
    expect(await call('shop_order', { item: 'tray' })).toEqual({ text: 'only 0 of tray are left', isError: true });
    await expect(call('shop_clear_stock')).rejects.toThrow('Unknown tool: shop_clear_stock');
    expect((await call('shop_search', { query: 'cup' })).text).toContain('200 left');
  });

  test('is asked back when it orders many', async () => {
    const { base } = await startDemo(cleanup);
    const many = { item: 'cup', count: 20, gift: { to: 'Ada' } };
    const no = await connect(base, { action: 'decline' });
    expect(await no.call('shop_order', many)).toEqual({ text: 'nothing was ordered', isError: false });
    expect(no.asked).toEqual(['Order 20 of cup for €98.00?']);
    const yes = await connect(base, { action: 'accept', content: { confirm: true, note: 'careful' } });
    expect(await yes.call('shop_order', many)).toEqual({
      text: 'ordered 20 of cup, €98.00, for Ada, careful',
      isError: false,
    });
    expect((await yes.call('shop_search', { query: 'cup:' })).text).toContain('180 left');
  });
});

test('a tool that takes a while says how far it is', async () => {
  const { base } = await startDemo(cleanup);
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${base}/mcp`)));
  cleanup.add(client);
  const steps: unknown[] = [];
  const call = { name: 'shop_restock', arguments: { item: 'tray', count: 3 } };
  const { content } = await client.callTool(call, {
    onprogress: ({ progress, total }) => steps.push([progress, total]),
  });
  expect(steps).toEqual([1, 2, 3, 4, 5].map((step) => [step, 5]));
  expect(content).toMatchObject([{ text: expect.stringContaining('3 left') }]);
  expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual(['shop+shop://catalogue']);
  const { contents } = await client.readResource({ uri: 'shop+shop://catalogue' });
  expect(contents).toMatchObject([{ text: expect.stringContaining('teapot: ') }]);
  const { messages } = await client.getPrompt({ name: 'shop_recommend', arguments: { occasion: 'a birthday' } });
  expect(messages).toMatchObject([{ role: 'user', content: { text: expect.stringContaining('a birthday') } }]);
});
