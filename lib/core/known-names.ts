import { didYouMean } from './nearest.ts'

/**
 * The names of a type's members: a list that lacks one, or has another, does not compile. The value of a name is the list
 * of that member's names, or of its items', if they are checked too.
 */
export type NamesOf<T> = { readonly [Name in T extends unknown ? keyof T : never]-?: object | 0 }

/** A name that is none of the known ones. */
export interface UnknownName {
  /** Where it stands: `mentions.user_id`. */
  path: string
  /** `, did you mean "<name>"?` with the nearest known one, or ''. */
  hint: string
}

/** The longest name that a message repeats. */
const MAX_NAME = 100

/** How many are looked for: a request that a host passes on may have any number. */
const MAX_UNKNOWN = 20

/**
 * Refuses options with an unknown name: a misspelt option would have no effect, and a misspelt hook that checks messages
 * would check none. An instance of a class may have members of its own, and is refused only with one that is nearly the
 * name of an option that it lacks.
 *
 * @param where begins the message: `openStorage`
 * @throws TypeError that names the nearest right one
 */
export function refuseUnknown<T extends object>(where: string, options: T, names: NamesOf<T>): void {
  if (typeof options !== 'object' || options === null) throw new TypeError(`${where} needs an object`)
  const [unknown] = unknownNames(options, names)
  if (unknown) throw new TypeError(`${where} has no "${unknown.path}"${unknown.hint}`)
}

/**
 * The first names in an object from JavaScript that are none of the known ones, those of its members and of the items of
 * arrays included where they are known too.
 */
export function unknownNames(value: unknown, shape: object, path = ''): UnknownName[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => unknownNames(item, shape, `${path}[${index}]`)).slice(0, MAX_UNKNOWN)
  }
  const isPlain = isPlainObject(value)
  const unknown: UnknownName[] = []
  for (const name of isPlain ? Object.keys(value) : membersOf(value)) {
    if (unknown.length >= MAX_UNKNOWN) break
    const isKnown = Object.hasOwn(shape, name)
    const inner = isKnown && shape[name as never]
    if (isKnown && !inner) continue
    const pathTo = (path && `${path}.`) + name.slice(0, MAX_NAME)
    if (inner) unknown.push(...unknownNames(value[name as never], inner, pathTo))
    else {
      const missing = Object.keys(shape).filter((name) => !(name in value))
      const hint = didYouMean(name, missing)
      if (isPlain || hint) unknown.push({ path: pathTo, hint })
    }
  }
  return unknown
}

/** Whether an object is written as one, and no instance of a class and no module. */
function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null ? !(Symbol.toStringTag in value) : Object.getPrototypeOf(prototype) === null
}

/** The members of an instance, those of its classes included. */
function membersOf(value: object): string[] {
  const names = Object.getOwnPropertyNames(value)
  const parent: object | null = Object.getPrototypeOf(value)
  // What every object has is of no class.
  return parent && Object.getPrototypeOf(parent) ? [...names, ...membersOf(parent)] : names
}
