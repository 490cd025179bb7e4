import type { BackendAuth } from '../../ir/policy/backend-auth.ts';
import type { McpGuardPhase, McpGuardrails, McpProcessor } from '../../ir/policy/mcp-guardrails.ts';
import type { BackendPolicies } from '../../ir/policy.ts';
import type { Path } from '../../load/problem.ts';
import type { McpGuardrailsSpec, McpProcessorSpec } from '../../schema/policy/mcp-guardrails.ts';
import type { Context } from '../context.ts';
import type { Place } from '../simple-backend.ts';
import { policyService } from './policy-service.ts';

/** Where the policy stands, and what reads the policies of its connections. */
export interface GuardrailsPlace extends Place {
  readonly connection: (policies: unknown, place: Place) => BackendPolicies;
}

/** Undefined after a problem: a processor that is left out would let pass what it should look at. */
export function mcpGuardrails(
  context: Context,
  { processors }: McpGuardrailsSpec,
  { path, key, connection }: GuardrailsPlace,
): McpGuardrails | undefined {
  const usable = processors.flatMap((spec, index) => {
    const place = { path: [...path, 'processors', index], key: `${key}/processor${index}` };
    return processor(context, { spec, policies: connection(spec.policies, place) }, place) ?? [];
  });
  return usable.length === processors.length ? { processors: usable } : undefined;
}

function processor(
  context: Context,
  specs: { readonly spec: McpProcessorSpec; readonly policies: BackendPolicies },
  place: Place,
): McpProcessor | undefined {
  const { methods, failureMode, metadata, requestHeaders } = specs.spec;
  const { backendAuth } = specs.policies;
  if (backendAuth !== undefined && isInQuery(backendAuth))
    context.report(
      [...place.path, 'policies', 'backendAuth'],
      'GW_CONFIG_CONFLICT',
      'calls of gRPC have no query: credentials stand in headers',
    );
  const service = policyService(context, { ...specs, credentials: true }, place);
  return (
    service && {
      service,
      methods: methodsOf(context, methods, [...place.path, 'methods']),
      failureMode,
      metadata,
      requestHeaders: {
        allowed: requestHeaders.allowed.map((name) => name.toLowerCase()),
        disallowed: requestHeaders.disallowed.map((name) => name.toLowerCase()),
      },
    }
  );
}

function isInQuery({ main, credentials }: BackendAuth): boolean {
  const locations = credentials.map(({ location }) => location);
  if (main !== undefined && 'location' in main) locations.push(main.location);
  return locations.some(({ kind }) => kind === 'queryParameter');
}

type Method = McpProcessor['methods'][number];

/** Most specific first; what no method can match is left out. */
function methodsOf(context: Context, written: McpProcessorSpec['methods'], path: Path): Method[] {
  const entries = Object.entries(written);
  for (const [pattern, phase] of entries) {
    const warning = doubt(pattern, phase);
    if (warning !== undefined)
      context.report([...path, pattern], 'GW_CONFIG_VALUE', warning, { severity: 'warning', atKey: true });
  }
  return entries.filter(([pattern]) => canMatch(pattern)).toSorted(([left], [right]) => order(left, right));
}

/** One `*` at most, at its start or its end. */
function canMatch(pattern: string): boolean {
  return /^(\*|[^*]+\*?|\*[^*]+)$/.test(pattern);
}

function order(left: string, right: string): number {
  return rank(left) - rank(right) || right.length - left.length || (left < right ? -1 : 1);
}

function rank(pattern: string): number {
  if (pattern === '*') return 3;
  if (pattern.startsWith('*')) return 2;
  return pattern.endsWith('*') ? 1 : 0;
}

/** Methods of which only answers are looked at. */
const ANSWERS_ONLY: ReadonlySet<string> = new Set([
  'resources/subscribe',
  'resources/unsubscribe',
  'completion/complete',
  'tasks/get',
  'tasks/update',
  'tasks/cancel',
]);

function doubt(pattern: string, phase: McpGuardPhase): string | undefined {
  if (!canMatch(pattern))
    return `no method matches ${JSON.stringify(pattern)}: \`*\` stands only at the start or the end`;
  const asksRequest = phase === 'request' || phase === 'full';
  return asksRequest && ANSWERS_ONLY.has(pattern)
    ? `requests of ${JSON.stringify(pattern)} are not looked at, only answers`
    : undefined;
}
