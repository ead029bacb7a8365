import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigSchema } from '../../lib/config/schema.ts'
import type { AnyUseCase } from '../../lib/core/use-case.ts'
import type { AnyRoute } from '../../lib/endpoint.ts'
import { endpoints } from '../../lib/endpoints.ts'
import { FUNCTIONS, LOOPS, USE_CASES } from '../../lib/features.ts'
import { commentAbove, jsDoc } from './api-types/comments.ts'
import { type Direction, declaration, loadSchemas, type NamedSchema, typeText } from './api-types/schemas.ts'
import type { Scope } from './api-types/scope.ts'
import { copied, findDeclaration, resultOf, schemaNameOf, signatureOf } from './api-types/sources.ts'
import { loadUseCases } from './api-types/use-cases.ts'
import { ROOT } from './example.ts'

const INTRODUCTION = '// Made from the use-cases, routes and schemas by `npm run docs`: change it there.\n'

/** Of `takes`, what is no id. */
const TAKEN: Record<string, [parameter: string, type: string]> = {
  actor: ['actor', 'Actor'],
  'actor?': ['actor', 'Actor | undefined'],
  client: ['client', 'Client'],
  endpoints: ['endpoints', 'readonly Endpoint[]'],
}

/** Where these come from, for what a use-case takes of them. */
const TAKEN_FROM: Record<string, string> = {
  Actor: 'lib/core/actor.ts',
  Client: 'lib/accounts/sessions/service.ts',
  Endpoint: 'lib/limits/rules.ts',
}

/** A file of `lib/api` while it is made. */
interface Draft {
  /** Declarations of types, by name. */
  types: Map<string, string>
  interfaces: string[]
  /** Names by the path they are imported from. */
  imports: Map<string, Set<string>>
}

/** The files of `lib/api`, by their paths: of each feature its types, its use-cases and the methods of the client. */
export async function apiTypes(): Promise<Record<string, string>> {
  const schemas = await loadSchemas()
  const sources = await loadUseCases()
  const features = [...new Set([...Object.keys(USE_CASES), ...Object.keys(endpoints)])]
  const drafts = new Map<string, Draft>(
    [...features, 'config'].map((feature) => [feature, { types: new Map(), interfaces: [], imports: new Map() }]),
  )
  /** The feature of a folder: that of its use-cases, or of whichever type of another one needs it first. */
  const homes = new Map([['lib/config', 'config']])
  for (const [feature, verbs] of Object.entries<Record<string, unknown>>(USE_CASES))
    for (const value of Object.values(verbs)) {
      const folder = folderOf(sources.get(value)!.file)
      if (!homes.has(folder)) homes.set(folder, feature)
    }
  /** The feature that declares a type. */
  const declared = new Map<string, string>()

  function scopeOf(feature: string): Scope {
    const draft = drafts.get(feature)!
    const use = (name: string, file: string, write: (scope: Scope) => string): string => {
      const home = declared.get(name) ?? homes.get(folderOf(file)) ?? feature
      if (!declared.has(name)) {
        declared.set(name, home)
        // In its place before what it refers to.
        drafts.get(home)!.types.set(name, '')
        drafts.get(home)!.types.set(name, write(scopeOf(home)))
      }
      if (home !== feature) addImport(draft, `./${kebab(home)}.ts`, name)
      return name
    }
    const refer = (named: NamedSchema) => use(named.name, named.file, (scope) => declaration(named, scope))
    return {
      schemas,
      refer,
      referTo(name, file) {
        const found = findDeclaration(name, file)
        if (!found) return undefined
        const schema = schemaNameOf(found)
        const named = schema && schemas.get(`${found.file} ${schema}`)
        if (named) return refer(named)
        if (!found.file.startsWith('lib/core/') && found.file !== 'lib/ports.ts')
          return use(found.name, found.file, (scope) => copied(found, scope))
        addImport(draft, `../${found.file.slice('lib/'.length)}`, found.name)
        return found.name
      },
    }
  }

  for (const feature of features) {
    const draft = drafts.get(feature)!
    const scope = scopeOf(feature)
    const verbs = (USE_CASES as Record<string, Record<string, AnyUseCase>>)[feature] ?? {}
    const functions = ({ ...FUNCTIONS, ...LOOPS } as Record<string, Record<string, unknown>>)[feature] ?? {}
    const routes = (endpoints as Record<string, Record<string, AnyRoute>>)[feature] ?? {}
    const members = [
      ...Object.entries(verbs).map(([verb, useCase]) => {
        const { file, name } = sources.get(useCase)!
        const comment = useCaseComment(commentAbove(file, name), useCase, routes[verb])
        return `${jsDoc(comment)}${verb}(${parametersOf(useCase, scope)}): ${resultOf(file, name, scope)}\n`
      }),
      ...Object.entries(functions).map(([verb, value]) => {
        const { file, name } = sources.get(value)!
        return `${jsDoc(commentAbove(file, name))}${verb}${signatureOf(file, name, scope)}\n`
      }),
    ]
    draft.interfaces.push(
      `/** \`chat.${feature}\`. */\nexport interface ${pascal(feature)}UseCases {\n${members.join('\n')}}\n`,
    )
    const methods = Object.entries(routes)
      .filter(([, route]) => route.answer !== 'stream')
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([verb, route]) => methodOf(verb, route, scope))
    if (methods.length === 0) continue
    addImport(draft, '../client/call-options.ts', 'CallOptions')
    draft.interfaces.push(
      `/** \`client.${feature}\`. */\nexport interface ${pascal(feature)}Client {\n${methods.join('\n')}}\n`,
    )
  }
  drafts.get('config')!.interfaces.push(...configTypes(scopeOf('config')))
  const files = [...drafts].map(([feature, draft]) => [`lib/api/${kebab(feature)}.ts`, assemble(draft)])
  return formatted({ ...Object.fromEntries(files), 'lib/api/features.ts': overview(features, drafts) })
}

