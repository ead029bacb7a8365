import { toJsonSchema } from '@valibot/to-json-schema'
import type * as v from 'valibot'
import type { ToolInput, Validated } from './definition.ts'
import { issueText } from './issue-text.ts'
import type { StandardSchema } from './standard-schema.ts'
import type { Tool } from './tool.ts'

const KINDS =
  'must be a Standard Schema that gives JSON Schema, a schema of valibot, or { json_schema, validate } with a function'

/**
 * The JSON Schema of an input, and what checks it.
 *
 * @param where begins the messages
 * @throws TypeError
 */
export function readInput(where: string, input: ToolInput<unknown>): Pick<Tool, 'schema' | 'validate'> {
  if (isStandard(input)) {
    const { '~standard': standard } = input
    return { schema: schemaOf(where, standardJsonSchema(where, input)), validate: checkedBy(standard.validate) }
  }
  const { json_schema, validate } = Object(input) as Partial<Exclude<typeof input, StandardSchema>>
  if (typeof json_schema !== 'object' || typeof validate !== 'function') throw new TypeError(`${where}: input ${KINDS}`)
  return { schema: schemaOf(where, json_schema), validate: checkedBy(validate) }
}

function isStandard(input: ToolInput<unknown>): input is StandardSchema {
  return typeof (input as Partial<StandardSchema> | undefined)?.['~standard']?.validate === 'function'
}

function standardJsonSchema(where: string, schema: StandardSchema): object {
  const { jsonSchema, vendor } = schema['~standard']
  try {
    if (typeof jsonSchema?.input === 'function') return jsonSchema.input({ target: 'draft-2020-12' })
    // A check that JSON Schema lacks is none of the model's business: it learns of it when its input is refused.
    if (vendor === 'valibot')
      return toJsonSchema(schema as unknown as v.GenericSchema, {
        ...{ target: 'draft-2020-12', typeMode: 'input' },
        overrideAction: ({ errors, jsonSchema }) => (errors ? jsonSchema : undefined),
      })
  } catch (cause) {
    throw new TypeError(`${where}: input has no JSON Schema: ${(cause as Error)?.message}`, { cause })
  }
  throw new TypeError(`${where}: input ${KINDS}`)
}

/** A copy that only has JSON. @throws TypeError unless it is a schema of an object */
function schemaOf(where: string, schema: object): object {
  const { $schema: _, ...rest } = JSON.parse(JSON.stringify(schema ?? null)) ?? {}
  if (rest.type === 'object') return rest
  throw new TypeError(`${where}: input must be a schema of an object, with "type": "object"`)
}

/** Calls a check of the host, which may throw, and return anything. */
function checkedBy(check: (input: unknown) => unknown): Tool['validate'] {
  return async (input) => {
    try {
      const result = Object(await check(input)) as Partial<Validated<unknown>>
      if (result.issues !== undefined) return { issues: issueText(result.issues) }
      if ('value' in result) return { value: result.value }
      throw new TypeError('The check of an input must return { value } or { issues }')
    } catch (error) {
      return { issues: 'The input could not be checked.', error }
    }
  }
}
