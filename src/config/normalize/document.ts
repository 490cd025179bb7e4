import { httpUrl, shownUrl } from '../documents/http-url.ts';
import { readKeySet } from '../documents/key-set.ts';
import { readOpenApi } from '../documents/open-api-text.ts';
import type { KeySetSource } from '../ir/document.ts';
import type { OpenApiSource } from '../ir/mcp.ts';
import type { Path } from '../load/problem.ts';
import type { Context } from './context.ts';

/** `text | {file} | {url}` as the file has it. */
export type DocumentSpec = string | { readonly file: string } | { readonly url: string };

/** The text of a document and how messages call it, or the address to fetch it from. */
export type DocumentText =
  | { readonly kind: 'text'; readonly text: string; readonly name: string }
  | { readonly kind: 'remote'; readonly url: string };

/** Undefined after a problem, or while the file is not read yet. */
export function documentText(context: Context, spec: DocumentSpec, path: Path): DocumentText | undefined {
  if (typeof spec === 'string') return { kind: 'text', text: spec, name: 'the text' };
  if ('url' in spec) {
    const url = httpUrl(spec.url);
    if ('href' in url) return { kind: 'remote', url: url.href };
    context.report([...path, 'url'], 'GW_CONFIG_VALUE', `${JSON.stringify(shownUrl(spec.url))} ${url.problem}`);
    return undefined;
  }
  const file = context.files.absolute(spec.file);
  const content = context.files.get(file);
  if (content?.kind === 'text') return { kind: 'text', text: content.text, name: file };
  if (content?.kind === 'failed') context.report([...path, 'file'], 'GW_CONFIG_FILE', content.message);
  return undefined;
}

/** An OpenAPI document. Undefined after a problem, or while its file is not read yet. */
export function openApi(
  context: Context,
  spec: DocumentSpec,
  { path, optional }: { readonly path: Path; readonly optional: boolean },
): OpenApiSource | undefined {
  const document = documentText(context, spec, path);
  if (document === undefined) return undefined;
  if (document.kind === 'remote')
    return { kind: 'remote', content: 'openApi', url: document.url, ...(optional ? { optional } : {}) };
  const read = readOpenApi(document.text);
  if (typeof read !== 'string') return { kind: 'inline', document: read.document };
  context.report(path, 'GW_CONFIG_VALUE', `the OpenAPI document in ${document.name} cannot be used: ${read}`);
  return undefined;
}

/** A JSON Web Key Set. Undefined after a problem, or while its file is not read yet. */
export function keySet(context: Context, spec: DocumentSpec, path: Path): KeySetSource | undefined {
  const document = documentText(context, spec, path);
  if (document === undefined) return undefined;
  if (document.kind === 'remote') return { kind: 'remote', content: 'keySet', url: document.url };
  const read = readKeySet(document.text, { strict: true });
  if (read.kind === 'keys') return { kind: 'inline', keys: read.keys };
  context.report(path, 'GW_CONFIG_VALUE', `the key set in ${document.name} cannot be used: ${read.message}`);
  return undefined;
}
