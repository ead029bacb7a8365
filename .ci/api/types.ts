import { ConfigSchema } from '../../lib/config/schema.ts'
import type { AnyUseCase } from '../../lib/core/use-case.ts'
import type { AnyRoute } from '../../lib/endpoint.ts'
import { endpoints } from '../../lib/endpoints.ts'
import { FUNCTIONS, LOOPS, USE_CASES } from '../../lib/features.ts'
import { createDrafts, fileOf, folderOf, USE_CASE_FILE } from './drafts.ts'
import { entitiesIn, reExport } from './entities.ts'
import { formatted } from './format.ts'
import { clientMember, functionMember, isAdministration, useCaseMember } from './members.ts'
import { textOf } from './project.ts'
import { type Direction, loadSchemas, typeText } from './schemas.ts'
import type { Scope } from './scope.ts'
import { loadUseCases } from './use-cases.ts'

const INTRODUCTION = '// Made from the use-cases, routes and schemas by .ci/build-api.mjs: change it there.\n'

const FEATURES = `/** The use-cases of a service, by feature and verb. Those that act in a user's name take the actor first. */
export interface Features`

const CLIENT_FEATURES = `/** The endpoints of users, by feature and verb: the ids of the path, then the input, then what is sent beside it. */
export interface ClientFeatures`

const ADMIN_FEATURES = `/** The endpoints of administrators and of programs, in the same form. */
export interface AdminFeatures`

type ByFeature<T> = Record<string, Record<string, T> | undefined>

/**
 * The files of `lib/api`, by their paths: of each feature its types, its use-cases and the methods of the client; and files
 * that re-export the named types for `chat-server`, `chat-server/client` and `chat-server/client/admin`.
 */
export async function apiTypes(): Promise<Record<string, string>> {
  const sources = await loadUseCases()
  const features = [...new Set([...Object.keys(USE_CASES), ...Object.keys(endpoints)])]
  const drafts = createDrafts(
    [...features.flatMap((each) => [each, `${each}${USE_CASE_FILE}`]), 'config'],
    homesOf(sources),
    await loadSchemas(),
  )
  /** Of each client its features, and the texts of their interfaces. */
  const clients = { Client: new Map<string, string>(), AdminClient: new Map<string, string>() }

  // The clients first: a type that they have not needed by then is of a service only.
  for (const feature of features) {
    const scope = drafts.scopeOf(feature)
    const called = entries<AnyRoute>(endpoints, feature)
      .filter(
        ([, route]) =>
          !route.is_protocol &&
          !['stream', 'file'].includes(route.answer) &&
          (route.answer !== 'frames' || route.output) &&
          (!route.bytes || route.bytes.is_free),
      )
      .sort(([a], [b]) => (a < b ? -1 : 1))
    for (const [suffix, texts] of Object.entries(clients)) {
      const methods = called
        .filter(([, route]) => isAdministration(route) === (suffix === 'AdminClient'))
        .map(([verb, route]) => clientMember(verb, route, scope))
      if (methods.length === 0) continue
      drafts.addImport(feature, '../client/call-options.ts', 'CallOptions')
      texts.set(feature, declare(`client.${feature}`, `${pascal(feature)}${suffix}`, methods))
      drafts.addInterface(feature, texts.get(feature)!)
    }
  }
  drafts.scopeOf('events').referTo('ConversationStreamEvent', 'lib/chat/events/schema.ts')
  for (const feature of features) {
    const scope = drafts.scopeOf(`${feature}${USE_CASE_FILE}`)
    const routes = (endpoints as ByFeature<AnyRoute>)[feature] ?? {}
    const members = [
      ...asWritten(entries<AnyUseCase>(USE_CASES, feature), sources).map(([verb, useCase]) =>
        useCaseMember(verb, useCase, sources.get(useCase)!, routes[verb], scope),
      ),
      ...[...entries(FUNCTIONS, feature), ...entries(LOOPS, feature)].map(([verb, value]) =>
        functionMember(verb, sources.get(value)!, scope),
      ),
    ]
    drafts.addInterface(`${feature}${USE_CASE_FILE}`, declare(`chat.${feature}`, `${pascal(feature)}UseCases`, members))
  }
  for (const each of configTypes(drafts.scopeOf('config'))) drafts.addInterface('config', each)
  const types = drafts.types()
  const ofClient = entitiesIn([...clients.Client.values(), 'ConversationStreamEvent'], types)
  const ofAdmin = entitiesIn([...clients.AdminClient.values()], types)
  const files = [
    ...drafts.texts(),
    ['features.ts', overview(FEATURES, 'UseCases', features)],
    ['client-features.ts', overview(CLIENT_FEATURES, 'Client', clients.Client.keys())],
    ['admin-features.ts', overview(ADMIN_FEATURES, 'AdminClient', clients.AdminClient.keys())],
    ['entities.ts', reExport(types)],
    ['client-entities.ts', reExport(types.filter(({ name }) => ofClient.has(name)))],
    ['admin-entities.ts', reExport(types.filter(({ name }) => ofAdmin.has(name) && !ofClient.has(name)))],
  ]
  return formatted(Object.fromEntries(files.map(([name, text]) => [`lib/api/${name}`, INTRODUCTION + text])))
}

function entries<T>(table: object, feature: string): [string, T][] {
  return Object.entries((table as ByFeature<T>)[feature] ?? {})
}

/** Where each use-case is written. */
type Sources = ReadonlyMap<unknown, { file: string; name: string }>

/** Use-cases file by file, and in the order of each: a module lists its exports by the alphabet. */
function asWritten(useCases: [verb: string, AnyUseCase][], sources: Sources): [verb: string, AnyUseCase][] {
  const placed = useCases.map(([verb, useCase]) => {
    const { file, name } = sources.get(useCase)!
    return { verb, useCase, file, position: textOf(file).indexOf(`export const ${name} `) }
  })
  const files = [...new Set(placed.map(({ file }) => file))]
  return placed
    .sort((a, b) => files.indexOf(a.file) - files.indexOf(b.file) || a.position - b.position)
    .map(({ verb, useCase }) => [verb, useCase])
}

/** The feature of each folder that has use-cases. */
function homesOf(sources: Sources): Map<string, string> {
  const homes = new Map([['lib/config', 'config']])
  for (const [feature, useCases] of Object.entries(USE_CASES))
    for (const useCase of Object.values(useCases)) {
      const folder = folderOf(sources.get(useCase)!.file)
      if (!homes.has(folder)) homes.set(folder, feature)
    }
  return homes
}

function declare(path: string, name: string, members: string[]): string {
  return `/** \`${path}\`. */\nexport interface ${name} {\n${members.join('\n')}}\n`
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

/** All features together, in an interface with this first line. */
function overview(head: string, suffix: string, features: Iterable<string>): string {
  const all = [...features]
  const imports = all
    .toSorted()
    .map(
      (each) =>
        `import type { ${pascal(each)}${suffix} } from './${fileOf(suffix === 'UseCases' ? `${each}${USE_CASE_FILE}` : each)}'\n`,
    )
  return `${imports.join('')}\n${head} {\n${all.map((each) => `${each}: ${pascal(each)}${suffix}\n`).join('')}}\n`
}

function pascal(feature: string): string {
  return feature[0]!.toUpperCase() + feature.slice(1)
}
