import type { ArgsDef } from 'citty'
import type { Facts } from './facts.ts'

/** A text of an example, and what stands there for this configuration. An empty text removes its line. */
export type Replacement = readonly [example: string, here: string]

/** A file that is made of an example. */
export interface TargetFile {
  name: string
  /** Its path in the package. */
  example: string
  replace: Replacement[]
}

/** The files for one program. */
export interface Target {
  description: string
  /** Its own flags. */
  args?: ArgsDef
  files(facts: Facts): TargetFile[]
  /** What to know before the files are used. */
  notes?(facts: Facts): string[]
  /** The commands to run next. */
  next(facts: Facts): string[]
}
