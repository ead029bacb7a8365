import type { Attachment } from 'chat-server/client'
import { type FileUpload, uploadsOf } from 'chat-server/client/parts'
import type { Readable } from 'chat-server/client/store'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'

/** The files of a message that is being written. */
export interface DraftFiles {
  uploads: readonly FileUpload[]
  /** Why files were not taken. */
  refusal: string | undefined
  /** Whether all of them have arrived. */
  areReady: boolean
  /** Whether one has failed. */
  haveFailed: boolean
  add(files: Iterable<File>): void
  retry(key: string): void
  remove(key: string): void
  take(): Attachment[]
  /** Those that are uploaded, or were by this page. */
  added: Readable<readonly FileUpload[]>
}

/**
 * @param draft what the message is for
 * @param kept the files of an earlier page, as far as they are still there
 * @param onReady called with those that are to be kept
 */
export function useFiles(
  conversation_id: string,
  draft: string,
  kept: readonly Attachment[] | undefined,
  onReady: (files: readonly Attachment[]) => void,
): DraftFiles {
  const { features, store, client } = useApp()
  const { list, add, retry, remove, take } = uploadsOf(store)
  const all = list(conversation_id, draft)
  const added = useReadable(all)
  const [earlier, setEarlier] = useState<readonly FileUpload[]>([])
  const uploads = useMemo(() => [...earlier, ...added], [earlier, added])
  const [refusal, setRefusal] = useState<string>()
  const max_bytes = features.attachments?.max_bytes ?? 0
  useEffect(() => {
    const isNew = ({ id }: Attachment) => !added.some(({ attachment }) => attachment?.id === id)
    for (const { id } of kept?.filter(isNew) ?? [])
      client.attachments.get(id).then(
        ({ attachment }) => attachment.status === 'ready' && setEarlier((before) => [...before, toUpload(attachment)]),
        // What is not attached is deleted after a day.
        () => {},
      )
  }, [])
  const ready = uploads.flatMap(({ status, attachment }) => (status === 'ready' && attachment ? attachment : []))
  const ids = ready.map(({ id }) => id).join()
  const isFirst = useRef(true)
  useEffect(() => {
    if (!isFirst.current || ids !== '') onReady(ready)
    isFirst.current = false
  }, [ids])
  return {
    added: all,
    uploads,
    refusal,
    areReady: uploads.every(({ status }) => status === 'ready'),
    haveFailed: uploads.some(({ status }) => status === 'failed'),
    add(files) {
      const given = [...files]
      const fitting = given.filter(({ size }) => size > 0 && size <= max_bytes)
      let areTooMany = false
      try {
        add(conversation_id, fitting, draft)
      } catch (error) {
        if (!(error instanceof RangeError)) throw error
        areTooMany = true
      }
      setRefusal(undefined)
      if (areTooMany || fitting.length < given.length)
        void import('./refusal.ts').then(({ refusalOf }) => setRefusal(refusalOf(given, { max_bytes, areTooMany })))
    },
    retry,
    remove(key) {
      const file = earlier.find((each) => each.key === key)
      if (!file) return remove(key)
      setEarlier(earlier.filter((each) => each !== file))
      void client.attachments.remove(file.attachment!.id).catch(() => {})
    },
    take() {
      setEarlier([])
      return [...earlier.map(({ attachment }) => attachment!), ...take(conversation_id, draft)]
    },
  }
}

/** A file that an earlier page has uploaded. */
function toUpload(attachment: Attachment): FileUpload {
  const { id, name, size } = attachment
  return { key: id, file: new Blob(), name, size, sent: size, status: 'ready', attachment }
}
