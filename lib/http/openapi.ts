import { type ConversionConfig, toJsonSchema } from '@valibot/to-json-schema'
import { stringifyYAML } from 'confbox/yaml'
import type * as v from 'valibot'
import { LoginResponse, MeResponse, Session } from '../auth/schema.ts'
import { CompatFailure, Completion, CompletionChunk } from '../compat/schema.ts'
import { Conversation, Participant } from '../conversations/schema.ts'
import { ERRORS, type ErrorCode } from '../errors.ts'
import { ConversationStreamEvent } from '../events/schema.ts'
import { LimitAssignment, LimitProfile } from '../limits/schema.ts'
import { Message } from '../messages/schema.ts'
import { ThreadSummary } from '../threads/schema.ts'
import { Account, User } from '../users/schema.ts'
import { VERSION } from '../version.ts'
import { Problem } from './failure.ts'
import { type AnyRoute, HEADER_FIELDS, isLimited, route } from './route.ts'
import { routes } from './routes.ts'
import { surfaceOf } from './surface.ts'

/** Schemas that have a name in the document; elsewhere they are referred to. */
const NAMED = {
  Account,
  CompatFailure,
  Completion,
  CompletionChunk,
  Conversation,
  ConversationStreamEvent,
  LimitAssignment,
  LimitProfile,
  LoginResponse,
  MeResponse,
  Message,
  Participant,
  Problem,
  Session,
  ThreadSummary,
  User,
}

type Json = Record<string, unknown>

/** The OpenAPI 3.1 description of every route, made from the route values themselves. */
export function openApiDocument(): Json {
  const paths: Record<string, Json> = {}
  for (const [name, each] of Object.entries<AnyRoute>(routes)) {
    paths[each.path] = { ...paths[each.path], [each.method.toLowerCase()]: toOperation(name, each) }
  }
  const all = Object.values<AnyRoute>(routes)
  return {
    openapi: '3.1.0',
    info: {
      title: 'chat-server',
      version: VERSION,
      description: 'Users, conversations with participants, threads of messages, and a live event stream.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(all.map((each) => each.tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(NAMED).map(([name, schema]) => [name, inPlace(schema)])),
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: 'SESSION_ID', description: 'Set by signing in' },
        csrf: {
          type: 'apiKey',
          in: 'header',
          name: 'X-CSRF-TOKEN',
          description: 'The value of the CSRF cookie, on every call but GET',
        },
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key, which needs no CSRF token' },
      },
    },
  }
}

const lazily = <T>(make: () => T): (() => T) => {
  let made: T | undefined
  return () => (made ??= make())
}
const asJson = lazily(() => JSON.stringify(openApiDocument()))
const asYaml = lazily(() => stringifyYAML(JSON.parse(asJson())))

/** The document's own routes; they describe the others, and not themselves. */
export const openApiRoutes = {
  readOpenApiJson: route({
    method: 'GET',
    path: '/openapi.json',
    tag: 'Operations',
    summary: 'This description, as JSON',
    access: 'public',
    answer: 'text',
    content_type: 'application/json',
    handler: () => asJson(),
  }),
  readOpenApiYaml: route({
    method: 'GET',
    path: '/openapi.yaml',
    tag: 'Operations',
    summary: 'This description, as YAML',
    access: 'public',
    answer: 'text',
    content_type: 'application/yaml',
    handler: () => asYaml(),
  }),
}

/** The codes a route can answer with, those that come with its access included. */
export function errorsOf(each: AnyRoute): ErrorCode[] {
  const isSession = each.access === 'session' || each.access === 'admin'
  const codes: (ErrorCode | false)[] = [
    isSession && 'unauthenticated',
    isSession && 'session_expired',
    (each.changes || each.answer === 'stream') && 'csrf_failed',
    isSession && (each.access === 'admin' || each.sign_in === true) && 'forbidden',
    each.access === 'optional' && 'unauthenticated',
    each.body !== undefined && 'malformed_json',
    each.body !== undefined && 'payload_too_large',
    each.body !== undefined && 'unsupported_media_type',
    (each.body !== undefined || each.query !== undefined) && 'validation_failed',
    isLimited(each) && 'rate_limited',
    isLimited(each) && 'unavailable',
    each.changes && 'storage_full',
    'internal',
  ]
  return [...new Set([...each.errors, ...codes.filter((code) => code !== false)])]
}

function toOperation(name: string, each: AnyRoute): Json {
  const parameters = [
    ...pathParameters(each),
    ...parametersOf(each.query, 'query'),
    ...parametersOf(each.headers, 'header'),
  ]
  return {
    operationId: name,
    summary: each.summary,
    tags: [each.tag],
    security: securityOf(each),
    ...(parameters.length > 0 && { parameters }),
    ...(each.body && {
      requestBody: { required: !each.body_optional, content: { 'application/json': { schema: convert(each.body) } } },
    }),
    responses: { [each.status]: success(each), ...redirection(each), ...failures(each) },
  }
}

