import { lookup, Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';

import type { AddressRecord, DnsSources } from './dns.ts';

const HOSTS_FILE = process.platform === 'win32' ? String.raw`C:\Windows\System32\drivers\etc\hosts` : '/etc/hosts';

/** The system's hosts file, its name servers, and `getaddrinfo`. */
export function systemDnsSources(hostsPath: string = HOSTS_FILE): DnsSources {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  return {
    async hostsFile(host) {
      // Read for each question: questions are rare (one per lifetime of a name), and the file changes under us.
      const text = await readFile(hostsPath, 'utf8').catch(() => '');
      return hostsEntries(text, host);
    },
    async records(host, family): Promise<readonly AddressRecord[]> {
      const found =
        family === 4 ? await resolver.resolve4(host, { ttl: true }) : await resolver.resolve6(host, { ttl: true });
      return found.map((record) => ({ address: record.address, ttlSeconds: record.ttl }));
    },
    async system(host) {
      const found = await lookup(host, { all: true, order: 'verbatim' });
      return found.map((entry) => entry.address);
    },
  };
}

/** The addresses of one name in the text of a hosts file. */
export function hostsEntries(text: string, host: string): string[] {
  const addresses: string[] = [];
  for (const line of text.split('\n')) {
    const [address, ...names] = (line.split('#')[0] ?? '').trim().split(/\s+/);
    if (address !== undefined && names.some((name) => name.toLowerCase() === host)) addresses.push(address);
  }
  return [...new Set(addresses)];
}
