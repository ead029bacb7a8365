import { createCleaningQueue } from './chat/attachments/cleaning.ts'
import { createPartSlots } from './chat/attachments/part-slots.ts'
import { createPieceMemory } from './chat/attachments/piece-memory.ts'
import { createReadSlots } from './chat/attachments/read-slots.ts'
import { filesPlace } from './config/attachments.ts'
import type { Context, Files } from './context.ts'
import type { FileStore } from './files/file-store.ts'
import { createFilesPlace } from './files/guard.ts'
import { LINKS } from './files/tokens.ts'
import type { Storage } from './storage/open.ts'

/** The files, which are opened, and loaded, when they are needed first. */
export function createFiles(
  config: Context['config'],
  { db, files }: Storage,
  { log, load, keyring }: Pick<Context, 'log' | 'load' | 'keyring'>,
): Files {
  let opened: Promise<FileStore> | undefined
  const openStore = async () =>
    (await import('./files/file-store.ts')).openFileStore(files ?? filesPlace(config), { callsAnswered: load.answers })
  const place = createFilesPlace({ db, open: () => (opened ??= openStore()), log })
  const maxReads = () => config.attachments.max_reads_per_user
  const maxBytes = () => config.attachments.max_buffered_bytes
  const partSlots = createPartSlots(maxBytes)
  return {
    open: place.files,
    place,
    close: async () => void (await (await opened?.catch(() => undefined))?.close()),
    linkKeys: () => keyring.signing(LINKS),
    partSlots,
    cleaningTurns: createCleaningQueue(),
    readSlots: createReadSlots(maxReads),
    thumbnailSlots: createReadSlots(maxReads),
    pieceMemory: createPieceMemory(maxBytes, partSlots.bytes),
  }
}
