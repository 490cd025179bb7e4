import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Gives back the memory that reading or compiling a configuration left behind: a thread that then has nothing to do would
 * keep it for ever, since V8 collects when it allocates. Stops the calling thread for some tens of milliseconds, so it is
 * for the control thread, and for data threads that do not serve yet.
 */
export function returnMemory(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect({ type: 'major', flavor: 'last-resort' });
}
