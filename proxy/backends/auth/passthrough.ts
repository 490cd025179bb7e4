import type { CredentialTarget } from '../../../src/config/ir/index.ts';
import type { CredentialKind } from './contract.ts';
import { compileInserter } from './insert.ts';

/** The verified token of the caller, which the policy that verified it took away; nothing without one. */
export function passthrough({ location }: { readonly location: CredentialTarget }): CredentialKind {
  const inserter = compileInserter(location);
  return {
    details: `token of the caller in ${inserter.place}`,
    apply: (exchange) => {
      const { jwt } = exchange.attributes;
      return jwt === null ? null : inserter.insert(exchange, jwt.rawToken.reveal());
    },
  };
}
