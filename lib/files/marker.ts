/** The key of the marker: no file has it. */
export const MARKER_KEY = 'chat-server-storage'

/** Tells a place of files from an empty folder where a disk should be mounted, and from the places of others. */
export interface Marker {
  /** The random id of the place. */
  storage: string
  /** The database whose files are stored here: a copy of it deletes nothing. */
  database: string
}

/** The bytes of a marker. */
export function toMarkerBytes({ storage, database }: Marker): Buffer {
  return Buffer.from(`${JSON.stringify({ storage, database })}\n`)
}

/** `undefined` for bytes that are no marker. */
export function parseMarker(bytes: Uint8Array): Marker | undefined {
  try {
    const { storage, database } = Object(JSON.parse(Buffer.from(bytes).toString())) as Record<string, unknown>
    return typeof storage === 'string' && typeof database === 'string' ? { storage, database } : undefined
  } catch {
    return undefined
  }
}
