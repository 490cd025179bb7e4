/** An address that only the agent knows: the gateway puts its own in place. */
const ADDRESS = 'http://tea.internal:9008/rpc';

/** The card of the agent, in the words of both versions that it speaks. */
export const card = {
  name: 'Tea planner',
  description: 'Plans tea parties. A simulated agent: it knows nothing but numbers.',
  version: '1.0.0',
  supportedInterfaces: [
    { url: ADDRESS, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: ADDRESS, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
  ],
  protocolVersion: '0.3.0',
  url: ADDRESS,
  preferredTransport: 'JSONRPC',
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [
    {
      id: 'plan',
      name: 'Plan a tea party',
      description: 'Says what a number of guests need.',
      tags: ['tea'],
      examples: ['a tea party for 6', 'a tea party', 'fail at a tea party'],
    },
  ],
} as const;
