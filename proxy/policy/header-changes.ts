import { isToken } from '../exchange/grammar.ts';
import type { Headers } from '../exchange/headers.ts';
import { isHopByHop } from '../exchange/hop-by-hop.ts';
import type { HeaderValue, HeaderValueOption } from '../services/messages/headers.ts';

export type HeaderAction = 'append' | 'addIfAbsent' | 'overwrite' | 'overwriteIfExists';

/** One change to header fields that a policy service asks for. */
export interface HeaderChange {
  /** Lower case. */
  readonly name: string;
  readonly value: string;
  readonly action: HeaderAction;
}

// RFC 9110 section 5.5: what a field value may not hold.
// oxlint-disable-next-line no-control-regex
const NO_FIELD_VALUE = /[^\t\u0020-\u007e\u0080-\u00ff]/;

/**
 * Reads what a service sent; what cannot be a header, or `may` not be changed (the framing of a message, unless told
 * otherwise), is left out.
 */
export function headerChanges(
  options: readonly HeaderValueOption[] | undefined,
  may: (name: string) => boolean = mayChange,
): HeaderChange[] {
  return (options ?? []).flatMap((option) => {
    const field = readField(option.header ?? null, may);
    if (field === null || (field.value === '' && option.keepEmptyValue !== true)) return [];
    return [{ ...field, action: actionOf(option) }];
  });
}

/** Plain headers of a service's answer, in its order; what cannot be a header is left out. */
export function headerFields(values: readonly HeaderValue[] | undefined): { name: string; value: string }[] {
  return (values ?? []).flatMap((value) => readField(value, mayChange) ?? []);
}

/** Whether a service may set or remove a field of that lower-case name: framing is the transport's own business. */
export function mayChange(name: string): boolean {
  return name !== 'content-length' && !isHopByHop(name);
}

/** Carries the changes out, in their order. */
export function applyHeaderChanges(headers: Headers, changes: readonly HeaderChange[]): void {
  for (const { name, value, action } of changes) {
    const exists = headers.has(name);
    if (action === 'append' || (action === 'addIfAbsent' && !exists)) headers.append(name, value);
    else if (action === 'overwrite' || (action === 'overwriteIfExists' && exists)) headers.set(name, value);
  }
}

/**
 * An action other than the first decides. The first cannot be told from none: then the older `append` counts, and without
 * it the value overwrites. Unknown actions append.
 */
function actionOf({ appendAction, append }: HeaderValueOption): HeaderAction {
  switch (appendAction) {
    case undefined:
    case 'APPEND_IF_EXISTS_OR_ADD':
      return append?.value === true ? 'append' : 'overwrite';
    case 'ADD_IF_ABSENT':
      return 'addIfAbsent';
    case 'OVERWRITE_IF_EXISTS_OR_ADD':
      return 'overwrite';
    case 'OVERWRITE_IF_EXISTS':
      return 'overwriteIfExists';
    default:
      return 'append';
  }
}

function readField(header: HeaderValue | null, may: (name: string) => boolean): { name: string; value: string } | null {
  const name = (header?.key ?? '').toLowerCase();
  const pseudo = name.startsWith(':');
  if (!isToken(pseudo ? name.slice(1) : name) || !may(name)) return null;
  const { rawValue, value = '' } = header ?? {};
  // Header values are bytes, one per character here; texts of messages are Unicode.
  const bytes = rawValue !== undefined && rawValue.byteLength > 0 ? rawValue : Buffer.from(value);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1').trim();
  return NO_FIELD_VALUE.test(text) ? null : { name, value: text };
}

/** A header value as text for a message: most are UTF-8, and what is not cannot be carried. */
export function messageText(value: string): string {
  // oxlint-disable-next-line no-control-regex
  return /[\u0080-\u00ff]/.test(value) ? Buffer.from(value, 'latin1').toString('utf8') : value;
}
