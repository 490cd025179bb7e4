import { describe, expect, test } from '@jest/globals';

import { Headers } from '../../../../proxy/exchange/headers.ts';
import { clientLeft, requestTimeout } from '../../../../proxy/exchange/wait.ts';
import { GivenUp, GuardFailure, type Subject } from '../../../../proxy/llm/guards/contract.ts';
import { serviceCheck } from '../../../../proxy/llm/guards/services/check.ts';
import { type Ask, passed } from '../../../../proxy/llm/guards/services/contract.ts';
import { textFormats } from '../../../../proxy/llm/guards/text/formats.ts';
import { webhookAnswer } from '../../../../proxy/llm/guards/webhook/answer.ts';
import type { Guard } from '../../../../src/config/ir/llm.ts';
import { ManualClock, untraced } from '../../exchange/build.ts';

const guard: Exclude<Guard, { kind: 'regex' }> = {
  kind: 'openAIModeration',
  model: 'm',
  service: { target: { kind: 'reference', backend: '/b' }, policies: {} },
};

function check(ask: Ask, clock = new ManualClock()) {
  const settings = { guard, service: { name: 's', ask }, rejection: { status: 403, body: 'no' }, clock };
  return serviceCheck({ ...settings, scope: ['systemPrompt', 'messages'] });
}

function subject(exchange = untraced()): Subject {
  const body = {
    messages: [
      { role: 'user', content: '' },
      { role: 'user', content: 'hi' },
      { role: 'tool', content: 'out' },
    ],
  };
  return { exchange, phase: 'request', format: textFormats.completions, body, headers: new Headers() };
}

const never: Ask = ({ signal }) =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new GuardFailure('given up')));
  });

describe('a service that is asked', () => {
  test('gets texts of the scope that are not empty, and its own texts in their places', async () => {
    const sent: string[][] = [];
    const { judge } = check(({ texts }) => {
      sent.push([...texts()]);
      return Promise.resolve({ kind: 'texts', texts: ['HI'], what: 'w' });
    });
    expect(await judge(subject())).toMatchObject({
      kind: 'mask',
      body: { messages: [{ content: '' }, { content: 'HI' }, { content: 'out' }] },
    });
    expect(sent).toEqual([['hi']]);
  });

  test('is given up with the client', async () => {
    const exchange = untraced();
    const judging = check(never).judge(subject(exchange));
    exchange.clientLeft();
    await expect(judging).rejects.toEqual(new GivenUp(clientLeft));
  });

  test('is given up when the time of the request is up', async () => {
    const exchange = untraced();
    const clock = new ManualClock();
    exchange.deadlineAt = clock.now() + 50;
    const judging = check(never, clock).judge(subject(exchange));
    clock.advance(50);
    await expect(judging).rejects.toEqual(new GivenUp(requestTimeout));
  });

  test('leaves nothing behind that waits', async () => {
    const exchange = untraced();
    exchange.deadlineAt = 50;
    expect(await check(() => Promise.resolve(passed)).judge(subject(exchange))).toEqual({ kind: 'pass' });
    exchange.clientLeft();
  });
});

describe('an action of a webhook', () => {
  const request = { phase: 'request', count: 1 } as const;
  const response = { phase: 'response', count: 1 } as const;

  test('shows its kind in its fields', () => {
    expect(webhookAnswer(200, { action: {} }, request)).toEqual({ kind: 'pass' });
    expect(webhookAnswer(200, { action: { reason: 'fine' } }, request)).toEqual({ kind: 'pass' });
    expect(webhookAnswer(200, { action: { body: 'no', status_code: 418, reason: 'tea' } }, request)).toEqual({
      kind: 'reject',
      status: 418,
      body: 'no',
      what: 'tea',
    });
    const messages = [{ role: 'user', content: 'x' }];
    expect(webhookAnswer(503, { action: { body: { messages } } }, request)).toMatchObject({
      kind: 'messages',
      messages,
    });
    const choices = [{ message: { role: 'assistant', content: 'y' } }];
    expect(webhookAnswer(200, { action: { body: { choices } } }, response)).toMatchObject({
      messages: [{ role: 'assistant', content: 'y' }],
    });
  });

  test.each([
    ['is missing', {}, request],
    ['is no object', { action: 'pass' }, request],
    ['masks choices of a prompt', { action: { body: { choices: [] } } }, request],
    ['masks messages of an answer', { action: { body: { messages: [] } } }, response],
    ['masks another number of choices', { action: { body: { choices: [] } } }, response],
    ['has messages that are none', { action: { body: { messages: [{ role: 'user' }] } } }, request],
    ['has a list of other things', { action: { body: { messages: [1] } } }, request],
    ['rejects without a status', { action: { body: 'no' } }, request],
    ['rejects with a status that is none', { action: { body: 'no', status_code: 99 } }, request],
    ['has a body of another kind', { action: { body: 5 } }, request],
  ])('is a failure when it %s', (_name, body, asked) => {
    expect(() => webhookAnswer(200, body, asked)).toThrow(GuardFailure);
  });

  test('is a failure when the service fails and lets pass', () => {
    expect(() => webhookAnswer(500, { action: {} }, request)).toThrow('status 500');
  });
});
