import type { ExplainQuestion } from '../admin/protocol/explanation.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json.ts';

/** Needs no session, so one request says everything. */
const VERSION = '2026-07-28';
/** Methods of MCP alone: agents speak JSON-RPC as well. */
const METHODS = /^((tools|prompts|resources|completion)\/.|server\/discover$)/;
/** What curl says where nobody has asked for anything else. */
const CURL_DEFAULTS: Readonly<Record<string, string>> = {
  'content-type': 'application/x-www-form-urlencoded',
  accept: '*/*',
};

/**
 * A message of MCP with what every client sends along: media types, version, method and name. Null for every other request, and
 * for one that says which session or version it is of.
 */
export function asMcpClient(question: ExplainQuestion): ExplainQuestion | null {
  const given = new Set(question.headers.map(([name]) => name.toLowerCase()));
  if (question.method !== 'POST' || given.has('mcp-session-id') || given.has('mcp-protocol-version')) return null;
  const message = messageIn(question.body);
  if (message === null) return null;
  const { method, params, name } = message;
  const own = question.headers.filter(([header, value]) => CURL_DEFAULTS[header.toLowerCase()] !== value);
  const known = new Set(own.map(([header]) => header.toLowerCase()));
  const added: [name: string, value: string][] = [
    ['content-type', 'application/json'],
    ['accept', 'application/json, text/event-stream'],
    ['mcp-protocol-version', VERSION],
    ['mcp-method', method],
    ...(name === null ? [] : [['mcp-name', name] satisfies [string, string]]),
  ];
  const { _meta: meta } = params;
  const told = { ...CLIENT, ...(isJsonObject(meta) ? meta : {}) };
  const body = JSON.stringify({ id: 1, ...message.whole, params: { ...params, _meta: told } });
  return {
    ...question,
    headers: [...own, ...added.filter(([header]) => !known.has(header))],
    body: Buffer.from(body).toString('base64'),
  };
}

const CLIENT: JsonObject = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientInfo': { name: 'gwctl explain', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

interface Message {
  readonly whole: JsonObject;
  readonly method: string;
  readonly params: JsonObject;
  /** Of the tool or prompt, or the address of the resource; null where a header cannot hold it. */
  readonly name: string | null;
}

function messageIn(body: string | undefined): Message | null {
  const whole = body === undefined ? undefined : parsed(Buffer.from(body, 'base64').toString());
  if (!isJsonObject(whole) || whole['jsonrpc'] !== '2.0') return null;
  const { method, params = {} } = whole;
  if (typeof method !== 'string' || !METHODS.test(method) || !isJsonObject(params)) return null;
  const named = params['name'] ?? params['uri'];
  const name = typeof named === 'string' && /^[!-~]([ -~]*[!-~])?$/.test(named) ? named : null;
  return { whole, method, params, name };
}

function parsed(text: string): JsonValue | undefined {
  try {
    // `as`: the parser makes nothing else.
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
