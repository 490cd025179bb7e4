import type { McpGuardPhase, McpProcessor } from '../../../src/config/ir/policy/mcp-guardrails.ts';

export type Phase = 'request' | 'response';

/** Of these only answers are looked at. */
const ANSWERS_ONLY: ReadonlySet<string> = new Set([
  'resources/subscribe',
  'resources/unsubscribe',
  'completion/complete',
  'tasks/get',
  'tasks/update',
  'tasks/cancel',
  'tasks/result',
]);

/** Whether a phase of a method is looked at. `patterns` stand in their order of precedence. */
export function compileMethods(patterns: McpProcessor['methods']): (method: string, phase: Phase) => boolean {
  const tests = patterns.map(([pattern, looked]) => ({ matches: compilePattern(pattern), looked }));
  return (method, phase) => {
    if (phase === 'request' && ANSWERS_ONLY.has(method)) return false;
    const looked = tests.find(({ matches }) => matches(method))?.looked ?? 'off';
    return includes(looked, phase);
  };
}

function compilePattern(pattern: string): (method: string) => boolean {
  if (pattern === '*') return () => true;
  if (pattern.endsWith('*')) {
    const prefix = pattern.slice(0, -1);
    return (method) => method.startsWith(prefix);
  }
  if (pattern.startsWith('*')) {
    const suffix = pattern.slice(1);
    return (method) => method.endsWith(suffix);
  }
  return (method) => method === pattern;
}

function includes(looked: McpGuardPhase, phase: Phase): boolean {
  return looked === 'full' || looked === phase;
}
