/** Dollars are counted in whole trillionths: a rate for a million tokens has six digits behind the point. */
const DIGITS = 12;
const RATE_DIGITS = 6;

/** Trillionths of a dollar that one token costs, from dollars for a million tokens. */
export function rateOf(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(RATE_DIGITS, '0').slice(0, RATE_DIGITS));
}

/** Dollars as a decimal text, without zeros that say nothing. */
export function decimalText(trillionths: bigint): string {
  const digits = String(trillionths).padStart(DIGITS + 1, '0');
  const fraction = digits.slice(-DIGITS).replace(/0+$/, '');
  return `${digits.slice(0, -DIGITS)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** The nearest number. */
export function dollars(trillionths: bigint): number {
  return Number(decimalText(trillionths));
}
