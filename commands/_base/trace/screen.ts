import type { Frames } from '../../../src/admin/client/request-groups.ts';
import type { TraceEvent } from '../../../src/admin/protocol/trace-event.ts';
import { messageOf, type ExitCode } from '../../../src/shared/errors.ts';
import type { Cli } from '../cli.ts';
import { terminalOf } from '../terminal.ts';
import type { TraceSource } from './source.ts';

/** Opens the trace viewer; React and Ink come in here and nowhere else. */
export async function showTraceScreen(source: TraceSource, cli: Cli): Promise<ExitCode | void> {
  const { openTraceViewer } = await import('../../../ui/trace/open.ts');
  const { again } = source;
  const code = await openTraceViewer({
    title: source.name,
    events: withFailures(source),
    ...(again === undefined ? {} : { resend: async () => eventsOf(await again()) }),
    ...terminalOf(cli),
  });
  // The viewer's codes are 0 and 130.
  return code as ExitCode;
}

async function* eventsOf(frames: Frames): AsyncGenerator<TraceEvent> {
  for await (const frame of frames) yield frame.event;
}

/** A failed send is an event of the screen: what came before it stays to be read. */
async function* withFailures(source: TraceSource): AsyncGenerator<TraceEvent> {
  const failed = source.answer?.then(
    () => new Promise<never>(() => {}),
    (error: unknown) => ({ done: false as const, value: failureEvent(error) }),
  );
  const events = eventsOf(source.frames);
  for (;;) {
    const result = await (failed === undefined ? events.next() : Promise.race([events.next(), failed]));
    if (result.done === true) return;
    yield result.value;
    if (result.value.message.type === 'message') return;
  }
}

function failureEvent(error: unknown): TraceEvent {
  return { eventStart: null, eventEnd: 0, severity: 'error', message: { type: 'message', text: messageOf(error) } };
}
