import { isUtf8 } from 'node:buffer';

import type { Headers } from '../../exchange/headers.ts';
import type { RpcMessage, RpcNotification, RpcRequest } from './message.ts';
import { itemNameOf } from './methods.ts';
import type { Era } from './versions.ts';

export const METHOD_HEADER = 'mcp-method';
export const NAME_HEADER = 'mcp-name';
const PARAM_PREFIX = 'mcp-param-';

const WRAPPED = /^=\?base64\?(.*)\?=$/s;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** Printable ASCII and tabs, with neither blanks nor tabs at the ends. */
const PLAIN = /^[!-~](?:[\t -~]*[!-~])?$/;

/** A value as a header can carry it: whatever is not plain is wrapped. */
export function encodeHeaderValue(value: string): string {
  if (PLAIN.test(value) && !WRAPPED.test(value)) return value;
  return `=?base64?${Buffer.from(value).toString('base64')}?=`;
}

/** Undefined for a wrapper around anything but base64 of UTF-8. */
export function decodeHeaderValue(value: string): string | undefined {
  const wrapped = WRAPPED.exec(value)?.[1];
  if (wrapped === undefined) return value;
  if (!BASE64.test(wrapped)) return undefined;
  const bytes = Buffer.from(wrapped, 'base64');
  return isUtf8(bytes) ? bytes.toString() : undefined;
}

/**
 * Why the headers that repeat parts of a message do not fit it; null when they do. Modern requests must have them, everybody
 * else may. What `Mcp-Param-*` repeat only the server knows that describes its tools, so they only have to be readable.
 */
export function routingMismatch(headers: Headers, message: RpcMessage, era: Era): string | null {
  if (message.kind !== 'request' && message.kind !== 'notification') return null;
  const required = era === 'modern' && message.kind === 'request';
  return (
    mismatch(headers, { name: METHOD_HEADER, shown: 'Mcp-Method', value: message.method, required }) ??
    nameMismatch(headers, message, required) ??
    unreadableParam(headers)
  );
}

function nameMismatch(headers: Headers, message: RpcRequest | RpcNotification, required: boolean): string | null {
  const value = itemNameOf(message.method, message.params) ?? null;
  return mismatch(headers, { name: NAME_HEADER, shown: 'Mcp-Name', value, required: required && value !== null });
}

interface Repeated {
  readonly name: string;
  readonly shown: string;
  /** In the message; null for nothing. */
  readonly value: string | null;
  readonly required: boolean;
}

function mismatch(headers: Headers, { name, shown, value, required }: Repeated): string | null {
  const header = headers.get(name);
  if (header === undefined) return required ? `the ${shown} header is missing` : null;
  const decoded = decodeHeaderValue(header.trim());
  if (decoded === undefined) return `the ${shown} header cannot be decoded`;
  if (headers.names.indexOf(name) !== headers.names.lastIndexOf(name)) return `there are several ${shown} headers`;
  return decoded === value ? null : `the ${shown} header is not what the message says`;
}

function unreadableParam({ names, values }: Headers): string | null {
  for (let i = 0; i < names.length; i++) {
    const name = names[i] ?? '';
    if (name.startsWith(PARAM_PREFIX) && decodeHeaderValue((values[i] ?? '').trim()) === undefined)
      return `the ${name} header cannot be decoded`;
  }
  return null;
}

/** Makes the headers of a call to a target say what its message says. */
export function setRoutingHeaders(headers: Headers, message: RpcMessage): void {
  if (message.kind !== 'request' && message.kind !== 'notification') {
    headers.remove(METHOD_HEADER);
    headers.remove(NAME_HEADER);
    return;
  }
  repeat(headers, METHOD_HEADER, message.method);
  repeat(headers, NAME_HEADER, itemNameOf(message.method, message.params));
}

/** Servers break off where a head is longer than 8 or 16 KiB; what a missing header means, they can say. */
const MOST_CHARACTERS = 4096;

function repeat(headers: Headers, name: string, value: string | null | undefined): void {
  if (typeof value === 'string' && value.length <= MOST_CHARACTERS) headers.set(name, encodeHeaderValue(value));
  else headers.remove(name);
}
