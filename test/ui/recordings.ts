import { readFileSync } from 'node:fs';
import type { TraceEvent } from '../../src/admin/protocol/trace-event.ts';

/** The recorded events of `test/fixtures/traces/<name>.jsonl`. */
export function recording(name: string): TraceEvent[] {
  return readFileSync(new URL(`../fixtures/traces/${name}.jsonl`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as TraceEvent);
}

export const recordings = [
  'plain-200',
  'no-route-404',
  'retry',
  'timeout-504',
  'streaming',
  'direct-response',
  'policies-403',
  'many-requests',
  'llm-tool-call',
  'llm-failover',
  'mcp-fan-out',
  'mcp-tool-error',
  'a2a-stream',
];
