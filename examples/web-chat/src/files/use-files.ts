import type { Attachment } from 'chat-server/client'
import { type FileUpload, uploadsOf } from 'chat-server/client/parts'
import { useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { texts } from '../texts/texts.ts'

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
      const { too_large, too_many } = texts.value.files
      setRefusal(fitting.length < given.length ? too_large(Math.floor(max_bytes / 2 ** 20)) : undefined)
      try {
        add(conversation_id, fitting, draft)
      } catch (error) {
        if (!(error instanceof RangeError)) throw error
        setRefusal(too_many)
      }
    },
    retry,
    remove,
    take: () => take(conversation_id, draft),
  }
}