function securityOf(each: AnyRoute): Json[] {
  if (each.access === 'public') return []
  const session = each.changes ? { session: [], csrf: [] } : { session: [] }
  const ways = each.sign_in ? [session] : [session, { bearer: [] }]
  return each.access === 'optional' ? [{}, ...ways] : ways
}

function pathParameters(each: AnyRoute): Json[] {
  return [...each.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', ...(name!.endsWith('_id') && { format: 'uuid' }) },
  }))
}

function parametersOf(schema: v.GenericSchema | undefined, place: 'query' | 'header'): Json[] {
  if (!schema) return []
  const { properties = {}, required = [] } = convert(schema) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: place,
    required: required.includes(name),
    ...(description ? { description } : {}),
    schema,
  }))
}

const TEXT_HEADER = { schema: { type: 'string' } }
const NUMBER_HEADER = { schema: { type: 'integer' } }

/** Missing where no limit is set, and on a refusal that comes before limits are looked at. */
const LIMIT_HEADERS: Json = {
  'RateLimit-Limit': NUMBER_HEADER,
  'RateLimit-Remaining': NUMBER_HEADER,
  'RateLimit-Reset': NUMBER_HEADER,
  'X-RateLimit-Profile': TEXT_HEADER,
}

function success(each: AnyRoute): Json {
  const headers: Json = { 'X-Request-Id': TEXT_HEADER, ...(isLimited(each) && LIMIT_HEADERS) }
  const { entries = {} } = (each.output ?? {}) as { entries?: Record<string, unknown> }
  for (const [field, header] of Object.entries(HEADER_FIELDS)) if (field in entries) headers[header] = TEXT_HEADER
  if (each.answer === 'session' || each.answer === 'redirect') headers['X-Session-Rotated'] = TEXT_HEADER
  const type = each.answer === 'stream' ? 'text/event-stream' : (each.content_type ?? 'application/json')
  const schema = each.answer === 'text' ? { type: 'string' } : each.output && convert(each.output)
  const pieces = each.pieces && { 'text/event-stream': { schema: convert(each.pieces) } }
  return {
    description: each.summary,
    headers,
    ...(schema && each.status !== 204 && { content: { [type]: { schema }, ...pieces } }),
  }
}

/** What a browser gets, which asks for no JSON. */
function redirection(each: AnyRoute): Json {
  if (each.answer !== 'redirect') return {}
  const headers = { 'X-Request-Id': TEXT_HEADER, 'X-Session-Rotated': TEXT_HEADER, Location: TEXT_HEADER }
  return { 303: { description: 'The same, for who does not ask for JSON', headers } }
}

function failures(each: AnyRoute): Json {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of errorsOf(each)) byStatus.set(ERRORS[code][0], [...(byStatus.get(ERRORS[code][0]) ?? []), code])
  const { content_type, schema, withCodes } = surfaceOf(each.path).failure
  const body = (codes: ErrorCode[]) => ({
    schema: { allOf: [convert(schema), { properties: withCodes({ enum: codes }) }] },
  })
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, codes]) => [
        String(status),
        {
          description: codes.map((code) => `\`${code}\`: ${ERRORS[code][1]}`).join(' '),
          ...(status === 429 && { headers: { ...(isLimited(each) && LIMIT_HEADERS), 'Retry-After': NUMBER_HEADER } }),
          content: { [content_type]: body(codes) },
        },
      ]),
  )
}

/** A schema as JSON Schema, referring to the named ones. */
function convert(schema: v.GenericSchema): Json {
  return refer(toJsonSchema(schema, { ...CONVERSION, definitions: NAMED }) as Json)
}

/** A named schema itself, referring to the other ones. */
function inPlace(schema: v.GenericSchema): Json {
  const others = Object.fromEntries(Object.entries(NAMED).filter(([, each]) => each !== schema))
  return refer(toJsonSchema(schema, { ...CONVERSION, definitions: others }) as Json)
}

// JSON Schema has no words for checks by code; what they say is in the errors they give.
const CONVERSION = {
  target: 'draft-2020-12',
  typeMode: 'input',
  errorMode: 'ignore',
  ignoreActions: ['check', 'metadata', 'to_max_value'],
} satisfies ConversionConfig

function refer({ $schema: _, $defs: __, ...schema }: Json): Json {
  return withoutHeaderFields(JSON.parse(JSON.stringify(schema).replaceAll('#/$defs/', '#/components/schemas/')))
}

function withoutHeaderFields(schema: Json): Json {
  for (const field of Object.keys(HEADER_FIELDS)) if (schema.properties) delete (schema.properties as Json)[field]
  return schema
}
