/** Runs the command line from its TypeScript sources: `node from-source.ts <words…>`. */
import { readFileSync } from 'node:fs';
import { runProcess } from '../../commands/_base/process.ts';

process.env['NODE_ENV'] = 'production';
const root = new URL('../..', import.meta.url).pathname;
const packageJson = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const oclif = {
  ...packageJson.oclif,
  commands: { strategy: 'pattern', target: './commands', globPatterns: ['**/*.ts', '!_base/**'] },
};
await runProcess({ argv: process.argv.slice(2), root, packageJson: { ...packageJson, oclif } });
