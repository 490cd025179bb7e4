import { z } from 'zod';
import type { AddIssue } from '../build.ts';
import { backendName, SERVICE_NAME, serviceHostText, serviceRef } from '../backend-ref.ts';
import { port } from '../scalars.ts';

/**
 * The keys of a policy that name the service it calls, see `policyServiceRule`. `connection` are the policies of that
 * connection; they are passed in because they may call services themselves.
 */
export function policyServiceShape(connection: z.ZodType) {
  return {
    service: serviceRef.optional(),
    name: SERVICE_NAME.optional().describe('Flat form of `service.name`.'),
    port: port.optional().describe('Flat form of `service.port`.'),
    host: serviceHostText.optional(),
    backend: backendName.optional(),
    policies: connection.optional().describe('How the service is connected to.'),
  };
}

/** Exactly one of `service`, `host`, `backend`, or flat `name` and `port`. */
export function policyServiceRule(keys: Record<string, unknown>, add: AddIssue): void {
  const flat = keys['name'] !== undefined || keys['port'] !== undefined;
  const present = ['service', 'host', 'backend'].filter((key) => keys[key] !== undefined);
  if (flat) present.push(keys['name'] === undefined ? 'port' : 'name');
  if (present.length === 0)
    add('the service needs exactly one of `service`, `host`, `backend`', { code: 'GW_CONFIG_MISSING' });
  if (present.length > 1)
    add(`the service takes only one of ${present.map((key) => `\`${key}\``).join(', ')}`, {
      at: present[1],
      code: 'GW_CONFIG_CONFLICT',
    });
  for (const key of ['name', 'port'])
    if (flat && keys[key] === undefined) add('`name` and `port` go together', { at: key, code: 'GW_CONFIG_MISSING' });
}

/** What the keys come out as. */
export interface PolicyServiceSpec {
  readonly service?: { readonly name: string; readonly port: number } | undefined;
  readonly name?: string | undefined;
  readonly port?: number | undefined;
  readonly host?: string | undefined;
  readonly backend?: string | undefined;
  /** Of the recursive schema of connections. */
  readonly policies?: unknown;
}
