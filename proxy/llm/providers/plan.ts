import type { ChatFormat, UpstreamFormat } from '../formats.ts';
import type { RouteType } from '../route-type.ts';
import type { BodyTranslation } from '../translations/contract.ts';
import { wayFor } from '../translations/table.ts';
import type { Adapt, Plan } from './contract.ts';

export const unsupported: Plan = { kind: 'unsupported' };

const chats: ReadonlySet<RouteType> = new Set<RouteType>(['completions', 'messages', 'responses', 'generateContent']);

export function isChat(type: RouteType): type is ChatFormat {
  return chats.has(type);
}

/** Bodies that nobody has to understand. */
export function isOpaque(type: RouteType): boolean {
  return type === 'passthrough' || type === 'detect';
}

/** A chat with a service that speaks these formats. */
export function chatPlan(type: ChatFormat, spoken: readonly UpstreamFormat[], adapt?: Adapt): Plan {
  const way = wayFor(type, spoken);
  if (way === undefined) return unsupported;
  if (way.translation !== null) return { kind: 'translated', translation: way.translation };
  return { kind: 'native', format: way.to, ...(adapt === undefined ? {} : { adapt }) };
}

/** A request whose body passes as it is. */
export function native(format: UpstreamFormat | null, adapt?: Adapt): Plan {
  return { kind: 'native', format, ...(adapt === undefined ? {} : { adapt }) };
}

/** What is no chat, for a service that has a body of its own for it. */
export function reshaped(translation: BodyTranslation): Plan {
  return { kind: 'reshaped', translation };
}

/** What a planned call speaks with the service; null for what is no chat. */
export function upstreamFormat(plan: Plan): UpstreamFormat | null {
  if (plan.kind === 'translated') return plan.translation.to;
  return plan.kind === 'native' ? plan.format : null;
}
