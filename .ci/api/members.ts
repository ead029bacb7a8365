import type { AnyUseCase } from '../../lib/core/use-case.ts'
import type { AnyRoute } from '../../lib/endpoint.ts'
import { commentAbove, jsDoc } from './comments.ts'
import { typeText } from './schemas.ts'
import type { Scope } from './scope.ts'
import { resultOf, signatureOf } from './sources.ts'

/** Where a value is exported. */
interface Source {
  file: string
  name: string
}

/** Of `takes`, what is no id. */
const TAKEN: Record<string, [parameter: string, type: string]> = {
  actor: ['actor', 'Actor'],
  'actor?': ['actor', 'Actor | undefined'],
  client: ['client', 'Client'],
  endpoints: ['endpoints', 'readonly Endpoint[]'],
  user: ['user', 'string | { subject: string }'],
  call_ids: ['call_ids', 'string | readonly string[]'],
}

/** Where these come from, for what a use-case takes of them. */
const TAKEN_FROM: Record<string, string> = {
  Actor: 'lib/core/actor.ts',
  Client: 'lib/accounts/sessions/service.ts',
  Endpoint: 'lib/limits/rules.ts',
}

/** A use-case as a member of the service. */
export function useCaseMember(
  verb: string,
  useCase: AnyUseCase,
  { file, name }: Source,
  route: AnyRoute | undefined,
  scope: Scope,
): string {
  const comment = jsDoc(useCaseComment(commentAbove(file, name), useCase, route))
  return `${comment}${verb}(${parametersOf(useCase, scope)}): ${resultOf(file, name, scope)}\n`
}

/** A function beside the use-cases as a member of the service. */
export function functionMember(verb: string, { file, name }: Source, scope: Scope): string {
  return `${jsDoc(commentAbove(file, name))}${verb}${signatureOf(file, name, scope)}\n`
}

/** What the comment of a use-case does not say yet: what it does, where its route says so, and failures. */
function useCaseComment(comment: string, { errors, input }: AnyUseCase, route?: AnyRoute): string {
  const text = comment.startsWith('@') || !comment ? `${sentence(route?.summary ?? '')}\n\n${comment}` : comment
  const codes = [...(errors as string[]), ...(input ? ['validation_failed'] : [])]
  const missing = codes.filter((code) => !text.includes(`\`${code}\``)).map((code) => `\`${code}\``)
  if (missing.length === 0) return text.trim()
  const list = missing.join(', ')
  return (text.includes('@throws') ? `${text}; ${list}` : `${text}\n\n@throws ChatError ${list}`).trim()
}

function parametersOf({ takes, input }: AnyUseCase, scope: Scope): string {
  const taken = (takes as string[]).map((name) => {
    const [parameter, type] = TAKEN[name] ?? [name, 'string']
    const known = Object.keys(TAKEN_FROM).find((each) => type.includes(each))
    if (known) scope.referTo(known, TAKEN_FROM[known]!)
    return `${parameter}: ${type}`
  })
  return [...taken, ...(input ? [inputOf(input, scope)] : [])].join(', ')
}

function inputOf(schema: unknown, scope: Scope): string {
  const { entries } = schema as { entries?: Record<string, { type: string }> }
  const mayMiss = entries !== undefined && Object.values(entries).every(({ type }) => type === 'optional')
  return `input${mayMiss ? '?' : ''}: ${inputName(schema, scope)}`
}

/** A name for the fields of an input: two calls that take the same one then say so. */
function inputName(schema: unknown, scope: Scope): string {
  return scope.refer(scope.schemas.get(schema)!, 'input')
}

/** Whether a route is in `chat-server/client/admin`, and not in the client of pages. */
export function isAdministration({ tag }: AnyRoute): boolean {
  return tag === 'Administration' || tag === 'Operations' || tag === 'Compatibility'
}

/** A route as a method of the client. */
export function clientMember(verb: string, route: AnyRoute, scope: Scope): string {
  const { path, query, body, bytes, output, pieces, errors, answer } = route
  const input = query ?? body
  const ids = [...(path as string).matchAll(/\{(\w+)\}/g)].map(([, name]) => `${name}: string`)
  const codes = [...new Set([...(errors as string[]), ...(input ? ['validation_failed'] : [])])]
  const throws = codes.length > 0 ? `\n\n@throws ChatError ${codes.map((code) => `\`${code}\``).join(', ')}` : ''
  const comment = jsDoc(`${sentence(route.summary)}\n\n${route.description}${throws}`)
  const isText = answer === 'text' || answer === 'document'
  const result = isText ? 'string' : output ? typeText(output, 'output', scope) : 'void'
  const options = 'options?: CallOptions'
  if (!pieces) {
    const given = bytes ? ['bytes: Blob'] : input ? [inputOf(input, scope)] : []
    const parameters = [...ids, ...given, options]
    return `${comment}${verb}(${parameters.join(', ')}): Promise<${result}>\n`
  }
  const piece = typeText(pieces, 'output', scope)
  const name = inputName(input, scope)
  return (
    `${comment}${verb}(input: ${name} & { stream: true }, ${options}): Promise<AsyncGenerator<${piece}>>\n` +
    `${comment}${verb}(input: ${name} & { stream?: false | null | undefined }, ${options}): Promise<${result}>\n`
  )
}

function sentence(text: string): string {
  return /[.:;]$/.test(text) ? text : `${text}.`
}
