import { z } from 'zod';
import { parseByteSize } from '../../shared/byte-size.ts';
import { parseDurationMs } from '../../shared/duration.ts';
import { address, checked, secret } from './marks.ts';

const DURATION = /^(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$/;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+\-.^_`|~]+$/;
const HEADER_OR_PSEUDO = /^(:(method|scheme|authority|path|status)|[A-Za-z0-9!#$%&'*+\-.^_`|~]+)$/;
const HOSTNAME =
  /^(\*|(\*\.)?[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*\.?)$/;
const QUANTITY = /^[0-9]+(\.[0-9]+)?(k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?$/;
// A header value: visible characters, spaces, tabs and bytes above 0x7f (RFC 9110 section 5.5).
// oxlint-disable-next-line no-control-regex
const HEADER_VALUE = /^[^\u0000-\u0008\u000a-\u001f\u007f]*$/;

/** `expected …` messages are completed with what was found, see `decode.ts`. */
const expected = (what: string) => ({ error: () => `expected ${what}` });

const DURATION_TEXT = expected('a duration with a unit, such as 30s, 300ms or 1h30m');

/** A duration in milliseconds. */
export const duration = z
  .union([z.string().max(32, DURATION_TEXT).regex(DURATION, DURATION_TEXT), z.literal(0)], DURATION_TEXT)
  .meta({
    id: 'Duration',
    description: 'A duration: numbers with units (ns, us, ms, s, m, h), such as 30s, 300ms or 1h30m; 0 needs no unit.',
  })
  .transform((value) => parseDurationMs(String(value)) ?? Number.NaN);

/** A duration that has to be longer than nothing, in milliseconds. */
export const positiveDuration = duration.refine((ms) => ms > 0, { error: 'expected a duration longer than 0' });

const SIZE_TEXT = expected('a number of bytes, such as 2097152, 512Ki or 2Mi');

/** A number of bytes. */
export const byteSize = z
  .union([z.int().min(0), z.string().max(32, SIZE_TEXT).regex(QUANTITY, SIZE_TEXT)], SIZE_TEXT)
  .meta({
    id: 'ByteSize',
    description:
      'A number of bytes, plain or with a suffix: k, M, G, T, P (powers of 1000), Ki, Mi, Gi, Ti, Pi (powers of 1024).',
  })
  .transform((value) => parseByteSize(value) ?? Number.NaN)
  .refine((bytes) => Number.isSafeInteger(bytes), { error: 'expected a whole number of bytes' });

export const port = z
  .int(expected('a port number from 1 to 65535'))
  .min(1, expected('a port number from 1 to 65535'))
  .max(65535, expected('a port number from 1 to 65535'));

export const uint32 = z.int().min(0).max(4294967295);

export const shortString = z.string().min(1).max(256);

/** An expression in the Common Expression Language. */
export const cel = checked(
  z
    .string()
    .min(1)
    .max(16384)
    .meta({ id: 'Expression', description: 'An expression in the Common Expression Language (CEL).' }),
  'cel',
);

export const headerName = z
  .string(expected('a header name'))
  .min(1)
  .max(256)
  .regex(HEADER_NAME, { error: "expected a header name (letters, digits and !#$%&'*+-.^_`|~)" });

export const headerOrPseudo = z
  .string(expected('a header name'))
  .min(1)
  .max(256)
  .regex(HEADER_OR_PSEUDO, { error: 'expected a header name, or one of :method, :scheme, :authority, :path, :status' });

export const headerValue = z
  .string()
  .regex(HEADER_VALUE, { error: 'expected a header value without line breaks or control characters' });

export const hostname = z
  .string()
  .min(1)
  .max(253, { abort: true })
  .regex(HOSTNAME, { error: 'expected a host name such as example.com, or *.example.com' })
  .transform((name) => name.toLowerCase().replace(/\.$/, ''));

const SINGLE_HOSTNAME = /^[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*\.?$/;

/** A host name that stands for one host: no wildcards. IPv4 addresses have the same form. */
export const singleHostname = z
  .string()
  .min(1)
  .max(253, { abort: true })
  .regex(SINGLE_HOSTNAME, { error: 'expected a host name such as example.com' })
  .transform((name) => name.toLowerCase().replace(/\.$/, ''));

/** An HTTP status. */
export const status = (min = 100, max = 599) =>
  z
    .int(expected(`an HTTP status from ${min} to ${max}`))
    .min(min, expected(`an HTTP status from ${min} to ${max}`))
    .max(max, expected(`an HTTP status from ${min} to ${max}`));

/** A share from 0 to 1. */
export const ratio = z
  .number(expected('a number from 0 to 1'))
  .min(0, expected('a number from 0 to 1'))
  .max(1, expected('a number from 0 to 1'));

const fromFile = z.strictObject({
  file: z.string().min(1).max(1024).describe('Path of a file, relative to the configuration file.'),
});

/** A path of a PEM file, the PEM text itself, or `{file: path}`. */
export const pemSource = z.union([z.string().min(1), fromFile], expected('the path of a PEM file, or PEM text')).meta({
  id: 'PemSource',
  description: 'Path of a PEM file (relative to the configuration file), `{file: path}`, or the PEM text itself.',
});

const fileOrInline = z
  .union([z.string(), fromFile], expected('a text, or {file: path}'))
  .meta({ id: 'FileOrInline', description: 'The text itself, or `{file: path}`.' });

export const secretText = secret(fileOrInline);

export const fileInlineOrRemote = z
  .union(
    [z.string(), fromFile, z.strictObject({ url: address(z.string().min(1)) })],
    expected('a text, {file: path} or {url: address}'),
  )
  .meta({ id: 'FileInlineOrRemote', description: 'The text itself, `{file: path}` or `{url: address}`.' });

/** Text, or a list of byte values. */
export const bytes = z
  .union(
    [z.string().max(4096), z.array(z.int().min(0).max(255)).max(4096)],
    expected('a text, or a list of byte values, of at most 4096'),
  )
  .meta({ description: 'Text, or a list of byte values; at most 4096.' });

const entryName = z.string().min(1, expected('a name')).max(256, expected('a name of at most 256 characters'));

export const celMap = (description: string) => z.record(entryName, cel).describe(description);

/** `gateway`, `gateway/listener`, or a list of those. */
export const gatewayRefs = checked(
  z
    .union(
      [z.string().min(1), z.array(z.string().min(1)).min(1)],
      expected('the name of a gateway, `gateway/listener`, or a list of those'),
    )
    .meta({
      id: 'GatewayRefs',
      description:
        'Where this attaches: `gateway` (every listener of the right kind) or `gateway/listener`, or a list. Without it: the gateway called `default`.',
    }),
  'gateway',
).transform((refs) => (typeof refs === 'string' ? [refs] : refs));
