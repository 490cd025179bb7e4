import { readdir, readFile, readlink } from 'node:fs/promises';

export interface PortHolder {
  readonly pid: number;
  readonly command: string;
}

const LISTEN_STATE = '0A';

/**
 * The process that listens on a TCP port of this machine. Linux only, and only for processes that this user may look into;
 * undefined when it cannot be told. `proc` is the place of the process file system.
 */
export async function portHolder(port: number, proc = '/proc'): Promise<PortHolder | undefined> {
  const inodes = new Set([
    ...(await listeningInodes(`${proc}/net/tcp`, port)),
    ...(await listeningInodes(`${proc}/net/tcp6`, port)),
  ]);
  if (inodes.size === 0) return undefined;
  for (const entry of await namesIn(proc)) {
    if (!/^\d+$/.test(entry) || !(await holdsSocket(`${proc}/${entry}/fd`, inodes))) continue;
    const command = await readFile(`${proc}/${entry}/comm`, 'utf8').catch(() => '');
    return { pid: Number(entry), command: command.trim() === '' ? 'another process' : command.trim() };
  }
  return undefined;
}

async function listeningInodes(table: string, port: number): Promise<string[]> {
  const text = await readFile(table, 'utf8').catch(() => '');
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return text
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((columns) => columns[1]?.endsWith(suffix) === true && columns[3] === LISTEN_STATE)
    .flatMap((columns) => columns[9] ?? []);
}

async function holdsSocket(descriptors: string, inodes: ReadonlySet<string>): Promise<boolean> {
  for (const name of await namesIn(descriptors)) {
    const target = await readlink(`${descriptors}/${name}`).catch(() => '');
    const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
    if (inode !== undefined && inodes.has(inode)) return true;
  }
  return false;
}

async function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch(() => []);
}
