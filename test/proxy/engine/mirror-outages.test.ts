import { expect, test } from '@jest/globals';

import { MirrorOutages } from '../../../proxy/engine/mirror-outages.ts';
import { LogFilter, Logger } from '../../../src/shared/log.ts';

test('an outage of a mirror is told once, and each mirror has its own', () => {
  const lines: string[] = [];
  const filter = LogFilter.parse('info');
  if (typeof filter === 'string') throw new Error(filter);
  const outages = new MirrorOutages(
    new Logger({ filter, format: 'text', write: (line) => lines.push(line) }).scope('mirror'),
  );
  for (let i = 0; i < 3; i++) outages.failed('a', 'connection refused');
  outages.failed('b', 'connection reset');
  outages.arrived('c');
  outages.arrived('a');
  outages.arrived('a');
  expect(lines.map((line) => line.trim().split('\t').slice(1).join(' '))).toEqual([
    'warn mirror mirrored requests fail backend=a error="connection refused"',
    'warn mirror mirrored requests fail backend=b error="connection reset"',
    'info mirror mirrored requests arrive again backend=a lost=3',
  ]);
});
