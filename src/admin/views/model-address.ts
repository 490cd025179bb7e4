import type { Dump } from '../protocol/decode-config-dump.ts';
import { routeAddresses, type RouteAddress } from './route-address.ts';

/** The routes that lead to language models, those to many models first. */
export function modelAddresses(dump: Dump): readonly RouteAddress[] {
  return routeAddresses(dump, ['llmRouter', 'ai']);
}
