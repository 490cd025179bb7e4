/** One event as it goes over the wire. */
export function encodeEvent(name: string | null, data: string): string {
  const lines = data.includes('\n') ? data.replaceAll('\n', '\ndata: ') : data;
  return name === null ? `data: ${lines}\n\n` : `event: ${name}\ndata: ${lines}\n\n`;
}
