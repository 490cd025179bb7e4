import type { Mention } from '../../src/cel/compile/compiler.ts';
import type { Host } from '../../src/cel/compile/host.ts';
import { Program } from '../../src/cel/program.ts';
import { positionOf } from '../../src/cel/syntax/syntax-error.ts';
import { GwError } from '../../src/shared/errors.ts';
import { nearest } from '../../src/shared/nearest.ts';
import type { FilterMoment } from '../telemetry/trace-filters.ts';
import type { EvalContext } from './contract.ts';
import { environmentOf, type ExpressionOptions } from './expressions.ts';
import { llmContentsOf } from './llm-contents.ts';
import { readsBody } from './variables/message.ts';

/** What there is of a request that has just arrived. */
const AT_ONCE = ['request', 'source', 'destination', 'proxy', 'env'];
/** What there is besides when it is over. */
const IN_THE_END = [
  'response',
  'jwt',
  'apiKey',
  'basicAuth',
  'backend',
  'extauthz',
  'extproc',
  'metadata',
  'llm',
  'mcp',
  'mcpGuardrails',
];
const KNOWN = [...AT_ONCE, ...IN_THE_END];

/**
 * When requests can be filtered by an expression. One that could never be true for want of a name is refused, with its
 * place where it has one: who waits for such a request would wait for ever. Throws a `GwError`.
 */
export function filterMoment(source: string, options: ExpressionOptions): FilterMoment {
  const environment = environmentOf(options);
  const { mentions, unresolved } = Program.compile(source, environment);
  const [unknown] = unresolved;
  if (unknown !== undefined) {
    const { line, column } = positionOf(source, unknown.at);
    const hint = unknown.kind === 'variable' ? meant(unknown.name) : undefined;
    throw refusal(`${unknown.message} (line ${line}, column ${column})`, hint);
  }
  for (const mention of mentions) check(mention, environment.host);
  return mentions.every(isKnownAtOnce) ? 'arrival' : 'end';
}

/** Of the gateway itself, a request that has just arrived knows the bind alone. */
function isKnownAtOnce({ variable, path }: Mention): boolean {
  return variable === 'proxy' ? path[0] === 'bind' : AT_ONCE.includes(variable);
}

function check(mention: Mention, host: Host<EvalContext>): void {
  const { variable, path } = mention;
  const [field] = path;
  if (!KNOWN.includes(variable))
    throw refusal(`${variable} is never known of a request that is traced`, meant(variable));
  if (field === undefined) return;
  if (isContent(mention))
    throw refusal(`${variable}.${field} is not kept for the expressions of traces`, 'the trace itself shows bodies');
  const fields = host.variable(variable)?.fields;
  if (fields === undefined || fields.includes(field)) return;
  const near = nearest(field, fields);
  throw refusal(
    `${variable} has no ${field}`,
    near === undefined ? `it has ${fields.join(', ')}` : `did you mean ${variable}.${near}?`,
  );
}

/** Nothing is collected for those who watch. */
function isContent(mention: Mention): boolean {
  const { variable, path } = mention;
  if (variable === 'request' || variable === 'response') return readsBody(path);
  return Object.values(llmContentsOf([mention])).includes(true);
}

function meant(name: string): string {
  const near = nearest(name, KNOWN);
  return near === undefined ? `there are ${KNOWN.join(', ')}` : `did you mean ${near}?`;
}

function refusal(message: string, hint: string | undefined): GwError {
  return new GwError(message, { code: 'GW_TRACE_EXPRESSION', hint });
}
