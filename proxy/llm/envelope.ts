import type { JsonObject } from '../exchange/attributes.ts';
import { pathOf } from '../exchange/message.ts';
import { clientFormat } from './formats/registry.ts';
import { routeTypeOf, type RouteTypes } from './route-type.ts';

/** How the client of a path expects errors of the gateway. */
export function envelopeFor(
  clientTarget: string,
  types: RouteTypes,
): (status: number, message: string, code?: string) => JsonObject {
  return clientFormat(routeTypeOf(pathOf(clientTarget), types)).error;
}
