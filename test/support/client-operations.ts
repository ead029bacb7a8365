import type { Operation } from '../../lib/client/operation.ts'
import type { AnyRoute } from '../../lib/endpoint.ts'
import { routes } from '../../lib/endpoints.ts'

/** Of a line, with its end, as the formatter has it. */
const MAX_WIDTH = 121

const INTRODUCTION = `// Made from the routes by \`npm run docs\`: change it there. With it a browser loads neither the routes nor their schemas.
import type { Operation } from './operation.ts'

/** Every endpoint, by the name of the client's method. */
`

/** \`lib/client/operations.ts\`: what the client has to know of each route. */
export function clientOperations(): string {
  const lines = Object.entries<AnyRoute>(routes)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, route]) => toSource(name, toOperation(route)))
  return `${INTRODUCTION}export const OPERATIONS = {\n${lines.join('')}} as const satisfies Record<string, Operation>\n`
}

function toOperation({ method, path, answer, ...route }: AnyRoute): Operation {
  return {
    method,
    path,
    ...(route.body && { body: route.body_optional ? 'optional' : 'required' }),
    ...(answer === 'document' && { answer: 'text' }),
    ...((answer === 'session' || answer === 'redirect' || answer === 'text' || answer === 'stream') && { answer }),
    ...(!route.changes && answer !== 'redirect' && answer !== 'stream' && { is_read: true }),
    ...(route.takes_rest && { takes_rest: true }),
    ...(answer === 'session' && route.access !== 'public' && { ends_session: true }),
  }
}

function toSource(name: string, operation: Operation): string {
  const fields = Object.entries(operation).map(
    ([field, value]) => `${field}: ${JSON.stringify(value).replaceAll('"', "'")}`,
  )
  const line = `  ${name}: { ${fields.join(', ')} },\n`
  if (line.length <= MAX_WIDTH) return line
  return `  ${name}: {\n${fields.map((field) => `    ${field},\n`).join('')}  },\n`
}
