import { InterruptedError, TimeoutError } from '../../../src/admin/client/errors.ts';
import type { McpPlace } from '../../../src/mcp/connect.ts';
import { Patience } from '../../../src/mcp/patience.ts';
import type { Cli } from '../cli.ts';
import { Asker } from './asker.ts';

/** The longest that a timer can wait: the library's own is put aside, as it does not stop while a person is asked. */
const FOR_EVER_MS = 2 ** 31 - 1;

/** A server that may ask a person in the middle of a call, where there is one. */
export interface Attended {
  readonly place: McpPlace;
  readonly asker: Asker | undefined;
  /** Calls with these options, and gives up when the server says nothing for the time of the place. */
  call<T>(work: (options: { readonly timeout: number; readonly signal: AbortSignal }) => Promise<T>): Promise<T>;
  /** Something came of a call. */
  renew(): void;
}

export function attended(place: McpPlace, cli: Cli): Attended {
  const asker = Asker.at(cli);
  const stop = new AbortController();
  const signal = AbortSignal.any([place.signal, stop.signal]);
  const patience = new Patience(place.timeoutMs, () =>
    stop.abort(new TimeoutError(`${place.url.host} did not answer in time`, 'a longer --timeout')),
  );
  const elicit: McpPlace['elicit'] =
    asker &&
    (async (asked, asking) => {
      try {
        return await patience.during(() => asker.answer(asked, asking));
      } catch (error) {
        // Ctrl-c in the form is one of the whole command.
        if (error instanceof InterruptedError) stop.abort(error);
        throw error;
      }
    });
  return {
    place: { ...place, signal, elicit },
    asker,
    renew: () => patience.renew(),
    call: async (work) => {
      patience.renew();
      try {
        return await work({ timeout: FOR_EVER_MS, signal });
      } finally {
        patience.end();
      }
    },
  };
}
