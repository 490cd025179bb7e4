import type { JsonObject } from '../../../exchange/attributes.ts';

/** By media type. */
const FORMATS: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'application/csv': 'csv',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'text/html': 'html',
  'text/plain': 'txt',
  'text/markdown': 'md',
};
const EXTENSIONS = new Set(['pdf', 'csv', 'doc', 'docx', 'xls', 'xlsx', 'html', 'txt', 'md']);
/** Bedrock's own limit. */
const MAX_NAME = 200;

export interface DocumentFile {
  readonly base64: string;
  readonly mediaType: string | undefined;
  readonly filename: string | undefined;
}

/** The documents of one request, whose names have to differ. */
export class Documents {
  readonly #used = new Map<string, number>();

  /** Undefined for a format that Bedrock does not read. */
  block({ base64, mediaType, filename }: DocumentFile): JsonObject | undefined {
    const format = FORMATS[mediaType?.split(';', 1)[0]?.trim().toLowerCase() ?? ''] ?? extensionOf(filename);
    if (format === undefined) return undefined;
    return { document: { format, name: this.#name(filename), source: { bytes: base64 } } };
  }

  #name(filename: string | undefined): string {
    const name = sanitized(filename ?? '');
    const count = (this.#used.get(name) ?? 0) + 1;
    this.#used.set(name, count);
    return count === 1 ? name : `${name} [${count}]`;
  }
}

function extensionOf(filename: string | undefined): string | undefined {
  const extension = /\.([A-Za-z]+)$/.exec(filename ?? '')?.[1]?.toLowerCase();
  if (extension === 'htm') return 'html';
  return extension !== undefined && EXTENSIONS.has(extension) ? extension : undefined;
}

/** Letters, digits, single spaces, `-()[]`: names are read by the model, and refused for anything else. */
function sanitized(filename: string): string {
  const name = filename
    .slice(0, 4 * MAX_NAME)
    .replace(/\.[^.]*$/, '')
    .replace(/[^A-Za-z0-9\-()[\] ]/g, ' ')
    .replace(/ +/g, ' ')
    .trim()
    .slice(0, MAX_NAME - ' [000]'.length)
    .trim();
  return name === '' ? 'document' : name;
}
