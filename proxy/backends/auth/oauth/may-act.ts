import { isDeepStrictEqual } from 'node:util';

import { isJsonObject, type JsonObject, type JsonValue } from '../../../exchange/attributes.ts';
import type { Exchange } from '../../../exchange/exchange.ts';
import { refuse, type Refusal } from '../../../exchange/refusal.ts';
import { claimsOf } from '../token-answer.ts';

const mayNotAct: Refusal = refuse(403, 'Authorization', 'authorization failed');

/**
 * Whether the subject says that the actor may act for it (RFC 8693 section 4.4): every member of its `may_act` has to be
 * a claim of the actor. The token endpoint verifies the tokens; claims that a policy has verified are taken from there.
 */
export function checkMayAct(exchange: Exchange, subject: string, actor: string): Refusal | null {
  const allowed = claims(exchange, subject)?.['may_act'];
  const acting = claims(exchange, actor);
  if (!isJsonObject(allowed) || acting === null) return mayNotAct;
  const members = Object.entries(allowed);
  return members.length > 0 && members.every(([name, value]) => agrees(value, acting[name])) ? null : mayNotAct;
}

function claims({ attributes: { jwt } }: Exchange, token: string): JsonObject | null {
  return jwt !== null && jwt.rawToken.reveal() === token ? jwt.claims : claimsOf(token);
}

/** A list names all that are allowed. */
function agrees(allowed: JsonValue, claim: JsonValue | undefined): boolean {
  if (claim === undefined) return false;
  if (isDeepStrictEqual(allowed, claim)) return true;
  return Array.isArray(allowed) && allowed.some((each) => isDeepStrictEqual(each, claim));
}
