import type { Dump } from '../protocol/decode-config-dump.ts';
import { routeAddresses, type RouteAddress } from './route-address.ts';

/** Where clients of MCP look when a route takes every path. */
const USUAL = '/mcp';

/** The routes that lead to MCP servers; a route with several paths is reached at the usual one. */
export function mcpAddresses(dump: Dump): readonly RouteAddress[] {
  return routeAddresses(dump, ['mcp']).map((place) => ({
    ...place,
    prefix: place.prefix === '' ? USUAL : place.prefix,
  }));
}
