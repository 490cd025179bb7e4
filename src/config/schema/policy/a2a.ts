import { object } from '../build.ts';

/** `a2a`: marks agent-to-agent traffic. */
export const a2a = object('Marks agent-to-agent traffic.', {});
