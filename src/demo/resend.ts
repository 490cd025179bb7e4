import { request as httpRequest } from 'node:http';

import type { TraceEvent } from '../admin/protocol/trace-event.ts';
import { REDACTED } from '../shared/secret.ts';

/** What a trace recorded of a request, enough to send it once more; redacted values are left out. */
export interface RecordedRequest {
  readonly method: string;
  readonly target: string;
  readonly host: string;
  /** The listener's, where the trace names it. */
  readonly port: number | undefined;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer | null;
}

/** Undefined when the trace holds no request, or not all of its body. */
export function recordedRequest(events: readonly TraceEvent[]): RecordedRequest | undefined {
  let found: RecordedRequest | undefined;
  for (const { message } of events) {
    if (message.type === 'requestSnapshot' && found === undefined) {
      const { request, proxy } = message.requestState;
      if (request?.method === undefined || request.pathAndQuery === undefined) return undefined;
      const uri = URL.canParse(request.uri ?? '') ? new URL(request.uri ?? '') : undefined;
      found = {
        method: request.method,
        target: request.pathAndQuery,
        host: uri?.host ?? request.host ?? '',
        port: Number(/(\d+)$/.exec(proxy?.bind ?? '')?.[1]) || undefined,
        headers: visible(request.headers ?? {}),
        body: null,
      };
    }
    if (message.type === 'bodySnapshot' && found !== undefined && isRequestBody(message.stage)) {
      if (message.truncated !== undefined) return undefined;
      // What was sent upstream is not what the client wrote, where it was translated: the first one is the client's.
      if (found.body === null) found = { ...found, body: Buffer.from(message.body, 'base64') };
    }
  }
  return found;
}

function isRequestBody(stage: string): boolean {
  return stage === 'llm request before translation' || stage === 'final request';
}

/** Sends it to the gateway on this machine; resolves when the answer has been read. */
export function sendRecorded(recorded: RecordedRequest, port: number): Promise<void> {
  const { method, target, host, headers, body } = recorded;
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({
      host: '127.0.0.1',
      port,
      method,
      path: target,
      headers: { ...headers, host },
      agent: false,
    });
    outgoing.on('response', (response) => response.resume().on('end', resolve).on('error', reject));
    outgoing.on('error', reject);
    outgoing.end(body ?? undefined);
  });
}

const FRAMING = ['content-length', 'transfer-encoding', 'connection'];

function visible(headers: Readonly<Record<string, string | readonly string[]>>): Record<string, string | string[]> {
  const kept = Object.entries(headers).filter(
    ([name, value]) => !FRAMING.includes(name) && !String(value).includes(REDACTED),
  );
  return Object.fromEntries(kept.map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]));
}
