import { gunzipSync } from 'node:zlib';
import { systemCodeOf } from '../shared/errors.ts';
import { decodeProfile } from './decode-profile.ts';
import { ProfileError } from './profile-error.ts';
import type { Profile } from './profile.ts';

/** More than any profile of a process needs; keeps a small file from filling the memory. */
const MAX_UNPACKED_BYTES = 512 * 1024 * 1024;

/** Reads a pprof file, gzipped or plain; throws a `ProfileError` for anything else. */
export function readProfile(bytes: Uint8Array): Profile {
  if (bytes.length === 0) throw new ProfileError('GW_PROFILE_EMPTY', 'the profile is empty');
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return decodeProfile(isGzip ? unpack(bytes) : bytes);
}

function unpack(bytes: Uint8Array): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_UNPACKED_BYTES });
  } catch (error) {
    switch (systemCodeOf(error)) {
      case 'Z_BUF_ERROR':
        throw new ProfileError('GW_PROFILE_CUT', 'the profile is cut off: its compressed data ends early', error);
      case 'ERR_BUFFER_TOO_LARGE':
        throw new ProfileError(
          'GW_PROFILE_TOO_LARGE',
          `the profile unpacks to more than ${MAX_UNPACKED_BYTES} bytes`,
          error,
        );
      default:
        throw new ProfileError('GW_PROFILE_INVALID', 'not a pprof profile: its compressed data is damaged', error);
    }
  }
}
