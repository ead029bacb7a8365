import { isStorable } from '../../core/schema.ts'
import { sniff } from '../../files/sniff.ts'
import type { FileReading } from './files.ts'

/** The maximum size of one text, in bytes. */
export const MAX_TEXT_BYTES = 64 * 1024

/** The texts of a thread, which are UTF-8. Any file may be one, whatever its sender calls it. */
export const TEXTS: FileReading = {
  most: { files: 8, bytes: 4 * MAX_TEXT_BYTES },
  isWanted: ({ size }) => size > 0 && size <= MAX_TEXT_BYTES,
  // A picture or a document is no text, even if its bytes would pass.
  toText: (bytes) => (sniff(bytes) === 'application/octet-stream' ? decode(bytes) : undefined),
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return isStorable(text) ? text : undefined
  } catch {
    return undefined
  }
}
