// MCP servers to put behind the examples: node examples/mcp-server.js notes, over its input and output,
// or node examples/mcp-server.js calendar:9000, over streamable HTTP at /mcp. Each knows notes or a calendar, in memory.
import http from 'node:http';

import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const text = (...lines) => ({ content: [{ type: 'text', text: lines.join('\n') }] });
const notes = ['Milk is in the fridge.', 'The card is 4111 1111 1111 1111.'];
const events = [{ day: 'monday', what: 'Standup' }];

const kinds = {
  notes() {
    const server = new McpServer({ name: 'notes', version: '1.0.0' }, { instructions: 'Notes of one person.' });
    const find = { description: 'Finds notes.', inputSchema: z.object({ word: z.string() }) };
    server.registerTool('find', find, ({ word }) => text(...notes.filter((note) => note.includes(word))));
    const add = { description: 'Adds a note.', inputSchema: z.object({ note: z.string() }) };
    server.registerTool('add', add, ({ note }) => text(`note ${notes.push(note)}`));
    const all = { description: 'All notes.', mimeType: 'text/plain' };
    server.registerResource('all', 'note://all', all, ({ href }) => ({
      contents: [{ uri: href, text: notes.join('\n') }],
    }));
    const shorten = { description: 'Makes notes shorter.', argsSchema: z.object({ language: z.string() }) };
    server.registerPrompt('shorten', shorten, ({ language }) => ({
      messages: [{ role: 'user', content: { type: 'text', text: `Shorten my notes, in ${language}.` } }],
    }));
    return server;
  },
  calendar() {
    const server = new McpServer({ name: 'calendar', version: '1.0.0' }, { instructions: 'Days are in English.' });
    const list = { description: 'Events of a day.', inputSchema: z.object({ day: z.string() }) };
    server.registerTool('list', list, ({ day }) => text(...events.filter((e) => e.day === day).map((e) => e.what)));
    const book = { description: 'Books an event.', inputSchema: z.object({ day: z.string(), what: z.string() }) };
    server.registerTool('book', book, (event) => text(`${event.what} on ${event.day}: event ${events.push(event)}`));
    return server;
  },
};

const [kind = 'notes', port] = (process.argv[2] ?? '').split(':');
if (port === undefined) serveStdio(kinds[kind]);
else {
  const handler = createMcpHandler(kinds[kind]);
  const server = http.createServer(async (incoming, outgoing) => {
    const chunks = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const { method, headers, url } = incoming;
    const body = method === 'POST' ? Buffer.concat(chunks) : undefined;
    const answer = await handler.fetch(new Request(new URL(url, 'http://localhost'), { method, headers, body }));
    outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body !== null) for await (const chunk of answer.body) outgoing.write(chunk);
    outgoing.end();
  });
  server.listen(Number(port));
}
