declare module 'apache-md5' {
  /** The `$apr1$` or `$1$` hash of a password, both as strings of octets; `settings` is a hash to take the salt from. */
  function md5(password: string, settings: string): string;
  export = md5;
}

declare module 'unix-crypt-td-js' {
  /** The traditional crypt(3) hash; `salt` is a hash to take it from. */
  function crypt(password: readonly number[], salt: string): string;
  export = crypt;
}
