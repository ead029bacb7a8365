import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The library that Debian's `faketime` preloads; `undefined` where it is not installed. */
const LIBRARY = readdirSync('/usr/lib')
  .map((folder) => join('/usr/lib', folder, 'faketime/libfaketime.so.1'))
  .find((path) => existsSync(path))

/** A clock for processes, whose monotonic clock stays right. */
export interface FakeClock {
  /** The environment of processes that have it. */
  env: Record<string, string>
  /** Steps it at once. @param offset such as `+400d` */
  set(offset: string): void
}

/** Makes a clock that is right until it is set. @returns `undefined` without Debian's `faketime` */
export function createFakeClock(folder: string): FakeClock | undefined {
  if (!LIBRARY) return undefined
  const file = join(folder, 'clock.rc')
  const set = (offset: string) => writeFileSync(file, offset)
  set('+0')
  // PostgreSQL runs as a user of its own.
  chmodSync(folder, 0o711)
  const env = {
    LD_PRELOAD: LIBRARY,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
  return { env, set }
}
