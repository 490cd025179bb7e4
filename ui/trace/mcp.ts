import type { McpBecame, McpFacts, Severity, TraceEvent, TraceMessage } from '../../src/admin/protocol/trace-event.ts';
import { asArray, asObject, asText } from '../../src/admin/protocol/lenient.ts';
import { textOfBody } from './chat.ts';

/** What is known of a request to MCP servers. */
export interface McpRequestFacts {
  /** `tools/call everything_echo`. */
  readonly what: string;
  readonly version: string | undefined;
  readonly session: string | undefined;
  /** Of what the client got: `error -32602`, `tool error`; undefined while all is well. */
  readonly problem: string | undefined;
  /** The arguments, and what came of them, as lines tell them; empty where there is nothing to say. */
  readonly given: string;
  readonly gave: string;
  /** `3 notifications before the answer`. */
  readonly streamed: string;
  /** Messages to servers, in the order in which they began. */
  readonly calls: readonly McpCall[];
  /** Indexes of the events with what the client wants, and what it gets. */
  readonly asked: number | undefined;
  readonly answered: number | undefined;
}

/** One message to one server, or one question of a guardrail. */
export interface McpCall {
  readonly target: string;
  /** `streamable 2025-11-25`. */
  readonly how: string;
  readonly what: string;
  readonly startUs: number;
  /** Undefined while nothing has come of it. */
  readonly endUs: number | undefined;
  readonly severity: Severity;
  /** `error -32602 Unknown tool`; empty where there is nothing to say. */
  readonly outcome: string;
  readonly asked: number;
  readonly answered: number | undefined;
}

const MAX_EXCERPT = 160;

/** The facts after one more event; undefined as long as nothing says that MCP servers are asked. */
export function withMcp(
  mcp: McpRequestFacts | undefined,
  event: TraceEvent,
  index: number,
): McpRequestFacts | undefined {
  const { message } = event;
  switch (message.type) {
    case 'mcpRequest':
      return {
        ...(mcp ?? unknown),
        ...aboutOf(message),
        what: whatOf(message),
        given: mcpExcerpt(message),
        asked: index,
      };
    case 'mcpResponse': {
      const known = { ...(mcp ?? { ...unknown, what: whatOf(message) }), ...aboutOf(message) };
      const gave = message.error ?? mcpExcerpt(message);
      return { ...known, problem: problemOf(message), gave, streamed: cameText(message), answered: index };
    }
    case 'mcpCallStart':
      return { ...(mcp ?? unknown), calls: [...(mcp?.calls ?? []), begun(event, message, index)] };
    case 'mcpCallResult':
      return mcp === undefined ? undefined : { ...mcp, calls: mcp.calls.map(endedBy(event, message, mcp, index)) };
    case 'policy':
      return mcp === undefined ? undefined : withGuardrail(mcp, event, index);
    default:
      return mcp;
  }
}

/** `tools/call echo`, `listen`, `end session`. */
export function whatOf({ kind, method, item }: McpFacts): string {
  if (method !== null) return item === null ? method : `${method} ${item}`;
  if (kind === 'stream') return 'listen';
  return kind === 'end' ? 'end session' : kind;
}

/** `error -32602: Unknown tool`, `tool error: …`, `status 503: …`; a word for what went well. */
export function outcomeText(message: McpBecame): string {
  const { outcome, error } = message;
  const came = cameText(message);
  const problem = problemOf(message);
  const said = problem === undefined ? outcome : [problem, error ?? ''].filter(Boolean).join(': ');
  return came === '' ? said : `${said}, after ${came}`;
}

/** What a message says, for its line: the arguments of a tool, what it gave. */
export function mcpExcerpt(message: TraceMessage): string {
  if (message.type !== 'mcpRequest' && message.type !== 'mcpResponse') {
    if (message.type !== 'mcpCallStart' && message.type !== 'mcpCallResult') return '';
  }
  const { body } = message;
  if (body === undefined || message.method === null) return '';
  const said = asObject(parsed(body));
  if (message.type === 'mcpRequest' || message.type === 'mcpCallStart') {
    const given = asObject(said['params'])['arguments'];
    return given === undefined ? '' : short(JSON.stringify(given));
  }
  return 'isError' in message ? '' : resultExcerpt(asObject(said['result']));
}

