import type { FunctionDef } from '../compile/host.ts';
import { Cidr, Ip } from '../value/network.ts';
import { failure, noOverload, type Result, type Value } from '../value/value.ts';
import { call, method } from './define.ts';

export const networkFunctions: readonly FunctionDef[] = [
  call('ip', (value) => (typeof value === 'string' ? (Ip.parse(value) ?? notAnIp(value)) : asIp('ip', value))),
  call('isIP', (value) => (typeof value === 'string' ? Ip.parse(value) !== undefined : noOverload('isIP', value))),
  call('ip.isCanonical', (value) => {
    if (typeof value !== 'string') return noOverload('ip.isCanonical', value);
    const parsed = Ip.parse(value);
    return parsed === undefined ? notAnIp(value) : parsed.toString() === value;
  }),
  call('cidr', (value) =>
    typeof value === 'string' ? (Cidr.parse(value) ?? notACidr(value)) : noOverload('cidr', value),
  ),
  call('isCIDR', (value) =>
    typeof value === 'string' ? Cidr.parse(value) !== undefined : noOverload('isCIDR', value),
  ),
  method('family', (value) => onIp('family', value, (ip) => ip.family)),
  ...Object.entries<(ip: Ip) => boolean>({
    isUnspecified: (ip) => ip.bytes.every((byte) => byte === 0),
    isLoopback: (ip) => (ip.family === 4 ? ip.bytes[0] === 127 : ip.toString() === '::1'),
    isLinkLocalMulticast,
    isLinkLocalUnicast,
    isGlobalUnicast,
  }).map(([name, test]) => method(name, (value) => onIp(name, value, test))),
  method('containsIP', (network, address) => {
    const ip = typeof address === 'string' ? (Ip.parse(address) ?? notAnIp(address)) : address;
    return network instanceof Cidr && ip instanceof Ip
      ? network.contains(ip)
      : wrongIp('containsIP', network, ip, address);
  }),
  method('containsCIDR', (network, other) => {
    const inner = typeof other === 'string' ? (Cidr.parse(other) ?? notACidr(other)) : other;
    if (!(network instanceof Cidr) || !(inner instanceof Cidr)) return wrongIp('containsCIDR', network, inner, other);
    return inner.prefix >= network.prefix && network.contains(inner.ip);
  }),
  method('ip', (network) => onCidr('ip', network, (cidr) => cidr.ip)),
  method('masked', (network) => onCidr('masked', network, (cidr) => cidr.masked())),
  method('prefixLength', (network) => onCidr('prefixLength', network, (cidr) => cidr.prefix)),
];

function notAnIp(text: string): ReturnType<typeof failure> {
  return failure(`not an IP address: ${JSON.stringify(text.slice(0, 64))}`);
}

function notACidr(text: string): ReturnType<typeof failure> {
  return failure(`not a CIDR: ${JSON.stringify(text.slice(0, 64))}`);
}

function asIp(name: string, value: Value): Result {
  return value instanceof Ip ? value : noOverload(name, value);
}

function wrongIp(name: string, network: Value, parsed: Result, given: Value): Result {
  const failed = typeof given === 'string' && network instanceof Cidr;
  return failed ? parsed : noOverload(name, network, given);
}

function onIp(name: string, value: Value, apply: (ip: Ip) => Result): Result {
  return value instanceof Ip ? apply(value) : noOverload(name, value);
}

function onCidr(name: string, value: Value, apply: (cidr: Cidr) => Result): Result {
  return value instanceof Cidr ? apply(value) : noOverload(name, value);
}

function isLinkLocalMulticast({ family, bytes }: Ip): boolean {
  if (family === 4) return bytes[0] === 224 && bytes[1] === 0 && bytes[2] === 0;
  return bytes[0] === 0xff && ((bytes[1] ?? 0) & 0x0f) === 0x02;
}

function isLinkLocalUnicast({ family, bytes }: Ip): boolean {
  if (family === 4) return bytes[0] === 169 && bytes[1] === 254;
  return bytes[0] === 0xfe && ((bytes[1] ?? 0) & 0xc0) === 0x80;
}

/** Private IPv4 ranges count, unique local IPv6 addresses do not. */
function isGlobalUnicast(ip: Ip): boolean {
  const [first = 0] = ip.bytes;
  const special = ip.bytes.every((byte) => byte === 0) || isLinkLocalUnicast(ip);
  if (ip.family === 4) {
    return !special && first !== 127 && (first & 0xf0) !== 0xe0 && !ip.bytes.every((byte) => byte === 255);
  }
  return !special && ip.toString() !== '::1' && first !== 0xff && (first & 0xfe) !== 0xfc;
}
