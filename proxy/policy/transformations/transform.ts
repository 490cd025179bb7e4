import type { Transformation } from '../../../src/config/ir/policy/transformations.ts';
import type { JsonValue } from '../../exchange/attributes.ts';
import type { Body } from '../../exchange/body.ts';
import { BufferedBody, emptyBody } from '../../exchange/body.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { isToken } from '../../exchange/grammar.ts';
import { Headers } from '../../exchange/headers.ts';
import type { Expression } from '../../expression/contract.ts';
import type { PolicyContext } from '../contract.ts';
import { mayChange } from '../header-changes.ts';
import { invalidPolicy } from '../invalid-policy.ts';

/** The message that is changed, and its parts that are no headers. */
export interface Transformed {
  headers: Headers;
  body: Body;
}

/** One side of a transformation, compiled. */
export interface Transform<M extends Transformed> {
  (exchange: Exchange, message: M): void;
}

/** Sets a pseudo header (or `host`) from its expression; what cannot be set stays. */
export type SetPart<M> = (message: M, name: string, value: Expression, exchange: Exchange) => void;

// What a header of the map of all headers may hold; those of `add` and `set` are checked by their expressions.
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

interface Field {
  readonly name: string;
  readonly value: Expression;
  readonly isPart: boolean;
}

/**
 * Compiles one side. `where` names it in traces: `transformations request`. Throws a `GwError` for what is no expression,
 * and for headers that belong to the connection.
 */
export function compileTransform<M extends Transformed>(
  spec: Transformation,
  { where, context, setPart }: { where: string; context: PolicyContext; setPart: SetPart<M> },
): Transform<M> {
  const { expressions } = context.deps;
  const compile = (source: string, at: string): Expression => expressions.compile(source, `${where} ${at}`);
  const fields = (list: 'add' | 'set'): Field[] =>
    spec[list].map(([name, source]) => {
      const lower = name.toLowerCase();
      const isPart = lower.startsWith(':') || lower === 'host';
      if (!isPart && !mayChange(lower))
        throw invalidPolicy(context.source, 'transformations', `${name} belongs to the connection and cannot be set`);
      return { name: isPart ? lower : name, value: compile(source, `${list} ${name}`), isPart };
    });
  const metadata = spec.metadata.map(([name, source]) => [name, compile(source, `metadata ${name}`)] as const);
  const replace = spec.replace === undefined ? null : compile(spec.replace, 'replace');
  const add = fields('add');
  const set = fields('set');
  const remove = spec.remove.map((name) => name.toLowerCase());
  const body = spec.body === undefined ? null : compile(spec.body, 'body');
  return (exchange, message) => {
    for (const [name, value] of metadata) setMetadata(exchange, name, value.value(exchange));
    if (replace !== null) replaceHeaders(message, replace.json(exchange));
    for (const field of add) change(exchange, message, { field, setPart, append: true });
    for (const field of set) change(exchange, message, { field, setPart, append: false });
    for (const name of remove) message.headers.remove(name);
    if (body !== null) replaceBody(message, body.body(exchange));
  };
}

interface Change<M> {
  readonly field: Field;
  readonly setPart: SetPart<M>;
  readonly append: boolean;
}

function change<M extends Transformed>(exchange: Exchange, message: M, { field, setPart, append }: Change<M>): void {
  const { name, value, isPart } = field;
  if (isPart) {
    setPart(message, name, value, exchange);
    return;
  }
  const text = value.headerText(exchange);
  if (text === null) message.headers.remove(name.toLowerCase());
  else if (append) message.headers.append(name, text);
  else message.headers.set(name, text);
}

function setMetadata({ attributes }: Exchange, name: string, value: unknown): void {
  if (value === undefined) return;
  // Without a prototype: names come from the configuration, `__proto__` among them.
  attributes.metadata ??= Object.create(null) as Record<string, unknown>;
  attributes.metadata[name] = value;
}

/** What is no map changes nothing. Pseudo headers, `host` and what belongs to the connection are left as they are. */
function replaceHeaders(message: Transformed, value: JsonValue | undefined): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const headers = new Headers();
  for (const [name, values] of Object.entries(value)) {
    if (!isToken(name) || !mayChange(name.toLowerCase()) || name.toLowerCase() === 'host') continue;
    for (const each of Array.isArray(values) ? values : [values]) {
      const text = fieldText(each);
      if (text !== null) headers.append(name, text);
    }
  }
  message.headers = headers;
}

function fieldText(value: JsonValue): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return null;
  const text = latin1(value).trim();
  return VALUE.test(text) ? text : null;
}

/** Header values are bytes, one per character. */
function latin1(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return /[^\u0000-\u007f]/.test(text) ? Buffer.from(text).toString('latin1') : text;
}

/** The length is written from the body. */
function replaceBody(message: Transformed, bytes: Uint8Array | null): void {
  message.body.cancel();
  message.body = bytes === null || bytes.byteLength === 0 ? emptyBody : new BufferedBody(bytes);
  message.headers.remove('content-length');
}
