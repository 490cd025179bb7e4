import ipaddr from 'ipaddr.js';

/** An IP address. IPv4 addresses mapped into IPv6 are told apart from IPv4. */
export class Ip {
  readonly kind = 'ip';
  readonly bytes: readonly number[];

  constructor(bytes: readonly number[]) {
    this.bytes = bytes;
  }

  /** Strict: dotted quads without leading zeros, no zone, no port. */
  static parse(text: string): Ip | undefined {
    if (text.length > 45 || text.includes('%')) return undefined;
    if (ipaddr.IPv4.isValidFourPartDecimal(text)) {
      return /(^|\.)0\d/.test(text) ? undefined : new Ip(ipaddr.IPv4.parse(text).toByteArray());
    }
    return text.includes(':') && ipaddr.IPv6.isValid(text) ? new Ip(ipaddr.IPv6.parse(text).toByteArray()) : undefined;
  }

  get family(): 4 | 6 {
    return this.bytes.length === 4 ? 4 : 6;
  }

  equals(other: Ip): boolean {
    return this.bytes.length === other.bytes.length && this.bytes.every((byte, i) => byte === other.bytes[i]);
  }

  /** RFC 5952 for IPv6. */
  toString(): string {
    const address = ipaddr.fromByteArray([...this.bytes]);
    return address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString();
  }
}

/** A network: an address and how many of its leading bits count. */
export class Cidr {
  readonly kind = 'cidr';
  readonly ip: Ip;
  readonly prefix: number;

  constructor(ip: Ip, prefix: number) {
    this.ip = ip;
    this.prefix = prefix;
  }

  static parse(text: string): Cidr | undefined {
    const slash = text.indexOf('/');
    const bits = text.slice(slash + 1);
    if (slash === -1 || !/^(0|[1-9]\d{0,2})$/.test(bits)) return undefined;
    const ip = Ip.parse(text.slice(0, slash));
    if (ip === undefined || Number(bits) > ip.bytes.length * 8) return undefined;
    return new Cidr(ip, Number(bits));
  }

  contains(ip: Ip): boolean {
    return ip.bytes.length === this.ip.bytes.length && sameBits(this.ip.bytes, ip.bytes, this.prefix);
  }

  equals(other: Cidr): boolean {
    return this.prefix === other.prefix && this.ip.equals(other.ip);
  }

  masked(): Cidr {
    const bytes = this.ip.bytes.map(
      (byte, i) => byte & (0xff00 >> Math.min(8, Math.max(0, this.prefix - i * 8))) & 0xff,
    );
    return new Cidr(new Ip(bytes), this.prefix);
  }

  toString(): string {
    return `${this.ip.toString()}/${this.prefix}`;
  }
}

function sameBits(a: readonly number[], b: readonly number[], bits: number): boolean {
  const whole = bits >> 3;
  for (let i = 0; i < whole; i++) if (a[i] !== b[i]) return false;
  const rest = bits & 7;
  return rest === 0 || (((a[whole] ?? 0) ^ (b[whole] ?? 0)) & (0xff00 >> rest) & 0xff) === 0;
}
