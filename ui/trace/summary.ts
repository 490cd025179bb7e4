import { a2aSummary } from './a2a.ts';
import { costSummary, translationSummary } from './llm-details.ts';
import { outcomeText, whatOf } from './mcp.ts';
import type { McpBecame, McpFacts, Severity, TraceEvent } from '../../src/admin/protocol/trace-event.ts';

/** A message as it came from the wire: every field may be missing or of another type. */
type Fields = Readonly<Record<string, unknown>>;

const LABELS: Readonly<Record<string, string>> = {
  requestStarted: 'Request Start',
  message: 'Message',
  cel: 'CEL',
  requestSnapshot: 'Snapshot',
  responseSnapshot: 'Snapshot',
  routeSelection: 'Route',
  policySelection: 'Policies',
  policy: 'Policy',
  policyEvent: 'Policy Event',
  traceSampling: 'Tracing',
  authorizationResult: 'Authz',
  backendCallStart: 'Backend Start',
  backendCallResult: 'Backend Result',
  requestFinished: 'Request Done',
  bodySnapshot: 'Body Snapshot',
  llmRouteResolved: 'LLM Route',
  llmRequestDetected: 'LLM Request',
  llmStreamingTranslation: 'LLM Stream',
  mcpRequest: 'MCP Request',
  mcpResponse: 'MCP Response',
  mcpCallStart: 'MCP Call',
  mcpCallResult: 'MCP Result',
  dropped: 'Dropped',
};

const PHASES: Readonly<Record<string, string>> = {
  listenerFrontend: 'listener frontend',
  subBackend: 'sub-backend',
  inlineBackend: 'inline backend',
};

const GLYPHS: Readonly<Record<Severity, string>> = { success: '✓', info: '·', warn: '!', error: '✗' };

/** One character for a severity, so that colour is never the only sign of it. */
export function severityGlyph(severity: Severity): string {
  return GLYPHS[severity] ?? '·';
}

/** The name of an event's type in the `Type` column; an unknown type is shown as it is. */
export function labelOf(event: TraceEvent): string {
  return LABELS[event.message.type] ?? event.message.type;
}

/** The shortest text that tells an event from its neighbours: `Snapshot final request`, `Policy Event retry`. */
export function nameOf(event: TraceEvent): string {
  /* As in `summaryOf`. */
  const message = event.message as unknown as Fields;
  if (scalar(message['type']).startsWith('mcp'))
    return words([labelOf(event), scalar(message['target']), whatOf(mcpFactsIn(message))]);
  const phase = scalar(message['phase']);
  const which = stageName(scalar(message['stage'])) || (PHASES[phase] ?? phase) || scalar(message['kind']);
  return words([labelOf(event), which.replaceAll(/\s+/g, ' ')]);
}

/**
 * One line of what happened, on one line whatever the wire brought; not cut, the reader cuts it to its own width.
 * `excerpt` is what a body means, where somebody knows.
 */
export function summaryOf(event: TraceEvent, excerpt: string = ''): string {
  /* The union says what this version knows; a newer server may send more or less. */
  const said = words([summarize(event.message as unknown as Fields), excerpt]);
  const text = said.replaceAll(/\s*[\r\n]+\s*/g, ' ');
  const scope = event.scope ?? [];
  return scope.length === 0 ? text : `${scope.join(' > ')}: ${text}`;
}

function summarize(message: Fields): string {
  switch (message['type']) {
    case 'requestStarted':
      return 'request started';
    case 'message':
      return scalar(message['text']);
    case 'cel':
      return `${scalar(message['expr'])} => ${celResult(message['result'])}`;
    case 'requestSnapshot':
    case 'responseSnapshot':
      return stageName(scalar(message['stage']));
    case 'routeSelection':
      return routeSummary(message);
    case 'policySelection':
      return policySelectionSummary(message);
    case 'policy':
      return policySummary(scalar(message['kind']), fieldsOf(message['result']));
    case 'policyEvent':
      return `${scalar(message['kind'])}: ${policyDetails(scalar(message['kind']), message['details'])}`;
    case 'traceSampling':
      return scalar(message['decision']);
    case 'authorizationResult':
      return authorizationSummary(message);
    default:
      return summarizeCall(message);
  }
}

function summarizeCall(message: Fields): string {
  switch (message['type']) {
    case 'backendCallStart':
      return words([
        scalar(message['target']),
        scalar(message['request']),
        labelled('backend', message['backend']),
        labelled('protocol', message['protocol']),
      ]);
    case 'backendCallResult':
      return outcome(message) || 'no result';
    case 'requestFinished':
      return words(['request finished', outcome(message)]);
    case 'bodySnapshot':
      return bodySummary(message);
    case 'llmRouteResolved':
      return words([scalar(message['provider']), scalar(message['routeType'])]);
    case 'llmRequestDetected':
      return llmRequestSummary(message);
    case 'llmStreamingTranslation':
      return words([...llmFormats(message), labelled('stream', message['streamFormat'])]);
    case 'mcpRequest':
      return whatOf(mcpFactsIn(message));
    case 'mcpCallStart':
      return words([whatOf(mcpFactsIn(message)), scalar(message['protocolVersion'])]);
    case 'mcpResponse':
    case 'mcpCallResult':
      return `${whatOf(mcpFactsIn(message))}: ${outcomeText(mcpBecameIn(message))}`;
    case 'dropped':
      return `${scalar(message['count']) || 'some'} events are missing here: the reader was too slow`;
    default:
      return compactJson(withoutType(message));
  }
}

