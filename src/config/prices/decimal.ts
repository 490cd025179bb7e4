const DIGITS = 6;

/**
 * A number as a rate: a decimal text with at most six digits behind the point. `shift` moves the point to the right, so
 * that dollars for a token become dollars for a million. Undefined for what is no price.
 */
export function rateText(value: unknown, shift = 0): string | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  const parts = /^(\d+)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?$/i.exec(String(value).trim());
  if (parts === null) return undefined;
  const [, whole = '', fraction = '', exponent = '0'] = parts;
  // By digits: a product of floating point numbers would have errors of its own.
  const point = whole.length + Number(exponent) + shift;
  const digits = (whole + fraction)
    .padEnd(Math.max(0, point), '0')
    .padStart(whole.length + fraction.length - Math.min(0, point), '0');
  const at = Math.max(0, point);
  return rounded(digits.slice(0, at), digits.slice(at));
}

function rounded(whole: string, fraction: string): string | undefined {
  const kept = BigInt(`${whole}${fraction.slice(0, DIGITS).padEnd(DIGITS, '0')}` || '0');
  const up = (fraction[DIGITS] ?? '0') >= '5' ? 1n : 0n;
  const text = String(kept + up).padStart(DIGITS + 1, '0');
  const cents = text.slice(-DIGITS).replace(/0+$/, '');
  const dollars = text.slice(0, -DIGITS);
  return dollars.length > 9 ? undefined : `${dollars}${cents === '' ? '' : `.${cents}`}`;
}
