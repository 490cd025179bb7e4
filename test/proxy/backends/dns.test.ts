import { describe, expect, test } from '@jest/globals';

import { type AddressRecord, CachingResolver, type DnsSources } from '../../../proxy/backends/dns.ts';
import { hostsEntries, systemDnsSources } from '../../../proxy/backends/dns-sources.ts';
import type { DnsLookupFamily } from '../../../src/config/ir/index.ts';

class FakeDns implements DnsSources {
  hosts: string[] = [];
  v4: AddressRecord[] | Error = [];
  v6: AddressRecord[] | Error = [];
  fallback: string[] | Error = new Error('getaddrinfo ENOTFOUND');
  questions = 0;

  async hostsFile(): Promise<readonly string[]> {
    return this.hosts;
  }

  async records(_host: string, family: 4 | 6): Promise<readonly AddressRecord[]> {
    this.questions += 1;
    return orThrow(family === 4 ? this.v4 : this.v6);
  }

  async system(): Promise<readonly string[]> {
    this.questions += 1;
    return orThrow(this.fallback);
  }
}

function orThrow<T>(value: T | Error): T {
  if (value instanceof Error) throw value;
  return value;
}

function setup(lookupFamily: DnsLookupFamily = 'V4Only', enableIpv6 = true) {
  const sources = new FakeDns();
  const clock = { now: 0 };
  const resolver = new CachingResolver({ lookupFamily, enableIpv6, sources, now: () => clock.now });
  return { sources, clock, resolver };
}

const record = (address: string, ttlSeconds = 30): AddressRecord => ({ address, ttlSeconds });

describe('names', () => {
  test('are remembered for the lifetime of their records', async () => {
    const { sources, clock, resolver } = setup();
    sources.v4 = [record('10.0.0.1', 5)];
    expect(await resolver.resolve('a.test')).toEqual(['10.0.0.1']);
    sources.v4 = [record('10.0.0.2', 5)];
    clock.now = 4999;
    expect(await resolver.resolve('A.test.')).toEqual(['10.0.0.1']);
    clock.now = 5000;
    expect(await resolver.resolve('a.test')).toEqual(['10.0.0.2']);
    expect(sources.questions).toBe(2);
  });

  test('are asked for once by many callers', async () => {
    const { sources, resolver } = setup();
    sources.v4 = [record('10.0.0.1')];
    await Promise.all(Array.from({ length: 50 }, () => resolver.resolve('a.test')));
    expect(sources.questions).toBe(1);
  });

  test('begin with another address at each turn', async () => {
    const { sources, resolver } = setup();
    sources.v4 = [record('10.0.0.1'), record('10.0.0.2'), record('10.0.0.3')];
    const firsts: (string | undefined)[] = [];
    for (let i = 0; i < 4; i++) firsts.push((await resolver.resolve('a.test'))[0]);
    expect(firsts).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.1']);
  });

  test('that do not exist are an error of kind dns, for a short time', async () => {
    const { sources, clock, resolver } = setup();
    await expect(resolver.resolve('a.test')).rejects.toMatchObject({ kind: 'dns' });
    sources.v4 = [record('10.0.0.1')];
    await expect(resolver.resolve('a.test')).rejects.toMatchObject({ kind: 'dns' });
    clock.now = 2000;
    expect(await resolver.resolve('a.test')).toEqual(['10.0.0.1']);
  });

  test('keep their old addresses while the name server is down', async () => {
    const { sources, clock, resolver } = setup();
    sources.v4 = [record('10.0.0.1', 5)];
    await resolver.resolve('a.test');
    sources.v4 = new Error('ETIMEOUT');
    clock.now = 6000;
    expect(await resolver.resolve('a.test')).toEqual(['10.0.0.1']);
    clock.now = 1_000_000;
    await expect(resolver.resolve('a.test')).rejects.toMatchObject({ kind: 'dns' });
  });

  test('in the hosts file come from there', async () => {
    const { sources, resolver } = setup();
    sources.hosts = ['192.0.2.7'];
    sources.v4 = [record('10.0.0.1')];
    expect(await resolver.resolve('a.test')).toEqual(['192.0.2.7']);
    expect(sources.questions).toBe(0);
  });

  test('without a dot, and names that servers do not know, are left to the operating system', async () => {
    const { sources, resolver } = setup();
    sources.fallback = ['10.1.1.1'];
    expect(await resolver.resolve('shop')).toEqual(['10.1.1.1']);
    expect(sources.questions).toBe(1);
    expect(await resolver.resolve('shop.apps')).toEqual(['10.1.1.1']);
  });

  test('that are addresses are not asked for', async () => {
    const { sources, resolver } = setup();
    expect(await resolver.resolve('::1')).toEqual(['::1']);
    expect(sources.questions).toBe(0);
  });

  test('beyond the bound of the cache push the oldest out', async () => {
    const { sources, resolver } = setup();
    sources.v4 = [record('10.0.0.1')];
    for (let i = 0; i < 4097; i++) await resolver.resolve(`a${i}.test`);
    const before = sources.questions;
    await resolver.resolve('a4096.test');
    expect(sources.questions).toBe(before);
    await resolver.resolve('a0.test');
    expect(sources.questions).toBe(before + 1);
  });
});

describe('families', () => {
  const v4 = '10.0.0.1';
  const v6 = '2001:db8::1';
  const cases: [DnsLookupFamily, boolean, string[], string[], string[]][] = [
    ['V4Only', true, [v4], [v6], [v4]],
    ['V6Only', true, [v4], [v6], [v6]],
    ['V4Preferred', true, [v4], [v6], [v4]],
    ['V4Preferred', true, [], [v6], [v6]],
    ['Auto', true, [], [v6], [v6]],
    ['Auto', false, [v4], [v6], [v4]],
    ['All', true, [v4, '10.0.0.2'], [v6], [v6, v4, '10.0.0.2']],
  ];

  test.each(cases)('%s (IPv6 %s): %j and %j give %j', async (family, ipv6, four, six, expected) => {
    const { sources, resolver } = setup(family, ipv6);
    sources.v4 = four.map((address) => record(address));
    sources.v6 = six.map((address) => record(address));
    expect(await resolver.resolve('a.test')).toEqual(expected);
  });

  test('one family that fails does not spoil the other', async () => {
    const { sources, resolver } = setup('All');
    sources.v4 = [record(v4)];
    sources.v6 = new Error('SERVFAIL');
    expect(await resolver.resolve('a.test')).toEqual([v4]);
  });
});

describe('the system', () => {
  test('resolves localhost', async () => {
    const resolver = new CachingResolver({ lookupFamily: 'All', enableIpv6: true, sources: systemDnsSources() });
    expect((await resolver.resolve('localhost')).some((address) => address === '127.0.0.1' || address === '::1')).toBe(
      true,
    );
  });

  test('hosts files are read with comments, aliases and any case', () => {
    const text = '127.0.0.1 localhost # here\n# 1.1.1.1 a.test\n10.0.0.1\tA.test b.test\n::2 a.test\n\n10.0.0.1 a.test';
    expect(hostsEntries(text, 'a.test')).toEqual(['10.0.0.1', '::2']);
    expect(hostsEntries(text, 'here')).toEqual([]);
  });
});
