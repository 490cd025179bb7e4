import type { Headers } from '../../exchange/headers.ts';
import type { HttpRequest, HttpResponse } from '../../exchange/message.ts';
import type { HeaderList } from '../../services/messages/process.ts';
import type { HeaderValue } from '../../services/messages/headers.ts';

/** The head of a request: the request line as pseudo headers, then the fields. */
export function requestList({ method, scheme, authority, target, headers }: HttpRequest): HeaderList {
  const line: HeaderValue[] = [
    { key: ':method', value: method },
    { key: ':scheme', value: scheme },
    { key: ':authority', value: authority },
    { key: ':path', value: target },
  ];
  return { headers: [...line, ...fields(headers)] };
}

export function responseList({ status, headers }: HttpResponse): HeaderList {
  return { headers: [{ key: ':status', value: String(status) }, ...fields(headers)] };
}

export function trailerList(trailers: Headers): HeaderList {
  return { headers: fields(trailers) };
}

/** Values are bytes, one per character here. */
function fields(headers: Headers): HeaderValue[] {
  return headers.names.map((key, index) => ({ key, rawValue: Buffer.from(headers.values[index] ?? '', 'latin1') }));
}
