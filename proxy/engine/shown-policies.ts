import { isSharedArrayBuffer } from 'node:util/types';

import type { FrontendPolicies } from '../../src/config/ir/index.ts';
import { hideCredentials } from '../../src/shared/credentials.ts';
import { REDACTED } from '../../src/shared/secret.ts';
import { shownAccessLog, shownOtlpLog, shownTracing } from '../telemetry/shown-policies.ts';
import type { Redaction } from '../telemetry/redaction.ts';

/** Policies as a trace shows them: what is set, bytes as text, secrets redacted by their type and the names of headers. */
export function shownPolicies(effective: { readonly values: object }, redaction: Redaction): Record<string, unknown> {
  const values = plain(effective.values);
  // `as`: redaction keeps the shape.
  return hideCredentials(values, (name) => redaction.isSensitive(name)) as Record<string, unknown>;
}

/** The policies of the listeners, by the names that traces use. */
export function shownFrontend(frontend: FrontendPolicies): Record<string, unknown> {
  const { http, tls, tcp, proxyProtocol, connect, networkAuthorization, accessLog, tracing } = frontend;
  return plain({
    http,
    tls,
    tcp,
    proxy: proxyProtocol,
    connect,
    network_authorization: networkAuthorization,
    access_log: shownAccessLog(accessLog),
    access_log_otlp: shownOtlpLog(accessLog),
    tracing: shownTracing(tracing),
  });
}

function plain(value: object): Record<string, unknown> {
  const text = JSON.stringify(value, (_key, part: unknown) => {
    if (isSharedArrayBuffer(part)) return REDACTED;
    return part instanceof Uint8Array ? Buffer.from(part).toString() : part;
  });
  // `as`: an object goes in, so an object comes out.
  return JSON.parse(text) as Record<string, unknown>;
}
