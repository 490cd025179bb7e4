import { z } from 'zod';
import { object } from '../build.ts';
import { celMap } from '../scalars.ts';
import { policyServiceShape } from './policy-service.ts';

/** `mcpGuardrails`: external processors look at MCP calls. */
export function mcpGuardrails(connection: z.ZodType) {
  const processor = object('One processor; the first to reject ends the call.', {
    kind: z.enum(['remote']),
    ...policyServiceShape(connection),
    methods: z
      .record(z.string().min(1), z.enum(['off', 'request', 'response', 'full']))
      .describe('By method, `tools/*`, `*/list` or `*`: what is looked at.'),
    failureMode: z.enum(['failClosed', 'failOpen']).default('failClosed'),
    metadata: celMap('Metadata sent along.').optional(),
    requestHeaders: object('Which request headers are sent along.', {
      allowed: z.array(z.string().min(1)).max(64).default([]),
      disallowed: z.array(z.string().min(1)).max(64).default([]),
    }).optional(),
  });
  return object(
    'External processors look at MCP calls.',
    { processors: z.array(processor).min(1).max(16) },
    'McpGuardrails',
  );
}
