import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../../lib/config/parse.ts'
import { openApiDocument } from '../../../lib/http/openapi/build.ts'
import { limitedEndpoints } from '../../../lib/http/request/rate-limit.ts'

type Schema = Record<string, unknown>
type Document = {
  paths: Record<string, Record<string, { operationId?: string }>>
  components: Record<'schemas' | 'responses' | 'headers' | 'parameters', Record<string, Schema>>
}

const openApi = openApiDocument(parseConfig()) as unknown as Document
const { schemas } = openApi.components

// Client generators interpret a description differently. All of them understand documents that follow these rules; a
// shape that breaks one needs its own name in its feature's schema.ts.

/** Every schema of the document with its place, including nested ones. */
const all: { place: string; schema: Schema; isNamed: boolean }[] = []
for (const [name, schema] of Object.entries(schemas)) collect(schema, name, true)
for (const part of [openApi.paths, openApi.components.responses, openApi.components.headers]) find(part, '')

function find(part: unknown, place: string): void {
  if (typeof part !== 'object' || part === null) return
  for (const [key, value] of Object.entries(part)) {
    if (key === 'example' || key === 'examples') continue
    if (key === 'schema') collect(value as Schema, place, false)
    else find(value, `${place}/${key}`)
  }
}

function collect(schema: Schema, place: string, isNamed: boolean): void {
  all.push({ place, schema, isNamed })
  for (const keyword of ['items', 'not', 'additionalProperties', 'contentSchema'])
    if (typeof schema[keyword] === 'object') collect(schema[keyword] as Schema, `${place}.${keyword}`, false)
  for (const keyword of ['anyOf', 'oneOf', 'allOf'])
    for (const each of (schema[keyword] ?? []) as Schema[]) collect(each, `${place}.${keyword}`, false)
  for (const [name, each] of Object.entries(schema.properties ?? {})) collect(each, `${place}.${name}`, false)
}

const placesWhere = (breaks: (each: (typeof all)[number]) => boolean) => all.filter(breaks).map(({ place }) => place)

it('looks at every schema', () => {
  expect(all.length).toBeGreaterThan(1_000)
  expect(Object.keys(schemas).length).toBeGreaterThan(150)
})

it('names every object', () => {
  expect(placesWhere(({ schema, isNamed }) => !isNamed && [schema.type].flat().includes('object'))).toEqual([])
  expect(placesWhere(({ schema }) => 'properties' in schema && schema.type === undefined)).toEqual([])
})

it('names every alternative', () => {
  const alternatives = ({ anyOf = [], oneOf = [], allOf = [] }: Schema) => [anyOf, oneOf, allOf].flat() as Schema[]
  expect(placesWhere(({ schema }) => alternatives(schema).some((each) => !('$ref' in each)))).toEqual([])
  expect(placesWhere(({ schema }) => 'allOf' in schema)).toEqual([])
})

it('distinguishes alternatives by a type with one value each, or by a field that only one of them requires', () => {
  const unlike = all.flatMap(({ place, schema }) => {
    const members = ((schema.oneOf ?? []) as { $ref: string }[]).map(({ $ref }) => schemas[$ref.split('/').pop()!]!)
    const types = members.map(({ properties = {} }) => String((properties as Record<string, Schema>).type?.enum))
    const fields = members.map(({ required = [] }) => String(required))
    return [types, fields].some((each) => new Set(each).size === members.length) ? [] : [place]
  })
  expect(unlike).toEqual([])
  expect(placesWhere(({ schema }) => 'discriminator' in schema)).toEqual([])
})

it('allows one of the alternatives of a body only, not both', () => {
  const oneOf = (...names: string[]) => ({ oneOf: names.map((name) => ({ $ref: `#/components/schemas/${name}` })) })
  expect(schemas.DirectInput).toEqual(oneOf('DirectById', 'DirectByUsername'))
  expect(schemas.LimitResetInput).toEqual(oneOf('LimitResetOfUser', 'LimitResetOfAddress'))
  expect(schemas.ReadNotifications).toEqual(oneOf('ReadByIds', 'ReadUpTo'))
  const alternatives = [
    'DirectById',
    'DirectByUsername',
    'LimitResetOfUser',
    'LimitResetOfAddress',
    'ReadByIds',
    'ReadUpTo',
  ]
  for (const name of alternatives)
    expect(schemas[name]!.required).toEqual(Object.keys(schemas[name]!.properties as object))
})

it('gives constants and choices a type', () => {
  expect(placesWhere(({ schema }) => 'const' in schema)).toEqual([])
  expect(placesWhere(({ schema }) => 'enum' in schema && schema.type === undefined)).toEqual([])
})

it('has no constant booleans', () => {
  expect(placesWhere(({ schema }) => 'enum' in schema && schema.type === 'boolean')).toEqual([])
})

it('declares null in a list of types, and in no other way', () => {
  const isList = ({ type }: Schema) => Array.isArray(type) && (type.length !== 2 || !type.includes('null'))
  expect(placesWhere(({ schema }) => isList(schema))).toEqual([])
  expect(placesWhere(({ schema }) => 'nullable' in schema || schema.type === 'null')).toEqual([])
})

it('has patterns that are valid with the Unicode flag and without it, short, and free of surrogates', () => {
  const patterns = new Set<string>()
  JSON.stringify(openApi, (key, value) => {
    if (key === 'pattern' && typeof value === 'string') patterns.add(value)
    return value
  })
  expect(patterns.size).toBeGreaterThan(20)
  for (const pattern of patterns) {
    expect(pattern.length, pattern).toBeLessThanOrEqual(200)
    // The two readings of a character of two units differ.
    expect(pattern).not.toMatch(/[\uD800-\uDFFF]/)
    for (const flags of ['u', '']) expect(() => new RegExp(pattern, flags), pattern).not.toThrow()
  }
})

it('has a pattern of the paths that limits can be assigned to: those of routes, and what they begin with', () => {
  const { pattern } = (schemas.LimitAssignmentInput!.properties as Record<string, Schema>).path!
  const form = new RegExp(pattern as string)
  for (const { path } of limitedEndpoints) {
    expect(path).toMatch(form)
    for (let end = 0; end <= path.length; end++) expect(`${path.slice(0, end)}*`).toMatch(form)
  }
  for (const text of ['', 'api', '/api/*x', '/API', '/api/users?x']) expect(text).not.toMatch(form)
})

it('has no pattern and no length next to a format', () => {
  const beside = ['pattern', 'minLength', 'maxLength']
  expect(placesWhere(({ schema }) => 'format' in schema && beside.some((word) => word in schema))).toEqual([])
})

describe('names', () => {
  const names = Object.keys(schemas)

  it('do not collide with names that generators derive from operations', () => {
    const operations = Object.values(openApi.paths).flatMap((path) => Object.values(path))
    const ids = operations.flatMap(({ operationId }) => (operationId ? [operationId.toLowerCase()] : []))
    const taken = (name: string) =>
      /^New[A-Z]|(Request|Response|Params)$/.test(name) || ids.includes(name.toLowerCase())
    expect(names.filter(taken)).toEqual([])
  })

  it('are in PascalCase and differ in more than case', () => {
    expect(names.filter((name) => !/^[A-Z][A-Za-z0-9]*$/.test(name))).toEqual([])
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length)
  })
})
