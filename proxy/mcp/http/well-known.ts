import type { McpBackend } from '../../../src/config/ir/index.ts';
import { pathOf, type HttpRequest } from '../../exchange/message.ts';
import { rebindingRefusal } from './dns-rebinding.ts';

const DOCUMENTS = ['/.well-known/oauth-protected-resource', '/.well-known/oauth-authorization-server'] as const;

/**
 * Whether a request is for what the only target says of its own login, and goes to it as it is. Not where the gateway does
 * the login (`authenticates`), and not for pages that reach the gateway by a name that is not its own.
 */
export function isForTargetItself(
  request: Pick<HttpRequest, 'method' | 'target' | 'authority' | 'headers'>,
  backend: Pick<McpBackend, 'targets' | 'dnsRebindingProtection'>,
  authenticates: boolean,
): boolean {
  const [target, ...others] = backend.targets;
  if (authenticates || target === undefined || others.length > 0) return false;
  if (target.server.kind !== 'streamable' && target.server.kind !== 'sse') return false;
  if (request.method !== 'GET' && request.method !== 'OPTIONS') return false;
  const path = pathOf(request.target);
  if (!DOCUMENTS.some((document) => path === document || path.startsWith(`${document}/`))) return false;
  return !backend.dnsRebindingProtection || rebindingRefusal(request) === null;
}
