import { describe, expect, test } from '@jest/globals';

import { blocks, read } from '../markdown.ts';

/** The lines of one order in the code: `onRoute('timeout', …)`. */
function orderOf(name: string): string[] {
  const source = read('proxy/policy/pipeline.ts');
  const start = source.search(new RegExp(`^const ${name}\\b`, 'm'));
  const lines = source.slice(start, source.indexOf('\n];', start));
  return [...lines.matchAll(/^ {2}on(Gateway|Route|Backend)(Response)?\(\s*'(\w+)'/gm)].map(
    ([, side = '', response, policy = '']) => (response === undefined ? policy : `${policy} (${side.toLowerCase()})`),
  );
}

describe('the order in docs/policies.md', () => {
  const diagram = blocks(read('docs/policies.md')).find(({ kind }) => kind === 'text')?.text ?? '';
  const phases = diagram.split('▼').map((part) => [...part.matchAll(/├─ (.+)$/gm)].map(([, line]) => line));
  const [beforeRouting = [], route = [], backend = [], response = []] = [phases[0], phases[1], phases[2], phases[3]];

  test('is that of the code, phase by phase', () => {
    expect(beforeRouting).toEqual(orderOf('gatewayRequestOrder'));
    expect(route).toEqual(orderOf('routeRequestOrder'));
    expect(backend).toEqual(orderOf('backendRequestOrder'));
    expect(response).toEqual(orderOf('responseOrder'));
  });
});
