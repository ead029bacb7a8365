import { buffer } from 'node:stream/consumers'
import type { FileToCheck, Thumbnail } from 'chat-server'
import sharp from 'sharp'

/** The longer side, in pixels: the service takes no larger one. */
const SIDE = 512

/** How long sharp may take: it cannot be stopped otherwise. */
const SECONDS = 30

/**
 * A `ports.thumbnail` that asks sharp, which decodes in threads of its own. The service calls it for pictures up to
 * `attachments.thumbnail_pixels`. Of an animation it shows the first frame.
 *
 * @returns nothing for bytes that only begin as a picture
 */
export async function thumbnail({ open, signal }: FileToCheck): Promise<Thumbnail | undefined> {
  const bytes = await buffer(open())
  signal.throwIfAborted()
  try {
    const { data, info } = await sharp(bytes)
      // As the camera was held.
      .autoOrient()
      .resize(SIDE, SIDE, { fit: 'inside', withoutEnlargement: true })
      .webp({ quality: 80 })
      .timeout({ seconds: SECONDS })
      .toBuffer({ resolveWithObject: true })
    return { bytes: data, type: 'image/webp', width: info.width, height: info.height }
  } catch {
    return undefined
  }
}
