import { isAdministration } from '../../.ci/api/members.ts'
import type { Operation, Trait } from '../../lib/client/operation.ts'
import type { AnyRoute } from '../../lib/endpoint.ts'
import { endpoints } from '../../lib/endpoints.ts'

/** The maximum length of a line in the formatter, with its end. */
const MAX_WIDTH = 121

const INTRODUCTION = `// Made from the routes by \`npm run docs\`: change it there. With it a browser loads neither the routes nor their schemas.
import type { Operation } from './operation.ts'

`

/** `lib/client/operations.ts`: the part of each route that a page needs. */
export function clientOperations(): string {
  return table('OPERATIONS', 'Every endpoint of users, by its feature and verb.', (route) => !isAdministration(route))
}

/** `lib/client/admin-operations.ts`: the same of all other routes. */
export function adminOperations(): string {
  return table(
    'ADMIN_OPERATIONS',
    'Every endpoint of administrators and programs, by its feature and verb.',
    isAdministration,
  )
}

function table(name: string, comment: string, isIn: (route: AnyRoute) => boolean): string {
  const features = sorted(endpoints).flatMap(([feature, verbs]) => {
    const lines = sorted<AnyRoute>(verbs)
      .filter(([, route]) => isIn(route) && isJson(route))
      .map(([verb, route]) => toSource(verb, toOperation(route)))
    return lines.length > 0 ? [`  ${feature}: {\n${lines.join('')}  },\n`] : []
  })
  const type = 'as const satisfies Record<string, Record<string, Operation>>'
  return `${INTRODUCTION}/** ${comment} */\nexport const ${name} = {\n${features.join('')}} ${type}\n`
}

/** Bytes are read and sent by functions of their own, and protocols of others by their clients. */
function isJson({ answer, bytes, output, is_protocol }: AnyRoute): boolean {
  if (is_protocol) return false
  return answer !== 'file' && (answer !== 'frames' || output !== undefined) && (!bytes || bytes.is_free === true)
}

/** By name: the order of a module's exports depends on its bundler. */
function sorted<T>(named: Record<string, T>): [string, T][] {
  return Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1))
}

function toOperation({ method, path, answer, ...route }: AnyRoute): Operation {
  const traits: Record<Trait, unknown> = {
    query: route.query,
    body: route.body,
    bytes: route.bytes,
    optional: route.body_optional,
    session: answer === 'session',
    redirect: answer === 'redirect',
    text: answer === 'text' || answer === 'document',
    read: !route.changes && method !== 'GET',
    rest: route.takes_rest,
    ends_session: answer === 'session' && route.access !== 'public',
  }
  const words = Object.entries(traits).flatMap(([trait, isSet]) => (isSet ? trait : []))
  return [`${method as 'GET'} ${path as '/'}`, ...words].join(' ') as Operation
}

function toSource(name: string, operation: Operation): string {
  const line = `    ${name}: '${operation}',\n`
  return line.length <= MAX_WIDTH ? line : `    ${name}:\n      '${operation}',\n`
}
