import { readdirSync, readFileSync } from 'node:fs'
import { parseYAML } from 'confbox/yaml'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { ConversationStreamEvent } from '../../../lib/chat/events/schema.ts'
import { createLiveConfig } from '../../../lib/config/live.ts'
import { parseConfig } from '../../../lib/config/parse.ts'
import type { Context } from '../../../lib/context.ts'
import { withinContext } from '../../../lib/core/context-of.ts'
import { STATUSES } from '../../../lib/core/errors.ts'
import { openApiDocument, openApiRoutes } from '../../../lib/http/openapi/build.ts'
import { errorsOf } from '../../../lib/http/openapi/errors.ts'
import { convert } from '../../../lib/http/openapi/schemas.ts'
import { SENT_EVENTS } from '../../../lib/integrations/webhooks/sent-events.ts'
import { allRoutes } from '../../support/all-routes.ts'
import { innerState, startService } from '../../support/service.ts'

interface Operation {
  operationId: string
  summary: string
  description: string
  tags: string[]
  parameters?: { name: string; in: string; description?: string }[]
  requestBody?: { content: Record<string, { schema: object; example?: object }> }
  responses: Record<string, Answer & { $ref?: string }>
  security: object[]
}

interface Schema {
  $ref?: string
  type?: string
  enum?: string[]
  contentMediaType?: string
  contentSchema?: object
}

interface Answer {
  description: string
  headers: Record<string, object>
  content?: Record<string, { schema: { $ref: string } }>
}

interface Document {
  info: { version: string }
  servers: { url: string }[]
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, { post: Operation }>
  components: {
    schemas: Record<string, { oneOf?: { $ref: string }[]; properties?: Record<string, Schema> }>
    responses: Record<string, Answer>
    securitySchemes: Record<string, { name?: string }>
  }
}

const documentOf = (config: object = {}) => openApiDocument(parseConfig(config)) as unknown as Document
const openApi = documentOf()
const operationOf = (path: string, method: string) => openApi.paths[path]![method.toLowerCase()]!
const namesIn = (place: string, { parameters = [] }: Operation) =>
  parameters.filter((each) => each.in === place).map((each) => each.name)
const schemaOf = ({ $ref }: { $ref?: string }) => openApi.components.schemas[$ref!.split('/').pop()!]!
const entriesOf = (schema: unknown) => Object.keys((schema as { entries?: object } | undefined)?.entries ?? {})

it('is the same in JSON and in YAML', async () => {
  const service = await startService('sqlite::memory:')
  const json = await (await fetch(`${service.base_url}/openapi.json`)).json()
  const yaml = await (await fetch(`${service.base_url}/openapi.yaml`)).text()
  expect(json).toEqual(openApiDocument(innerState(service).config))
  expect(parseYAML(yaml)).toEqual(json)
  expect(yaml).not.toMatch(/&ref|\*ref/)
  await service.close()
})

it('is created once, and its bytes are shared by all readers', async () => {
  const settings = createLiveConfig(parseConfig({}))
  const chat = withinContext({ config: settings.view, settings } as Context, {})
  for (const { handler } of Object.values(openApiRoutes)) {
    const read = async () => (handler as (call: object) => unknown)({ chat })
    expect(await read()).toBeInstanceOf(Uint8Array)
    expect(await read()).toBe(await read())
  }
})

it('has the version of the package', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  expect(openApi.info.version).toBe(version)
})

it('has the public address of the service, and the configured names of cookies and headers', () => {
  expect(openApi.servers).toEqual([{ url: '/' }])
  const { servers, components } = documentOf({
    server: { public_url: 'https://example.org/chat/' },
    session: { session_cookie_name: 'SID' },
    security: { csrf: { header_name: 'X-Token' } },
  })
  expect(servers).toEqual([{ url: 'https://example.org/chat' }])
  expect(components.securitySchemes.session?.name).toBe('SID')
  expect(components.securitySchemes.csrf?.name).toBe('X-Token')
  const { paths } = documentOf({ security: { csrf: { enabled: false } } })
  expect(paths['/api/conversations']!.post!.security).toEqual([{ session: [] }, { key: [] }])
})

