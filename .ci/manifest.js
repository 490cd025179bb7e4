// Writes oclif.manifest.json, from which gwctl knows its commands without loading each of them.
import { Config, settings } from '@oclif/core';
import { readFileSync, writeFileSync } from 'node:fs';
import { inRoot, root } from './paths.js';

settings.enableAutoTranspile = false;
process.env.NODE_ENV = 'production';
process.on('warning', (warning) => {
  process.stderr.write(`${warning.message}\n${warning.detail ?? ''}\n`);
  process.exitCode = 1;
});

const pjson = JSON.parse(readFileSync(inRoot('package.json'), 'utf8'));
const config = await Config.load({ root, pjson, ignoreManifest: true });
const plugin = config.getPluginsList()[0];
writeFileSync(inRoot('oclif.manifest.json'), `${JSON.stringify(plugin.manifest)}\n`);
