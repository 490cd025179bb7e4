import { setTimeout as delay } from 'node:timers/promises';
import {
  acceptedContent,
  createMcpHandler,
  inputRequired,
  McpServer,
  type CallToolResult,
  type McpHttpHandler,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { euros, ITEMS, lineOf, newStock, type Stock } from './stock.ts';

/** More than this at once has to be confirmed. */
const MANY = 10;
const RESTOCK_STEPS = 5;
const RESTOCK_STEP_MS = 300;

const item = z.enum(ITEMS).describe('What it is.');
const confirmation = z.object({
  confirm: z.boolean().describe('Really order that many.'),
  note: z.string().max(100).optional().describe('For whoever packs them.'),
});

/** The shop as an MCP server. Its stock is one for all callers, and lasts as long as the demo. */
export function shop(): McpHttpHandler {
  const stock = newStock();
  return createMcpHandler(() => serverFor(stock), { legacy: 'reject', onerror: () => {} });
}

function serverFor(stock: Stock): McpServer {
  const server = new McpServer(
    { name: 'shop', title: 'The shop of the demo', version: '1.0.0' },
    { instructions: 'Search first, then order.' },
  );
  registerSearch(server, stock);
  registerOrder(server, stock);
  registerRestock(server, stock);
  registerClear(server, stock);
  server.registerResource(
    'catalogue',
    'shop://catalogue',
    { title: 'Catalogue', description: 'Everything that is sold.', mimeType: 'text/plain' },
    ({ href: uri }) => ({ contents: [{ uri, text: Object.values(stock).map(lineOf).join('\n') }] }),
  );
  const argsSchema = z.object({
    occasion: z.string().describe('What it is for.'),
    budget: z.string().optional().describe('How much it may cost.'),
  });
  const about = { title: 'Recommend', description: 'Asks a model for a recommendation.', argsSchema };
  server.registerPrompt('recommend', about, ({ occasion, budget }) => {
    const limit = budget === undefined ? '' : ` It may cost ${budget}.`;
    const text = `What in the shop suits ${occasion}?${limit} Look into the catalogue first.`;
    return { messages: [{ role: 'user', content: { type: 'text', text } }] };
  });
  return server;
}

function registerSearch(server: McpServer, stock: Stock): void {
  const inputSchema = z.object({
    query: z.string().describe('Words of the name or the description.'),
    limit: z.int().min(1).max(20).default(5).describe('How many to show.'),
  });
  const about = { description: 'Search what is sold.', inputSchema, annotations: { readOnlyHint: true } };
  server.registerTool('search', about, ({ query, limit }) => {
    const lines = Object.values(stock).map(lineOf);
    const found = lines.filter((line) => line.toLowerCase().includes(query.toLowerCase())).slice(0, limit);
    return said(found.length === 0 ? `nothing fits "${query}"` : found.join('\n'));
  });
}

function registerOrder(server: McpServer, stock: Stock): void {
  const inputSchema = z.object({
    item,
    count: z.int().min(1).max(100).default(1).describe(`How many; more than ${MANY} have to be confirmed.`),
    express: z.boolean().default(false).describe('Deliver tomorrow.'),
    gift: z.object({ to: z.string(), message: z.string().optional() }).optional().describe('Wrap it up for somebody.'),
  });
  const about = { description: 'Order something.', inputSchema };
  server.registerTool('order', about, ({ item: name, count, express, gift }, { mcpReq }) => {
    const wanted = stock[name];
    if (wanted.left < count) return failed(`only ${wanted.left} of ${name} are left`);
    const answer = acceptedContent(mcpReq.inputResponses, 'many', confirmation);
    if (count > MANY && mcpReq.inputResponses?.['many'] === undefined) {
      const message = `Order ${count} of ${name} for ${euros(count * wanted.price)}?`;
      return inputRequired({
        inputRequests: { many: inputRequired.elicit({ message, requestedSchema: confirmation }) },
      });
    }
    if (count > MANY && answer?.confirm !== true) return said('nothing was ordered');
    wanted.left -= count;
    const extras = [express ? 'express' : '', gift === undefined ? '' : `for ${gift.to}`, answer?.note ?? ''];
    return said([`ordered ${count} of ${name}`, euros(count * wanted.price), ...extras].filter(Boolean).join(', '));
  });
}

function registerRestock(server: McpServer, stock: Stock): void {
  const inputSchema = z.object({ item, count: z.int().min(1).max(1000).default(50).describe('How many come.') });
  const about = { description: 'Restock something; takes a while.', inputSchema };
  server.registerTool('restock', about, async ({ item: name, count }, context) => {
    for (let step = 1; step <= RESTOCK_STEPS; step += 1) {
      await delay(RESTOCK_STEP_MS, undefined, { signal: context.mcpReq.signal });
      await tell(context, step, step < RESTOCK_STEPS ? `carrying ${name}` : 'done');
    }
    stock[name].left += count;
    return said(lineOf(stock[name]));
  });
}

/** What nobody may do through the gateway. */
function registerClear(server: McpServer, stock: Stock): void {
  const about = { description: 'Throw away everything.', annotations: { destructiveHint: true } };
  server.registerTool('clear_stock', about, () => {
    for (const each of Object.values(stock)) each.left = 0;
    return said('everything is gone');
  });
}

async function tell({ mcpReq }: ServerContext, progress: number, message: string): Promise<void> {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return;
  const params = { progressToken, progress, total: RESTOCK_STEPS, message };
  await mcpReq.notify({ method: 'notifications/progress', params });
}

function said(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}

function failed(text: string): CallToolResult {
  return { ...said(text), isError: true };
}
