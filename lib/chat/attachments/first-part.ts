import type { Config } from '../../config/parse.ts'
import { ChatError } from '../../core/errors.ts'
import { cleanJpeg } from '../../files/jpeg-metadata.ts'
import { pictureSize } from '../../files/picture-size.ts'
import { sniff } from '../../files/sniff.ts'
import { quoted } from './rules.ts'

/** A part as it is stored, and what it shows of the file. */
export interface StoredPart {
  bytes: Uint8Array
  /** Only of the first part. */
  sniffed?: string
  width?: number
  height?: number
}

/**
 * A part as it is stored: the first one shows the type of the file, and of a JPEG loses the metadata.
 *
 * @throws ChatError `unsupported_media_type` for a type that is not allowed
 */
export function toStoredPart(
  { types, strip_metadata }: Config['attachments'],
  original: Uint8Array,
  { name, n }: { name: string; n: number },
): StoredPart {
  if (n > 1) return { bytes: original }
  const sniffed = sniff(original)
  if (types.length > 0 && !types.includes(sniffed))
    throw new ChatError('unsupported_media_type', {
      message: `${quoted(name)} is of the type ${sniffed}, which is not allowed here.`,
    })
  const bytes = sniffed === 'image/jpeg' && strip_metadata ? cleanJpeg(original).bytes : original
  return { bytes, sniffed, ...pictureSize(original) }
}
