import { TraceSession, type SessionOptions } from './session.tsx';

/**
 * Opens the trace viewer on a stream of events and returns the exit code once the user has left: 0, or 130 after
 * ctrl-c. Rejects with `GW_NOT_A_TERMINAL` off a terminal and with whatever drawing throws. Loads React and Ink, so
 * commands import it dynamically.
 */
export async function openTraceViewer(options: SessionOptions): Promise<number> {
  return new TraceSession(options).run();
}

export type { Resend, SessionOptions as TraceViewerOptions } from './session.tsx';
