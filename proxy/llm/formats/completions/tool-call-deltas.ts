import type { JsonObject } from '../../../exchange/attributes.ts';
import { number, object, text } from '../../json.ts';

/** One call of a tool in a streamed chat completion, as far as it is known. */
export interface StreamedCall {
  /** Among the calls of the answer, from 0. */
  readonly ordinal: number;
  readonly id: string;
  readonly name: string;
}

export interface CallDelta {
  readonly call: StreamedCall;
  /** The first that is heard of the call. */
  readonly opens: boolean;
  readonly arguments: string;
}

interface Known {
  readonly ordinal: number;
  readonly index: number | undefined;
  id: string;
  name: string;
  waiting: string;
  open: boolean;
}

/**
 * Puts together what belongs to one call. Services differ: some leave out the index, some use one index for several calls,
 * some send arguments before the name. A call is told of once its name is known.
 */
export class ToolCallDeltas {
  readonly #calls: Known[] = [];

  /** Null when there is nothing to tell yet, or the call is of a kind that has no arguments in JSON. */
  take(delta: JsonObject): CallDelta | null {
    if (object(delta['custom']) !== undefined) return null;
    const fn = object(delta['function']);
    const id = text(delta['id']) ?? '';
    const name = text(fn?.['name']) ?? '';
    const call = this.#find(number(delta['index']), id, name);
    if (call.id === '') call.id = id;
    if (call.name === '') call.name = name;
    call.waiting += text(fn?.['arguments']) ?? '';
    if (call.name === '') return null;
    const told = { call, opens: !call.open, arguments: call.waiting };
    call.open = true;
    call.waiting = '';
    return told;
  }

  #find(index: number | undefined, id: string, name: string): Known {
    const known =
      index === undefined && id !== ''
        ? this.#calls.find((call) => call.id === id)
        : this.#calls.findLast((call) => index === undefined || call.index === index);
    const another = known !== undefined && id !== '' && name !== '' && known.id !== '' && known.id !== id;
    if (known !== undefined && !another) return known;
    const call = { ordinal: this.#calls.length, index, id, name, waiting: '', open: false };
    this.#calls.push(call);
    return call;
  }
}
