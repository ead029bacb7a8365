import { parseYAML } from 'confbox/yaml'
import { expect, it } from 'vitest'
import { ERRORS } from '../../lib/errors.ts'
import { openApiDocument } from '../../lib/http/openapi.ts'
import type { AnyRoute } from '../../lib/http/route.ts'
import { routes } from '../../lib/http/routes.ts'
import { startService } from '../support/service.ts'

interface Operation {
  operationId: string
  parameters?: { name: string; in: string }[]
  requestBody?: object
  responses: Record<string, { description: string }>
  security: object[]
}

it('says the same in JSON and in YAML', async () => {
  const service = await startService('sqlite::memory:')
  const client = service.client()
  const json = await (await fetch(`${service.base_url}/openapi.json`)).json()
  const yaml = await (await fetch(`${service.base_url}/openapi.yaml`)).text()
  expect(json).toEqual(openApiDocument())
  expect(parseYAML(yaml)).toEqual(json)
  expect(await client.readHealth()).toEqual({ status: 'ok' })
  await service.close()
})

it('describes every route: parameters, body, success, failures, who may call', () => {
  const { paths } = openApiDocument() as { paths: Record<string, Record<string, Operation>> }
  for (const [name, route] of Object.entries(routes)) {
    const operation = paths[route.path]![route.method.toLowerCase()]!
    expect(operation.operationId).toBe(name)
    expect(operation.parameters?.filter((each) => each.in === 'path').map((each) => each.name) ?? []).toEqual(
      [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]),
    )
    expect(Boolean(operation.requestBody)).toBe(route.body !== undefined)
    expect(operation.responses[route.status]).toBeDefined()
    for (const code of route.errors) expect(operation.responses[ERRORS[code][0]]!.description).toContain(code)
    const ways = { public: 0, optional: 3, session: 2, admin: 2 }[route.access]
    expect(operation.security.length).toBe(ways && ways - Number(isOwnSignIn(route)))
  }
})

function isOwnSignIn(route: AnyRoute): boolean {
  return route.sign_in === true
}

it('describes what answers to clients of OpenAI are: in one, in pieces, and failed', () => {
  const { paths } = openApiDocument() as { paths: Record<string, Record<string, { responses: Responses }>> }
  type Responses = Record<string, { content: Record<string, { schema: { allOf: object[] } }> }>
  const { responses } = paths['/v1/chat/completions']!.post!
  expect(responses['200']!.content).toEqual({
    'application/json': { schema: { $ref: '#/components/schemas/Completion' } },
    'text/event-stream': { schema: { $ref: '#/components/schemas/CompletionChunk' } },
  })
  expect(Object.keys(responses)).toEqual(['200', '400', '413', '415', '422', '429', '500', '503'])
  expect(responses['422']!.content['application/json']!.schema.allOf).toEqual([
    { $ref: '#/components/schemas/CompatFailure' },
    { properties: { error: { properties: { code: { enum: ['validation_failed'] } } } } },
  ])
})

it('refers only to what it defines', () => {
  const document = openApiDocument() as { components: { schemas: object } }
  const text = JSON.stringify(document)
  for (const [, name] of text.matchAll(/#\/components\/schemas\/(\w+)/g))
    expect(Object.keys(document.components.schemas)).toContain(name)
  expect(text).not.toContain('$defs')
  expect(text).not.toContain('stream_position')
})
