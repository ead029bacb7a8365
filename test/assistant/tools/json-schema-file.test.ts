import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createTools } from '../../../lib/assistant/tools/create.ts'
import { readSchemaFile } from '../../../lib/assistant/tools/json-schema-file.ts'
import { schemaProblem } from '../../../lib/assistant/tools/json-schema-problem.ts'
import { parseConfig } from '../../../lib/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'schemas-'))
afterAll(() => rmSync(folder, { recursive: true }))

function fileWith(content: string | Buffer): string {
  const path = join(folder, 'schema.json')
  writeFileSync(path, content)
  return path
}

it('reads the schema of an object', () => {
  const schema = { type: 'object', properties: { order: { type: ['string', 'null'] } }, $defs: { x: true } }
  expect(readSchemaFile(fileWith(JSON.stringify(schema)))).toEqual(schema)
})

it.each<[string, string | Buffer, RegExp]>([
  ['nothing', '', /is no JSON: /],
  ['broken JSON', '{"type":', /is no JSON: /],
  ['other bytes', Buffer.from([0xff]), /is no JSON: /],
  ['a list', '[]', /has no object$/],
  ['null', 'null', /has no object$/],
  ['a schema of a text', '{"type":"string"}', /must have the schema of an object: "type": "object"$/],
  ['a schema of anything', '{}', /must have the schema of an object/],
  ['a broken schema', '{"type":"object","required":"order"}', /is no JSON Schema: required must be a list of texts$/],
  ['too much', `{"type":"object","title":"${'x'.repeat(256 * 1024)}"}`, /is larger than 256 KiB$/],
])('refuses a file with %s, by its name', (_, content, message) => {
  const path = fileWith(content)
  expect(() => readSchemaFile(path)).toThrow(message)
  expect(() => readSchemaFile(path)).toThrow(path)
})

it('names each key of which the file cannot be read', () => {
  const tool = { url: 'http://localhost/', description: 'x', schema_file: join(folder, 'none.json') }
  const config = parseConfig({ tools: { one: tool, two: { ...tool, schema_file: folder } } })
  expect(() => createTools(config, {})).toThrow(
    `tools.one.schema_file: ${folder}/none.json cannot be read: ENOENT\ntools.two.schema_file: ${folder} cannot be read: EISDIR`,
  )
})

it.each<[object, string]>([
  [{ type: 'strng' }, 'type must be one of'],
  [{ type: ['string', 'nul'] }, 'type must be one of'],
  [{ properties: [] }, 'properties must be an object of schemas'],
  [{ properties: { order: 'string' } }, 'properties.order must be a schema'],
  [{ properties: { order: { pattern: '(' } } }, 'properties.order.pattern must be a regular expression'],
  [{ properties: { type: { minLength: -1 } } }, 'properties.type.minLength must be a whole number'],
  [{ patternProperties: { '(': {} } }, 'patternProperties must have regular expressions'],
  [{ items: 5 }, 'items must be a schema'],
  [{ items: [{ type: 'x' }] }, 'items[0].type must be one of'],
  [{ anyOf: [] }, 'anyOf must be a list of schemas'],
  [{ allOf: [{}, { not: { multipleOf: 0 } }] }, 'allOf[1].not.multipleOf must be a number above 0'],
  [{ enum: 'a' }, 'enum must be a list'],
  [{ uniqueItems: 'yes' }, 'uniqueItems must be true or false'],
  [{ $ref: 'https://example.org/schema.json' }, '$ref must begin with #/'],
  [
    { properties: { a: { $ref: '#/$defs/b' } }, $defs: { a: {} } },
    'properties.a.$ref must be a place that this file has',
  ],
  [nested(100), 'is nested too deeply'],
])('%j is no schema', (schema, message) => {
  const problem = schemaProblem(schema)
  expect(`${problem?.path} ${problem?.message}`).toContain(message)
})

it.each([
  { type: 'object', additionalProperties: false },
  { properties: { a: true, b: { $ref: '#/$defs/a~1b' }, c: { $ref: '#' } }, $defs: { 'a/b': { const: { type: 1 } } } },
  { items: [{}, {}], additionalItems: false },
  { enum: [{ type: 5 }], default: { type: 5 }, examples: [{ type: 5 }], 'x-own': { type: 5 } },
  nested(50),
])('%j is one', (schema) => {
  expect(schemaProblem(schema)).toBeUndefined()
})

function nested(depth: number): object {
  return depth === 0 ? {} : { not: nested(depth - 1) }
}
