import { Agent, request as httpRequest } from 'node:http';

interface Shot {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** For the port where language models are asked. */
  readonly model?: true;
}

const JSON_TYPE = { 'content-type': 'application/json' };

/** A question in the format of chat completions. */
function chat(model: string, content: string, more: object = {}): Shot {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content }], ...more });
  return { method: 'POST', path: '/v1/chat/completions', headers: JSON_TYPE, body, model: true };
}

const MCP_VERSION = '2026-07-28';

/** One request of an MCP client that keeps no session. */
function mcp(method: string, params: { readonly name?: string; readonly [name: string]: unknown } = {}): Shot {
  const about = {
    'io.modelcontextprotocol/protocolVersion': MCP_VERSION,
    'io.modelcontextprotocol/clientInfo': { name: 'demo', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const { name } = params;
  return {
    method: 'POST',
    path: '/mcp',
    headers: {
      ...JSON_TYPE,
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': MCP_VERSION,
      'mcp-method': method,
      ...(name === undefined ? {} : { 'mcp-name': name }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: about } }),
  };
}

function tool(name: string, args: object): Shot {
  return mcp('tools/call', { name, arguments: args });
}

/** A message to the agent. */
function toAgent(method: string, text: string): Shot {
  const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text }] };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { message } });
  return { method: 'POST', path: '/agent/rpc', headers: { ...JSON_TYPE, 'a2a-version': '1.0' }, body };
}

const WEATHER = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};

/** Something of everything, the ordinary more often. */
const SHOTS: readonly Shot[] = [
  { method: 'GET', path: '/echo/items?page=1' },
  { method: 'GET', path: '/echo/items?page=2' },
  {
    method: 'POST',
    path: '/echo/orders',
    headers: { 'content-type': 'application/json' },
    body: '{"item":"kettle","count":1}',
  },
  { method: 'GET', path: '/echo', headers: { 'x-team': 'red' } },
  { method: 'GET', path: '/orders/1', headers: { 'x-api-key': 'web-key' } },
  { method: 'GET', path: '/api/v1/users/7' },
  { method: 'GET', path: '/orders/2' },
  mcp('tools/list'),
  chat('claude-demo', 'What is a gateway?', { stream: true }),
  { method: 'GET', path: '/flaky' },
  tool('shop_search', { query: 'tea' }),
  { method: 'GET', path: '/orders/2', headers: { 'x-api-key': 'web-key' } },
  { method: 'GET', path: '/hello' },
  // In its turn, and not failing: the model that failed below is well again.
  chat('any', 'Who answers for any of you?'),
  { method: 'DELETE', path: '/orders/2', headers: { 'x-api-key': 'web-key' } },
  toAgent('SendMessage', 'a tea party for 6'),
  tool('shop_order', { item: 'cup', count: 2, express: true }),
  {
    method: 'POST',
    path: '/v1/messages',
    headers: { ...JSON_TYPE, 'anthropic-version': '2023-06-01' },
    body: JSON.stringify({
      model: 'gpt-demo',
      max_tokens: 100,
      top_k: 5,
      messages: [{ role: 'user', content: 'Why are there so many formats?' }],
    }),
    model: true,
  },
  { method: 'GET', path: '/slow' },
  // Not for anybody, and a shop that has none left.
  tool('shop_clear_stock', {}),
  tool('shop_order', { item: 'tray' }),
  { method: 'GET', path: '/echo/profile/長い名前' },
  { method: 'GET', path: '/orders/3', headers: { 'x-api-key': 'web-key' } },
  { method: 'GET', path: '/stream' },
  tool('delivery_quote', { country: 'jp', kilograms: 2.5 }),
  chat('gemini-demo', 'How is the weather in Ulm?', { tools: [WEATHER] }),
  { method: 'POST', path: '/orders', headers: { 'x-api-key': 'reports-key' }, body: 'item=kettle' },
  {
    method: 'OPTIONS',
    path: '/catalog',
    headers: { origin: 'https://shop.example', 'access-control-request-method': 'GET' },
  },
  { method: 'GET', path: '/old' },
  toAgent('SendStreamingMessage', 'a tea party'),
  tool('shop_restock', { item: 'cup', count: 2 }),
  { method: 'GET', path: '/slow?ms=3000' },
  chat('any', 'fail gpt-demo with 503', { stream: true }),
  { method: 'GET', path: '/fail' },
  toAgent('SendMessage', 'fail at a tea party'),
  { method: 'GET', path: '/nothing/here' },
];

const INTERVAL_MS = 700;

export interface TrafficPorts {
  readonly port: number;
  readonly modelPort: number;
}

/** Sends a request every now and then, one kind after the other, so that there is something to see. Returns what stops it. */
export function startTraffic(ports: TrafficPorts, intervalMs: number = INTERVAL_MS): () => void {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  let next = 0;
  const timer = setInterval(() => {
    const shot = SHOTS[next % SHOTS.length];
    next += 1;
    if (shot !== undefined) send(shot, shot.model === true ? ports.modelPort : ports.port, agent);
  }, intervalMs);
  return () => {
    clearInterval(timer);
    agent.destroy();
  };
}

function send(shot: Shot, port: number, agent: Agent): void {
  const { method, headers, body } = shot;
  const path = encodeURI(shot.path);
  const outgoing = httpRequest({
    host: '127.0.0.1',
    port,
    agent,
    method,
    path,
    headers: { host: 'demo.localhost', ...headers },
  });
  outgoing.on('response', (response) => response.resume());
  // The gateway may be on its way down, or refuse on purpose: neither concerns the traffic.
  outgoing.on('error', () => {});
  outgoing.end(body);
}
