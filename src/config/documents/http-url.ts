/** An absolute address over HTTP without credentials or fragment; else what is wrong with it, to follow a name. */
export function httpUrl(text: string): { readonly href: string } | { readonly problem: string } {
  if (!URL.canParse(text)) return { problem: 'is not an absolute address, which begins with https:// or http://' };
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return { problem: 'is neither http:// nor https://' };
  if (url.username !== '' || url.password !== '') return { problem: 'holds credentials, which are not sent' };
  if (url.hash !== '') return { problem: 'has a fragment' };
  return { href: url.href };
}

/** An address for messages: without its query, which may hold credentials. */
export function shownUrl(text: string): string {
  if (!URL.canParse(text)) return text.split('?', 1)[0] ?? '';
  const { protocol, host, pathname, search } = new URL(text);
  return `${protocol}//${host}${pathname}${search === '' ? '' : '?…'}`;
}
