import { ConfigSchema } from '../../lib/config/schema.ts'
import type { AnyUseCase } from '../../lib/core/use-case.ts'
import type { AnyRoute } from '../../lib/endpoint.ts'
import { endpoints } from '../../lib/endpoints.ts'
import { FUNCTIONS, LOOPS, USE_CASES } from '../../lib/features.ts'
import { createDrafts, fileOf, folderOf } from './api-types/drafts.ts'
import { entitiesIn, reExport } from './api-types/entities.ts'
import { formatted } from './api-types/format.ts'
import { clientMember, functionMember, useCaseMember } from './api-types/members.ts'
import { type Direction, loadSchemas, typeText } from './api-types/schemas.ts'
import type { Scope } from './api-types/scope.ts'
import { loadUseCases } from './api-types/use-cases.ts'

const INTRODUCTION = '// Made from the use-cases, routes and schemas by `npm run docs`: change it there.\n'

type ByFeature<T> = Record<string, Record<string, T> | undefined>

/**
 * The files of `lib/api`, by their paths: of each feature its types, its use-cases and the methods of the client; and two
 * files that re-export the named types for `chat-server` and `chat-server/client`.
 */
export async function apiTypes(): Promise<Record<string, string>> {
  const sources = await loadUseCases()
  const features = [...new Set([...Object.keys(USE_CASES), ...Object.keys(endpoints)])]
  const drafts = createDrafts([...features, 'config'], homesOf(sources), await loadSchemas())
  const clients: string[] = []
  const clientTexts: string[] = []

  for (const feature of features) {
    const scope = drafts.scopeOf(feature)
    const routes = (endpoints as ByFeature<AnyRoute>)[feature] ?? {}
    const members = [
      ...entries<AnyUseCase>(USE_CASES, feature).map(([verb, useCase]) =>
        useCaseMember(verb, useCase, sources.get(useCase)!, routes[verb], scope),
      ),
      ...[...entries(FUNCTIONS, feature), ...entries(LOOPS, feature)].map(([verb, value]) =>
        functionMember(verb, sources.get(value)!, scope),
      ),
    ]
    drafts.addInterface(feature, declare(`chat.${feature}`, `${pascal(feature)}UseCases`, members))
    const methods = Object.entries(routes)
      .filter(([, route]) => route.answer !== 'stream')
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([verb, route]) => clientMember(verb, route, scope))
    if (methods.length === 0) continue
    clients.push(feature)
    drafts.addImport(feature, '../client/call-options.ts', 'CallOptions')
    const text = declare(`client.${feature}`, `${pascal(feature)}Client`, methods)
    clientTexts.push(text)
    drafts.addInterface(feature, text)
  }
  for (const each of configTypes(drafts.scopeOf('config'))) drafts.addInterface('config', each)
  const types = drafts.types()
  const ofClient = entitiesIn([...clientTexts, 'ConversationStreamEvent'], types)
  const files = [
    ...drafts.texts(),
    ['features.ts', overview(features, clients)],
    ['entities.ts', reExport(types)],
    ['client-entities.ts', reExport(types.filter(({ name }) => ofClient.has(name)))],
  ]
  return formatted(Object.fromEntries(files.map(([name, text]) => [`lib/api/${name}`, INTRODUCTION + text])))
}

function entries<T>(table: object, feature: string): [string, T][] {
  return Object.entries((table as ByFeature<T>)[feature] ?? {})
}

/** The feature of each folder that has use-cases. */
function homesOf(sources: ReadonlyMap<unknown, { file: string }>): Map<string, string> {
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

/** All of them together. */
function overview(features: string[], clients: string[]): string {
  const imports = features.map((feature) => {
    const names = [...(clients.includes(feature) ? [`${pascal(feature)}Client`] : []), `${pascal(feature)}UseCases`]
    return `import type { ${names.join(', ')} } from './${fileOf(feature)}'\n`
  })
  const list = (all: string[], suffix: string) => all.map((each) => `${each}: ${pascal(each)}${suffix}\n`).join('')
  return [
    imports.join(''),
    `/** The use-cases of a service, by feature and verb. Those that act in a user's name take the actor first. */
export interface Features {\n${list(features, 'UseCases')}}\n`,
    `/** The endpoints, by feature and verb: the ids of the path, then the input, then what is sent beside it. */
export interface ClientFeatures {\n${list(clients, 'Client')}}\n`,
  ].join('\n')
}

function pascal(feature: string): string {
  return feature[0]!.toUpperCase() + feature.slice(1)
}
