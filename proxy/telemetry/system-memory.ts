import { readFile, readdir } from 'node:fs/promises';

/** Memory of the process's control group, bytes; null where there is none. */
export async function readCgroup(root = '/sys/fs/cgroup', self = '/proc/self/cgroup'): Promise<CgroupMemory | null> {
  const folder = await cgroupFolder(root, self);
  const usage = Number(await readText(`${folder}/memory.current`));
  if (!(usage > 0)) return null;
  const stat = parseStat((await readText(`${folder}/memory.stat`)) ?? '');
  const limit = Number((await readText(`${folder}/memory.max`)) ?? Number.NaN);
  const figures = Object.fromEntries(
    CGROUP_FIGURES.flatMap((name) => (stat.has(name) ? [[name, stat.get(name) ?? 0]] : [])),
  );
  return {
    usage,
    working_set: Math.max(0, usage - (stat.get('inactive_file') ?? 0)),
    ...(Number.isFinite(limit) ? { limit } : {}),
    ...figures,
  };
}

export type CgroupMemory = Readonly<Record<string, number>>;

const CGROUP_FIGURES = ['anon', 'file', 'kernel', 'kernel_stack', 'pagetables', 'slab', 'sock', 'shmem', 'file_mapped'];

/** Figures of `/proc/self/smaps_rollup` in bytes, names in snake case; null off Linux. */
export async function readSmaps(path = '/proc/self/smaps_rollup'): Promise<Readonly<Record<string, number>> | null> {
  const text = await readText(path);
  if (text === undefined) return null;
  const figures: Record<string, number> = {};
  for (const [, name, kib] of text.matchAll(/^(\w+):\s+(\d+) kB$/gm)) {
    if (name !== undefined) figures[snakeCase(name)] = Number(kib) * 1024;
  }
  return figures;
}

/** Open file descriptors; undefined off Linux. */
export async function countDescriptors(): Promise<number | undefined> {
  try {
    return (await readdir('/proc/self/fd')).length;
  } catch {
    return undefined;
  }
}

/** Version 2 puts one path behind `0::`; inside a container the root itself holds the figures. */
async function cgroupFolder(root: string, self: string): Promise<string> {
  const path = /^0::(\/.*)$/m.exec((await readText(self)) ?? '')?.[1] ?? '/';
  const own = `${root}${path === '/' ? '' : path}`;
  return (await readText(`${own}/memory.current`)) === undefined ? root : own;
}

function parseStat(text: string): Map<string, number> {
  return new Map(
    text.split('\n').flatMap((line) => {
      const [name, value] = line.split(' ');
      return name !== undefined && value !== undefined ? [[name, Number(value)] as const] : [];
    }),
  );
}

function snakeCase(name: string): string {
  return name.replaceAll(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    // Another system, or a kernel without this figure.
    return undefined;
  }
}
