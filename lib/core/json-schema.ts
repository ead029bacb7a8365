import type { ConversionConfig } from '@valibot/to-json-schema'

type Metadata = { metadata: Record<string, unknown> }

/** How schemas become JSON Schema, which cannot express checks by code: the descriptions and the errors do. */
export const CONVERSION: ConversionConfig = {
  target: 'draft-2020-12',
  typeMode: 'input',
  errorMode: 'ignore',
  ignoreActions: ['check', 'to_max_value', 'trim', 'raw_check'],
  overrideAction: ({ valibotAction, jsonSchema }) =>
    valibotAction.type === 'metadata' ? { ...jsonSchema, ...(valibotAction as unknown as Metadata).metadata } : null,
}
