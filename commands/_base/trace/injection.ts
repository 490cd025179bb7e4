import type { Answer } from '../../../src/admin/inject/answer.ts';
import type { Connection } from '../../../src/admin/inject/send.ts';
import type { Destination } from '../../../src/admin/inject/connect.ts';
import type { TraceFrame } from '../../../src/admin/client/trace-frames.ts';
import { clientPortOf } from '../../../src/admin/views/expectations.ts';
import type { RequestPlan } from '../../../src/admin/inject/plan.ts';
import { GwError } from '../../../src/shared/errors.ts';
import type { Cli } from '../cli.ts';
import { addressOf, type Target } from '../target.ts';

/** How much of the body is kept for showing. */
const SHOWN_BODY_BYTES = 16 * 1024;
const WHOLE_BODY_BYTES = 1024 * 1024 * 1024;

/** The request that a trace is to show: planned before the stream opens, sent once it is open. */
export interface Injection {
  readonly plan: RequestPlan;
  readonly destination: Destination;
  /** `-o` behind `--`: the body goes to this file. */
  readonly outputFile: string | undefined;
  readonly quiet: boolean;
  readonly failOnError: boolean;
}

export async function prepareInjection(
  words: readonly string[],
  port: number,
  target: Target,
  cli: Cli,
): Promise<Injection> {
  const { parseCurlArgs } = await import('../../../src/admin/inject/curl-args.ts');
  const { planRequest } = await import('../../../src/admin/inject/plan.ts');
  const request = parseCurlArgs(words);
  const plan = await planRequest(request, () => readAll(cli.stdin));
  const address = addressOf(target);
  return {
    plan,
    destination: { host: address.kind === 'tcp' ? address.host : 'localhost', port },
    outputFile: request.values.get('output'),
    quiet: request.flags.has('quiet'),
    failOnError: request.flags.has('fail'),
  };
}

export async function readAll(stdin: AsyncIterable<Uint8Array | string>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of stdin) parts.push(typeof part === 'string' ? Buffer.from(part) : part);
  return Buffer.concat(parts);
}

/** Connects, so that the local port is known before the first event comes. */
export async function connectInjection(
  { plan, destination, outputFile }: Injection,
  signal: AbortSignal,
): Promise<Connection> {
  const { openConnection } = await import('../../../src/admin/inject/send.ts');
  return openConnection(plan, destination, {
    signal,
    maxBodyBytes: outputFile === undefined ? SHOWN_BODY_BYTES : WHOLE_BODY_BYTES,
  });
}

/** Tells the sent request's events from those of other clients: by its local port, else by method, path and host. */
export function ownershipOf({ plan }: Injection, connection: Connection): (frame: TraceFrame) => boolean | undefined {
  return ({ event }) => {
    const message = event.message;
    if (message.type === 'requestFinished') return true;
    if (message.type !== 'requestSnapshot') return undefined;
    const port = clientPortOf(event);
    if (port !== undefined && port === connection.localPort) return true;
    if (
      port !== undefined &&
      message.requestState.source?.['address'] !== undefined &&
      isLoopback(message.requestState.source['address'])
    )
      return false;
    // Something in between has changed the port: what is asked for has to do.
    const { method, path, pathAndQuery } = message.requestState.request ?? {};
    const wanted = `${plan.url.pathname}${plan.url.search}`;
    return method === plan.method && (pathAndQuery ?? path ?? wanted) === wanted;
  };
}

function isLoopback(address: unknown): boolean {
  return typeof address === 'string' && /^(127\.|::1$|::ffff:127\.)/.test(address);
}

/** Writes the body to the file of `-o`, by way of a temporary one; half a body is not written. */
export async function saveBody(injection: Injection, answer: Answer): Promise<void> {
  if (injection.outputFile === undefined || answer.failure !== undefined) return;
  const { writeWhole } = await import('../write-file.ts');
  await writeWhole(injection.outputFile, answer.body);
}

/** The answer ended before its time; what there was of it has been shown. */
export function cutAnswer(failure: string): GwError {
  return new GwError(`the answer is not complete: ${failure}`, { code: 'GW_ANSWER_CUT' });
}

export function failedAnswer(status: number): GwError {
  return new GwError(`the answer has the status ${status}, and --fail was given`, { code: 'GW_HTTP_STATUS' });
}
