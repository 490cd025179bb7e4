import type { Target } from '../contract.ts';
import { Knowledge } from './knowledge.ts';
import { ParamHeaders } from './param-headers.ts';
import type { NegotiatingOptions } from './peer-parts.ts';
import { PeerSession } from './session.ts';

/** The target, for clients of either generation. What it turns out to speak is remembered for all of its conversations. */
export function negotiating(target: Target, options: NegotiatingOptions): Target {
  const { name, transport } = target;
  const knowledge = new Knowledge(options.clock);
  const paramHeaders = new ParamHeaders();
  // This transport was gone before there were modern versions.
  const legacyOnly = transport === 'sse';
  return {
    name,
    transport,
    connect: (state, lone) => {
      if (legacyOnly) knowledge.learn('modern', false);
      const connection = target.connect(state, lone);
      return new PeerSession({ name, transport, connection, knowledge, paramHeaders, options, state });
    },
  };
}
