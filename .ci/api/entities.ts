/** A named type that an interface of `lib/api` refers to. */
export interface Entity {
  name: string
  /** The file of `lib/api` that declares the type. */
  file: string
  text: string
}

/** The names of the types that these texts refer to, and that these types refer to. */
export function entitiesIn(texts: string[], entities: Entity[]): ReadonlySet<string> {
  const byName = new Map(entities.map((entity) => [entity.name, entity]))
  const found = new Set<string>()
  const queue = [...texts]
  for (const text of queue)
    for (const [name] of withoutComments(text).matchAll(/\b[A-Z]\w*/g)) {
      const entity = byName.get(name)
      if (!entity || found.has(name)) continue
      found.add(name)
      queue.push(entity.text)
    }
  return found
}

/** A file that exports these types: an entry point exports all of the file. */
export function reExport(entities: Entity[]): string {
  const files = [...new Set(entities.map(({ file }) => file))].sort()
  const namesOf = (file: string) => entities.filter((entity) => entity.file === file).map(({ name }) => name)
  return files.map((file) => `export type { ${namesOf(file).sort().join(', ')} } from './${file}'\n`).join('')
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '')
}
