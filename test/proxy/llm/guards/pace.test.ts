import { expect, test } from '@jest/globals';

import { Headers } from '../../../../proxy/exchange/headers.ts';
import { LlmFacts } from '../../../../proxy/exchange/llm-facts.ts';
import { regexCheck } from '../../../../proxy/llm/guards/regex/check.ts';
import { GuardedStream } from '../../../../proxy/llm/guards/stream/guarded-stream.ts';
import { clientFormat, wireFormat } from '../../../../proxy/llm/formats/registry.ts';
import { LlmStream } from '../../../../proxy/llm/stream/llm-stream.ts';
import { untraced } from '../../exchange/build.ts';

test('the first text is the first that a guard lets leave', () => {
  const facts = new LlmFacts();
  const rejection = { status: 403, body: 'not this' };
  const rules = [{ kind: 'builtin', builtin: 'ssn' }] as const;
  const guard = new GuardedStream({
    checks: [regexCheck({ kind: 'regex', action: 'mask', rules }, rejection, ['messages'])],
    exchange: untraced(),
    type: 'completions',
    headers: new Headers(),
    accounting: { record() {}, failed() {} } as never,
  });
  const stream = new LlmStream({
    facts,
    upstream: wireFormat('completions'),
    client: clientFormat('completions'),
    gathered: null,
    translator: null,
    guard,
  });
  let now = 0;
  // Whoever takes bytes tells when they left.
  const follower = stream.follow({ write: () => facts.pace.left(++now), hold() {}, release() {}, stop() {} });
  const chunk = (delta: object) => JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] });
  follower.event(null, chunk({ role: 'assistant', content: '123-' }));
  follower.event(null, chunk({ reasoning_content: 'hm' }));
  expect([now, facts.pace.firstTextAt]).toEqual([2, null]);
  follower.event(null, chunk({ content: '45, he said' }));
  expect([now, facts.pace.firstTextAt]).toEqual([3, 3]);
});
