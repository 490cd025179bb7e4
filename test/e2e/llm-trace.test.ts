import { afterEach, describe, expect, test } from '@jest/globals';

import { AdminClient } from '../../src/admin/client/admin-client.ts';
import { parseAdminAddress } from '../../src/admin/client/address.ts';
import type { TraceEvent, TraceMessage } from '../../src/admin/protocol/trace-event.ts';
import { startModels } from '../demo/models.ts';
import { ask, Cleanup } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** The events of one request to the simulated models. */
async function traced(body: object, path = '/v1/chat/completions'): Promise<readonly TraceEvent[]> {
  const models = cleanup.add(await startModels());
  const client = cleanup.add(new AdminClient(parseAdminAddress(new URL(models.admin).host), { timeoutMs: 5000 }));
  const stream = await client.trace();
  const asking = ask(models.modelPort, path, { method: 'POST', body: JSON.stringify(body) });
  const events: TraceEvent[] = [];
  for await (const { event } of stream) events.push(event);
  await asking;
  return events;
}

const TOLD: ReadonlySet<string> = new Set([
  'llmRouteResolved',
  'llmRequestDetected',
  'llmStreamingTranslation',
  'bodySnapshot',
  'policyEvent',
  'backendCallResult',
]);

function told(events: readonly TraceEvent[]): readonly string[] {
  return events
    .map(({ message }) => message)
    .filter(({ type }) => TOLD.has(type))
    .map((message) =>
      [message.type, 'stage' in message ? message.stage : '', 'kind' in message ? message.kind : '']
        .filter(Boolean)
        .join(' '),
    );
}

function bodyOf(events: readonly TraceEvent[], stage: string): string {
  const found = events
    .map(({ message }) => message)
    .find(
      (message): message is TraceMessage & { type: 'bodySnapshot' } =>
        message.type === 'bodySnapshot' && message.stage === stage,
    );
  return Buffer.from(found?.body ?? '', 'base64').toString();
}

const messages = [{ role: 'user', content: 'Hello' }];

describe('the trace of a call of a language model', () => {
  test('has both sides of a translated stream, in the order in which they happen', async () => {
    const events = await traced({ model: 'claude-demo', messages, stream: true, stop: '!', logprobs: true });
    expect(told(events)).toEqual([
      'llmRouteResolved',
      'bodySnapshot llm request before translation',
      'policyEvent llm_translation',
      'llmRequestDetected',
      'bodySnapshot final request',
      'backendCallResult',
      'llmStreamingTranslation',
      'bodySnapshot llm raw response',
      'bodySnapshot response',
      'policyEvent llm_cost',
    ]);
    expect(JSON.parse(bodyOf(events, 'llm request before translation'))).toMatchObject({ stop: '!' });
    expect(JSON.parse(bodyOf(events, 'final request'))).toMatchObject({ stop_sequences: ['!'] });
    expect(bodyOf(events, 'llm raw response')).toContain('event: message_stop');
    expect(bodyOf(events, 'response')).toContain('data: [DONE]');
    const translation = events.find(
      ({ message }) => message.type === 'policyEvent' && message.kind === 'llm_translation',
    );
    expect(translation).toMatchObject({
      severity: 'warn',
      message: {
        details: {
          from: 'completions',
          to: 'messages',
          dropped: ['logprobs'],
          renamed: [{ from: 'stop', to: 'stop_sequences' }],
          added: ['max_tokens'],
        },
      },
    });
  });

  test('has the answer of the service where nothing is translated, and no credential', async () => {
    const events = await traced({ model: 'gpt-demo', messages });
    expect(told(events)).not.toContain('policyEvent llm_translation');
    expect(bodyOf(events, 'llm raw response')).toBe(bodyOf(events, 'response'));
    expect(JSON.stringify(events)).not.toContain('demo-openai-key');
  });

  test('has the request of the client once, and each try of a service', async () => {
    const events = await traced({ model: 'any', messages: [{ role: 'user', content: 'fail gpt-demo with 503' }] });
    const count = (wanted: string): number => told(events).filter((each) => each === wanted).length;
    expect(count('bodySnapshot llm request before translation')).toBe(1);
    expect(count('bodySnapshot final request')).toBe(2);
    expect(count('bodySnapshot llm raw response')).toBe(2);
    expect(count('llmRequestDetected')).toBe(2);
  });
});
