import { sniff } from '../../files/sniff.ts'
import type { FileReading } from './files.ts'

/** What servers with the protocol read, by the first bytes of a file. */
const TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

/** The pictures of a thread, as data URLs. All of them are in memory, a third longer in their URLs. */
export const PICTURES: FileReading = {
  most: { files: 8, bytes: 8 * 1024 * 1024 },
  isWanted: ({ type }) => TYPES.includes(type),
  // Not what its sender calls it.
  toText(bytes) {
    const type = sniff(bytes)
    return TYPES.includes(type) ? `data:${type};base64,${bytes.toString('base64')}` : undefined
  },
}
