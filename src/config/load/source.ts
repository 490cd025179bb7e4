import { readFile as readFileFromDisk } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { decodeUtf8, readText, type ReadFile } from './files.ts';

/** Where a configuration comes from. */
export type ConfigSource =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'stdin'; readonly stream: AsyncIterable<Uint8Array | string> }
  /** `name` stands in messages. */
  | { readonly kind: 'text'; readonly text: string; readonly name: string };

/** The text of a source and what is known about it. */
export interface SourceText {
  readonly text: string;
  /** As it is named in messages. */
  readonly name: string;
  /** Where relative paths in it start. */
  readonly directory: string;
  /** Absolute path to watch; undefined for what is read once. */
  readonly file: string | undefined;
}

/** Most bytes of a configuration. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Reads a file from the disk as bytes. */
export const readFromDisk: ReadFile = (path) => readFileFromDisk(path);

/** Reads a source; a text says why it cannot be read. */
export async function readSource(
  source: ConfigSource,
  options: { readonly readFile: ReadFile; readonly directory: string },
): Promise<SourceText | string> {
  switch (source.kind) {
    case 'file':
      return readFile(source.path, options);
    case 'stdin':
      return readStream(source.stream, options.directory);
    case 'text':
      return source.text.length > MAX_BYTES
        ? `${source.name} is larger than 16 MiB`
        : { text: source.text, name: source.name, directory: options.directory, file: undefined };
  }
}

async function readFile(
  path: string,
  { readFile: read, directory }: { readonly readFile: ReadFile; readonly directory: string },
): Promise<SourceText | string> {
  const absolute = resolve(directory, path);
  const content = await readText(read, absolute);
  if (content.kind === 'failed') return content.message;
  const once = /^\/(dev\/stdin$|dev\/fd\/|proc\/self\/fd\/)/.test(absolute);
  return {
    text: content.text,
    name: path,
    directory: once ? directory : dirname(absolute),
    file: once ? undefined : absolute,
  };
}

async function readStream(stream: AsyncIterable<Uint8Array | string>, directory: string): Promise<SourceText | string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk;
    size += bytes.byteLength;
    if (size > MAX_BYTES) return 'standard input is larger than 16 MiB';
    chunks.push(bytes);
  }
  try {
    return { text: decodeUtf8(Buffer.concat(chunks)), name: '<stdin>', directory, file: undefined };
  } catch {
    return 'standard input is not UTF-8 text';
  }
}
