import { randomBytes } from 'node:crypto'

// Unknown outside of this process: no text of a user contains it.
const MARK = `stored-json-${randomBytes(16).toString('hex')}`

/** The stored JSON of an object's fields, by their names. No reader of the object sees it. */
const STORED = Symbol('stored JSON')

type WithStored = { [STORED]?: Record<string, string> }

let inserts: string[] | undefined

const accessors = new Map<string, PropertyDescriptor>()

/**
 * Sets a field from the JSON that is stored of it, which clients get as it is. It is parsed when the field is read first:
 * the reactions of a page of messages can be ten times its text, and no caller over HTTP needs them parsed.
 */
export function setStoredJson(target: object, field: string, json: string): void {
  const stored = (target as WithStored)[STORED]
  if (stored) stored[field] = json
  else Object.defineProperty(target, STORED, { value: { [field]: json } })
  Object.defineProperty(target, field, accessorOf(field))
}

/** Shared by all objects with the field: one for each would take several times longer to set. */
function accessorOf(field: string): PropertyDescriptor {
  const known = accessors.get(field)
  if (known) return known
  const setValue = (target: object, value: unknown) =>
    Object.defineProperty(target, field, { value, enumerable: true, configurable: true, writable: true })
  const accessor: PropertyDescriptor & ThisType<object> = {
    enumerable: true,
    configurable: true,
    get() {
      const json = getStoredJson(this, field)!
      if (inserts) {
        inserts.push(json)
        return MARK
      }
      const value = JSON.parse(json)
      setValue(this, value)
      return value
    },
    set(value: unknown) {
      setValue(this, value)
    },
  }
  accessors.set(field, accessor)
  return accessor
}

/** The JSON from which a field of this object was set. */
export function getStoredJson(target: object, field: string): string | undefined {
  return (target as WithStored)[STORED]?.[field]
}

/**
 * `JSON.stringify`, as UTF-8. Fields of {@link setStoredJson} that nothing has read are neither parsed nor
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
