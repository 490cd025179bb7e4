import { z } from 'zod';
import { object } from './build.ts';

/** The name of a model as its provider knows it; parts of paths are made of it. */
export const providerModel = z
  .string()
  .min(1)
  .max(512)
  .regex(/^[\x21-\x7e]+$/, { error: 'expected the name of a model, in ASCII without spaces' });

/** Hosts are made of it. */
export const region = z
  .string()
  .min(1)
  .max(63)
  .regex(/^[a-z0-9-]+$/, { error: 'expected a region such as eu-west-1' });

export const projectId = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[A-Za-z0-9.:_-]+$/, { error: 'expected the id of a project' });

export const resourceName = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/, {
    error: 'expected the name of a resource, part of a host name',
  });

export const resourceType = z.enum(['openAI', 'foundry', 'aiServices']);

export const apiVersion = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[A-Za-z0-9.-]+$/, { error: 'expected a version such as 2024-10-21' });

export const projectName = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[A-Za-z0-9._-]+$/, { error: 'expected the name of a project' });

/** A path of requests; characters that would end it are written as %XX. */
export const requestPath = z
  .string()
  .min(1)
  .max(1024)
  .regex(/^\/[!"$-~]*$/, { error: 'expected a path that starts with `/`, other characters than ASCII as %XX' });

/** The same without a query. */
export const pathPrefix = z
  .string()
  .min(1)
  .max(1024)
  .regex(/^\/[!"$->@-~]*$/, { error: 'expected a path that starts with `/`, without `?`' });

const customFormat = object('A format and its path.', {
  type: z.enum([
    'completions',
    'messages',
    'responses',
    'embeddings',
    'anthropicTokenCount',
    'generateContent',
    'geminiCountTokens',
    'realtime',
    'rerank',
  ]),
  path: requestPath.optional().describe('Whole path of its requests. Default: the usual one after `pathPrefix`.'),
});

/** Any service that speaks one of the formats. */
export const customProvider = object('Any service that speaks one of the formats.', {
  formats: z
    .array(customFormat)
    .min(1)
    .max(16)
    .superRefine(
      (formats, context) => {
        const seen = new Set<unknown>();
        for (const [index, format] of formats.entries()) {
          const type: unknown = typeof format === 'object' && format !== null ? Reflect.get(format, 'type') : undefined;
          if (type !== undefined && seen.has(type))
            context.addIssue({
              code: 'custom',
              message: `the format ${String(type)} is listed twice`,
              path: [index, 'type'],
              params: { code: 'GW_CONFIG_CONFLICT' },
            });
          seen.add(type);
        }
      },
      { when: ({ value }) => Array.isArray(value) },
    ),
  model: providerModel.optional().describe('Takes the place of the model that requests name.'),
  providerOverride: z.string().min(1).max(256).optional().describe('Name for telemetry and prices. Default: custom.'),
});
