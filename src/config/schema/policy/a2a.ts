import { object } from '../build.ts';

/** `a2a`: marks agent-to-agent traffic. */
export const a2a = object(
  'Says that a backend is an agent of A2A: its cards lead to the gateway, and its calls are told apart in log, metrics and trace.',
  {},
);
