import type { Context } from '../../context.ts'
import { ChatError } from '../../core/errors.ts'
import { reservedBytes } from '../../files/reserve.ts'
import { quoted } from './rules.ts'

/**
 * Refuses bytes while the storage of files is missing, and bytes that the disk of the files has no room for besides what is kept for the rest of the service.
 *
 * @throws ChatError `unavailable`; `storage_full`
 */
export async function assertSpace(
  { config, files }: Pick<Context, 'config' | 'files'>,
  { name }: { name: string },
  bytes: number,
): Promise<void> {
  await files.place.confirmThere()
  const space = await (await files.open()).space()
  if (space && space.free - bytes < reservedBytes(config.attachments.reserve_bytes, space))
    throw new ChatError('storage_full', {
      message: `There is no room for ${quoted(name)}: the disk of the files is nearly full.`,
    })
}
