import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const directory = fileURLToPath(new URL('../golden/ui/', import.meta.url));

/** What `test/golden/ui/<name>.txt` holds; with `UPDATE_GOLDEN=1` the file is written first. */
export function golden(name: string, actual: string): string {
  const file = path.join(directory, `${name}.txt`);
  if (process.env['UPDATE_GOLDEN'] === '1') {
    mkdirSync(directory, { recursive: true });
    writeFileSync(file, `${actual}\n`);
  }
  return readFileSync(file, 'utf8').replace(/\n$/, '');
}
