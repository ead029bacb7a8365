import type { Attachment } from 'chat-server/client'
import { type FileUpload, uploadsOf } from 'chat-server/client/parts'
import { useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { texts } from '../texts/texts.ts'
import { sizeText } from './size-text.ts'

/** The files of a message that is being written. */
export interface DraftFiles {
  uploads: readonly FileUpload[]
  /** Why files were not taken. */
  refusal: string | undefined
  /** Whether all of them have arrived. */
  areReady: boolean
  add(files: Iterable<File>): void
  retry(key: string): void
  remove(key: string): void
  take(): Attachment[]
}

/** @param draft what the message is for */
export function useFiles(conversation_id: string, draft: string): DraftFiles {
  const { features, store } = useApp()
  const { list, add, retry, remove, take } = uploadsOf(store)
  const uploads = useReadable(list(conversation_id, draft))
  const [refusal, setRefusal] = useState<string>()
  const max_bytes = features.attachments?.max_bytes ?? 0
  return {
    uploads,
    refusal,
    areReady: uploads.every(({ status }) => status === 'ready'),
    add(files) {
      const given = [...files]
      const fitting = given.filter(({ size }) => size > 0 && size <= max_bytes)
      const { too_large, are_empty, too_many } = texts.value.files
      const large = given.filter(({ size }) => size > max_bytes)
      const empty = given.filter(({ size }) => size === 0)
      const refusals = [
        large.length > 0 && too_large(namesOf(large), large.length, sizeText(max_bytes)),
        empty.length > 0 && are_empty(namesOf(empty), empty.length),
      ]
      setRefusal(refusals.filter(Boolean).join(' ') || undefined)
      try {
        add(conversation_id, fitting, draft)
      } catch (error) {
        if (!(error instanceof RangeError)) throw error
        setRefusal(too_many(namesOf(fitting)))
      }
    },
    retry,
    remove,
    take: () => take(conversation_id, draft),
  }
}

/** The names of files, each set apart from what is around it, whatever its direction. */
function namesOf(files: readonly File[]): string {
  return files.map(({ name }) => `\u2068${name}\u2069`).join(', ')
}