/** The bodies of one message and of its answer, by their events; undefined for an event that is about neither. */
export function bothOf(
  mcp: McpRequestFacts,
  index: number,
): { readonly asked: number; readonly answered: number } | undefined {
  const own = [{ asked: mcp.asked, answered: mcp.answered }, ...mcp.calls].find(
    ({ asked, answered }) => asked === index || answered === index,
  );
  if (own?.asked === undefined || own.answered === undefined) return undefined;
  return { asked: own.asked, answered: own.answered };
}

/** Names of the servers that were asked, each once. */
export function targetsOf({ calls }: McpRequestFacts): readonly string[] {
  return [...new Set(calls.map(({ target }) => target).filter((target) => target !== GUARDRAIL))];
}

export const GUARDRAIL = 'guardrail';

const unknown: McpRequestFacts = {
  what: '',
  version: undefined,
  session: undefined,
  problem: undefined,
  given: '',
  gave: '',
  streamed: '',
  calls: [],
  asked: undefined,
  answered: undefined,
};

function aboutOf({ protocolVersion, session }: McpFacts): Partial<McpRequestFacts> {
  return {
    ...(protocolVersion === null ? {} : { version: protocolVersion }),
    ...(session === null ? {} : { session }),
  };
}

type Start = Extract<TraceMessage, { type: 'mcpCallStart' }>;
type Result = Extract<TraceMessage, { type: 'mcpCallResult' }>;

function begun(event: TraceEvent, message: Start, index: number): McpCall {
  return {
    target: message.target,
    how: [message.transport, message.protocolVersion ?? ''].filter(Boolean).join(' '),
    what: whatOf(message),
    startUs: event.eventEnd,
    endUs: undefined,
    severity: 'info',
    outcome: '',
    asked: index,
    answered: undefined,
  };
}

/** Answers of one target to equal messages come in the order of these. */
function endedBy(
  event: TraceEvent,
  message: Result,
  { calls }: McpRequestFacts,
  index: number,
): (call: McpCall) => McpCall {
  const what = whatOf(message);
  const own = calls.find((call) => call.endUs === undefined && call.target === message.target && call.what === what);
  return (call) =>
    call !== own
      ? call
      : {
          ...call,
          startUs: event.eventStart ?? call.startUs,
          endUs: event.eventEnd,
          severity: event.severity,
          outcome: isQuiet(message) ? cameText(message) : outcomeText(message),
          answered: index,
        };
}

function isQuiet({ outcome }: McpBecame): boolean {
  return outcome === 'result' || outcome === 'accepted' || outcome === 'ended';
}

function withGuardrail(mcp: McpRequestFacts, event: TraceEvent, index: number): McpRequestFacts {
  const { message, eventStart, eventEnd, severity } = event;
  if (message.type !== 'policy' || message.kind !== GUARDRAIL || message.result.type !== 'apply') return mcp;
  if (eventStart === null) return mcp;
  const what = message.result.details.replace(/ \(from [^()]*\)$/, '');
  const call: McpCall = {
    target: GUARDRAIL,
    how: '',
    what,
    startUs: eventStart,
    endUs: eventEnd,
    severity,
    outcome: '',
    asked: index,
    answered: index,
  };
  return { ...mcp, calls: [...mcp.calls, call] };
}

function problemOf({ outcome, code, status, ...rest }: McpBecame): string | undefined {
  if (outcome === 'error') return rest.isError === true ? 'tool error' : `error ${code ?? ''}`.trimEnd();
  if (outcome !== 'failed') return undefined;
  if (code !== null) return `error ${code}`;
  return status === null ? 'failed' : `status ${status}`;
}

function cameText({ notifications, requests }: McpBecame): string {
  return [counted(notifications, 'notification'), counted(requests, 'request')].filter(Boolean).join(' and ');
}

function counted(count: number, what: string): string {
  return count === 0 ? '' : `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** `"Echo: hello"`, `13 tools`. */
function resultExcerpt(result: Readonly<Record<string, unknown>>): string {
  for (const list of ['tools', 'prompts', 'resources', 'resourceTemplates'])
    if (Array.isArray(result[list]))
      return `${result[list].length} ${list === 'resourceTemplates' ? 'templates' : list}`;
  for (const part of [...asArray(result['content']), ...asArray(result['contents'])]) {
    const { text, type, mimeType } = asObject(part);
    if (typeof text === 'string') return short(JSON.stringify(text.trim()));
    if (typeof type === 'string') return [type, asText(mimeType) ?? ''].filter(Boolean).join(' ');
  }
  return '';
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(textOfBody(body) ?? 'null');
  } catch {
    // Cut, or not what it says to be.
    return null;
  }
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > MAX_EXCERPT ? `${line.slice(0, MAX_EXCERPT)}…` : line;
}