it('has the configured maximum length of a message', () => {
  const { Content } = documentOf({ limits: { message_bytes: 1000 } }).components.schemas
  expect(Content).toMatchObject({ maxLength: 1000 })
})

describe.each(allRoutes)('%s', (name, route) => {
  const operation = operationOf(route.path, route.method)

  it('has a summary, its parameters, its body and its access', () => {
    expect(operation.operationId).toBe(name)
    expect(operation.summary).not.toMatch(/\.$/)
    expect(operation.description).toMatch(/\.$/)
    expect(openApi.tags.find((tag) => tag.name === operation.tags[0])?.description).toMatch(/\.$/)
    expect(namesIn('path', operation)).toEqual([...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]))
    expect(namesIn('query', operation)).toEqual(entriesOf(route.query))
    expect(namesIn('header', operation).map((header) => header.toLowerCase())).toEqual(entriesOf(route.headers))
    for (const { name, description } of operation.parameters ?? []) expect(description, name).toMatch(/\w/)
    expect(Boolean(operation.requestBody)).toBe(route.body !== undefined || route.bytes !== undefined)
    // Some generators of clients fail without one.
    for (const { schema } of Object.values(operation.requestBody?.content ?? {})) expect(schema).toBeTypeOf('object')
    const ways = { public: 0, optional: 3, session: 2, admin: 2 }[route.access as 'public']
    if (name !== 'opsMetrics') expect(operation.security.length).toBe(ways && ways - Number(route.sign_in === true))
  })

  it('has an example of its body that can be sent', () => {
    if (!route.body) return
    expect(operation.requestBody!.content['application/json']!.example).toEqual(route.example)
    // Whatever may be left out altogether needs none.
    if (v.is(route.body, {}) && !route.example) return
    expect(v.is(route.body, route.example)).toBe(true)
  })

  it('has its responses', () => {
    expect(operation.responses[route.status]).toBeDefined()
    for (const code of errorsOf(route)) {
      const { $ref = '' } = operation.responses[STATUSES[code]]!
      const { description, content } = openApi.components.responses[$ref.slice('#/components/responses/'.length)]!
      expect(description).toContain(`\`${code}\``)
      const { schema } = Object.values(content!)[0]!
      const { properties } = schemaOf(schema)
      const { code: codes } = properties!.error ? schemaOf(properties!.error).properties! : properties!
      expect((codes as { enum: string[] }).enum).toContain(code)
    }
  })
})

it('refers by name to each shape that has one in its feature', async () => {
  const folder = new URL('../../../lib/', import.meta.url)
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('/schema.ts'))
  const modules: object[] = await Promise.all(paths.map((path) => import(new URL(path, folder).href)))
  const named = new Set<unknown>(modules.flatMap((module) => Object.values(module)))
  const shapes = allRoutes.flatMap(([name, { body, output }]) => [body, output].map((schema) => ({ name, schema })))
  const unnamed = shapes.filter(({ schema }) => named.has(schema) && !('$ref' in convert(schema)))
  expect(unnamed.map(({ name }) => name)).toEqual([])
  expect(shapes.filter(({ schema }) => named.has(schema)).length).toBeGreaterThan(50)
})

it('names the roles that the service has, also its own', () => {
  const access = {
    roles: { sales: { post: true }, guest: {} },
    participant_roles: { helper: { rights: ['post' as const] } },
  }
  const { components } = openApiDocument(parseConfig({ access })) as { components: { schemas: Record<string, Schema> } }
  expect(components.schemas.Role!.enum).toEqual(['admin', 'member', 'read_only', 'guest', 'sales'])
  expect(components.schemas.ParticipantRole!.enum!.slice(3)).toEqual(['member', 'viewer', 'helper'])
})

