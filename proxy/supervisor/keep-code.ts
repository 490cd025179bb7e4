import { setFlagsFromString } from 'node:v8';

/**
 * Keeps the compiled code of what has run, in all threads. V8 drops it when it has not run for a few collections, and a
 * gateway that relays long streams collects often between two requests: each then begins with compiling.
 */
export function keepCode(): void {
  setFlagsFromString('--no-flush-bytecode');
}
