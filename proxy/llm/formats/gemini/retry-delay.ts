import { parseDurationMs } from '../../../../src/shared/duration.ts';
import { isJsonObject } from '../../../exchange/attributes.ts';
import { object, objects, parse, text } from '../../json.ts';

const RETRY_INFO = 'type.googleapis.com/google.rpc.RetryInfo';

/**
 * Milliseconds that an error of Google asks to stay away (`google.rpc.RetryInfo` among its details); undefined where it does
 * not say. Its headers have no place for it.
 */
export function retryDelayMs(body: string): number | undefined {
  if (!body.includes(RETRY_INFO)) return undefined;
  const parsed = parse(body);
  const holder = isJsonObject(parsed) ? parsed : objects(parsed)[0];
  const info = objects(object(holder?.['error'])?.['details']).find((detail) => detail['@type'] === RETRY_INFO);
  return parseDurationMs(text(info?.['retryDelay']) ?? '');
}
