import { afterEach, describe, expect, test } from '@jest/globals';

import { eventually } from './clients.ts';
import { Cleanup } from './gateway.ts';
import { guardService, says } from './guard-services.ts';
import { TraceWatch } from './trace-watch.ts';
import { guarding, MASK_SSN, metric, REJECT_SSN, SECRET } from './guarded-model.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const { model, guarded } = guarding(cleanup);

describe('a prompt', () => {
  test('reaches the model with what the patterns find masked, one guard after the other', async () => {
    const service = await model(['ok']);
    const guards = `{request: [${MASK_SSN}, {regex: {rules: [{pattern: "is <SSN>"}]}}]}`;
    const { chat, gateway } = await guarded(service.port, guards);
    const answer = await chat(`mine is ${SECRET}!`);
    expect(answer.status).toBe(200);
    expect(service.asked[0]?.['messages']).toEqual([{ role: 'user', content: 'mine <masked>!' }]);
    await eventually('the count', async () => (await metric(gateway)).join('').includes('action="Mask"'));
    expect(await metric(gateway)).toEqual(['gw_guardrail_checks_total{phase="Request",action="Mask"} 2']);
  });

  test('that is rejected gets the configured answer, and the model nothing', async () => {
    const service = await model(['ok']);
    const guards = `{request: [{regex: {action: reject, rules: [{builtin: ssn}]}, rejection: {status: 422, body: "no numbers", headers: {set: {x-why: pii}, add: {x-more: "1"}}}}]}`;
    const { chat, gateway } = await guarded(service.port, guards);
    const trace = await TraceWatch.open(gateway.admin);
    const answer = await chat(`mine is ${SECRET}`);
    expect([answer.status, answer.body]).toEqual([422, 'no numbers']);
    expect(answer.headers).toMatchObject({ 'x-why': 'pii', 'x-more': '1', 'x-gw-reason': 'Guardrail' });
    expect(answer.headers['content-type']).toBeUndefined();
    expect(service.asked).toEqual([]);
    const line = await gateway.logged('reason=Guardrail');
    expect(line).toContain('request rejected by regex guardrail');
    expect(line).not.toContain(SECRET);
    const told = await trace.finished();
    expect(told).toContain('request regex: rejected (ssn)');
    for (const line of told.split('\n').filter((each) => each.includes('"guardrail"')))
      expect(line).not.toContain(SECRET);
    trace.close();
  });

  test('has no field beside the one that was looked at', async () => {
    const service = await model(['ok']);
    const { chat } = await guarded(service.port, `{request: [${REJECT_SSN}]}`);
    const messages = (content: string): string => `"messages": [{"role": "user", "content": "${content}"}]`;
    const answer = await chat('', { body: `{"model": "m", ${messages(SECRET)}, ${messages('fine')}}` });
    expect(answer.status).toBe(200);
    expect(service.received).toEqual([expect.not.stringContaining(SECRET)]);
  });

  test('is rejected by default with 403 and a plain text', async () => {
    const service = await model(['ok']);
    const { chat } = await guarded(service.port, `{request: [${REJECT_SSN}]}`);
    const answer = await chat(SECRET);
    expect([answer.status, answer.body]).toEqual([403, 'The request was rejected due to inappropriate content']);
  });

  test('meets the guards of all models before those of its own', async () => {
    const service = await model(['ok']);
    const { chat } = await guarded(service.port, '{request: [{regex: {rules: [{pattern: "<SSN>"}]}}]}', {
      top: `{request: [${MASK_SSN}]}`,
    });
    await chat(`a ${SECRET}`);
    expect(service.asked[0]?.['messages']).toEqual([{ role: 'user', content: 'a <masked>' }]);
  });

  test('has only the scope looked at', async () => {
    const service = await model(['ok']);
    const { openai } = await guarded(
      service.port,
      '{request: [{regex: {rules: [{builtin: ssn}]}, scope: [toolOutput, toolInput]}]}',
    );
    await openai.chat.completions.create({
      model: 'm',
      messages: [
        { role: 'user', content: SECRET },
        {
          role: 'assistant',
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"ssn": 123456789}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: SECRET },
      ],
    });
    const [user, assistant, tool] = (service.asked[0]?.['messages'] ?? []) as Record<string, unknown>[];
    expect([user?.['content'], tool?.['content']]).toEqual([SECRET, '<SSN>']);
    // The arguments are still JSON.
    expect(JSON.stringify(assistant)).toContain('{\\"ssn\\":\\"<SSN>\\"}');
  });
});

test('an explanation names services, and asks none', async () => {
  const hook = cleanup.add(await guardService(says({ action: {} })));
  const service = await model(['ok']);
  const { gateway } = await guarded(
    service.port,
    `{request: [${MASK_SSN}, {webhook: {target: {host: "127.0.0.1:${hook.port}"}}}]}`,
  );
  const body = Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: SECRET }] }));
  const answer = await fetch(`${gateway.admin}/debug/explain`, {
    method: 'POST',
    body: JSON.stringify({
      method: 'POST',
      scheme: 'http',
      authority: 'shop.test',
      target: '/v1/chat/completions',
      headers: [['content-type', 'application/json']],
      body: body.toString('base64'),
    }),
  });
  const told = await answer.text();
  expect(answer.status).toBe(200);
  expect(told).toContain(`127.0.0.1:${hook.port} would be asked`);
  expect(told).not.toContain('request webhook: allowed');
  expect(told).toContain('request regex: masked (ssn)');
  expect([hook.asked, service.asked]).toEqual([[], []]);
});
