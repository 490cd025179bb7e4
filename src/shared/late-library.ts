import { createRequire } from 'node:module';

/** Libraries that only some configurations need, by the name that they are imported under. */
interface Libraries {
  readonly 'apache-md5': typeof import('apache-md5');
  readonly bcryptjs: typeof import('bcryptjs');
  readonly 'libphonenumber-js/max': typeof import('libphonenumber-js/max');
  readonly 'protobufjs/light.js': typeof import('protobufjs/light.js');
  readonly 'protobufjs/minimal.js': typeof import('protobufjs/minimal.js');
  readonly re2js: typeof import('re2js');
  readonly 'unix-crypt-td-js': typeof import('unix-crypt-td-js');
}

const load = createRequire(import.meta.url);

/**
 * A library that only some configurations need. What is imported at the top of a file is in the memory of every thread of
 * every gateway; this is loaded by the configuration that needs it, while that is compiled, and then kept. Where there is
 * a promise to wait for anyway, `await import()` does the same.
 */
export function lateLibrary<Name extends keyof Libraries>(name: Name): Libraries[Name] {
  return load(name) as Libraries[Name]; // `require` knows no types; these are the package's own
}
