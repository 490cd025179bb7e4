import { pathOf, queryOf } from '../exchange/message.ts';

/** The model that a path names, for services whose paths do (Gemini, Vertex, Bedrock, Azure); undefined where none does. */
export function pathModel(path: string): string | undefined {
  return googleModel(path) ?? bedrockModel(path) ?? azureModel(path);
}

/** Whether a target is one of Azure's OpenAI: a deployment's, or another with the version of Azure's API. */
export function isAzureTarget(target: string): boolean {
  const path = pathOf(target);
  if (!path.includes(AZURE)) return false;
  return azureSegment(path) !== undefined || /[?&]api-version=/.test(queryOf(target));
}

/** The path of a target of Azure as OpenAI has it. */
export function openaiPathOf(azurePath: string): string {
  const deployment = azureSegment(azurePath);
  if (deployment !== undefined) return `/v1${azurePath.slice(deployment.end)}`;
  return azurePath.slice(azurePath.indexOf(AZURE)).replace(/^\/openai\/(?:v1\/)?/, '/v1/');
}

const AZURE = '/openai/';
const AZURE_DEPLOYMENT = '/openai/deployments/';
const AZURE_ACTION = /\/(?:(?:chat\/)?completions|embeddings|audio\/\w+|images\/\w+|batches)$/;
const GOOGLE_ACTION = /:(?:rawPredict|streamRawPredict|generateContent|streamGenerateContent|countTokens)$/;
const BEDROCK_ACTION = /\/(?:invoke|invoke-with-response-stream|converse|converse-stream)$/;
const STREAMING = /(?::streamRawPredict|:streamGenerateContent|\/invoke-with-response-stream|\/converse-stream)$/;

/** Whether the path asks for a stream, where the body does not. */
export function pathStreams(path: string): boolean {
  return STREAMING.test(path);
}

/** The same path with another model. A path that names none stays as it is. */
export function withPathModel(path: string, model: string): string {
  const google = googleSegment(path);
  if (google !== undefined) return replaced(path, google, encodeURIComponent(model));
  const bedrock = bedrockSegment(path);
  // The colons of versions stay, as its clients write them.
  if (bedrock !== undefined) return replaced(path, bedrock, encodeURIComponent(model).replaceAll('%3A', ':'));
  const azure = azureSegment(path);
  return azure === undefined ? path : replaced(path, azure, encodeURIComponent(model));
}

interface Segment {
  readonly start: number;
  readonly end: number;
}

function replaced(path: string, { start, end }: Segment, text: string): string {
  return `${path.slice(0, start)}${text}${path.slice(end)}`;
}

function googleModel(path: string): string | undefined {
  const at = googleSegment(path);
  return at && named(path.slice(at.start, at.end));
}

/** From behind `/models/` to the first colon. */
function googleSegment(path: string): Segment | undefined {
  const action = GOOGLE_ACTION.exec(path);
  if (action === null) return undefined;
  const publishers = path.indexOf('/publishers/');
  const raw = action[0].endsWith('Predict');
  if (raw && publishers === -1) return undefined;
  const from = path.indexOf('/models/', Math.max(0, publishers));
  if (from === -1) return undefined;
  const start = from + '/models/'.length;
  return { start, end: path.indexOf(':', start) };
}

function bedrockModel(path: string): string | undefined {
  const at = bedrockSegment(path);
  return at && named(path.slice(at.start, at.end));
}

function bedrockSegment(path: string): Segment | undefined {
  const action = BEDROCK_ACTION.exec(path);
  const from = path.indexOf('/model/');
  if (action === null || from === -1 || from + '/model/'.length > action.index) return undefined;
  return { start: from + '/model/'.length, end: action.index };
}

/** A deployment, which is Azure's word for a model. */
function azureModel(path: string): string | undefined {
  const at = azureSegment(path);
  return at && named(path.slice(at.start, at.end));
}

function azureSegment(path: string): Segment | undefined {
  const from = path.indexOf(AZURE_DEPLOYMENT);
  if (from === -1) return undefined;
  const start = from + AZURE_DEPLOYMENT.length;
  const end = AZURE_ACTION.exec(path)?.index ?? -1;
  return end > start ? { start, end } : undefined;
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
