import type { Guard } from '../../../../src/config/ir/llm.ts';
import { insertHeader } from '../../../credentials/header.ts';
import { isAuthority, isToken } from '../../../exchange/grammar.ts';
import { Headers } from '../../../exchange/headers.ts';
import type { Expression } from '../../../expression/contract.ts';
import { mayChange } from '../../../policy/header-changes.ts';
import type { PolicyDeps } from '../../../policy/contract.ts';
import { compileWholeRegex, type ValueTest } from '../../../routing/condition.ts';
import type { Question } from '../services/contract.ts';

type Settings = Extract<Guard, { kind: 'webhook' }>;

/** How the call of a webhook looks, beside its body. */
export interface CallHead {
  readonly method: string;
  readonly path: string;
  readonly authority: string | null;
  readonly headers: Headers;
}

// RFC 9112 section 3.2.1: the origin form of a request target.
const TARGET = /^\/[\u0021\u0022\u0024-\u007e]*$/;

/** Throws a `GwError` for an expression or a pattern that is none. */
export function compileHead(settings: Settings, { expressions }: PolicyDeps): (question: Question) => CallHead {
  const where = 'promptGuard webhook headers';
  const computed = Object.entries(settings.headers).map(
    ([name, source]) => [name.toLowerCase(), expressions.compile(source, `${where}.${name}`)] as const,
  );
  const forwarded = settings.forwardHeaderMatches.map(({ name, value }) => ({
    name: name.toLowerCase(),
    test: valueTest(value),
  }));
  return (question) => {
    const head: Drafted = {
      method: 'POST',
      path: question.phase === 'request' ? '/request' : '/response',
      authority: null,
      headers: copied(question, forwarded),
    };
    withRequest(question, () => {
      for (const [name, expression] of computed) write(head, { name, expression }, question);
    });
    return head;
  };
}

type Drafted = { -readonly [Field in keyof CallHead]: CallHead[Field] };

function valueTest({ kind, value }: Settings['forwardHeaderMatches'][number]['value']): ValueTest {
  return kind === 'exact' ? (given) => given === value : compileWholeRegex(value, 'promptGuard forwardHeaderMatches');
}

interface Forwarded {
  readonly name: string;
  readonly test: ValueTest;
}

/** All values of a header, when one of them matches. About answers, the request's place in a distributed trace as well. */
function copied({ headers, phase, exchange }: Question, forwarded: readonly Forwarded[]): Headers {
  const out = new Headers();
  for (const { name, test } of forwarded) {
    if (name.startsWith(':') || !mayChange(name) || out.has(name)) continue;
    const traced = phase === 'response' && name === 'traceparent' ? exchange.request.headers : headers;
    const values = traced.getAll(name);
    if (values.some(test)) for (const value of values) out.append(name, value);
  }
  return out;
}

/** Expressions see the prompt only while the request is looked at. */
function withRequest({ exchange, body }: Question, evaluate: () => void): void {
  const { attributes } = exchange;
  const before = attributes.llmRequest;
  attributes.llmRequest = body;
  try {
    evaluate();
  } finally {
    attributes.llmRequest = before;
  }
}

/** What fails, or cannot stand there, takes a header away and leaves the rest as it would be. */
function write(
  head: Drafted,
  { name, expression }: { readonly name: string; readonly expression: Expression },
  { exchange }: Question,
): void {
  const value = expression.headerText(exchange);
  switch (name) {
    case ':path':
      if (value !== null && TARGET.test(value)) head.path = value;
      return;
    case ':method':
      if (value !== null && isToken(value) && value !== 'CONNECT') head.method = value;
      return;
    case ':authority':
    case 'host':
      if (value !== null && isAuthority(value)) head.authority = value;
      return;
    default:
      if (!mayChange(name)) return;
      if (value === null || !insertHeader(head.headers, name, value)) head.headers.remove(name);
  }
}
