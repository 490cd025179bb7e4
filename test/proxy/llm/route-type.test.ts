import { describe, expect, test } from '@jest/globals';

import { routeTypeOf, type RouteTypes } from '../../../proxy/llm/route-type.ts';

const types: RouteTypes = [
  ['/v1/chat/completions', 'completions'],
  [':generateContent', 'generateContent'],
  ['/v1/messages', 'messages'],
  ['*', 'passthrough'],
];

describe('the type of a request', () => {
  test.each([
    ['/v1/chat/completions', 'completions'],
    ['/any/v1/messages', 'messages'],
    ['/v1beta/models/a%2Fb:generateContent', 'generateContent'],
    ['/v1/chat/completions/more', 'passthrough'],
    ['/v1/chat', 'passthrough'],
    ['/', 'passthrough'],
  ])('%s is %s', (path, type) => {
    expect(routeTypeOf(path, types)).toBe(type);
  });

  test.each([
    '/v1/chat/completion%73',
    '/v1%2Fchat/completions',
    '/v1/chat/completions/',
    '/v1/chat/completions/.',
    '/v1/chat//completions',
    '/v1/chat//completions//',
    '/v1/chat/completions/x/..',
    '/v1/chat/completions/%2e',
  ])('%s is the same as its plain spelling', (path) => {
    expect(routeTypeOf(path, types)).toBe('completions');
  });

  test('a broken escape stands for itself', () => {
    expect(routeTypeOf('/v1/chat/completions%', types)).toBe('passthrough');
  });

  test('without types everything is a chat', () => {
    expect(routeTypeOf('/whatever', [])).toBe('completions');
  });
});
