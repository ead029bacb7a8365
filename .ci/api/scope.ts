import type { Direction, NamedSchema } from './schemas.ts'

/** What a type that is written down refers to others by. */
export interface Scope {
  /** By the schema itself, and by its file and name. */
  schemas: ReadonlyMap<unknown, NamedSchema>
  /** Notes that the type is needed here, as what comes back unless the direction is another. @returns its name */
  refer(named: NamedSchema, direction?: Direction): string
  /** The same of a type that a file declares by hand, or imports. */
  referTo(name: string, file: string): string | undefined
  /** The type of what only a function checks. */
  custom?(direction: Direction): string
}
