import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('golden', import.meta.url));

/** The path of a file under test/golden. */
export function goldenPath(name: string): string {
  return join(folder, name);
}

/** The recorded text; `UPDATE_GOLDEN=1` records the given one first. */
export function golden(name: string, actual: string): string {
  const path = goldenPath(name);
  if (process.env['UPDATE_GOLDEN'] === '1') {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, actual);
  }
  return existsSync(path) ? readFileSync(path, 'utf8') : `(${name} is not recorded: UPDATE_GOLDEN=1 npm test)`;
}
