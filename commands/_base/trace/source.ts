import type { AdminClient } from '../../../src/admin/client/admin-client.ts';
import { readChunks } from '../../../src/admin/client/read-file.ts';
import { ownFrames, type Frames } from '../../../src/admin/client/request-groups.ts';
import { readTraceFrames } from '../../../src/admin/client/trace-frames.ts';
import { wholeRequests } from '../../../src/admin/client/whole-requests.ts';
import type { TraceStream } from '../../../src/admin/client/trace-stream.ts';
import type { Answer } from '../../../src/admin/inject/answer.ts';
import type { Connection } from '../../../src/admin/inject/send.ts';
import type { Cli } from '../cli.ts';
import { openClient, type Tell } from '../target.ts';
import { connectInjection, ownershipOf, prepareInjection, saveBody, type Injection } from './injection.ts';
import type { TracePlan } from './options.ts';

/** Where the events of a run come from, and the answer when a request was sent. */
export interface TraceSource {
  /** What titles and messages call it. */
  readonly name: string;
  readonly frames: Frames;
  readonly injection: Injection | undefined;
  /** Settles with what the client got; undefined when nothing is sent. */
  readonly answer: Promise<Answer> | undefined;
  /** Sends the same request again, with a stream of its own. */
  readonly again: (() => Promise<Frames>) | undefined;
  close(): Promise<void>;
}

/** Opens the stream or the file that the plan names, and sends its request once the stream is open. */
export async function openSource(plan: TracePlan, cli: Cli, tell: Tell): Promise<TraceSource> {
  if (plan.target.kind === 'file') return fileSource(plan.target.path, cli);
  const injection =
    plan.port === undefined ? undefined : await prepareInjection(plan.request, plan.port, plan.target, cli);
  const client = await openClient(plan.choice, cli, tell);
  try {
    if (injection === undefined) return await watchSource(plan, client, cli);
    return await injectSource(plan, injection, client, cli);
  } catch (error) {
    await client.close();
    throw error;
  }
}

function fileSource(path: string, cli: Cli): TraceSource {
  return {
    name: path === '-' ? 'stdin' : path,
    frames: readTraceFrames(readChunks(path, cli.stdin)),
    injection: undefined,
    answer: undefined,
    again: undefined,
    close: async () => {},
  };
}

async function watchSource(plan: TracePlan, client: AdminClient, cli: Cli): Promise<TraceSource> {
  const follow = plan.count !== 1;
  const open = async (): Promise<TraceStream> => client.trace({ expression: plan.expression, follow });
  const first = await open();
  return {
    name: nameOf(plan),
    frames: wholeRequests(follow ? reopening(first, open, cli.signal) : first, plan.count),
    injection: undefined,
    answer: undefined,
    again: undefined,
    close: () => client.close(),
  };
}

/** A server that does not know `follow` ends the stream with the first request: the next one is asked for. */
async function* reopening(
  first: TraceStream,
  open: () => Promise<TraceStream>,
  signal: AbortSignal,
): Frames & AsyncGenerator {
  let stream = first;
  while (!signal.aborted) {
    let knowsFollow = false;
    for await (const frame of stream) {
      knowsFollow ||= frame.event.requestId !== undefined;
      yield frame;
    }
    if (knowsFollow) return;
    stream = await open();
  }
}

async function injectSource(
  plan: TracePlan,
  injection: Injection,
  client: AdminClient,
  cli: Cli,
): Promise<TraceSource> {
  const inject = async (): Promise<{ readonly frames: Frames; readonly answer: Promise<Answer> }> => {
    const connection = await connectInjection(injection, cli.signal);
    try {
      // Followed, so that another client's request does not use the stream up.
      const stream = await client.trace({ expression: plan.expression, follow: true });
      return { frames: ownFrames(stream, ownershipOf(injection, connection)), answer: send(injection, connection) };
    } catch (error) {
      connection.close();
      throw error;
    }
  };
  const { frames, answer } = await inject();
  return {
    name: nameOf(plan),
    frames,
    injection,
    answer,
    again: async () => (await inject()).frames,
    close: () => client.close(),
  };
}

async function send(injection: Injection, connection: Connection): Promise<Answer> {
  const answer = await connection.send();
  await saveBody(injection, answer);
  return answer;
}

function nameOf(plan: TracePlan): string {
  if (plan.target.kind === 'file') return plan.target.path;
  return plan.target.local ? 'localhost' : (plan.choice.address ?? '');
}
