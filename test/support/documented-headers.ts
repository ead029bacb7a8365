import { parseConfig } from '../../lib/config/parse.ts'
import type { AnyRoute } from '../../lib/endpoint.ts'
import { openApiDocument } from '../../lib/http/openapi/build.ts'

/** Headers that every response may have, which the document describes once in its description; and those of HTTP. */
const COMMON = [
  ...['x-content-type-options', 'content-security-policy', 'referrer-policy', 'cross-origin-resource-policy'],
  ...['cache-control', 'strict-transport-security', 'vary'],
  ...['content-type', 'content-length', 'transfer-encoding', 'connection', 'keep-alive', 'date'],
]

interface Reference {
  $ref: string
}

interface Answer {
  headers?: Record<string, Reference>
}

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, Answer | Reference> }>>
  components: { headers: Record<string, { required?: boolean }>; responses: Record<string, Answer> }
}

let made: Document | undefined
function openApi(): Document {
  made ??= openApiDocument(parseConfig()) as unknown as Document
  return made
}

const looked = new Map<string, Map<string, boolean> | undefined>()

/** The documented headers of a response, in lower case, and whether each is always present. */
export function documentedHeaders(route: AnyRoute, status: number): Map<string, boolean> | undefined {
  const key = `${route.method} ${route.path} ${status}`
  if (!looked.has(key)) looked.set(key, lookUp(route, status))
  return looked.get(key)
}

function lookUp(route: AnyRoute, status: number): Map<string, boolean> | undefined {
  const { paths, components } = openApi()
  const found = paths[route.path]?.[route.method.toLowerCase()]?.responses[status]
  const answer = found && '$ref' in found ? components.responses[nameIn(found)] : (found as Answer | undefined)
  if (!answer) return undefined
  return new Map(
    Object.entries(answer.headers ?? {}).map(([name, header]) => [
      name.toLowerCase(),
      components.headers[nameIn(header)]!.required === true,
    ]),
  )
}

/** The undocumented and the missing headers of a response; empty if it is correct. */
export function headerProblems(route: AnyRoute, { status, headers }: Response): string[] {
  const documented = documentedHeaders(route, status)
  if (!documented) return [`the document has no answer ${status}`]
  const missing = [...documented].filter(([name, isRequired]) => isRequired && !headers.has(name))
  const foreign = [...headers.keys()].filter(
    (name) => !documented.has(name) && !COMMON.includes(name) && !name.startsWith('access-control-'),
  )
  return [
    ...missing.map(([name]) => `promises ${name} and does not send it`),
    ...foreign.map((name) => `sends ${name}, which is not documented`),
  ]
}

function nameIn({ $ref }: Reference): string {
  return $ref.slice($ref.lastIndexOf('/') + 1)
}
