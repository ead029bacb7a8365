import { useMemo } from 'react'
import type { Attachment } from '../../api/client-entities.ts'
import { type FileUpload, uploadsOf } from '../store/parts.ts'
import { useChatStore } from './context.ts'
import { useReadable } from './readable.ts'

/** The files of a message that is being written, and what the user does with them. */
export interface FileUploads {
  uploads: readonly FileUpload[]
  /** Uploads files, one after another. @throws RangeError for more than 10 */
  add: (files: readonly File[]) => void
  /** Goes on with an upload that has failed. */
  retry: (key: string) => void
  /** Breaks an upload off, and removes it. */
  remove: (key: string) => void
  /** The files that are ready, for the `attachments` of a post: they leave the list. */
  take: () => Attachment[]
}

/** The files of a message that is being written; `take` returns those that are ready, for its post. */
export function useUpload(conversation_id: string, draft?: string): FileUploads {
  const { list, add, retry, remove, take } = uploadsOf(useChatStore())
  const uploads = useReadable(list(conversation_id, draft))
  return useMemo(
    () => ({
      uploads,
      add: (files) => add(conversation_id, files, draft),
      retry,
      remove,
      take: () => take(conversation_id, draft),
    }),
    [uploads, add, retry, remove, take, conversation_id, draft],
  )
}
