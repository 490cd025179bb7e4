import { Headers } from '../../exchange/headers.ts';
import { stripTrailers } from '../../exchange/hop-by-hop.ts';
import type { HttpRequest, HttpResponse } from '../../exchange/message.ts';
import type { HeaderMutation } from '../../services/messages/process.ts';
import { applyHeaderChanges, headerChanges, type HeaderChange, mayChange } from '../header-changes.ts';
import { setRequestPart } from '../request-line.ts';

/** Changes the head of a request: removes, then sets; the request line by its pseudo headers. */
export function mutateRequest(request: HttpRequest, mutation: HeaderMutation | null): void {
  mutateFields(request.headers, mutation, ({ name, value }) => setRequestPart(request, name, value));
}

/** The same for a response, whose status may be any that ends an exchange. */
export function mutateResponse(response: HttpResponse, mutation: HeaderMutation | null): void {
  mutateFields(response.headers, mutation, ({ name, value }) => {
    const status = name === ':status' && /^\d{3}$/.test(value) ? Number(value) : 0;
    if (status >= 200 && status <= 599) response.status = status;
  });
}

/** Trailers have no pseudo headers, and nothing in them frames, routes or authorizes. */
export function mutateTrailers(trailers: Headers, mutation: HeaderMutation | null): Headers {
  mutateFields(trailers, mutation, () => {});
  if (mutation !== null) stripTrailers(trailers);
  return trailers;
}

/** Fields of an answer that the service has made. */
export function freshHeaders(mutation: HeaderMutation | null): Headers {
  const headers = new Headers();
  mutateFields(headers, mutation, () => {});
  headers.remove('content-length');
  return headers;
}

function mutateFields(
  headers: Headers,
  mutation: HeaderMutation | null,
  special: (change: HeaderChange) => unknown,
): void {
  if (mutation === null) return;
  for (const name of mutation.removeHeaders ?? []) {
    const lower = name.toLowerCase();
    if (mayMutate(lower) && !isSpecial(lower)) headers.remove(lower);
  }
  for (const change of headerChanges(mutation.setHeaders, mayMutate)) {
    if (isSpecial(change.name)) special(change);
    else if (change.name !== 'content-length') applyHeaderChanges(headers, [change]);
    else if (/^\d{1,15}$/.test(change.value)) headers.set(change.name, change.value);
  }
}

/** A service that replaces a body announces its length in its answer to the headers. */
function mayMutate(name: string): boolean {
  return name === 'content-length' || mayChange(name);
}

function isSpecial(name: string): boolean {
  return name === 'host' || name.startsWith(':');
}