it('describes each kind of event under its own name', () => {
  const { schemas } = openApi.components
  const names = schemas.ConversationStreamEvent!.oneOf!.map(({ $ref }) => $ref.split('/').pop()!)
  const types = names.map((name) => schemas[name]!.properties!.type!.enum![0])
  const leaves = ConversationStreamEvent.options.flatMap(({ options }) =>
    options.map((each) => each.entries.type.literal),
  )
  expect(types).toEqual(leaves)
  expect(names).toContain('MessageNewEvent')
  for (const path of ['/api/stream', '/api/stream/conversations/{conversation_id}'])
    expect(operationOf(path, 'GET').responses['200']!.content).toEqual({
      'text/event-stream': { schema: { $ref: '#/components/schemas/ConversationServerSentEvent' } },
    })
  // An event as its reader gets it: its data is a text, and what is in that is the event.
  const { event, data } = schemas.ConversationServerSentEvent!.properties!
  expect(event!.enum).toEqual(leaves)
  expect(data).toMatchObject({
    type: 'string',
    contentMediaType: 'application/json',
    contentSchema: { $ref: '#/components/schemas/ConversationStreamEvent' },
  })
})

it('describes the responses to OpenAI clients: whole, in chunks, and failed', () => {
  const { responses } = operationOf('/v1/chat/completions', 'POST')
  expect(responses['200']!.content).toEqual({
    'application/json': { schema: { $ref: '#/components/schemas/ChatCompletion' } },
    'text/event-stream': { schema: { $ref: '#/components/schemas/ChatCompletionServerSentEvent' } },
  })
  const refused = ['400', '401', '403', '404', '405', '409', '413', '415', '422', '429', '431', '500', '503']
  expect(Object.keys(responses)).toEqual(['200', ...refused])
  const { schema } = openApi.components.responses.ChatCompletionValidationFailed!.content!['application/json']!
  const { error } = schemaOf(schema).properties!
  expect(schemaOf(error!).properties!.code).toEqual({ type: 'string', enum: ['validation_failed'] })
})

it('describes what webhooks are sent: each event whole or thin, what is missing, tests and challenges', () => {
  const own = ['webhook.gap', 'webhook.test', 'webhook.challenge']
  expect(Object.keys(openApi.webhooks)).toEqual([...SENT_EVENTS.keys(), ...own])
  expect(Object.keys(openApi.webhooks)).toEqual(
    expect.arrayContaining(['message.new', 'command.invoked', 'user.merged']),
  )
  for (const type of ['message.delta', 'message.part', 'conversation.loaded'])
    expect(openApi.webhooks).not.toHaveProperty([type])
  const { post } = openApi.webhooks['message.new']!
  expect(post.requestBody!.content['application/json']!.schema).toEqual({
    anyOf: ['WebhookMessageNewEvent', 'WebhookThinEvent'].map((name) => ({ $ref: `#/components/schemas/${name}` })),
  })
  // The payload is that of the streams and of the feed.
  const { properties } = openApi.components.schemas.WebhookMessageNewEvent!
  expect(properties).toMatchObject({ data: openApi.components.schemas.FeedMessageNewEvent!.properties!.data })
  expect(properties).not.toHaveProperty('position')
  for (const { post } of Object.values(openApi.webhooks)) expect(post.security).toEqual([])
  const ids = Object.values(openApi.webhooks).map(({ post }) => post.operationId)
  expect(new Set([...ids, ...allRoutes.map(([name]) => name)]).size).toBe(ids.length + allRoutes.length)
})

it('refers only to what it defines, and defines only what it refers to', () => {
  const text = JSON.stringify(openApi)
  const referred = [...text.matchAll(/"#\/components\/(\w+)\/([\w-]+)"/g)].map(([, kind, name]) => `${kind}/${name}`)
  const defined = Object.entries(openApi.components).flatMap(([kind, parts]) =>
    kind === 'securitySchemes' ? [] : Object.keys(parts).map((name) => `${kind}/${name}`),
  )
  expect([...new Set(referred)].sort()).toEqual(defined.sort())
  expect(text).not.toContain('$defs')
  expect(text).not.toContain('stream_position')
})
