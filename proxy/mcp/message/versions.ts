/** Protocol versions up to 2025-11-25 have sessions and a handshake, later ones stand alone with each request. */
export type Era = 'legacy' | 'modern';

export const FIRST_MODERN_VERSION = '2026-07-28';
export const LATEST_LEGACY_VERSION = '2025-11-25';

/** The newest last. */
export const knownVersions: readonly string[] = [
  '2024-11-05',
  '2025-03-26',
  '2025-06-18',
  LATEST_LEGACY_VERSION,
  FIRST_MODERN_VERSION,
];

export function isKnownVersion(version: string): boolean {
  return knownVersions.includes(version);
}

/** Of any version, also one that is not known: they are dates, so their order is that of strings. */
export function eraOf(version: string): Era {
  return version >= FIRST_MODERN_VERSION ? 'modern' : 'legacy';
}

/** Newest first, as servers tell what they support. */
export function versionsOf(era: Era): readonly string[] {
  return knownVersions.filter((version) => eraOf(version) === era).toReversed();
}
