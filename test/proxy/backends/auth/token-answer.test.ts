import { describe, expect, test } from '@jest/globals';

import {
  causeIn,
  claimedEnd,
  claimsOf,
  endOf,
  secretsIn,
  tokenIn,
} from '../../../../proxy/backends/auth/token-answer.ts';

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('how long a token is good', () => {
  test.each([
    [3600, 3_601_000],
    ['3600', 3_601_000],
    [0, 1000],
    [-1, 0],
    [0.5, 1500],
    ['', null],
    [' ', null],
    ['soon', null],
    [null, null],
    [undefined, null],
    [{}, null],
    [true, null],
    [Number.POSITIVE_INFINITY, null],
  ])('is read from %p', (seconds, end) => {
    expect(endOf(seconds, 1000)).toBe(end);
  });

  test.each([
    [`a.${part({ exp: 7 })}.c`, 7000],
    [`a.${part({ exp: 7 })}.`, 7000],
    [`a.${part({ exp: '7' })}.c`, null],
    [`a.${part({})}.c`, null],
    [`a.${part([7])}.c`, null],
    [`a.${part(null)}.c`, null],
    [`a.${part({ exp: 7 })}.c.d.e`, null],
    ['opaque', null],
    ['', null],
    ['..', null],
    ['a.%%%.c', null],
  ])('is read from the token %p', (token, end) => {
    expect(claimedEnd(token)).toBe(end);
  });

  test('is not looked for in claims of something that is no token', () => {
    expect(claimsOf('a')).toBeNull();
  });
});

describe('a token in an answer', () => {
  test.each(['a b~!', 'x'])('may be %p', (token) => {
    expect(tokenIn({ t: token }, 't', 'it')).toBe(token);
  });

  test.each([undefined, null, '', 7, {}, 'a\nb', 'a\u007f', 'ü'])('may not be %p', (token) => {
    expect(() => tokenIn(token === undefined ? {} : { t: token }, 't', 'it')).toThrow('it gave no token');
  });
});

describe('why a service refused', () => {
  const why = (answer: unknown, secrets: readonly string[] = []): string | undefined =>
    causeIn(typeof answer === 'string' ? answer : JSON.stringify(answer), secrets).cause?.message;

  test.each([
    [{ error: 'invalid_grant' }, 'invalid_grant'],
    [{ error: 'a', error_description: 'b c' }, 'a: b c'],
    [{ error_description: 'b' }, 'b'],
    [{ error: { status: 'DENIED', message: 'no', code: 7 } }, 'DENIED: no'],
    [{ error: 7 }, undefined],
    [{ error: {} }, undefined],
    [{}, undefined],
    ['<html>', undefined],
    ['', undefined],
  ])('is read from %j', (answer, told) => {
    expect(why(answer)).toBe(told);
  });

  test('is one line of bounded length', () => {
    expect(why({ error: 'a\u001b[31m\r\nb\u0000' })).toBe('a [31m b ');
    expect(why({ error: 'word '.repeat(1000) })?.length).toBe(201);
  });

  test('has nothing that was sent, and no long words', () => {
    expect(why({ error: `a s3cret b ${'x'.repeat(30)} c` }, ['s3cret', ''])).toBe('a *** b *** c');
  });

  test('never has the tokens and secrets of a form', () => {
    const form = new URLSearchParams({
      grant_type: 'g',
      subject_token: 's',
      actor_token: 'a',
      client_id: 'c',
      client_secret: 'p',
      client_assertion: 'j',
      assertion: 'k',
      refresh_token: 'r',
    });
    expect(secretsIn(form)).toEqual(['s', 'a', 'p', 'j', 'k', 'r']);
  });
});
