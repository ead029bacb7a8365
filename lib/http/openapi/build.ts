import { basePathOf, publicUrlOf } from '../../config/base-path.ts'
import type { Config } from '../../config/parse.ts'
import { contextOf } from '../../core/context-of.ts'
import { VERSION } from '../../core/version.ts'
import { type AnyRoute, route } from '../../endpoint.ts'
import type { Tag } from '../../endpoint-kinds.ts'
import { routes } from '../../endpoints.ts'
import { withBounds } from './bounds.ts'
import { OpenApiDocument } from './document.ts'
import { failureResponses, failureSchemas } from './error-responses.ts'
import { namedHeadersIn } from './headers.ts'
import { securitySchemes, toOperation } from './operation.ts'
import { type Json, namedSchemasIn } from './schemas.ts'
import { DESCRIPTION, TAGS } from './texts.ts'
import { WEBHOOK_HEADERS, webhookCalls } from './webhooks.ts'

/**
 * The OpenAPI 3.1 description of every route, derived from the route values.
 *
 * @param config has the public address of the service, and the names of its cookies and the CSRF header
 */
export function openApiDocument(config: Config): Json {
  const all: Record<string, AnyRoute> = { ...routes, ...openApiRoutes }
  const paths: Record<string, Json> = {}
  for (const [name, each] of Object.entries(all)) {
    paths[each.path] = {
      parameters: [{ $ref: '#/components/parameters/RequestId' }],
      ...paths[each.path],
      [each.method.toLowerCase()]: toOperation(name, each, config),
    }
  }
  const responses = { ...failureResponses(Object.values(all)), HeadersTooLarge: HEADERS_TOO_LARGE }
  const failures = failureSchemas(Object.values(all))
  const webhooks = webhookCalls()
  const used = { paths, webhooks, responses, failures }
  return {
    openapi: '3.1.0',
    info: {
      title: 'chat-server',
      version: VERSION,
      description: DESCRIPTION,
      contact: { name: 'The maintainers of chat-server' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicUrlOf(config) ?? (basePathOf(config) || '/') }],
    tags: tagsOf(Object.values(all)),
    paths,
    webhooks,
    components: {
      securitySchemes: securitySchemes(config),
      parameters: { RequestId: REQUEST_ID, ...WEBHOOK_HEADERS },
      headers: namedHeadersIn(used),
      responses,
      schemas: { ...withBounds(namedSchemasIn(used), config), ...failures },
    },
  }
}

const REQUEST_ID = {
  name: 'X-Request-Id',
  in: 'header',
  required: false,
  description:
    'Names the call in the logs; the answer repeats it. It is replaced unless it has 8 to 64 letters, digits and `._-`.',
  schema: { type: 'string' },
}

/** The request was refused before it was parsed: the response has nothing of it, not even its id. */
const HEADERS_TOO_LARGE = { description: 'The headers have more than 16 KiB, or there are more than 100.' }

function tagsOf(all: AnyRoute[]): Json[] {
  const names = new Set<Tag>(all.map((route) => route.tag))
  return [...names].map((name) => ({ name, description: TAGS[name] }))
}

const asJson = once((config) => JSON.stringify(openApiDocument(config)))
// YAML would search for shared objects, in twice the time, to write them as references.
const asYaml = once(async (config) => {
  const { stringifyYAML } = await import('confbox/yaml')
  return stringifyYAML(JSON.parse(String(await asJson(config))), { noRefs: true })
})

/** Serialises a document once for each configuration: all responses share its bytes. */
function once(make: (config: Config) => string | Promise<string>): (config: Config) => Promise<Buffer> {
  const documents = new WeakMap<Config, Promise<Buffer>>()
  const toBytes = async (config: Config) => Buffer.from(await make(config))
  return (config) => {
    const bytes = documents.get(config) ?? toBytes(config)
    documents.set(config, bytes)
    return bytes
  }
}

/** The routes of the document itself. */
export const openApiRoutes = {
  readOpenApiJson: route({
    method: 'GET',
    path: '/openapi.json',
    tag: 'Operations',
    limited: false,
    log: 'debug',
    summary: 'This description, as JSON',
    description: 'OpenAPI 3.1, generated from the definitions that route and validate.',
    access: 'public',
    answer: 'text',
    output: OpenApiDocument,
    content_type: 'application/json',
    handler: ({ chat }) => asJson(contextOf(chat).settings.current()),
  }),
  readOpenApiYaml: route({
    method: 'GET',
    path: '/openapi.yaml',
    tag: 'Operations',
    limited: false,
    log: 'debug',
    summary: 'This description, as YAML',
    description: 'OpenAPI 3.1, generated from the definitions that route and validate.',
    access: 'public',
    answer: 'text',
    output: OpenApiDocument,
    content_type: 'application/yaml',
    handler: ({ chat }) => asYaml(contextOf(chat).settings.current()),
  }),
}
