import { randomBytes } from 'node:crypto'

// Unknown outside of this process: no text of a user contains it.
const MARK = `stored-json-${randomBytes(16).toString('hex')}`

const texts = new WeakMap<object, Record<string, string>>()
let inserts: string[] | undefined

/**
 * Sets a field from the JSON that is stored of it, which clients get as it is. It is parsed when the field is read first:
 * a page of messages can have ten times more users who reacted than text, and no caller over HTTP needs them parsed.
 */
export function setStoredJson(target: object, field: string, json: string): void {
  const setValue = (value: unknown) =>
    Object.defineProperty(target, field, { value, enumerable: true, configurable: true, writable: true })
  texts.set(target, { ...texts.get(target), [field]: json })
  Object.defineProperty(target, field, {
    enumerable: true,
    configurable: true,
    get() {
      if (inserts) {
        inserts.push(json)
        return MARK
      }
      const value = JSON.parse(json)
      setValue(value)
      return value
    },
    set: setValue,
  })
}

/** The JSON from which a field of this object was set. */
export function storedJsonOf(target: object, field: string): string | undefined {
  return texts.get(target)?.[field]
}

/**
 * The same as `JSON.stringify`, as UTF-8. Fields of {@link setStoredJson} that nothing has read are neither parsed nor
 * composed again.
 */
export function toJson(value: object): string | Uint8Array {
  inserts = []
  try {
    const text = JSON.stringify(value)
    return inserts.length > 0 ? join(text.split(`"${MARK}"`), inserts) : text
  } finally {
    inserts = undefined
  }
}

/** The texts with an insert after each but the last. One string of all would have two bytes for each character. */
function join(texts: string[], inserts: string[]): Uint8Array {
  const parts = texts.flatMap((text, index) => (index < inserts.length ? [text, inserts[index]!] : [text]))
  const bytes = Buffer.allocUnsafe(parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0))
  let end = 0
  for (const part of parts) end += bytes.write(part, end)
  return bytes
}
