/** Refuses state-changing requests that come from pages of other origins. */
export interface Csrf {
  /** Origins that may, compared as they stand. */
  readonly additionalOrigins: readonly string[];
}
