declare module 'apache-md5' {
  /** The `$apr1$` or `$1$` hash of a password, both as strings of octets; `settings` is a hash to take the salt from. */
  export default function md5(password: string, settings: string): string;
}

declare module 'unix-crypt-td-js' {
  /** The traditional crypt(3) hash; `salt` is a hash to take it from. */
  export default function crypt(password: readonly number[], salt: string): string;
}
