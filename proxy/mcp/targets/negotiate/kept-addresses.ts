/** Clients choose what they subscribe to, and the gateway keeps it for as long as their session lasts. */
const MAX_ADDRESSES = 1000;
const MAX_LENGTH = 8192;

/** Whether one more subscription can be kept. */
export function mayKeep(kept: { readonly size: number; has(uri: string): boolean }, uri: string): boolean {
  return kept.has(uri) || (kept.size < MAX_ADDRESSES && uri.length <= MAX_LENGTH);
}
