/** The parts of `data:<media type>;base64,<data>`; undefined for any other address. */
export function dataUrl(url: string): { readonly mediaType: string; readonly base64: string } | undefined {
  if (!url.startsWith('data:')) return undefined;
  const comma = url.indexOf(',');
  const head = url.slice('data:'.length, comma);
  if (comma === -1 || !head.endsWith(';base64')) return undefined;
  return { mediaType: head.slice(0, -';base64'.length), base64: url.slice(comma + 1) };
}
