/**
 * Another connection to a SQLite file, by the driver that the service takes: two SQLite libraries in one process do not
 * see each other's locks.
 */
export { openHandle } from '../../lib/storage/connect.ts'

/** The file of a `sqlite:` URL. */
export function fileOf(url: string): string {
  return url.slice('sqlite:'.length)
}

/** A promise with its resolve function: a test decides when other code continues. */
export function promised<T = void>() {
  let resolve!: (value: T) => void
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
