import type { CredentialTarget } from '../../../src/config/ir/index.ts';
import { assertNever } from '../../../src/shared/assert-never.ts';
import { compileTarget } from '../../credentials/location.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { LentCredentials } from '../../exchange/lent-credentials.ts';
import type { Refusal } from '../../exchange/refusal.ts';
import { cannotInsert } from './failure.ts';

/** Writes credentials of the gateway to one place of a request. */
export interface Inserter {
  /** For traces. */
  readonly place: string;
  insert(exchange: Exchange, credential: string): Refusal | null;
}

/** Where tokens go that have no other place. */
export const bearerTarget: CredentialTarget = { kind: 'header', name: 'authorization', prefix: 'Bearer ' };

export function compileInserter(target: CredentialTarget): Inserter {
  const compiled = compileTarget(target);
  return {
    place: placeOf(target),
    insert(exchange, credential) {
      lend(exchange, target);
      return compiled.insert(exchange, credential) ? null : cannotInsert;
    },
  };
}

/** Notes what is about to be written, so that it is hidden and taken off again. */
export function lend(exchange: Exchange, target: CredentialTarget): void {
  const { request } = exchange;
  const lent = (exchange.lent ??= new LentCredentials());
  if (target.kind === 'queryParameter') lent.lendParameter(request, target.name);
  else lent.lendHeader(request, target.kind === 'cookie' ? 'cookie' : target.name);
}

function placeOf(target: CredentialTarget): string {
  switch (target.kind) {
    case 'header':
      return `header ${target.name}`;
    case 'queryParameter':
      return `query parameter ${target.name}`;
    case 'cookie':
      return `cookie ${target.name}`;
    default:
      return assertNever(target);
  }
}
