import { LiveSession, type LiveSessionOptions } from './session.tsx';

/**
 * Opens the live table of requests on a follow stream and returns the exit code once the user has left: 0, or 130
 * after ctrl-c. Rejects with `GW_NOT_A_TERMINAL` off a terminal. Loads React and Ink, so commands import it dynamically.
 */
export async function openLiveScreen(options: LiveSessionOptions): Promise<number> {
  return new LiveSession(options).run();
}

export type { LiveSessionOptions as LiveScreenOptions } from './session.tsx';
