import { gzipSync } from 'node:zlib';
import { encodeProfile } from '../profile/sample-profile.ts';

/** A small gzipped CPU profile. */
export function encodedProfile(): Uint8Array {
  return gzipSync(
    encodeProfile([
      { stack: 'main;handleRequest', values: [3, 30_000_000] },
      { stack: 'main;handleRequest;route', values: [1, 10_000_000] },
    ]),
  );
}
