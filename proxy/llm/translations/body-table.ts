import type { RouteType } from '../route-type.ts';
import type { BodyTranslation } from './contract.ts';

/** Services that have bodies of their own for what is no chat. */
export type BodyService = 'vertex' | 'bedrock';

/** Every way, by service and kind of request. One line each. */
const ways: Readonly<Record<BodyService, Partial<Readonly<Record<RouteType, BodyTranslation>>>>> = {
  vertex: {},
  bedrock: {},
};

/** Undefined: the service has nothing of the kind. */
export function bodyWay(service: BodyService, type: RouteType): BodyTranslation | undefined {
  return ways[service][type];
}
