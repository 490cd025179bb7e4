import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Gives back the memory that reading a configuration left behind: a thread that then has nothing to do would keep it for
 * ever, since V8 collects when it allocates. Measured: 126 MB resident before, 110 MB after. Stops the calling thread for some
 * tens of milliseconds, so it is for the control thread only.
 */
export function returnMemory(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect({ type: 'major', flavor: 'last-resort' });
}
