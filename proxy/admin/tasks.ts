import type { TaskDump } from '../../src/admin/protocol/status.ts';
import { messageOf } from '../../src/shared/errors.ts';
import { json, type Endpoint } from './endpoint.ts';

/** One data thread that can tell what it is busy with. */
export interface TaskSource {
  readonly name: string;
  tasks(timeoutMs: number): Promise<readonly string[]>;
}

const WORKLOAD_TIMEOUT_MS = 10_000;

/** `/debug/tasks`: one line per live task of the control thread, connection and exchange. */
export function tasksEndpoint(sources: () => readonly TaskSource[]): Endpoint {
  return {
    path: '/debug/tasks',
    methods: ['GET'],
    summary: 'Live connections, requests and background tasks',
    handle: async () => json(await taskDump(sources())),
  };
}

async function taskDump(sources: readonly TaskSource[]): Promise<TaskDump> {
  const workload = await Promise.all(sources.map(tasksOf));
  return { admin: controlTasks(), workload: workload.flat() };
}

async function tasksOf(source: TaskSource): Promise<readonly string[]> {
  try {
    const tasks = await source.tasks(WORKLOAD_TIMEOUT_MS);
    return tasks.map((task) => `${source.name}: ${task}`);
  } catch (error) {
    return [`${source.name}: the dump failed: ${messageOf(error)}`];
  }
}

/** The runtime names what keeps its loop alive, not the code that waits: counted by kind. */
function controlTasks(): string[] {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => a.localeCompare(b)).map(([kind, count]) => `${kind} × ${count}`);
}
