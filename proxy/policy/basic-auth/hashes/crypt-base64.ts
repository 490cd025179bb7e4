const DIGITS = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The base64 of crypt(3): `digits` digits of a number, the lowest first. */
export function cryptDigits(number: number, digits: number): string {
  let text = '';
  for (let left = number, i = 0; i < digits; i++, left >>= 6) text += DIGITS[left & 63];
  return text;
}
