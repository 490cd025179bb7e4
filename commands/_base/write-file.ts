import { randomBytes } from 'node:crypto';
import { open, rename, rm, stat } from 'node:fs/promises';
import { GwError, messageOf } from '../../src/shared/errors.ts';

/** Writes a file whole or not at all: a temporary file beside it takes its name at the end. Devices are written as they are. */
export async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
  const special = await stat(path).then(
    (found) => !found.isFile(),
    () => false,
  );
  const temporary = special ? path : `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const file = await open(temporary, special ? 'w' : 'wx');
    try {
      await file.writeFile(bytes);
    } finally {
      await file.close();
    }
    if (!special) await rename(temporary, path);
  } catch (error) {
    if (!special) await rm(temporary, { force: true });
    throw new GwError(`cannot write ${path}: ${messageOf(error)}`, { code: 'GW_WRITE', cause: error });
  }
}
