import { randomBytes } from 'node:crypto';
import { link, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { systemCodeOf } from '../../src/shared/errors.ts';

/**
 * Writes a new file whole or not at all and returns its path. An existing file is never replaced: `trace.har` becomes
 * `trace-2.har`. The file is readable by its owner only, as traces hold what clients sent.
 */
export async function writeNewFile(directory: string, name: string, content: string): Promise<string> {
  const temporary = path.join(directory, `.${name}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    await writeFile(temporary, content, { mode: 0o600, flag: 'wx' });
    return await settle(temporary, directory, path.parse(name));
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Takes the first free name; `link` fails where `rename` would overwrite. */
async function settle(temporary: string, directory: string, name: path.ParsedPath): Promise<string> {
  for (let attempt = 1; attempt <= 1000; attempt += 1) {
    const target = path.join(directory, `${name.name}${attempt === 1 ? '' : `-${attempt}`}${name.ext}`);
    try {
      await link(temporary, target);
      return target;
    } catch (error) {
      const code = systemCodeOf(error);
      if (code === 'EEXIST') continue;
      if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS') throw error;
      /* A file system without hard links. */
      await rename(temporary, target);
      return target;
    }
  }
  throw new Error(`${directory} holds too many files named ${name.base}`);
}
