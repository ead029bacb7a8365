/** What a value from JavaScript must be, as an error names it. */
export interface Kind {
  text: string
  accepts: (value: unknown) => boolean
}

export const TEXT: Kind = { text: 'a text', accepts: (value) => typeof value === 'string' }
export const BOOLEAN: Kind = { text: 'true or false', accepts: (value) => typeof value === 'boolean' }
export const FUNCTION: Kind = { text: 'a function', accepts: (value) => typeof value === 'function' }

/** Whether a value has these functions, of its own or of its class. */
export function hasFunctions(value: unknown, ...names: string[]): boolean {
  return names.every((name) => typeof Object(value)[name] === 'function')
}

/** An object with these functions. */
export function withFunctions(...names: string[]): Kind {
  return { text: `an object with ${names.join(', ')}`, accepts: (value) => hasFunctions(value, ...names) }
}

/** One of these texts. */
export function oneOf(...texts: string[]): Kind {
  return { text: texts.map((text) => `"${text}"`).join(' or '), accepts: (value) => texts.includes(value as string) }
}

/**
 * Refuses a member of another kind, which would fail later and elsewhere. One that is undefined is missing.
 *
 * @param where begins the message: `openStorage`
 * @throws TypeError
 */
export function assertKinds<T extends object>(where: string, object: T, kinds: Record<keyof T, Kind>): void {
  for (const [name, { text, accepts }] of Object.entries<Kind>(kinds)) {
    const value = object[name as keyof T]
    if (value !== undefined && !accepts(value)) throw new TypeError(`${where}: "${name}" must be ${text}`)
  }
}
