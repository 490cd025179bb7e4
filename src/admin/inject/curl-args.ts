import { GwError, exitCodes } from '../../shared/errors.ts';
import { nearest } from '../../shared/nearest.ts';
import { curlOptions, type CurlFlag, type CurlValue } from './curl-options.ts';

/** The words behind `--`, read: what was typed, in order, before files are opened. */
export interface CurlRequest {
  readonly url: URL;
  readonly method: string | undefined;
  /** As typed: `Name: value`, `Name;` (empty), `Name:` (none), `@file`. */
  readonly headers: readonly string[];
  readonly data: readonly CurlData[];
  readonly uploadFile: string | undefined;
  readonly flags: ReadonlySet<CurlFlag>;
  readonly values: ReadonlyMap<CurlValue, string>;
}

export interface CurlData {
  readonly kind: 'data' | 'data-raw' | 'data-binary' | 'data-urlencode' | 'json';
  readonly value: string;
}

const DATA_KINDS: ReadonlySet<string> = new Set(['data', 'data-raw', 'data-binary', 'data-urlencode', 'json']);

/** Reads curl's words; throws `GW_CURL_ARGS` for an option that is unknown or makes no sense here. */
export function parseCurlArgs(words: readonly string[]): CurlRequest {
  const reader = new WordReader(words);
  const urls: string[] = [];
  const headers: string[] = [];
  const data: CurlData[] = [];
  const flags = new Set<CurlFlag>();
  const values = new Map<CurlValue, string>();
  for (const item of reader.items()) {
    if (item.kind === 'word') urls.push(item.value);
    else if (item.kind === 'flag') flags.add(item.name);
    else if (item.name === 'url') urls.push(item.value);
    else if (item.name === 'header') headers.push(item.value);
    else if (isData(item.name)) data.push({ kind: item.name, value: item.value });
    else values.set(item.name, item.value);
  }
  const url = parseUrl(urls);
  return { url, method: values.get('request'), headers, data, uploadFile: values.get('upload-file'), flags, values };
}

function isData(name: CurlValue): name is CurlData['kind'] & CurlValue {
  return DATA_KINDS.has(name);
}

type Item =
  | { readonly kind: 'word'; readonly value: string }
  | { readonly kind: 'flag'; readonly name: CurlFlag }
  | { readonly kind: 'value'; readonly name: CurlValue; readonly value: string };

/** Cuts words into options; an option's value is never taken for a URL, whatever it looks like. */
class WordReader {
  readonly #words: string[];

  constructor(words: readonly string[]) {
    this.#words = [...words];
  }

  *items(): Generator<Item> {
    let onlyUrls = false;
    for (let word = this.#words.shift(); word !== undefined; word = this.#words.shift()) {
      if (word === '--' && !onlyUrls) onlyUrls = true;
      else if (onlyUrls || !word.startsWith('-') || word === '-') yield { kind: 'word', value: word };
      else if (word.startsWith('--')) yield this.#option(word, undefined);
      else yield* this.#cluster(word);
    }
  }

  /** `-sk`, `-XPOST`, `-d@file`: flags in a row, of which the last may take the rest as its value. */
  *#cluster(word: string): Generator<Item> {
    for (let at = 1; at < word.length; at += 1) {
      const rest = word.slice(at + 1);
      const item = this.#option(`-${word[at]}`, rest === '' ? undefined : rest);
      yield item;
      if (item.kind === 'value') return;
    }
  }

  #option(spelling: string, attached: string | undefined): Item {
    const option = Object.hasOwn(curlOptions, spelling) ? curlOptions[spelling] : undefined;
    if (option === undefined) throw unknownOption(spelling);
    if (option.kind === 'refused') throw argsError(`${spelling} has no place in a traced request: ${option.why}`);
    if (option.kind === 'flag') return option;
    const value = attached ?? this.#words.shift();
    if (value === undefined) throw argsError(`${spelling} needs a value`);
    return { kind: 'value', name: option.name, value };
  }
}

function unknownOption(spelling: string): GwError {
  const similar = spelling.startsWith('--') ? nearest(spelling, Object.keys(curlOptions)) : undefined;
  return argsError(
    `the curl option ${spelling} is not understood`,
    similar === undefined ? undefined : `${similar} instead of ${spelling}`,
  );
}

function parseUrl(urls: readonly string[]): URL {
  const [first, second] = urls;
  if (first === undefined)
    throw argsError('there is no URL behind --', 'gwctl proxy trace --port 8080 -- http://localhost/');
  if (second !== undefined)
    throw argsError(`one trace follows one request, and there are several URLs: ${first} and ${second}`);
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(first) ? first : `http://${first}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.hostname === '') throw argsError(`"${first}" is not a URL`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw argsError(`"${first}" has the scheme ${url.protocol.slice(0, -1)}: expected http or https`);
  }
  return url;
}

export function argsError(message: string, hint?: string): GwError {
  return new GwError(message, { code: 'GW_CURL_ARGS', exitCode: exitCodes.usage, hint });
}
