import type { Entity } from './entities.ts'
import type { Direction, NamedSchema } from './schemas.ts'
import { declaration } from './schemas.ts'
import type { Scope } from './scope.ts'
import { copied, findDeclaration, schemaNameOf } from './sources.ts'

/** A file of `lib/api` while it is made. */
interface Draft {
  /** Declarations of types, by name. */
  types: Map<string, string>
  interfaces: string[]
  /** Names by the path they are imported from. */
  imports: Map<string, Set<string>>
}

/** The end of the names of files with use-cases, and with what only these take and return: the client does not load it. */
export const USE_CASE_FILE = '-use-cases'

/** A type that is to be declared, and where it is from. */
interface Declaration {
  name: string
  file: string
  direction?: Direction
}

/** What hosts may import themselves, and so is not copied. */
const PUBLISHED = /^lib\/(core\/|ports\.ts$)/

/**
 * The files of `lib/api` while they are made.
 *
 * @param homes the file that declares the types of a folder; those of other folders are in the file that needs them first
 */
export function createDrafts(names: string[], homes: ReadonlyMap<string, string>, schemas: Scope['schemas']) {
  const drafts = new Map<string, Draft>(
    names.map((name) => [name, { types: new Map(), interfaces: [], imports: new Map() }]),
  )
  /** Which file declares a type, and where it is from. */
  const declared = new Map<string, { home: string; origin: string }>()

  function addImport(draft: string, path: string, name: string): void {
    const { imports } = drafts.get(draft)!
    imports.set(path, (imports.get(path) ?? new Set()).add(name))
  }

  /** @returns the file that declares the type */
  function declare(
    { name, file, direction = 'output' }: Declaration,
    draft: string,
    write: (scope: Scope) => string,
  ): string {
    const origin = `${file} (${direction})`
    const known = declared.get(name)
    if (known && known.origin !== origin)
      throw new Error(`Two types are called ${name}: in ${origin} and ${known.origin}`)
    if (known) return known.home
    const feature = homes.get(folderOf(file))
    const ofUseCases = draft.endsWith(USE_CASE_FILE) && drafts.has(`${feature}${USE_CASE_FILE}`)
    const home = feature ? `${feature}${ofUseCases ? USE_CASE_FILE : ''}` : draft
    declared.set(name, { home, origin })
    // In its place before what it refers to.
    drafts.get(home)!.types.set(name, '')
    drafts.get(home)!.types.set(name, write(scopeOf(home)))
    return home
  }

  function scopeOf(draft: string): Scope {
    const use = (type: Declaration, write: (scope: Scope) => string): string => {
      const home = declare(type, draft, write)
      if (home !== draft) addImport(draft, `./${fileOf(home)}`, type.name)
      return type.name
    }
    const refer = (named: NamedSchema, direction: Direction = 'output') =>
      use({ ...named, direction }, (scope) => declaration(named, direction, scope))
    return {
      schemas,
      refer,
      referTo(name, file) {
        const found = findDeclaration(name, file)
        if (!found) return undefined
        const schema = schemaNameOf(found)
        const named = schema && schemas.get(`${found.file} ${schema}`)
        if (named) return refer(named)
        if (!PUBLISHED.test(found.file)) return use(found, (scope) => copied(found, scope))
        addImport(draft, `../${found.file.slice('lib/'.length)}`, found.name)
        return found.name
      },
    }
  }

  return {
    scopeOf,
    addImport,
    addInterface: (draft: string, text: string) => void drafts.get(draft)!.interfaces.push(text),
    /** The declared types, each with its file and its text. */
    types: () =>
      [...drafts].flatMap(([draft, { types }]) =>
        [...types].map(([name, text]): Entity => ({ name, file: fileOf(draft), text })),
      ),
    /** The text of each file, by its name. */
    texts: () =>
      [...drafts]
        .filter(([, draft]) => draft.interfaces.length + draft.types.size > 0)
        .map(([name, draft]): [string, string] => [fileOf(name), assemble(draft)]),
  }
}

function assemble({ types, interfaces, imports }: Draft): string {
  const lines = [...imports]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, names]) => `import type { ${[...names].sort().join(', ')} } from '${path}'\n`)
  return [lines.join(''), ...interfaces, ...types.values()].join('\n')
}

/** The folder of a file. */
export function folderOf(file: string): string {
  return file.slice(0, file.lastIndexOf('/'))
}

/** `well-known.ts` for `wellKnown`. */
export function fileOf(feature: string): string {
  return `${feature.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.ts`
}
