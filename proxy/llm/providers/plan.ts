import type { ChatFormat, UpstreamFormat } from '../formats.ts';
import type { RouteType } from '../route-type.ts';
import { bodyWay, type BodyService } from '../translations/body-table.ts';
import type { BodyTranslation } from '../translations/contract.ts';
import { wayFor } from '../translations/table.ts';
import type { Adapt, Plan, ProviderRequest } from './contract.ts';

export const unsupported: Plan = { kind: 'unsupported' };

const chats: ReadonlySet<RouteType> = new Set<RouteType>(['completions', 'messages', 'responses', 'generateContent']);

export function isChat(type: RouteType): type is ChatFormat {
  return chats.has(type);
}

/** Bodies that nobody has to understand. */
export function isOpaque(type: RouteType): boolean {
  return type === 'passthrough' || type === 'detect';
}

/** A chat with a service that speaks these formats; `adapt` puts bodies of a format right. */
export function chatPlan(
  type: ChatFormat,
  spoken: readonly UpstreamFormat[],
  adapt: Partial<Readonly<Record<UpstreamFormat, Adapt>>> = {},
): Plan {
  const way = wayFor(type, spoken);
  if (way === undefined) return unsupported;
  if (way.translation !== null) return { kind: 'translated', translation: way.translation, adapt: adapt[way.to] };
  return { kind: 'native', format: way.to, adapt: adapt[way.to] };
}

/** A request whose body passes as it is. */
export function native(format: UpstreamFormat | null, adapt?: Adapt): Plan {
  return { kind: 'native', format, adapt };
}

/** What is no chat, for a service that has a body of its own for it. */
export function reshaped(translation: BodyTranslation): Plan {
  return { kind: 'reshaped', translation };
}

/** The same by the table of such bodies; unsupported where there is none. */
export function reshapedFor(service: BodyService, type: RouteType): Plan {
  const way = bodyWay(service, type);
  return way === undefined ? unsupported : reshaped(way);
}

/** What a planned call speaks with the service; null for what is no chat. */
export function upstreamFormat(plan: Plan): UpstreamFormat | null {
  if (plan.kind === 'translated') return plan.translation.to;
  return plan.kind === 'native' ? plan.format : null;
}

/** What the service is asked in: the format of a chat, or what the request is where it is none. */
export function upstreamOf({ routeType }: ProviderRequest, plan: Plan): UpstreamFormat | RouteType {
  return upstreamFormat(plan) ?? routeType;
}
