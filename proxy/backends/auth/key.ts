import type { FixedCredential } from '../../../src/config/ir/index.ts';
import type { CredentialKind } from './contract.ts';
import { compileInserter } from './insert.ts';

/** A key of the configuration. */
export function fixedKey({ key, location }: FixedCredential): CredentialKind {
  const inserter = compileInserter(location);
  const value = key.reveal();
  return { details: `key in ${inserter.place}`, apply: (exchange) => inserter.insert(exchange, value) };
}
