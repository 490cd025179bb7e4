import {
  ApiError,
  type Content,
  GoogleGenAI,
  type GenerateContentParameters,
  type GenerateContentResponse,
  type Part,
} from '@google/genai';
// Google's client looks for the dispatcher that this leaves in the globals, which Node's own leaves in another context.
import 'undici';

import { type Chat, type ChatClient, PNG, type Question, type Told } from '../client.ts';
import { CLIENT_KEY } from '../world.ts';

/** The library `@google/genai`, as for the Gemini API. */
export const google: ChatClient = {
  name: '@google/genai',
  format: 'generateContent',
  at: (url) => chat(new GoogleGenAI({ apiKey: CLIENT_KEY, httpOptions: { baseUrl: url } })),
  finish: { stop: 'STOP', length: 'MAX_TOKENS', calls: 'STOP', filtered: 'SAFETY' },
  countsCached: true,
  errors: { 400: 'ApiError', 401: 'ApiError', 429: 'ApiError', 500: 'ApiError' },
  failure(error) {
    if (!(error instanceof ApiError)) throw error;
    return { kind: 'ApiError', status: error.status, message: error.message, retryAfter: undefined };
  },
  lacks: new Set(['retryAfter']),
};

function chat(client: GoogleGenAI): Chat {
  return {
    async ask(model, question) {
      const body = { model, ...asked(question) };
      if (!question.stream) return told([await client.models.generateContent(body)]);
      const all: GenerateContentResponse[] = [];
      for await (const each of await client.models.generateContentStream(body)) all.push(each);
      return told(all);
    },
    async pieces(model, prompt, signal) {
      return texts(
        await client.models.generateContentStream({ model, contents: prompt, config: { abortSignal: signal } }),
      );
    },
  };
}

async function* texts(stream: AsyncIterable<GenerateContentResponse>): AsyncIterable<string> {
  for await (const { text } of stream) if (text !== undefined && text !== '') yield text;
}

function asked(question: Question): Omit<GenerateContentParameters, 'model'> {
  const { prompt, earlier = [], system, tools, schema, image, reasoning } = question;
  const contents: Content[] = [];
  for (const { prompt: before, reply, results = [] } of earlier) {
    // `as`: the parts of an earlier answer.
    contents.push({ role: 'user', parts: [{ text: before }] }, { role: 'model', parts: reply as Part[] });
    if (results.length > 0) {
      const parts = results.map(({ name, text }) => ({ functionResponse: { name, response: { output: text } } }));
      contents.push({ role: 'user', parts });
    }
  }
  const picture = image === true ? [{ inlineData: { mimeType: 'image/png', data: PNG } }] : [];
  if (prompt !== null) contents.push({ role: 'user', parts: [{ text: prompt }, ...picture] });
  return {
    contents,
    config: {
      ...(system === undefined ? {} : { systemInstruction: system }),
      ...(tools === undefined
        ? {}
        : {
            tools: [
              {
                functionDeclarations: tools.map(({ name, parameters }) => ({ name, parametersJsonSchema: parameters })),
              },
            ],
          }),
      ...(schema === undefined ? {} : { responseMimeType: 'application/json', responseJsonSchema: schema }),
      ...(reasoning === true ? { thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 } } : {}),
    },
  };
}

function told(all: readonly GenerateContentResponse[]): Told {
  const parts = all.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
  const usage = all.at(-1)?.usageMetadata;
  return {
    text: parts.map(({ text, thought }) => (thought === true ? '' : (text ?? ''))).join(''),
    reasoning: parts.map(({ text, thought }) => (thought === true ? (text ?? '') : '')).join(''),
    refusal: '',
    calls: parts.flatMap(({ functionCall: call }) =>
      call === undefined ? [] : [{ id: call.id ?? '', name: call.name ?? '', input: call.args ?? {} }],
    ),
    finish: String(all.at(-1)?.candidates?.[0]?.finishReason),
    usage: {
      input: usage?.promptTokenCount ?? 0,
      cached: usage?.cachedContentTokenCount ?? 0,
      output: (usage?.candidatesTokenCount ?? 0) + (usage?.thoughtsTokenCount ?? 0),
    },
    reply: parts,
  };
}
