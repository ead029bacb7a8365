import type { OpenApi, Operation, Parameter, Response, Schema } from './types.ts'

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** The endpoints of a document, in its order. */
export function operationsOf(document: OpenApi): Operation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const found = item[method]
      if (!found) return []
      // Without those of all endpoints, such as the id of a request.
      const parameters = (found.parameters ?? []).map((each) => resolve<Parameter>(document, each))
      const responses = Object.entries(found.responses).map(([status, each]) => ({
        ...resolve<Response>(document, each),
        status,
      }))
      return [{ ...found, method: method.toUpperCase(), path, tag: found.tags[0] ?? '', parameters, responses }]
    }),
  )
}

/** What a reference stands for; anything else is what it is. */
export function resolve<T extends object>(document: OpenApi, value: T | { $ref: string }): T {
  if (!('$ref' in value) || value.$ref === undefined) return value as T
  const [section = '', name = ''] = value.$ref.replace('#/components/', '').split('/')
  return (document.components[section]?.[name] ?? {}) as T
}

/** The name of a schema that the document names. */
export function nameOf({ $ref }: Schema): string | undefined {
  return $ref?.split('/').at(-1)
}

/** A schema in a word or a few: `string`, `Message[]`, `"user" | "assistant"`. */
export function typeOf(schema: Schema): string {
  const { type, items, format, anyOf, oneOf, enum: values } = schema
  const name = nameOf(schema)
  if (name !== undefined) return name
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ')
  const choices = anyOf ?? oneOf
  if (choices) return choices.map(typeOf).join(' | ')
  if (items) return `${typeOf(items)}[]`
  return [type].flat().join(' | ') + (format ? ` (${format})` : '') || 'any'
}

/** The schemas whose fields explain one: itself, its items, its alternatives. */
export function objectsOf(document: OpenApi, schema: Schema): Schema[] {
  const resolved = resolve<Schema>(document, schema)
  const { items, anyOf, oneOf, allOf, properties } = resolved
  if (properties) return [resolved]
  if (items) return objectsOf(document, items)
  return (allOf ?? anyOf ?? oneOf ?? []).flatMap((each) => objectsOf(document, each))
}

/** The endpoints that have every word of the query in their path, texts or id. */
export function search(operations: readonly Operation[], query: string): readonly Operation[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return operations
  return operations.filter(({ method, path, summary, description = '', operationId, tag }) => {
    const text = `${method} ${path} ${summary} ${description} ${operationId} ${tag}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}
