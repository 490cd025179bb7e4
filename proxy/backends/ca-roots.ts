import { getCACertificates } from 'node:tls';

/** The machine's trusted roots and those of `NODE_EXTRA_CA_CERTS`; the bundled ones where the machine has none. */
export function systemRoots(): string[] {
  const system = getCACertificates('system');
  return [...(system.length > 0 ? system : getCACertificates('bundled')), ...getCACertificates('extra')];
}