function mcpFactsIn(message: Fields): McpFacts {
  const text = (key: string): string | null => scalar(message[key]) || null;
  return {
    // `as`: any other word is shown as it is.
    kind: scalar(message['kind']) as McpFacts['kind'],
    method: text('method'),
    item: text('item'),
    protocolVersion: text('protocolVersion'),
    session: text('session'),
  };
}

function mcpBecameIn(message: Fields): McpBecame {
  const number = (key: string): number | null => (typeof message[key] === 'number' ? message[key] : null);
  return {
    ...mcpFactsIn(message),
    // `as`: any other word is shown as it is.
    outcome: (scalar(message['outcome']) || 'ended') as McpBecame['outcome'],
    code: number('code'),
    status: number('status'),
    error: scalar(message['error']) || null,
    notifications: number('notifications') ?? 0,
    requests: number('requests') ?? 0,
    ...(message['isError'] === true && { isError: true }),
  };
}

function celResult(result: unknown): string {
  const error = fieldsOf(result)['error'];
  return typeof error === 'string' ? `error: ${error}` : compactJson(result);
}

function stageName(stage: string): string {
  return stage.replaceAll('_', ' ');
}

function routeSummary(message: Fields): string {
  const evaluated = Array.isArray(message['evaluatedRoutes']) ? message['evaluatedRoutes'].length : 0;
  const selected = message['selectedRoute'];
  const count = `(${evaluated} evaluated)`;
  if (typeof selected !== 'string' || selected === '') return `no route selected ${count}`;
  return `selected ${JSON.stringify(selected)} ${count}`;
}

function policySelectionSummary(message: Fields): string {
  const phase = scalar(message['phase']);
  const policies = fieldsOf(message['effectivePolicy']);
  const keys = Object.keys(policies)
    .filter((key) => isSet(policies[key]))
    .sort();
  return `${PHASES[phase] ?? phase} effective policies: ${keys.length === 0 ? 'none' : keys.join(', ')}`;
}

/** A policy that is null or an empty list is not in effect. */
function isSet(policy: unknown): boolean {
  return policy !== null && policy !== undefined && !(Array.isArray(policy) && policy.length === 0);
}

function policySummary(kind: string, result: Fields): string {
  if (result['type'] === 'skip') return `${kind} skipped: ${scalar(result['reason'])}`;
  return `${kind}: ${textOrJson(result['details'])}`;
}

function policyDetails(kind: string, details: unknown): string {
  if (typeof details === 'string') return details;
  if (kind === 'llm_translation') return translationSummary(details);
  if (kind === 'a2a' || kind === 'a2a_request') return a2aSummary(details);
  return kind === 'llm_cost' ? costSummary(details) : compactJson(details);
}

function authorizationSummary(message: Fields): string {
  const rules = Array.isArray(message['rules']) ? message['rules'].map(fieldsOf) : [];
  const matches = (mode: string): number =>
    rules.filter((rule) => rule['mode'] === mode && rule['matched'] === true).length;
  const verdict = message['result'] === 'allow' ? 'allowed' : 'denied';
  const counts = `${matches('allow')} allow, ${matches('deny')} deny, ${matches('require')} require matches`;
  const refusing = message['result'] === 'deny' ? refusingRule(rules) : '';
  return `${verdict} (${counts})${refusing === '' ? '' : `: ${refusing}`}`;
}

/** The rule that refuses: a deny that holds, or a require that does not. Without one, nothing allows. */
function refusingRule(rules: readonly Fields[]): string {
  const found =
    rules.find((rule) => rule['mode'] === 'deny' && rule['matched'] === true) ??
    rules.find((rule) => rule['mode'] === 'require' && rule['matched'] !== true);
  return found === undefined ? '' : `${scalar(found['mode'])} ${scalar(found['name'])}`;
}

function outcome(message: Fields): string {
  return words([labelled('status', message['status']), labelled('error', message['error'])]);
}

function bodySummary(message: Fields): string {
  const body = scalar(message['body']);
  const padding = body.endsWith('==') ? 2 : body.endsWith('=') ? 1 : 0;
  const bytes = Math.max(0, Math.floor((body.length * 3) / 4) - padding);
  const beyond = typeof message['truncated'] === 'number' && message['truncated'] > 0;
  const size = `${bytes} bytes${beyond ? ` and ${String(message['truncated'])} more` : ''}`;
  return `${stageName(scalar(message['stage']))} body snapshot (${size})`;
}

function llmRequestSummary(message: Fields): string {
  const streaming = message['streaming'] === true ? 'streaming' : '';
  return words([...llmFormats(message), labelled('model', message['requestModel']), streaming]);
}

/** Servers name the upstream's format `upstreamRouteType`, older readers `nativeFormat`. */
function llmFormats(message: Fields): string[] {
  const native = message['upstreamRouteType'] ?? message['nativeFormat'];
  return [scalar(message['provider']), labelled('input', message['inputFormat']), labelled('native', native)];
}

function labelled(name: string, value: unknown): string {
  return value === null || value === undefined || value === '' ? '' : `${name}=${textOrJson(value)}`;
}

function words(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' ');
}

function scalar(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

function textOrJson(value: unknown): string {
  return typeof value === 'string' ? value : compactJson(value);
}

function compactJson(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}

function fieldsOf(value: unknown): Fields {
  /* An object of the wire, read field by field. */
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function withoutType(message: Fields): Fields {
  return Object.fromEntries(Object.entries(message).filter(([key]) => key !== 'type'));
}
