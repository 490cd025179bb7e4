import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

/** A program of its own, which the gateway runs: it reads calls from its input and answers on its output. */
serveStdio(() => {
  const server = new McpServer({ name: 'delivery', title: 'Delivery of the demo', version: '1.0.0' });
  const inputSchema = z.object({
    country: z.enum(['de', 'fr', 'jp']).describe('Where to.'),
    kilograms: z.number().positive().max(30).describe('What it weighs.'),
    insured: z.boolean().default(false).describe('Pay when it breaks.'),
  });
  const about = { description: 'Say what a delivery costs.', inputSchema, annotations: { readOnlyHint: true } };
  server.registerTool('quote', about, ({ country, kilograms, insured }) => {
    const { base, days } = RATES[country];
    const price = base + 0.8 * kilograms + (insured ? 4 : 0);
    return { content: [{ type: 'text', text: `€${price.toFixed(2)}, ${days} days` }] };
  });
  return server;
});

const RATES = { de: { base: 4, days: 1 }, fr: { base: 7, days: 3 }, jp: { base: 19, days: 8 } } as const;
