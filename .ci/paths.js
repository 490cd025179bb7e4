import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The top of the checkout. */
export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

/** An absolute path inside the checkout. */
export const inRoot = (...parts) => path.join(root, ...parts);

/** One quiet line of progress; stdout belongs to the script that is run. */
export function progress(line) {
  process.stderr.write(`gwctl: ${line}\n`);
}
