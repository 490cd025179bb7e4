import type { JsonObject } from '../../../../proxy/exchange/attributes.ts';
import type { EventWriter, StreamTranslator } from '../../../../proxy/llm/translations/contract.ts';

export interface Written {
  readonly name: string | null;
  readonly data: JsonObject | '[DONE]';
}

/** What a translator makes of a stream. `ending` says how the stream ends: by its own word, or just so. */
export function translated(
  translator: StreamTranslator,
  events: readonly JsonObject[],
  ending: 'done' | 'eof' = 'eof',
): readonly Written[] {
  const written: Written[] = [];
  const out: EventWriter = {
    event: (name, data) => written.push({ name, data }),
    done: () => written.push({ name: null, data: '[DONE]' }),
  };
  for (const event of events) translator.event(typeof event['type'] === 'string' ? event['type'] : null, event, out);
  translator.end(ending === 'done', out);
  return written;
}

/** The data alone. */
export function datas(written: readonly Written[]): readonly (JsonObject | '[DONE]')[] {
  return written.map(({ data }) => data);
}
