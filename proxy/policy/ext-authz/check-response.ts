import { Headers } from '../../exchange/headers.ts';
import type { CheckResponse, DeniedResponse, OkResponse } from '../../services/messages/check.ts';
import { applyHeaderChanges, headerChanges, type HeaderChange } from '../header-changes.ts';
import type { Allowed, Decision, Denied } from './decision.ts';
import { plainDenial, wordedDenial } from './decision.ts';
import type { JsonObject } from '../../exchange/attributes.ts';

const OK = 0;

/** What a gRPC service has decided. Without a status it allows. */
export function decisionOf(response: CheckResponse): Decision {
  const metadata = metadataOf(response);
  const allowed = (response.status?.code ?? OK) === OK;
  if (allowed) return allowedBy(response.okResponse ?? {}, metadata);
  const denied = response.deniedResponse ?? null;
  return denied === null ? plainDenial(403, metadata) : deniedBy(denied, metadata);
}

/** The newer place wins. */
function metadataOf({ okResponse, dynamicMetadata }: CheckResponse): JsonObject | null {
  const older = okResponse?.dynamicMetadata ?? null;
  const newer = dynamicMetadata ?? null;
  return older === null || newer === null ? (newer ?? older) : { ...older, ...newer };
}

function allowedBy(ok: OkResponse, metadata: JsonObject | null): Allowed {
  return {
    kind: 'allowed',
    changes: {
      removeHeaders: (ok.headersToRemove ?? []).map((name) => name.toLowerCase()),
      headers: headerChanges(ok.headers),
      removeParameters: ok.queryParametersToRemove ?? [],
      setParameters: (ok.queryParametersToSet ?? []).map(({ key, value = '' }) => [key, value] as const),
    },
    responseHeaders: headerChanges(ok.responseHeadersToAdd),
    metadata,
  };
}

/** A status that no response can end with becomes 403. */
function deniedBy({ status, headers, body = '' }: DeniedResponse, metadata: JsonObject | null): Denied {
  const code = status?.code ?? 403;
  const answer = {
    status: code >= 200 && code <= 599 ? code : 403,
    headers: freshHeaders(headerChanges(headers)),
    body: Buffer.from(body),
  };
  return wordedDenial(answer, { cacheable: true, metadata });
}

/** Nothing is there to be overwritten, so values of one name stand beside each other. */
function freshHeaders(changes: readonly HeaderChange[]): Headers {
  const headers = new Headers();
  applyHeaderChanges(
    headers,
    changes
      .filter(({ name }) => !name.startsWith(':') && name !== 'host')
      .map((change) => (change.action === 'overwrite' ? { ...change, action: 'append' } : change)),
  );
  return headers;
}
