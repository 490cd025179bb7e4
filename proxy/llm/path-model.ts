/** The model that a path names, for services whose paths do (Gemini, Vertex, Bedrock); undefined where none does. */
export function pathModel(path: string): string | undefined {
  return googleModel(path) ?? bedrockModel(path);
}

const GOOGLE_ACTION = /:(?:rawPredict|streamRawPredict|generateContent|streamGenerateContent|countTokens)$/;
const BEDROCK_ACTION = /\/(?:invoke|invoke-with-response-stream|converse|converse-stream)$/;
const STREAMING = /(?::streamRawPredict|:streamGenerateContent|\/invoke-with-response-stream|\/converse-stream)$/;

/** Whether the path asks for a stream, where the body does not. */
export function pathStreams(path: string): boolean {
  return STREAMING.test(path);
}

function googleModel(path: string): string | undefined {
  const action = GOOGLE_ACTION.exec(path);
  if (action === null) return undefined;
  const publishers = path.indexOf('/publishers/');
  const raw = action[0].endsWith('Predict');
  if (raw && publishers === -1) return undefined;
  const from = path.indexOf('/models/', Math.max(0, publishers));
  return from === -1 ? undefined : named(path.slice(from + '/models/'.length).split(':', 1)[0] ?? '');
}

function bedrockModel(path: string): string | undefined {
  const action = BEDROCK_ACTION.exec(path);
  const from = path.indexOf('/model/');
  if (action === null || from === -1 || from + '/model/'.length > action.index) return undefined;
  return named(path.slice(from + '/model/'.length, action.index));
}

/** Percent-decoded; undefined for what could lead anywhere else than to a model. */
function named(text: string): string | undefined {
  const name = decoded(text);
  return name.split('/').every(isSafeSegment) ? name : undefined;
}

function decoded(text: string): string {
  if (!text.includes('%')) return text;
  const bytes = text.replace(/%([0-9a-f]{2})/gi, (_match, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

// oxlint-disable-next-line no-control-regex
const UNSAFE = /[\\%?#<>"`{}|^\s\u0000-\u001f\u007f-\u009f]/u;

function isSafeSegment(segment: string): boolean {
  return segment !== '' && segment !== '.' && segment !== '..' && !UNSAFE.test(segment);
}
