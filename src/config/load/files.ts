import { resolve } from 'node:path';
import { messageOf, systemCodeOf } from '../../shared/errors.ts';

export type ReadFile = (path: string) => Promise<Uint8Array>;

/** Content of a referenced file, or why there is none. */
export type FileContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'failed'; readonly message: string; readonly missing?: boolean };

const MAX_BYTES = 16 * 1024 * 1024;

/**
 * The files that a configuration refers to. Normalizing asks for them without waiting; what it asked for in vain is read
 * by `load()`, after which it is run again.
 */
export class FileStore {
  readonly #read: ReadFile;
  readonly #directory: string;
  readonly #contents = new Map<string, FileContent>();
  readonly #wanted = new Set<string>();

  /** Relative paths start at `directory`, that of the configuration. */
  constructor(read: ReadFile, directory: string) {
    this.#read = read;
    this.#directory = directory;
  }

  absolute(path: string): string {
    return resolve(this.#directory, path);
  }

  /** Content of a file by its absolute path; undefined until `load()` has read it. */
  get(path: string): FileContent | undefined {
    const content = this.#contents.get(path);
    if (content === undefined) this.#wanted.add(path);
    return content;
  }

  /** Reads what was asked for; false when there was nothing to read. */
  async load(): Promise<boolean> {
    const paths = [...this.#wanted];
    this.#wanted.clear();
    await Promise.all(paths.map(async (path) => this.#contents.set(path, await readText(this.#read, path))));
    return paths.length > 0;
  }

  /** Every file asked for, whether it could be read or not: a missing one may appear later. */
  entries(): readonly (readonly [path: string, content: FileContent])[] {
    return [...this.#contents].sort(([left], [right]) => (left < right ? -1 : 1));
  }
}

/** Reads a file as text, with the reason in plain words when that fails. */
export async function readText(read: ReadFile, path: string): Promise<FileContent> {
  try {
    const bytes = await read(path);
    if (bytes.byteLength > MAX_BYTES)
      return { kind: 'failed', message: `${path} is larger than ${MAX_BYTES / 1024 / 1024} MiB` };
    return { kind: 'text', text: decodeUtf8(bytes) };
  } catch (error) {
    return { kind: 'failed', message: reason(error, path), missing: systemCodeOf(error) === 'ENOENT' };
  }
}

/** UTF-8 without its mark; throws on anything else. */
export function decodeUtf8(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

function reason(error: unknown, path: string): string {
  switch (systemCodeOf(error)) {
    case 'ENOENT':
      return `there is no file ${path}`;
    case 'EACCES':
    case 'EPERM':
      return `no permission to read ${path}`;
    case 'EISDIR':
      return `${path} is a directory`;
    case 'ERR_ENCODING_INVALID_ENCODED_DATA':
      return `${path} is not UTF-8 text`;
    default:
      return `cannot read ${path}: ${messageOf(error)}`;
  }
}
