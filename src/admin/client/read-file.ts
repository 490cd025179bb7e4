import { open, readFile } from 'node:fs/promises';
import { GwError, exitCodes, messageOf, systemCodeOf } from '../../shared/errors.ts';

const MAX_FILE_BYTES = 512 * 1024 * 1024;

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'access to it is denied',
  EISDIR: 'it is a directory',
};

/** A file that cannot be read, in words. */
export function fileError(path: string, thrown: unknown): GwError {
  const code = systemCodeOf(thrown) ?? '';
  return new GwError(`cannot read ${path}: ${REASONS[code] ?? messageOf(thrown)}`, {
    code: 'GW_FILE',
    exitCode: code === 'ENOENT' ? exitCodes.notFound : exitCodes.failed,
    cause: thrown,
  });
}

/** The text of a recorded dump; `-` reads `stdin`. */
export async function readText(path: string, stdin: AsyncIterable<Uint8Array | string>): Promise<string> {
  if (path === '-') return collect(stdin);
  try {
    return (await readFile(path, 'utf8')).replace(/^\uFEFF/, '');
  } catch (error) {
    throw fileError(path, error);
  }
}

async function collect(stdin: AsyncIterable<Uint8Array | string>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stdin) {
    text += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    if (text.length > MAX_FILE_BYTES) throw new GwError('stdin holds more than 512 MiB', { code: 'GW_FILE' });
  }
  return text + decoder.decode();
}

/** The bytes of a recorded trace, in pieces; `-` reads `stdin`. */
export async function* readChunks(
  path: string,
  stdin: AsyncIterable<Uint8Array | string>,
): AsyncGenerator<Uint8Array | string> {
  if (path === '-') {
    yield* stdin;
    return;
  }
  const file = await open(path).catch((error: unknown) => {
    throw fileError(path, error);
  });
  try {
    // The stream of a file handle delivers buffers.
    for await (const chunk of file.createReadStream()) yield chunk as Uint8Array;
  } catch (error) {
    throw fileError(path, error);
  }
}
