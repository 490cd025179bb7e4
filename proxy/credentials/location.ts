import type { CredentialLocation, CredentialTarget } from '../../src/config/ir/policy/credential-location.ts';
import { assertNever } from '../../src/shared/assert-never.ts';
import type { HttpRequest } from '../exchange/message.ts';
import type { EvalContext, Expressions } from '../expression/contract.ts';
import { insertCookie, keepFirstCookie, readCookie, removeCookie } from './cookies.ts';
import { insertHeader, keepFirstHeader, readHeader } from './header.ts';
import { insertParameter, keepFirstParameter, readParameter, removeParameter } from './query.ts';

/** What carries credentials: an `Exchange`, or any request on its way out. */
export interface Carrier {
  readonly request: Pick<HttpRequest, 'headers' | 'target'>;
}

/** A place that a credential is written to. */
export interface CompiledTarget {
  /** The name of what `read` reads. */
  placeOf(carrier: Carrier): string | null;
  /** What is there; null when there is nothing, or not in the expected form. */
  read(carrier: Carrier): string | null;
  /** Takes away every credential of this place. */
  remove(carrier: Carrier): void;
  /** Takes away every credential of this place but the one that `read` gives. */
  removeOthers(carrier: Carrier): void;
  /** Puts `value` in the place of what was there. False, with nothing changed, when the place cannot hold it. */
  insert(carrier: Carrier, value: string): boolean;
}

/** A place that a credential is read from. */
export interface CompiledLocation {
  read(exchange: Carrier & EvalContext): string | null;
  /** Name of the header, query parameter or cookie that `read` reads; null for an expression, and where nothing is. */
  placeOf(carrier: Carrier): string | null;
  /** Takes away every credential of this place; an expression leaves the request as it is. */
  remove(carrier: Carrier): void;
  /** Takes away every credential of this place but the one that `read` gives. */
  removeOthers(carrier: Carrier): void;
}

/** Compiles where a credential is read from; `where` names the place in traces. Throws for an expression that is none. */
export function compileLocation(
  location: CredentialLocation,
  expressions: Expressions,
  where = 'credential location',
): CompiledLocation {
  if (location.kind === 'anyOf') return firstOf(location.targets.map(compileTarget));
  if (location.kind !== 'expression') return compileTarget(location);
  const expression = expressions.compile(location.expression, where);
  return {
    read: (exchange) => expression.text(exchange),
    placeOf: () => null,
    remove: () => {},
    removeOthers: () => {},
  };
}

function firstOf(places: readonly CompiledTarget[]): CompiledLocation {
  return {
    read(exchange) {
      for (const place of places) {
        const found = place.read(exchange);
        if (found !== null) return found;
      }
      return null;
    },
    placeOf: (carrier) => places.find((place) => place.read(carrier) !== null)?.placeOf(carrier) ?? null,
    remove(carrier) {
      for (const place of places) place.remove(carrier);
    },
    removeOthers(carrier) {
      const kept = places.find((place) => place.read(carrier) !== null);
      for (const place of places) {
        if (place === kept) place.removeOthers(carrier);
        else place.remove(carrier);
      }
    },
  };
}

/** Compiles where a credential is written to. */
export function compileTarget(target: CredentialTarget): CompiledTarget {
  const { name } = target;
  const placeOf = (): string => name;
  switch (target.kind) {
    case 'header':
      return {
        placeOf,
        read: ({ request }) => readHeader(request.headers, name, target.prefix),
        remove: ({ request }) => void request.headers.remove(name),
        removeOthers: ({ request }) => keepFirstHeader(request.headers, name),
        insert: ({ request }, value) => insertHeader(request.headers, name, target.prefix + value),
      };
    case 'queryParameter':
      return {
        placeOf,
        read: ({ request }) => readParameter(request.target, name),
        remove: ({ request }) => void (request.target = removeParameter(request.target, name)),
        removeOthers: ({ request }) => void (request.target = keepFirstParameter(request.target, name)),
        insert: ({ request }, value) => {
          request.target = insertParameter(request.target, name, value);
          return true;
        },
      };
    case 'cookie':
      return {
        placeOf,
        read: ({ request }) => readCookie(request.headers, name),
        remove: ({ request }) => removeCookie(request.headers, name),
        removeOthers: ({ request }) => keepFirstCookie(request.headers, name),
        insert: ({ request }, value) => insertCookie(request.headers, name, value),
      };
    default:
      return assertNever(target);
  }
}
