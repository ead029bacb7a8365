import type { NamesOf } from '../core/known-names.ts'

/**
 * Refuses options with an unknown name, which would have no effect, and says which there are. A page does not load what the
 * service guesses the right one with.
 *
 * @param where begins the message: `client.upload`
 * @throws TypeError
 */
export function refuseUnknown<T extends object>(where: string, options: T, names: NamesOf<T>): void {
  if (typeof options !== 'object' || options === null) throw new TypeError(`${where} needs an object`)
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(names, name))
  if (unknown !== undefined)
    throw new TypeError(`${where} has no "${unknown.slice(0, 100)}", only ${Object.keys(names).join(', ')}`)
}
