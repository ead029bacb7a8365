import { parseConfig } from '../../lib/config/parse.ts'
import { type ErrorCode, STATUSES } from '../../lib/core/errors.ts'
import type { AnyRoute } from '../../lib/endpoint.ts'
import { openApiDocument } from '../../lib/http/openapi/build.ts'
import { DESCRIPTION } from '../../lib/http/openapi/texts.ts'
import { allRoutes } from './all-routes.ts'
import { wrap } from './markdown.ts'
import { describeShapes, rowsOf, type Schema, table } from './shapes.ts'

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description: string
  schema: Schema
}

interface Operation {
  parameters?: Parameter[]
  requestBody?: { content: { 'application/json': { schema: Schema } } }
  responses: Record<string, { headers?: object; content?: Record<string, { schema: Schema }> }>
}

interface Document {
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

const openApi = openApiDocument(parseConfig()) as unknown as Document

/** The errors that all calls with one of these properties can return; they are described once. */
const GENERAL: [when: string, codes: ErrorCode[]][] = [
  ['every call', ['method_not_allowed', 'internal']],
  ['every call but those of Operations', ['rate_limited', 'unavailable']],
  ['a call that asks for a session', ['unauthenticated', 'session_expired']],
  ['a call that is for administrators, or for sessions alone', ['forbidden']],
  ['a call that changes something, and a stream', ['csrf_failed']],
  ['a call that changes something', ['storage_full']],
  ['a call with a body', ['malformed_json', 'payload_too_large', 'unsupported_media_type']],
  ['a call with a body or query parameters', ['validation_failed']],
  ['a call under `/api`, `/v1` or `/.well-known`, where that is turned off', ['not_found']],
]

const INTRODUCTION = `<!-- Generated from the routes and their schemas (lib/*/routes.ts) by test/support/generate-docs.ts: change them there. -->

# HTTP API

Every endpoint with its input and its response. Every service returns the same as OpenAPI 3.1 at \`/openapi.json\` and
\`/openapi.yaml\`, and \`chat-server openapi\` prints it. To generate types from it, for example:

\`\`\`sh
npx chat-server openapi --output openapi.json
npx openapi-typescript openapi.json --default-non-nullable false --output openapi.ts
\`\`\`

[Clients for other languages](../guides/generated-clients.md) lists the generators that are tested.

See also [the rights](rights.md) of each role, [the events](events.md) of a stream, and [the error codes](errors.md). In
TypeScript, [the client](../client.md) has a method for every endpoint, with the names below.

## For all endpoints

${DESCRIPTION.slice(DESCRIPTION.indexOf('- '))}

Errors that are not listed with each endpoint:

${GENERAL.map(([when, codes]) => `${wrap(`- ${when}: ${codes.map(linkTo).join(', ')}`, '  ')}\n`).join('')}
Responses contain the limit that applied: \`RateLimit-Limit\`, \`RateLimit-Remaining\`, \`RateLimit-Reset\`,
\`X-RateLimit-Profile\`. Every response has an \`X-Request-Id\`: that of the request if it has one of 8 to 64 letters,
digits and \`._-\`, otherwise a new one.

The examples use a base URL, and a function that sends the cookies of a session and the CSRF token:

\`\`\`sh
BASE=http://127.0.0.1:8080
call() {
  csrf=$(awk '$6 == "CSRF-TOKEN" { print $7 }' session.jar)
  curl -s -b session.jar -c session.jar -H "X-CSRF-TOKEN: $csrf" -H 'Content-Type: application/json' "$@"
}
\`\`\`
`

/** The reference page of every endpoint, by group, and their schemas. */
export function httpPage(): string {
  const groups = openApi.tags.map(({ name, description }) => {
    const routes = allRoutes.filter(([, route]) => route.tag === name).sort(([, a], [, b]) => placeOf(a) - placeOf(b))
    return [`## ${name}\n\n${wrap(description)}\n\n${listOf(routes)}`, ...routes.map(describeCall)].join('\n')
  })
  const shapes = describeShapes(groups.join('\n'), openApi.components.schemas)
  return [INTRODUCTION, ...groups, `## Shapes\n`, ...shapes].join('\n')
}

/** Sorts endpoints by path, then by method. */
function placeOf({ method, path }: AnyRoute): number {
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
  return Object.keys(openApi.paths).sort().indexOf(path) * methods.length + methods.indexOf(method)
}

function listOf(routes: [string, AnyRoute][]): string {
  const rows = routes.map(
    ([name, { method, path, summary }]) => `| [\`${method} ${path}\`](#${name.toLowerCase()}) | ${summary} |\n`,
  )
  return `| call | |\n|---|---|\n${rows.join('')}`
}

function describeCall([name, route]: [string, AnyRoute]): string {
  const operation = openApi.paths[route.path]![route.method.toLowerCase()]!
  const { parameters = [], requestBody } = operation
  const body = requestBody?.content['application/json']?.schema
  return [
    `### \`${name}\``,
    `**\`${route.method} ${route.path}\`** — ${route.summary}`,
    wrap(route.description),
    ...(parameters.length > 0 ? [table(parameters.map(describeParameter), 'parameter')] : []),
    ...(route.bytes ? ['Body: the bytes, as `application/octet-stream`.'] : []),
    ...(body ? [`Body${route.body_optional ? ', which may be left out' : ''}:`, bodyTable(body)] : []),
    [
      wrap(`- **Access:** ${describeAccess(route)}`, '  '),
      describeAnswer(route, operation),
      describeErrors(route),
    ].join('\n'),
    // A browser makes this call after a provider's redirect; an example with curl would not help.
    ...(route.answer === 'redirect' ? [] : [`\`\`\`sh\n${exampleOf(route)}\n\`\`\``]),
  ]
    .join('\n\n')
    .concat('\n')
}

function describeAccess({ access, sign_in, metrics_token }: AnyRoute): string {
  if (metrics_token) return 'public; requires `metrics.token` as a bearer token if configured'
  if (access === 'public') return 'public'
  if (access === 'optional') return `public; a session${sign_in ? '' : ' or an API key'} identifies the user`
  const way = sign_in ? 'a session; no API key' : 'a session or an API key'
  return access === 'admin' ? `an administrator, with ${way}` : way
}

function describeParameter({ name, in: place, required, description, schema }: Parameter): [string, string, string] {
  const [[, type, notes] = ['', '', '']] = rowsOf({ properties: { [name]: schema } }, openApi.components.schemas)
  const text = [place === 'path' ? '' : `In the ${place}.`, `${description}.`, notes].filter(Boolean).join(' ')
  return [`\`${name}\`${required ? '' : '?'}`, type, text]
}

/** The fields of a body; of alternatives, those of each. */
function bodyTable(schema: Schema): string {
  const { schemas } = openApi.components
  const find = (each: Schema): Schema => (each.$ref ? schemas[each.$ref.split('/').at(-1)!]! : each)
  const { oneOf, anyOf = oneOf } = find(schema)
  return table(rowsOf(anyOf ? { anyOf: anyOf.map(find) } : schema, schemas), 'field')
}

function describeAnswer(route: AnyRoute, { responses }: Operation): string {
  const { headers = {}, content = {} } = responses[route.status]!
  const told = Object.keys(headers).filter((name) => !/^(X-Request-Id|RateLimit-|X-RateLimit-)/.test(name))
  const types = Object.entries(content).map(([type, { schema }]) => {
    if (route.answer === 'stream') return `\`${type}\` of [events](events.md)`
    if (route.answer === 'file') return 'the bytes, of the type of the file'
    const [[, text] = ['', '']] = rowsOf({ properties: { answer: schema } }, openApi.components.schemas)
    return type === 'application/json' && text !== 'text' ? text : `${text}, \`${type.replace('*/*', 'of any type')}\``
  })
  const parts = [types.join(', or '), told.length > 0 && `with ${told.map((name) => `\`${name}\``).join(', ')}`]
  const redirect = route.answer === 'redirect' ? '; 303 with `Location` for requests that do not accept JSON' : ''
  const more = [...(route.status_if_empty ? [`; ${route.status_if_empty} without it`] : []), ...statusesOf(route)]
  return wrap(`- **Response:** ${[route.status, ...parts].filter(Boolean).join(' ')}${redirect}${more.join('')}`, '  ')
}

function statusesOf({ file_statuses = [] }: AnyRoute): string[] {
  return file_statuses.map((status) => (status === 206 ? '; 206 with a part' : '; 304 if the caller has it'))
}

function describeErrors({ errors }: AnyRoute): string {
  const sorted = [...(errors as ErrorCode[])].sort((a, b) => STATUSES[a] - STATUSES[b])
  const told = sorted.map((code) => `${STATUSES[code]} ${linkTo(code)}`)
  return wrap(`- **Errors:** ${told.join(', ') || 'those of all calls'}`, '  ')
}

function linkTo(code: ErrorCode): string {
  return `[\`${code}\`](errors.md#${code})`
}

/** Path parameters as shell variables. */
function exampleOf({ method, path, body, bytes, example, access, answer, sign_in }: AnyRoute): string {
  const address = `$BASE${path.replace(/\{(\w+)\}/g, (_: string, name: string) => `${VARIABLES[name] === '1' ? '1' : `$${VARIABLES[name] ?? name.toUpperCase()}`}`)}`
  const signsIn = answer === 'session' && sign_in && access === 'public'
  const command = access === 'public' ? (signsIn ? 'curl -s -c session.jar' : 'curl -s') : 'call'
  const isPlain = access === 'public' && body ? " -H 'Content-Type: application/json'" : ''
  const part = bytes ? " -H 'Content-Type: application/octet-stream' --data-binary @part" : ''
  const sent = example ? ` -d '${JSON.stringify(example)}'` : part
  const implied = example ? 'POST' : 'GET'
  const options = `${method === implied ? '' : ` -X ${method}`}${answer === 'stream' ? ' -N' : ''}${answer === 'file' ? ' -o file' : ''}`
  const line = `${command}${options} ${address}${isPlain}${sent}`
  return line.length <= 120 || !sent ? line : `${line.slice(0, -sent.length)} \\\n ${sent}`
}

const VARIABLES: Record<string, string> = {
  conversation_id: 'CONVERSATION',
  attachment_id: 'ATTACHMENT',
  n: '1',
  root_id: 'ROOT',
  parent_id: 'MESSAGE',
  message_id: 'MESSAGE',
  user_id: 'USER_ID',
  session_id: 'SESSION',
  key_id: 'KEY_ID',
  path: 'NAME',
}
