/** What a form says about the model. */
export type FormModel =
  | { readonly kind: 'model'; readonly model: string }
  | { readonly kind: 'missing' | 'file' | 'invalid' };

/** A name is short: more of the field is not kept. */
const MAX_NAME_BYTES = 4096;
const MAX_PARTS = 1000;

/** The text field `model` of a form that is in memory as a whole. */
export async function formModel(bytes: Uint8Array, contentType: string): Promise<FormModel> {
  // Loaded with the first form: few gateways see any.
  const { Busboy } = await import('@fastify/busboy');
  let form: InstanceType<typeof Busboy>;
  try {
    const limits = { fieldSize: MAX_NAME_BYTES, parts: MAX_PARTS };
    form = new Busboy({ headers: { 'content-type': contentType }, limits });
  } catch {
    // A form without a boundary.
    return { kind: 'invalid' };
  }
  return new Promise((resolve) => {
    let found: FormModel = { kind: 'missing' };
    form.on('field', (name, value, _nameTruncated, truncated) => {
      if (name === 'model' && found.kind === 'missing')
        found = truncated ? { kind: 'invalid' } : { kind: 'model', model: value };
    });
    form.on('file', (name, stream) => {
      if (name === 'model' && found.kind === 'missing') found = { kind: 'file' };
      stream.on('error', () => {});
      stream.resume();
    });
    form.on('error', () => resolve({ kind: 'invalid' }));
    form.on('finish', () => resolve(found));
    form.end(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  });
}

/** The same form with another text in its field `model`; as it is where no such part is found. */
export function withFormModel(bytes: Uint8Array, contentType: string, model: string): Uint8Array {
  const boundary = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType);
  if (boundary === null) return bytes;
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const mark = Buffer.from(`--${boundary[1] ?? boundary[2] ?? ''}`);
  for (let at = body.indexOf(mark); at !== -1;) {
    const next = body.indexOf(mark, at + mark.length);
    const end = next === -1 ? body.length : next;
    const head = body.indexOf('\r\n\r\n', at);
    if (head !== -1 && head < end && isModelField(body.toString('latin1', at + mark.length, head)))
      // The line break before the next mark belongs to the mark.
      return Buffer.concat([
        body.subarray(0, head + 4),
        Buffer.from(model),
        body.subarray(next === -1 ? end : end - 2),
      ]);
    at = next;
  }
  return bytes;
}

function isModelField(head: string): boolean {
  const disposition = /^content-disposition:(.*)$/im.exec(head)?.[1] ?? '';
  return /;\s*name="?model"?\s*(;|$)/i.test(disposition.trim()) && !/;\s*filename/i.test(disposition);
}
