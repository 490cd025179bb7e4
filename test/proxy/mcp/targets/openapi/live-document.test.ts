import { describe, expect, test } from '@jest/globals';

import { compileDocument } from '../../../../../proxy/mcp/targets/openapi/document.ts';
import { KeptDocument, type Proposal } from '../../../../../proxy/mcp/targets/openapi/live-document.ts';
import type { CompiledDocument } from '../../../../../proxy/mcp/targets/openapi/plan.ts';

function compiled(name: string): CompiledDocument {
  return compileDocument({ openapi: '3.1.0', paths: { '/a': { get: { operationId: name } } } });
}

/** A document, and how often its change was told. */
function watched() {
  const document = new KeptDocument();
  const told: string[] = [];
  const stop = document.watch(() => told.push(names(document)));
  return { document, told, stop };
}

function names(document: KeptDocument): string {
  return (document.current()?.tools ?? []).map(({ name }) => String(name)).join();
}

describe('the document of a target', () => {
  test('is not there before it has been fetched', () => {
    const { document } = watched();
    document.propose({ document: null });
    document.settled();
    expect(document.current()).toBeNull();
  });

  test('is told of when it comes', () => {
    const { document, told } = watched();
    const follower: { change: ((next: CompiledDocument) => void) | null } = { change: null };
    document.propose({ document: null, follow: (change) => ((follower.change = change), () => {}) });
    document.settled();
    follower.change?.(compiled('one'));
    expect(told).toEqual(['one']);
  });

  test('changes when the configuration that says so is live, not before', () => {
    const { document, told, stop } = watched();
    document.propose({ document: compiled('one') });
    expect(names(document)).toBe('one');
    document.settled();
    document.propose({ document: compiled('two') });
    expect(names(document)).toBe('one');
    document.settled();
    expect(told).toEqual(['two']);
    stop();
    document.propose({ document: compiled('three') });
    document.settled();
    expect(told).toEqual(['two']);
  });

  test('that says the same as before is nothing to tell of', () => {
    const { document, told } = watched();
    document.propose({ document: compiled('one') });
    document.settled();
    document.propose({ document: compiled('one') });
    document.settled();
    expect(told).toEqual([]);
  });

  test('changes with what stands at its address, for as long as the configuration names it', async () => {
    const { document, told } = watched();
    const follower: { change: ((next: CompiledDocument) => void) | null } = { change: null };
    const follow: Proposal['follow'] = (change) => {
      follower.change = change;
      return () => void (follower.change = null);
    };
    document.propose({ document: compiled('one'), follow });
    expect(follower.change).toBeNull();
    document.settled();
    follower.change?.(compiled('two'));
    expect(told).toEqual(['two']);
    document.propose({ document: compiled('three') });
    expect(follower.change).not.toBeNull();
    document.settled();
    expect(follower.change).toBeNull();
    await document.close();
  });
});
