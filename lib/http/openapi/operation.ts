import type * as v from 'valibot'
import type { Config } from '../../config/parse.ts'
import type { AnyRoute } from '../../endpoint.ts'
import { responsesOf } from './answers.ts'
import { convert, expand, type Json } from './schemas.ts'
import { HEADER_NAMES, PARAMETERS } from './texts.ts'

/** The authentication methods. */
export function securitySchemes({ session, security }: Config): Json {
  return {
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: session.session_cookie_name,
      description: 'A session, set by signing in',
    },
    csrf: {
      type: 'apiKey',
      in: 'header',
      name: security.csrf.header_name,
      description: `The value of the cookie \`${security.csrf.cookie_name}\`, on every call of a session but GET`,
    },
    key: { type: 'http', scheme: 'bearer', description: 'An API key (`cs_…`), which needs no CSRF token' },
    metrics_token: { type: 'http', scheme: 'bearer', description: '`metrics.token`, where one is configured' },
  }
}

/** One endpoint; its name is the operation id. */
export function toOperation(name: string, route: AnyRoute, config: Config): Json {
  const parameters = [
    ...pathParameters(route),
    ...parametersOf(route.query, 'query'),
    ...parametersOf(route.headers, 'header'),
  ]
  return {
    operationId: name,
    summary: route.summary,
    description: route.description,
    tags: [route.tag],
    security: securityOf(route, config),
    ...(parameters.length > 0 && { parameters }),
    ...(route.bytes && { requestBody: { required: true, content: { 'application/octet-stream': BYTES } } }),
    ...(route.body && {
      requestBody: { required: !route.body_optional, content: { 'application/json': bodyOf(route) } },
    }),
    responses: responsesOf(route),
  }
}

/** With a schema, although it adds nothing to the type: some generators of clients fail without one. */
const BYTES = { schema: { type: 'string', format: 'binary' } }

function bodyOf(route: AnyRoute): Json {
  return { schema: convert(route.body), ...(route.example && { example: route.example }) }
}

function securityOf(route: AnyRoute, { security }: Config): Json[] {
  if (route.metrics_token) return [{}, { metrics_token: [] }]
  if (route.access === 'public') return []
  const session = route.changes && security.csrf.enabled ? { session: [], csrf: [] } : { session: [] }
  const ways = route.sign_in ? [session] : [session, { key: [] }]
  return route.access === 'optional' ? [{}, ...ways] : ways
}

function pathParameters(route: AnyRoute): Json[] {
  return [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => {
    return {
      name,
      in: 'path',
      required: true,
      description: PARAMETERS[name as keyof typeof PARAMETERS],
      schema: schemaOfParameter(route, name!),
    }
  })
}

function schemaOfParameter({ params = {} }: AnyRoute, name: string): Json {
  const isId = name === 'id' || name.endsWith('_id')
  const described = Object.hasOwn(params, name) ? params[name] : undefined
  if (!described) return { type: 'string', ...(isId && { format: 'uuid' }) }
  const { description: _, ...schema } = convert(described)
  return schema
}

function parametersOf(schema: v.GenericSchema | undefined, place: 'query' | 'header'): Json[] {
  if (!schema) return []
  const { properties = {}, required = [] } = expand(schema) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name: place === 'header' ? HEADER_NAMES[name as keyof typeof HEADER_NAMES] : name,
    in: place,
    required: required.includes(name),
    ...(description ? { description } : {}),
    schema,
  }))
}
