import type { Config } from './parse.ts'

/** The configuration of a running service: the only place that a reload changes. */
export interface LiveConfig {
  /** Its sections are always those in effect. Code that keeps a value of it keeps an old one after a reload. */
  readonly view: Config
  /** The configuration in effect, as a value that never changes. */
  current(): Config
  /** Puts another configuration into effect, for all that reads it from now on. */
  replace(next: Config): void
}

/** A configuration that can be replaced while the service runs. */
export function createLiveConfig(initial: Config): LiveConfig {
  let current = initial
  const sections = Object.keys(initial).map((name) => [
    name,
    { enumerable: true, get: () => current[name as keyof Config] },
  ])
  return {
    view: Object.defineProperties({}, Object.fromEntries(sections)) as Config,
    current: () => current,
    replace(next) {
      current = next
    },
  }
}

/** A value that is made of a section, and made again once that section is another one. */
export function derived<Section, T>(read: () => Section, make: (section: Section) => T): () => T {
  let last: { section: Section; value: T } | undefined
  return () => {
    const section = read()
    if (last?.section !== section) last = { section, value: make(section) }
    return last.value
  }
}
