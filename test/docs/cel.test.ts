import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, test } from '@jest/globals';

import { gatewayHost } from '../../proxy/expression/variables/host.ts';
import { specialNames } from '../../src/cel/compile/special.ts';
import { library } from '../../src/cel/library/library.ts';
import { macroNames } from '../../src/cel/syntax/macro.ts';
import { variableNames } from '../../src/cel/variable-names.ts';
import { codeSpans, read, section, table } from './markdown.ts';
import { freePorts, Walk } from './walk.ts';

const launcher = fileURLToPath(new URL('../commands/from-source.ts', import.meta.url));
const page = read('docs/cel.md');

/** `x.with(name, …)` and `sortBy(x, key)` name a function too. */
function namesIn(text: string): ReadonlySet<string> {
  return new Set(codeSpans(text).flatMap((span) => [span, ...span.split(/[^\w.]+/), ...span.split(/\W+/)]));
}

describe('docs/cel.md', () => {
  // What is followed throws where the program says something else.
  test('shows what its commands say', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gwctl-cel-'));
    const walk = new Walk(folder, folder, await freePorts());
    try {
      await walk.shell.run(`gwctl() { "${process.execPath}" --no-warnings "${launcher}" "$@"; }`);
      await walk.follow('docs/cel.md');
    } finally {
      walk.close();
      rmSync(folder, { recursive: true, force: true });
    }
  }, 30_000);

  test('names every variable, with the fields it has', () => {
    const named = namesIn(section(page, 'Variables'));
    const host = gatewayHost({}, () => false);
    const fields = variableNames.flatMap((name) => host.variable(name)?.fields ?? []);
    expect([...variableNames, ...fields].filter((name) => !named.has(name))).toEqual([]);
  });

  test('lists no variable that is not there', () => {
    const listed = table(section(page, 'Variables')).flatMap(([names = '']) => names.split(', '));
    expect(listed.toSorted()).toEqual(variableNames.toSorted());
  });

  test('names every function and macro', () => {
    const functions = library({ random: () => 0, uuid: () => '' }).names;
    const named = namesIn(page);
    expect(functions.length).toBeGreaterThan(100);
    expect([...functions, ...specialNames, ...macroNames].filter((name) => !named.has(name))).toEqual([]);
  });

  test('lists no function that is not there', () => {
    const { names } = library({ random: () => 0, uuid: () => '' });
    const known = new Set([...names, ...specialNames, ...macroNames]);
    const listed = table(section(page, 'Functions'))
      .flatMap(([, functions = '']) => functions.split(/, (?![^(]*\))/))
      .map((each) => /^(?:x\.)?([\w.]+)/.exec(each)?.[1] ?? '')
      .filter((name) => !/^(?:m\.?)?$/.test(name));
    expect(listed.filter((name) => !known.has(name))).toEqual([]);
  });
});
