import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from '@jest/globals';

import { root } from './markdown.ts';
import { freePorts, Walk } from './walk.ts';

const TOUR_LIMIT_MS = 180_000;

describe('the tour', () => {
  let folder: string;
  let walk: Walk;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gwctl-tour-'));
  });

  afterEach(() => {
    walk.close();
    rmSync(folder, { recursive: true, force: true });
  });

  // What is followed throws where the program says something else.
  test(
    'says what happens when its commands are typed one after the other',
    async () => {
      walk = new Walk(root, folder, await freePorts());
      await walk.follow('docs/tour.md');
    },
    TOUR_LIMIT_MS,
  );
});
