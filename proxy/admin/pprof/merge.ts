import type { Runtime } from 'node:inspector';
import { PprofBuilder } from './pprof-builder.ts';
import type { Measure } from './pprof-builder.ts';
import { sampledObjects } from './sampled-objects.ts';
import { HEAP_SAMPLE_BYTES } from './thread-profiler.ts';
import type { CpuProfile, HeapNode, HeapProfile } from './thread-profiler.ts';

/** What one thread answered when it was asked for its profile. */
export type ThreadAnswer<P> =
  | { readonly kind: 'profile'; readonly thread: string; readonly profile: P }
  | { readonly kind: 'failed'; readonly thread: string; readonly reason: string };

export interface CpuRun {
  readonly frequency: number;
  readonly startedAtMs: number;
  readonly durationMs: number;
}

const SAMPLES: Measure = { type: 'samples', unit: 'count' };
const CPU: Measure = { type: 'cpu', unit: 'nanoseconds' };
const OBJECTS: Measure = { type: 'inuse_objects', unit: 'count' };
const SPACE: Measure = { type: 'inuse_space', unit: 'bytes' };

/** One gzipped pprof of the CPU profiles of all threads; the time in which a thread had nothing to do is left out. */
export async function cpuToPprof(answers: readonly ThreadAnswer<CpuProfile>[], run: CpuRun): Promise<Uint8Array> {
  const builder = new PprofBuilder();
  for (const answer of answers) if (answer.kind === 'profile') addCpu(builder, answer.profile, answer.thread);
  return builder.finish({
    measures: [SAMPLES, CPU],
    shownFirst: CPU.type,
    period: { measure: CPU, value: Math.round(1e9 / run.frequency) },
    startedAtMs: run.startedAtMs,
    durationMs: run.durationMs,
    comments: failuresOf(answers),
  });
}

/** One gzipped pprof of the live sampled memory of all threads. Object counts are estimates, bytes are sampled sums. */
export async function heapToPprof(answers: readonly ThreadAnswer<HeapProfile>[], atMs: number): Promise<Uint8Array> {
  const builder = new PprofBuilder();
  for (const answer of answers) if (answer.kind === 'profile') addHeap(builder, answer.profile, answer.thread);
  return builder.finish({
    measures: [OBJECTS, SPACE],
    shownFirst: SPACE.type,
    period: { measure: { type: 'space', unit: 'bytes' }, value: HEAP_SAMPLE_BYTES },
    startedAtMs: atMs,
    durationMs: 0,
    comments: failuresOf(answers),
  });
}

function failuresOf(answers: readonly ThreadAnswer<unknown>[]): string[] {
  return answers.flatMap((answer) =>
    answer.kind === 'failed' ? [`${answer.thread} is missing: ${answer.reason}`] : [],
  );
}

function addCpu(builder: PprofBuilder, profile: CpuProfile, thread: string): void {
  const spent = microsecondsByNode(profile);
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map(
    profile.nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node.id] as const)),
  );
  for (const [id, { micros, count }] of spent) {
    const node = nodes.get(id);
    if (node === undefined || isIdle(node.callFrame)) continue;
    const callers: number[] = [];
    for (let parent = parents.get(id); parent !== undefined; parent = parents.get(parent)) {
      const frame = nodes.get(parent)?.callFrame;
      if (frame !== undefined && !isRoot(frame)) callers.push(builder.location(frame, frame.lineNumber + 1));
    }
    for (const { line, share } of lineShares(node.callFrame, node.positionTicks ?? [])) {
      const leaf = isRoot(node.callFrame) ? [] : [builder.location(node.callFrame, line)];
      builder.add([...leaf, ...callers], [Math.round(count * share), Math.round(micros * 1000 * share)], thread);
    }
  }
}

/** A sample holds from its moment to the next one's. */
function microsecondsByNode(profile: CpuProfile): Map<number, { micros: number; count: number }> {
  const spent = new Map<number, { micros: number; count: number }>();
  const samples = profile.samples ?? [];
  const deltas = profile.timeDeltas ?? [];
  let at = profile.startTime;
  samples.forEach((id, index) => {
    at += deltas[index] ?? 0;
    const until = deltas[index + 1] ?? profile.endTime - at;
    const entry = spent.get(id) ?? { micros: 0, count: 0 };
    entry.micros += Math.max(0, until);
    entry.count += 1;
    spent.set(id, entry);
  });
  return spent;
}

/** Which lines of a function its samples fell on; the line of the function itself when that is not known. */
function lineShares(
  frame: Runtime.CallFrame,
  ticks: readonly { line: number; ticks: number }[],
): readonly { line: number; share: number }[] {
  const total = ticks.reduce((sum, tick) => sum + tick.ticks, 0);
  if (total === 0) return [{ line: Math.max(0, frame.lineNumber + 1), share: 1 }];
  return ticks.map((tick) => ({ line: tick.line, share: tick.ticks / total }));
}

function addHeap(builder: PprofBuilder, profile: HeapProfile, thread: string): void {
  const objects = new Map<number, number>();
  for (const sample of profile.samples) {
    objects.set(sample.nodeId, (objects.get(sample.nodeId) ?? 0) + sampledObjects(sample.size, HEAP_SAMPLE_BYTES));
  }
  const open: { node: HeapNode; callers: number[] }[] = [{ node: profile.head, callers: [] }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, callers } = next;
    const frame = node.callFrame;
    const stack = isRoot(frame) ? callers : [builder.location(frame, Math.max(0, frame.lineNumber + 1)), ...callers];
    if (node.selfSize > 0) builder.add(stack, [objects.get(node.id) ?? 1, Math.round(node.selfSize)], thread);
    for (const child of node.children) open.push({ node: child, callers: stack });
  }
}

function isRoot(frame: Runtime.CallFrame): boolean {
  return frame.functionName === '(root)' && frame.url === '';
}

function isIdle(frame: Runtime.CallFrame): boolean {
  return frame.functionName === '(idle)' && frame.url === '';
}
