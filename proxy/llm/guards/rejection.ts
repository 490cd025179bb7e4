import type { Rejection } from '../../../src/config/ir/llm.ts';
import { Headers } from '../../exchange/headers.ts';
import { type Refusal, refuse } from '../../exchange/refusal.ts';
import type { GuardKind, OwnAnswer, Phase } from './contract.ts';

/** The answer that is configured for what a guard rejects, or the one that its service wants. No type of its own. */
export function rejected(
  { kind, rejection, phase }: { readonly kind: GuardKind; readonly rejection: Rejection; readonly phase: Phase },
  own: OwnAnswer,
): Refusal {
  const { headers } = rejection;
  const status = own.status ?? rejection.status;
  const refusal = refuse(status, 'Guardrail', rejectedBy(phase, kind));
  const body = Buffer.from(own.body ?? rejection.body);
  if (headers === undefined) return { ...refusal, body };
  const written = new Headers();
  for (const [name, value] of headers.add) written.append(name, value);
  for (const [name, value] of headers.set) written.set(name, value);
  for (const name of headers.remove) written.remove(name.toLowerCase());
  return { ...refusal, body, headers: written };
}

/** For logs: the kind of guard, never what it found. */
export function rejectedBy(phase: Phase, kind: GuardKind | null): string {
  return `${phase} rejected by ${kind === null ? 'a' : kind} guardrail`;
}

/** A guard that had to be asked gave no verdict. */
export function unguarded(phase: Phase): Refusal {
  return refuse(503, 'Guardrail', `failed to process LLM ${phase}: prompt guard failed`);
}
