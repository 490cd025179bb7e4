import { GwError } from '../shared/errors.ts';

export type ProfileErrorCode =
  | 'GW_PROFILE_EMPTY'
  | 'GW_PROFILE_CUT'
  | 'GW_PROFILE_INVALID'
  | 'GW_PROFILE_TOO_LARGE'
  | 'GW_PROFILE_NO_MATCH';

/** A profile that cannot be read or shown; `code` says in which way. */
export class ProfileError extends GwError {
  constructor(code: ProfileErrorCode, message: string, cause?: unknown) {
    super(message, { code, cause, hint: code === 'GW_PROFILE_NO_MATCH' ? undefined : 'gwctl proxy profile cpu' });
    this.name = 'ProfileError';
  }
}
