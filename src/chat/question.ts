import type { Question } from './formats/contract.ts';
import { chatFormats, type ChatFormatName } from './formats/registry.ts';

/** Where and how a question is asked. */
export interface QuestionPlace {
  /** Where the models are; the path of the format goes behind its own. */
  readonly url: URL;
  readonly format: ChatFormatName;
  readonly apiKey: string | undefined;
  /** Take the place of the format's own headers of the same name. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** The request of a question: where it goes, its headers and its body. */
export function questionRequest(question: Question, options: QuestionPlace) {
  const format = chatFormats[options.format];
  const [path = '', query] = format.path(question).split('?');
  const url = new URL(options.url);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${withoutTwice(url.pathname, path)}`;
  if (query !== undefined) for (const [name, value] of new URLSearchParams(query)) url.searchParams.set(name, value);
  const own: readonly (readonly [string, string])[] = [
    ['content-type', 'application/json'],
    ['accept', question.streaming ? 'text/event-stream, application/json' : 'application/json'],
    ['user-agent', 'gwctl'],
    ...format.headers(options.apiKey),
  ];
  const given = new Set(options.headers.map(([name]) => name.toLowerCase()));
  const headers = [...own.filter(([name]) => !given.has(name)), ...options.headers];
  return { url, headers, body: JSON.stringify(format.body(question)) };
}

/** A base that ends in the version, as clients' settings have it, does not get it again. */
function withoutTwice(base: string, path: string): string {
  const version = /^\/v1(?:beta)?(?=\/)/.exec(path)?.[0];
  return version !== undefined && base.replace(/\/+$/, '').endsWith(version) ? path.slice(version.length) : path;
}
