/** What the public conformance suite asks a server to have, as its descriptions name it. */

/** One red dot. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
/** A header without samples. */
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=';

const image = { type: 'image', data: PNG, mimeType: 'image/png' } as const;
const text = (said: string) => ({ type: 'text', text: said }) as const;
const resource = (uri: string, mimeType: string, said: string) =>
  ({ type: 'resource', resource: { uri, mimeType, text: said } }) as const;

const noArguments = { type: 'object', properties: {} } as const;
const oneText = (name: string) =>
  ({ type: 'object', properties: { [name]: { type: 'string' } }, required: [name] }) as const;

/** By name: what `tools/list` says of them. */
export const tools = Object.entries({
  test_simple_text: noArguments,
  test_image_content: noArguments,
  test_audio_content: noArguments,
  test_embedded_resource: noArguments,
  test_multiple_content_types: noArguments,
  test_tool_with_logging: noArguments,
  test_error_handling: noArguments,
  test_tool_with_progress: noArguments,
  test_sampling: oneText('prompt'),
  test_elicitation: oneText('message'),
  test_elicitation_sep1034_defaults: noArguments,
  test_elicitation_sep1330_enums: noArguments,
  test_reconnection: noArguments,
  json_schema_2020_12_tool: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
    properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
    additionalProperties: false,
  },
} as const).map(([name, inputSchema]) => ({ name, description: `The suite asks for ${name}.`, inputSchema }));

/** Tools that answer at once. */
export const contents: Readonly<Record<string, readonly object[]>> = {
  test_simple_text: [text('This is a simple text response for testing.')],
  test_image_content: [image],
  test_audio_content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }],
  test_embedded_resource: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  test_multiple_content_types: [
    text('Multiple content types test:'),
    image,
    resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ],
  json_schema_2020_12_tool: [text('Taken.')],
};

/** Forms that tools ask a person to fill in. */
export const forms = {
  test_elicitation: {
    type: 'object',
    properties: {
      username: { type: 'string', description: "User's response" },
      email: { type: 'string', description: "User's email address" },
    },
    required: ['username', 'email'],
  },
  test_elicitation_sep1034_defaults: {
    type: 'object',
    properties: {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    },
  },
  test_elicitation_sep1330_enums: {
    type: 'object',
    properties: {
      untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
      titledSingle: { type: 'string', oneOf: titled(['value1', 'value2', 'value3'], 'Option') },
      legacyEnum: {
        type: 'string',
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
      titledMulti: { type: 'array', items: { anyOf: titled(['value1', 'value2', 'value3'], 'Choice') } },
    },
  },
} as const;

function titled(values: readonly string[], noun: string): { const: string; title: string }[] {
  return values.map((value, index) => ({ const: value, title: `${['First', 'Second', 'Third'][index]} ${noun}` }));
}

export const resources = [
  { uri: 'test://static-text', name: 'A text', description: 'A text that stays.', mimeType: 'text/plain' },
  { uri: 'test://static-binary', name: 'An image', description: 'An image that stays.', mimeType: 'image/png' },
  {
    uri: 'test://watched-resource',
    name: 'A watched text',
    description: 'One to subscribe to.',
    mimeType: 'text/plain',
  },
];

export const resourceTemplates = [
  {
    uriTemplate: 'test://template/{id}/data',
    name: 'Data',
    description: 'Data by number.',
    mimeType: 'application/json',
  },
];

/** Undefined for what there is not. */
export function read(uri: string): object | undefined {
  if (uri === 'test://static-text')
    return { uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' };
  if (uri === 'test://static-binary') return { uri, mimeType: 'image/png', blob: PNG };
  if (uri === 'test://watched-resource') return { uri, mimeType: 'text/plain', text: 'Watched.' };
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id === undefined) return undefined;
  return {
    uri,
    mimeType: 'application/json',
    text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
  };
}

export const prompts = [
  { name: 'test_simple_prompt', description: 'One without arguments.' },
  {
    name: 'test_prompt_with_arguments',
    description: 'One with arguments.',
    arguments: [
      { name: 'arg1', description: 'The first.', required: true },
      { name: 'arg2', description: 'The second.', required: true },
    ],
  },
  {
    name: 'test_prompt_with_embedded_resource',
    description: 'One with a resource.',
    arguments: [{ name: 'resourceUri', description: 'Its address.', required: true }],
  },
  { name: 'test_prompt_with_image', description: 'One with an image.' },
];

/** Messages of a prompt; undefined for what there is not. */
export function messages(name: string, given: Readonly<Record<string, string>>): readonly object[] | undefined {
  const said = (content: object) => ({ role: 'user', content });
  switch (name) {
    case 'test_simple_prompt':
      return [said(text('This is a simple prompt for testing.'))];
    case 'test_prompt_with_arguments':
      return [said(text(`Prompt with arguments: arg1='${given['arg1']}', arg2='${given['arg2']}'`))];
    case 'test_prompt_with_embedded_resource':
      return [
        said(resource(given['resourceUri'] ?? '', 'text/plain', 'Embedded resource content for testing.')),
        said(text('Please process the embedded resource above.')),
      ];
    case 'test_prompt_with_image':
      return [said(image), said(text('Please analyze the image above.'))];
    default:
      return undefined;
  }
}
