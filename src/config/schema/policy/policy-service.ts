import { z } from 'zod';
import { backendName, hostText, serviceRef } from '../backend-ref.ts';
import { port } from '../scalars.ts';

/**
 * The keys of a policy that name the service it calls: exactly one of `service`, `host` (also as an http or https address),
 * `backend`, or flat `name` and `port`. `connection` are the policies of that connection; they are passed in because they
 * may call services themselves.
 */
export function policyServiceShape(connection: z.ZodType) {
  return {
    service: serviceRef.optional(),
    name: z.string().optional().describe('Flat form of `service.name`.'),
    port: port.optional().describe('Flat form of `service.port`.'),
    host: hostText.optional().describe('`host:port`, `unix:/path`, or http(s)://host with an optional port.'),
    backend: backendName.optional(),
    policies: connection.optional().describe('How the service is connected to.'),
  };
}
