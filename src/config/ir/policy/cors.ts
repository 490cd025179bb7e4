/** Which pages of other origins may call, and what they may send and read. A list with `*` in it is a wildcard. */
export interface Cors {
  /** `*`, origins, and origins with `*` in their host. */
  readonly allowOrigins: readonly string[];
  readonly allowMethods: readonly string[];
  readonly allowHeaders: readonly string[];
  readonly exposeHeaders: readonly string[];
  readonly allowCredentials: boolean;
  readonly maxAgeMs?: number | undefined;
}
