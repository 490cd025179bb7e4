import type { UpstreamError, UpstreamResponse } from '../backends/upstream.ts';
import type { HttpResponse } from '../exchange/message.ts';
import type { Refusal } from '../exchange/refusal.ts';

/** What came of calling a backend, retries included. */
export type UpstreamAnswer =
  | { readonly kind: 'response'; readonly response: HttpResponse }
  | { readonly kind: 'upgraded'; readonly response: UpstreamResponse }
  | { readonly kind: 'policy'; readonly policy: string; readonly response: HttpResponse }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly error: UpstreamError | null };
