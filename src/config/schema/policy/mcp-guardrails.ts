import { z } from 'zod';
import { object, withRule } from '../build.ts';
import { celMap, headerOrPseudo } from '../scalars.ts';
import { policyServiceRule, policyServiceShape } from './policy-service.ts';

const MAX_ENTRIES = 64;

/** A map with an end. */
function bounded<S extends z.ZodType<object>>(map: S): S {
  return map.refine((value) => Object.keys(value).length <= MAX_ENTRIES, {
    error: `expected at most ${MAX_ENTRIES} entries`,
  });
}

function shapeOf(connection: z.ZodType) {
  return {
    kind: z.enum(['remote']).default('remote').describe('A gRPC service.'),
    ...policyServiceShape(connection),
    methods: bounded(
      z
        .record(z.string().max(256), z.enum(['off', 'request', 'response', 'full']))
        .refine((methods) => Object.keys(methods).length > 0, { error: 'expected at least one method' }),
    ).describe(
      'By method, `tools/*`, `*/list` or `*`: what is looked at. The most specific one counts; others are not.',
    ),
    failureMode: z
      .enum(['failClosed', 'failOpen'])
      .default('failClosed')
      .describe('When the service fails: `failClosed` fails the call, `failOpen` lets it pass.'),
    metadata: bounded(celMap('Values sent along with every question.')).default({}),
    requestHeaders: object('Which headers of the request are sent along.', {
      allowed: z
        .array(headerOrPseudo)
        .max(MAX_ENTRIES)
        .default([])
        .describe('Names. Default: all, and :method, :scheme, :authority, :path.'),
      disallowed: z.array(headerOrPseudo).max(MAX_ENTRIES).default([]).describe('Names that are never sent.'),
    }).prefault({}),
  };
}

/** `mcpGuardrails`: external processors look at MCP calls. */
export function mcpGuardrails(connection: z.ZodType) {
  const processor = withRule(
    object('One processor; the first to reject ends the call.', shapeOf(connection)),
    policyServiceRule,
  );
  return object(
    'External processors look at MCP calls.',
    { processors: z.array(processor).min(1).max(16).describe('Asked one after the other.') },
    'McpGuardrails',
  );
}

export type McpGuardrailsSpec = z.output<ReturnType<typeof mcpGuardrails>>;
export type McpProcessorSpec = McpGuardrailsSpec['processors'][number];
