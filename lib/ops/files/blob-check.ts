import { createHash, hash } from 'node:crypto'
import { keyOfPart, lengthOfPart } from '../../chat/attachments/rules.ts'
import type { WholeBlob } from '../../chat/attachments/store-checking.ts'
import type { FileStore } from '../../files/file-store.ts'

/** Whether the bytes of a blob are in the storage of files: `wrong` if they have another size or digest. */
export type BlobState = 'there' | 'missing' | 'wrong'

/** Compares a blob with the storage. @param read compares its digest, too */
export async function checkBlob(
  files: FileStore,
  { id, size, parts, digest }: Pick<WholeBlob, 'id' | 'size' | 'parts' | 'digest'>,
  read: boolean,
): Promise<BlobState> {
  const sizes = await files.sizes(id)
  for (let n = 1; n <= Number(parts); n++) if (sizes.get(n) === undefined) return 'missing'
  for (let n = 1; n <= Number(parts); n++) if (sizes.get(n) !== lengthOfPart(Number(size), n)) return 'wrong'
  if (!read || digest === null) return 'there'
  const whole = createHash('sha256')
  for (let n = 1; n <= Number(parts); n++) {
    const bytes = await files.get(keyOfPart(id, n))
    if (!bytes) return 'missing'
    whole.update(hash('sha256', bytes, 'buffer'))
  }
  return whole.digest('base64url') === digest ? 'there' : 'wrong'
}