/** The configuration: as it is written, and with every default filled in. */
function configTypes(scope: Scope): string[] {
  const custom = (direction: Direction) =>
    direction === 'input'
      ? scope.referTo('WellKnownInput', 'lib/config/well-known.ts')!
      : `${scope.referTo('WellKnownEntry', 'lib/config/well-known.ts')}[]`
  const fields = (direction: Direction) => typeText(ConfigSchema, direction, { ...scope, custom })
  return [
    `/** Any part of the configuration. */\nexport interface ConfigInput ${fields('input')}\n`,
    `/** The whole configuration, with every default filled in. */\nexport interface Config ${fields('output')}\n`,
  ]
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
  return `input${mayMiss ? '?' : ''}: ${inline(schema, scope)}`
}

/** The fields of an input, where it is used: a name would say less. */
function inline(schema: unknown, scope: Scope): string {
  return typeText(schema, 'input', { ...scope, schemas: without(scope.schemas, schema) })
}

function without<T>(map: ReadonlyMap<unknown, T>, key: unknown): ReadonlyMap<unknown, T> {
  const copy = new Map(map)
  copy.delete(key)
  return copy
}

/** A method of the client. */
function methodOf(verb: string, route: AnyRoute, scope: Scope): string {
  const { path, query, body, output, pieces, errors, answer } = route
  const input = query ?? body
  const ids = [...(path as string).matchAll(/\{(\w+)\}/g)].map(([, name]) => `${name}: string`)
  const codes = [...new Set([...(errors as string[]), ...(input ? ['validation_failed'] : [])])]
  const throws = codes.length > 0 ? `\n\n@throws ChatError ${codes.map((code) => `\`${code}\``).join(', ')}` : ''
  const comment = jsDoc(`${sentence(route.summary)}\n\n${route.description}${throws}`)
  const isText = answer === 'text' || answer === 'document'
  const result = isText ? 'string' : output ? typeText(output, 'output', scope) : 'void'
  const options = 'options?: CallOptions'
  if (!pieces) {
    const parameters = [...ids, ...(input ? [inputOf(input, scope)] : []), options]
    return `${comment}${verb}(${parameters.join(', ')}): Promise<${result}>\n`
  }
  const piece = typeText(pieces, 'output', scope)
  const fields = inline(input, scope)
  return (
    `${comment}${verb}(input: ${fields.replace(/stream\?: [^\n]+/, 'stream: true')}, ${options}): Promise<AsyncGenerator<${piece}>>\n` +
    `${comment}${verb}(input: ${fields.replace(/stream\?: [^\n]+/, 'stream?: false | null | undefined')}, ${options}): Promise<${result}>\n`
  )
}

function assemble({ types, interfaces, imports }: Draft): string {
  const lines = [...imports]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, names]) => `import type { ${[...names].sort().join(', ')} } from '${path}'\n`)
  return [INTRODUCTION + lines.join(''), ...interfaces, ...types.values()].join('\n')
}

function overview(features: string[], drafts: Map<string, Draft>): string {
  const clients = features.filter((feature) => drafts.get(feature)!.interfaces.length > 1)
  const imports = features.map((feature) => {
    const names = [...(clients.includes(feature) ? [`${pascal(feature)}Client`] : []), `${pascal(feature)}UseCases`]
    return `import type { ${names.join(', ')} } from './${kebab(feature)}.ts'\n`
  })
  const list = (all: string[], suffix: string) => all.map((each) => `${each}: ${pascal(each)}${suffix}\n`).join('')
  return [
    INTRODUCTION + imports.join(''),
    `/** The use-cases of a service, by feature and verb. Those that act in a user's name take the actor first. */
export interface Features {\n${list(features, 'UseCases')}}\n`,
    `/** The endpoints, by feature and verb: the ids of the path, then the input, then what is sent beside it. */
export interface ClientFeatures {\n${list(clients, 'Client')}}\n`,
  ].join('\n')
}

/** In the form that the linter asks for. */
function formatted(files: Record<string, string>): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'api-types-'))
  try {
    for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path.replaceAll('/', '_')), text)
    const options = ['check', '--write', '--vcs-enabled=false', `--config-path=${join(ROOT, '.biome.json')}`, folder]
    const { status, stderr } = spawnSync(join(ROOT, 'node_modules/.bin/biome'), options, { encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr)
    const read = (path: string) => readFileSync(join(folder, path.replaceAll('/', '_')), 'utf8')
    return Object.fromEntries(Object.keys(files).map((path) => [path, read(path)]))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function addImport({ imports }: Draft, path: string, name: string): void {
  imports.set(path, (imports.get(path) ?? new Set()).add(name))
}

function folderOf(file: string): string {
  return file.slice(0, file.lastIndexOf('/'))
}

function pascal(feature: string): string {
  return feature[0]!.toUpperCase() + feature.slice(1)
}

function kebab(feature: string): string {
  return feature.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

function sentence(text: string): string {
  return /[.:;]$/.test(text) ? text : `${text}.`
}
