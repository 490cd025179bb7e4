import type { ExplainQuestion, Explanation } from '../../src/admin/protocol/explanation.ts';
import type { TraceEvent } from '../../src/admin/protocol/trace-event.ts';
import type { GatewayConfig } from '../../src/config/ir/index.ts';
import { GwError } from '../../src/shared/errors.ts';
import { handleRequest } from '../engine/run.ts';
import { BufferedBody, emptyBody } from '../exchange/body.ts';
import { Headers } from '../exchange/headers.ts';
import type { HttpRequest, HttpResponse } from '../exchange/message.ts';
import type { Transport } from '../exchange/transport.ts';
import { Recorder } from '../telemetry/recorder.ts';
import { admitsConnection } from './connection-policies.ts';
import { listenerOf, questionBind } from './connection.ts';
import { dryRuntime, type DryState } from './dry-run.ts';
import { CONNECTION_SCOPE } from './outcomes.ts';
import { summarize } from './summary.ts';

/**
 * Tells what the gateway would do with a request. Runs the engine on it without calling anything; `state` holds copies
 * of what is live, where a running gateway is asked. Throws a `GwError` for a question that fits no listener's port.
 */
export async function explainRequest(
  config: GatewayConfig,
  question: ExplainQuestion,
  state: DryState = {},
): Promise<Explanation> {
  const bind = questionBind(config, question);
  const events: TraceEvent[] = [];
  const runtime = await dryRuntime(config, state, (event) => events.push(event));
  const connection = listenerOf(bind, question);
  const recorder = new Recorder('connection', (event) => events.push(event)).scoped(CONNECTION_SCOPE);
  const response = admitsConnection(config, connection, recorder)
    ? await answerOf((transport) => handleRequest(runtime, requestOf(question), connection, transport))
    : null;
  return summarize({ bind, events: [...events], response, engine: runtime.engine });
}

function requestOf(question: ExplainQuestion): HttpRequest {
  const headers = new Headers();
  for (const [name, value] of question.headers) if (name.toLowerCase() !== 'host') headers.append(name, value);
  const host = question.headers.find(([name]) => name.toLowerCase() === 'host')?.[1];
  return {
    method: question.method,
    scheme: question.scheme,
    authority: host ?? question.authority,
    target: question.target,
    version: question.version ?? 'HTTP/1.1',
    headers,
    body: question.body === undefined ? emptyBody : new BufferedBody(Buffer.from(question.body, 'base64')),
    upgrade: null,
  };
}

/** Real milliseconds. */
const PATIENCE_MS = 10_000;

/** A client that takes whatever comes, and reads no body. */
function answerOf(start: (transport: Transport) => void): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    // Nothing here takes time: what does not end waits for somebody who is not asked.
    const timer = setTimeout(() => reject(stuck()), PATIENCE_MS);
    start({
      respond(response, done) {
        response.body.cancel();
        done({ kind: 'complete', bytes: 0 });
        clearTimeout(timer);
        resolve(response);
      },
      informational() {},
      takeOver: () => null,
      onClientGone() {},
      closeAfterResponse() {},
    });
  });
}

function stuck(): GwError {
  return new GwError('the request waits for something that an explanation does not ask for', {
    code: 'GW_EXPLAIN_STUCK',
    hint: 'gwctl trace shows what becomes of a real request',
  });
}
