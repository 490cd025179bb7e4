/** RFC 9110 section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** RFC 3986 section 3.2 without user information. */
const AUTHORITY = /^(?:\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9\-._~%!$&'()*+,;=]*)(?::[0-9]*)?$/;

/** A method or a field name. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** `host[:port]`, the host possibly empty; IPv6 in brackets. Anything that could start another part of a URL is none. */
export function isAuthority(text: string): boolean {
  return AUTHORITY.test(text);
}
